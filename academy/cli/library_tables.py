"""Tables of games and of what their libraries hold, with drawn patterns and lines of play."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from rich.table import Table
from rich.text import Text

from academy.cli.printing import counted, table_of
from academy.v1 import consultation_pb2, contests_pb2, game_pb2, libraries_pb2, pattern_pb2
from academy.wire.names import visible
from academy.wire.tesujis import read_fight


def games_table(games: Iterable[game_pb2.Game]) -> Table:
    """Games with their boards and libraries' capacities."""
    rows = []
    for game in games:
        settings = game.settings
        capacities = (settings.opening_capacity, settings.middle_game_capacity, settings.endgame_capacity)
        rows.append((game.game_id, game.players, board_of(game), *map("{:,}".format, capacities)))
    return table_of("Games", rows, " game", "players", " board", "opening", "middle-game", "endgame")


def games_fair_use_table(games: Iterable[game_pb2.Game]) -> Table:
    """Games with their rules of fair use."""
    rows = ((game.game_id, *fair_use_cells(game.settings)) for game in games)
    return table_of("Games", rows, " game", *FAIR_USE_COLUMNS)


# The rules of fair use, and what their columns are called.
_FAIR_USE: Final = {
    "opening_moves_per_consultation": "moves a consultation",
    "opening_plies_ahead": "plies ahead",
    "pattern_value_limit": "patterns up to",
    "elo_margin": "elo margin",
    "consult_share": "consult share",
    "local_weights": "local weights",
}
FAIR_USE_COLUMNS: Final = tuple(_FAIR_USE.values())


def fair_use_cells(rules: game_pb2.LibrarySettings | contests_pb2.FairUseRules) -> list[str]:
    """The cells of FAIR_USE_COLUMNS; empty for rules that are not given."""
    given = {field.name: value for field, value in rules.ListFields()}
    return [_fair_use_cell(given[name]) if name in given else "" for name in _FAIR_USE]


def _fair_use_cell(value: float) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def board_of(game: game_pb2.Game) -> str:
    """A game's board in a few words."""
    shape = game.geometry.WhichOneof("shape")
    if shape == "graph":
        return counted(len(game.geometry.graph.nodes), "node")
    grid = game.geometry.square if shape == "square" else game.geometry.hex
    return f"{grid.rows}x{grid.columns} {'hexagons' if shape == 'hex' else 'squares'}"


def tesujis_table(title: str, tesujis: Iterable[pattern_pb2.TesujiRecord], game: game_pb2.Game) -> Table:
    """Tesujis, drawn as text beside their figures: `*` is the cell that the move goes to."""
    rows = []
    for tesuji in tesujis:
        place = filter(None, visible(place_of(tesuji, game)).split(", "))
        what = (Text(tesuji.cells), Text("\n".join([str(tesuji.code), *place])))
        signature = (f"{tesuji.signature.elo:.0f}", f"{tesuji.signature.value:.3f}")
        weight = f"{tesuji.weight_millionths / 1e6:+.2f}"
        rows.append((*what, tesuji.offered, tesuji.chosen, *signature, weight, tesuji.uses))
    table = table_of(
        title, rows, " tesuji", " code, place", "offered", "chosen", "elo", "value", "weight", "uses"
    )
    # A drawing is read, and a code copied, as a whole.
    table.columns[0].no_wrap = table.columns[1].no_wrap = True
    table.show_lines = True
    return table


_THIRDS: Final = ("first", "second", "last")


def place_of(tesuji: pattern_pb2.TesujiRecord, game: game_pb2.Game) -> str:
    """What a tesuji knows of its place, in words; nothing where it may be anywhere."""
    player = "" if game.symmetric else f"player {tesuji.player} "
    if (fight := read_fight(tesuji)) is not None:
        return f"{player}{fight}"
    if tesuji.cells == "*":
        third = _THIRDS[tesuji.place]
        return f"{player}{tesuji.turned} turned, {third} third of the game"
    if not tesuji.HasField("place"):
        return player.strip()
    if game.placement == game_pb2.PLACEMENT_DROPPED:
        return f"{player}in row {tesuji.place + 1}"
    names = game.cell_names
    return f"{player}at {names[tesuji.place] if names else f'cell {tesuji.place}'}"


def patterns_table(title: str, patterns: Iterable[pattern_pb2.PatternRecord]) -> Table:
    """Patterns, drawn as text beside their figures; silent votes have a column where there are any."""
    patterns = list(patterns)
    any_silent = any(pattern.silent_votes for pattern in patterns)
    rows = []
    for pattern in patterns:
        signature = pattern.signature
        silent = [len(pattern.silent_votes)] if any_silent else []
        votes = (signature.proposers, *silent, f"{signature.elo:.0f}", f"{signature.value:.3f}")
        use = (f"{pattern.strength:.1f}", pattern.uses, pattern.successes)
        rows.append((pattern.pattern_id, Text(pattern.cells), *votes, signature.player, *use))
    table = table_of(
        title,
        rows,
        *("id", " pattern", "proposers", *(["silent"] if any_silent else [])),
        *("elo", "value", "player", "strength", "uses", "successes"),
    )
    table.show_lines = True
    return table


def openings_table(
    title: str,
    nodes: Sequence[pattern_pb2.OpeningNodeRecord],
    names: Mapping[int, str] = MappingProxyType({}),
) -> Table:
    """The opening tree: each move indented below the one it answers, values for its mover.

    What analysts' searches found stands in columns of its own, where there is any.
    `names` are what nodes are called, by their numbers; without any there is no column for them.
    """
    analysed = any(node.HasField("analysis") for node in nodes)
    rows = []
    first = min((node.depth for node in nodes), default=0)
    for node in nodes:
        mover = (node.mover or 1) - 1
        visits = max(node.visits, 1)
        move = "  " * (node.depth - first) + (node.move or "(start)")
        name = [names.get(node.node_id, "")] if names else []
        results = (node.visits, node.wins[mover], node.draws[mover], node.losses[mover])
        value = f"{node.value_millionths[mover] / visits / 1e6:.3f}"
        elo = f"{node.elo_hundredths / visits / 100:.0f}" if node.mover else ""
        analysis = _analysis_cells(node) if analysed else []
        rows.append((move, *name, *results, value, elo, *analysis))
    return table_of(
        title,
        rows,
        " move",
        *([" name"] if names else []),
        *("visits", "won", "drawn", "lost", "value", "elo"),
        *(["searched value", "searched", " analyst"] if analysed else []),
    )


def _analysis_cells(node: pattern_pb2.OpeningNodeRecord) -> list[str]:
    if not node.HasField("analysis"):
        return ["", "", ""]
    analysis = node.analysis
    unit = "plies" if analysis.kind == pattern_pb2.SEARCH_KIND_PLIES else "games"
    return [f"{analysis.value_millionths / 1e6:.3f}", f"{analysis.budget:,} {unit}", analysis.analyst]


def statistics_table(
    statistics: libraries_pb2.GetStatisticsResponse, measures: libraries_pb2.GetMeasuresResponse
) -> Table:
    """Return a table of a game's figures and LUDAE's measures."""
    rows: list[tuple[str, ...]] = []
    for name in (
        "contests",
        "players",
        "opening_nodes",
        "opening_depth",
        "analysed_nodes",
        "middle_game_patterns",
        "endgame_patterns",
        "tesujis",
        "evaluation_contests",
        "evaluation_patterns",
        "held_proposals",
        "generation",
    ):
        what = name.replace("_", " ").replace("middle game", "middle-game")
        rows.append((what, f"{getattr(statistics, name):,}"))
    for what, name in (
        ("proposals taken", "accepted_proposals"),
        ("proposals dropped", "dropped_proposals"),
        ("players helped by others", "helped_by_others"),
        ("helped players that won or drew", "helped_by_others_successes"),
    ):
        rows.append((what, f"{getattr(statistics.everybody, name):,}"))
    for name, measure in sorted(measures.measures.items()):
        value = f"{measure.value:.4g}" if measure.HasField("value") else "not known"
        positions = f"{measure.positions:,}" if measure.positions else ""
        rows.append((name.replace("_", " "), value, f"{measure.contests:,}", positions))
    return table_of(statistics.game_id, rows, " what", "value", "contests counted", "positions counted")


def settings_table(game_id: str, settings: game_pb2.LibrarySettings) -> Table:
    """A game's settings."""
    rows = []
    for field in settings.DESCRIPTOR.fields:
        value = getattr(settings, field.name)
        rows.append((field.name, f"{value:g}" if isinstance(value, float) else str(value).lower()))
    return table_of(f"Settings of {game_id}", rows, " setting", "value")


def weights_table(game: game_pb2.Game, weights: consultation_pb2.DownloadWeightsResponse, most: int) -> Table:
    """Return a table of the features' weights and of the anchored patterns that weigh most."""
    from academy.knowledge.anchored_patterns import anchored_patterns
    from academy.knowledge.evaluation_features import FIRST_PATTERN, Feature
    from academy.wire.games import read_spec

    evaluation = dict(zip(weights.evaluation.codes, weights.evaluation.millionths, strict=True))
    features = {code: weight for code, weight in evaluation.items() if code < FIRST_PATTERN}
    patterns = {code: weight for code, weight in evaluation.items() if code >= FIRST_PATTERN}
    title = (
        f"{game.game_id}: {counted(weights.contests, 'contest')} learnt from, "
        f"{counted(len(patterns), 'pattern')}; {counted(weights.uses, 'use')}, "
        f"{counted(weights.successes, 'success', 'successes')}; revision {weights.revision}"
    )
    words = {
        Feature.FIRST: "being first",
        Feature.MOVE: "being on move",
        Feature.MOBILITY: "each move that the mover has",
        Feature.SOLDIERS: "each soldier ahead",
        Feature.KINGS: "each king ahead",
    }
    rows = [(words[Feature(code)], f"{weight / 1e6:+.3f}") for code, weight in features.items()]
    spec = read_spec(game)
    if (anchored := anchored_patterns(spec)) is not None:
        names = spec.cell_names or [str(cell) for cell in range(spec.geometry.size)]
        for code, weight in sorted(patterns.items(), key=lambda pair: -abs(pair[1]))[:most]:
            cells = anchored.contents(code - FIRST_PATTERN)
            pattern = " ".join(f"{names[cell]}:{'-xo'[who]}" for cell, who in cells)
            rows.append((pattern, f"{weight / 1e6:+.3f}"))
    return table_of(title, rows, " for the first player", "log odds")


def removals_table(game_id: str, removals: Iterable[libraries_pb2.Removal]) -> Table:
    """Return a table of a game's removals that can be restored."""
    rows = []
    for removal in removals:
        counts = (removal.patterns, removal.nodes, removal.tesujis, removal.weights)
        what = (removal.event, removal.time.ToJsonString(), removal.actor, removal.what)
        rows.append((*what, *map("{:,}".format, counts)))
    return table_of(
        f"Removed from {game_id}",
        rows,
        *("number", " time", " by", " what", "patterns", "opening positions", "tesujis", "weights"),
    )
