"""The output of commands: tables with drawn patterns and lines of play, or JSON."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, Final

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from rich.console import Console
from rich.table import Table
from rich.text import Text

from academy.v1 import consultation_pb2, contests_pb2, game_pb2, libraries_pb2, pattern_pb2, proposals_pb2
from academy.wire.names import visible
from academy.wire.tesujis import read_fight


def console() -> Console:
    """Standard output, as wide as the terminal; wide enough for every table elsewhere."""
    return Console(width=None if sys.stdout.isatty() else 160, highlight=False)


def print_json(value: object) -> None:
    """Print one JSON document."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def show(answer: Message | Sequence[Message], json: bool, table: Table) -> None:
    """Print an answer as JSON or as a table."""
    if not json:
        console().print(table)
    elif isinstance(answer, Message):
        print_json(as_json(answer))
    else:
        print_json([as_json(message) for message in answer])


def show_next_page(token: str, json: bool) -> None:
    """Say how a listing goes on, unless it is printed as JSON or ends here."""
    if token and not json:
        console().print(f"more with --page {token}", soft_wrap=True)


def shown(text: str) -> Text:
    """Return users' text as a cell of a table, without markup or terminal commands."""
    return Text(visible(text))


def as_json(message: Message) -> dict[str, Any]:
    """A message as plain data: names as in the protos, enums by name, times in ISO 8601."""
    plain: dict[str, Any] = {}
    for field in message.DESCRIPTOR.fields:
        if field.has_presence and not message.HasField(field.name):
            continue
        value = getattr(message, field.name)
        if isinstance(value, Mapping):
            plain[field.name] = {str(key): _plain(field, item) for key, item in sorted(value.items())}
        elif field.is_repeated:
            plain[field.name] = [_plain(field, item) for item in value]
        else:
            plain[field.name] = _plain(field, value)
    return plain


def _plain(field: Any, value: Any) -> Any:
    if isinstance(value, Timestamp):
        return value.ToJsonString()
    if isinstance(value, Message):
        return as_json(value)
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return known.name if known is not None else value
    return value


def new_table(title: str, *headings: str) -> Table:
    """An empty table; a heading that begins with a blank is of text, others are of numbers."""
    # A player may have a name that looks like markup.
    table = Table(title=Text(title), title_justify="left")
    for heading in headings:
        numeric = not heading.startswith(" ")
        table.add_column(heading.strip(), justify="right" if numeric else "left")
    return table


def games_table(games: Iterable[game_pb2.Game]) -> Table:
    """Games with their boards, libraries' capacities and rules of fair use."""
    table = new_table(
        "Games",
        *(" game", "players", " board", " symmetries", "opening", "middle-game", "endgame"),
        *_FAIR_USE_COLUMNS,
    )
    for game in games:
        settings = game.settings
        table.add_row(
            game.game_id,
            str(game.players),
            board_of(game),
            str(len(game.symmetries)),
            f"{settings.opening_capacity:,}",
            f"{settings.middle_game_capacity:,}",
            f"{settings.endgame_capacity:,}",
            *_fair_use_cells(settings),
        )
    return table


# The rules of fair use, and what their columns are called.
_FAIR_USE: Final = {
    "opening_moves_per_consultation": "moves a consultation",
    "opening_plies_ahead": "plies ahead",
    "pattern_value_limit": "patterns up to",
    "elo_margin": "elo margin",
    "consult_share": "consult share",
    "local_weights": "local weights",
}
_FAIR_USE_COLUMNS: Final = tuple(_FAIR_USE.values())


def _fair_use_cells(rules: game_pb2.LibrarySettings | contests_pb2.FairUseRules) -> list[str]:
    given = {field.name: value for field, value in rules.ListFields()}
    return [_fair_use_cell(given[name]) if name in given else "" for name in _FAIR_USE]


def _fair_use_cell(value: float) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else f"{value:g}"


def board_of(game: game_pb2.Game) -> str:
    """A game's board in a few words."""
    shape = game.geometry.WhichOneof("shape")
    if shape == "graph":
        return f"{len(game.geometry.graph.nodes)} nodes"
    grid = game.geometry.square if shape == "square" else game.geometry.hex
    return f"{grid.rows}x{grid.columns} {'hexagons' if shape == 'hex' else 'squares'}"


def tesujis_table(title: str, tesujis: Iterable[pattern_pb2.TesujiRecord], game: game_pb2.Game) -> Table:
    """Tesujis, drawn as text beside their figures: `*` is the cell that the move goes to."""
    table = new_table(title, " tesuji", "place", *("offered", "chosen", "elo", "value", "weight", "uses"))
    table.show_lines = True
    for tesuji in tesujis:
        table.add_row(
            Text(tesuji.cells),
            place_of(tesuji, game),
            str(tesuji.offered),
            str(tesuji.chosen),
            f"{tesuji.signature.elo:.0f}",
            f"{tesuji.signature.value:.3f}",
            f"{tesuji.weight_millionths / 1e6:+.2f}",
            str(tesuji.uses),
        )
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
    table = new_table(
        title,
        *("id", " pattern", "proposers", *(["silent"] if any_silent else [])),
        *("elo", "value", "player", "strength", "uses", "successes"),
    )
    table.show_lines = True
    for pattern in patterns:
        table.add_row(
            str(pattern.pattern_id),
            Text(pattern.cells),
            str(pattern.signature.proposers),
            *([str(len(pattern.silent_votes))] if any_silent else []),
            f"{pattern.signature.elo:.0f}",
            f"{pattern.signature.value:.3f}",
            str(pattern.signature.player),
            f"{pattern.strength:.1f}",
            str(pattern.uses),
            str(pattern.successes),
        )
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
    table = new_table(
        title,
        " move",
        *([" name"] if names else []),
        *("visits", "won", "drawn", "lost", "value", "elo"),
        *(["searched value", "searched", " analyst"] if analysed else []),
    )
    first = min((node.depth for node in nodes), default=0)
    for node in nodes:
        mover = (node.mover or 1) - 1
        visits = max(node.visits, 1)
        table.add_row(
            Text("  " * (node.depth - first)) + (shown(node.move) if node.move else Text("(start)")),
            *([shown(names.get(node.node_id, ""))] if names else []),
            str(node.visits),
            str(node.wins[mover]),
            str(node.draws[mover]),
            str(node.losses[mover]),
            f"{node.value_millionths[mover] / visits / 1e6:.3f}",
            f"{node.elo_hundredths / visits / 100:.0f}" if node.mover else "",
            *(_analysis_cells(node) if analysed else []),
        )
    return table


def _analysis_cells(node: pattern_pb2.OpeningNodeRecord) -> list[str | Text]:
    if not node.HasField("analysis"):
        return ["", "", ""]
    analysis = node.analysis
    unit = "plies" if analysis.kind == pattern_pb2.SEARCH_KIND_PLIES else "games"
    return [f"{analysis.value_millionths / 1e6:.3f}", f"{analysis.budget:,} {unit}", shown(analysis.analyst)]


def statistics_table(
    statistics: libraries_pb2.GetStatisticsResponse, measures: libraries_pb2.GetMeasuresResponse
) -> Table:
    """Return a table of a game's figures and LUDAE's measures."""
    table = new_table(statistics.game_id, " what", "value", "of contests", "of positions")
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
        table.add_row(
            name.replace("_", " ").replace("middle game", "middle-game"), f"{getattr(statistics, name):,}"
        )
    for what, name in (
        ("proposals taken", "accepted_proposals"),
        ("proposals dropped", "dropped_proposals"),
        ("players helped by others", "helped_by_others"),
        ("of these won or drew", "helped_by_others_successes"),
    ):
        table.add_row(what, f"{getattr(statistics.everybody, name):,}")
    for name, measure in sorted(measures.measures.items()):
        value = f"{measure.value:.4g}" if measure.HasField("value") else "not known"
        positions = f"{measure.positions:,}" if measure.positions else ""
        table.add_row(name.replace("_", " "), value, f"{measure.contests:,}", positions)
    return table


def settings_table(game_id: str, settings: game_pb2.LibrarySettings) -> Table:
    """A game's settings."""
    table = new_table(f"Settings of {game_id}", " setting", "value")
    for field in settings.DESCRIPTOR.fields:
        value = getattr(settings, field.name)
        table.add_row(field.name, str(value).lower() if isinstance(value, bool) else f"{value:g}")
    return table


def weights_table(game: game_pb2.Game, weights: consultation_pb2.DownloadWeightsResponse, most: int) -> Table:
    """Return a table of the features' weights and of the anchored patterns that weigh most."""
    from academy.knowledge.anchored_patterns import anchored_patterns
    from academy.knowledge.evaluation_features import FIRST_PATTERN, Feature
    from academy.wire.games import read_spec

    evaluation = dict(zip(weights.evaluation.codes, weights.evaluation.millionths, strict=True))
    features = {code: weight for code, weight in evaluation.items() if code < FIRST_PATTERN}
    patterns = {code: weight for code, weight in evaluation.items() if code >= FIRST_PATTERN}
    title = (
        f"{game.game_id}: {weights.contests:,} contests learnt from, {len(patterns):,} patterns; "
        f"{weights.uses:,} uses, {weights.successes:,} successes; revision {weights.revision}"
    )
    table = new_table(title, " for the first player", "log odds")
    words = {
        Feature.FIRST: "being first",
        Feature.MOVE: "being on move",
        Feature.MOBILITY: "each move that the mover has",
        Feature.SOLDIERS: "each soldier ahead",
        Feature.KINGS: "each king ahead",
    }
    for code, weight in features.items():
        table.add_row(words[Feature(code)], f"{weight / 1e6:+.3f}")
    spec = read_spec(game)
    anchored = anchored_patterns(spec)
    if anchored is None:
        return table
    names = spec.cell_names or [str(cell) for cell in range(spec.geometry.size)]
    for code, weight in sorted(patterns.items(), key=lambda pair: -abs(pair[1]))[:most]:
        cells = anchored.contents(code - FIRST_PATTERN)
        table.add_row(
            Text(" ".join(f"{names[cell]}:{'-xo'[who]}" for cell, who in cells)), f"{weight / 1e6:+.3f}"
        )
    return table


def removals_table(game_id: str, removals: Iterable[libraries_pb2.Removal]) -> Table:
    """Return a table of a game's removals that can be restored."""
    table = new_table(
        f"Removed from {game_id}",
        *("number", " time", " by", " what", "patterns", "opening positions", "tesujis", "weights"),
    )
    for removal in removals:
        table.add_row(
            str(removal.event),
            removal.time.ToJsonString(),
            shown(removal.actor),
            removal.what,
            f"{removal.patterns:,}",
            f"{removal.nodes:,}",
            f"{removal.tesujis:,}",
            f"{removal.weights:,}",
        )
    return table


def contests_table(contests: Iterable[contests_pb2.Contest], now: float) -> Table:
    """Open contests with their players by seat, their rules of fair use, and how long ago they were opened.

    `now` is in seconds since 1970. Players in brackets may not consult in the contest.
    """
    table = new_table(
        "Open contests", " contest", " arena", " game", " players", " opened", "hours ago", *_FAIR_USE_COLUMNS
    )
    for contest in contests:
        table.add_row(
            Text(contest.contest_id),
            shown(contest.arena),
            contest.game_id,
            Text(
                " - ".join(
                    f"({player.name})" if seat in contest.seats_alone else player.name
                    for seat, player in enumerate(contest.players, 1)
                )
            ),
            contest.open_time.ToJsonString(),
            f"{(now - contest.open_time.ToNanoseconds() / 1e9) / 3_600:,.1f}",
            *_fair_use_cells(contest.fair_use),
        )
    return table


def arenas_table(arenas: Iterable[contests_pb2.Arena]) -> Table:
    """Arenas, where their players' names live, and for whom they may act."""
    table = new_table("Arenas", " arena", " its players are", " may act for")
    for arena in arenas:
        names = f"NAME@{arena.namespace}" if arena.namespace else "NAME"
        table.add_row(shown(arena.name), shown(names), shown(", ".join(arena.acts_for)))
    return table


def players_table(players: Iterable[libraries_pb2.PlayerStatistics]) -> Table:
    """Return a table of players' figures in a game."""
    table = new_table(
        "Players",
        *(" player", "contests", "claims", "false", "false openings", "proposals taken", "dropped"),
        *("new openings", "helped others", "who won or drew", "helped by others", "and won or drew"),
    )
    for player in players:
        table.add_row(
            shown(player.player),
            f"{player.contests:,}",
            f"{player.claims:,}",
            f"{player.false_claims:,}",
            f"{player.contests_with_false_consultations:,}",
            f"{player.accepted_proposals:,}",
            f"{player.dropped_proposals:,}",
            f"{player.new_openings:,}",
            f"{player.helped:,}",
            f"{player.helped_successes:,}",
            f"{player.helped_by_others:,}",
            f"{player.helped_by_others_successes:,}",
        )
    return table


def questions_table(seats: Iterable[contests_pb2.SeatConsultations]) -> Table:
    """What each seat asked: after how many moves, the values that it expected, and what it was answered."""
    table = new_table(
        "Questions",
        "seat",
        "openings",
        " after moves: recommended",
        "patterns",
        " after moves (expecting): patterns",
        "patterns got",
    )
    for seat in seats:
        questions = (
            f"{question.plies if question.HasField('plies') else '?'} ({question.value:.2f})"
            + (f": {question.answer.patterns}" if question.HasField("answer") else "")
            for question in seat.questions
        )
        openings = (
            f"{plies}" + (f": {answer.move or '-'}" if answer is not None else "")
            for plies, answer in zip_longest(seat.opening_plies, seat.opening_answers)
        )
        table.add_row(
            str(seat.player),
            str(seat.opening_questions),
            shown(", ".join(openings)),
            str(seat.pattern_questions),
            ", ".join(questions),
            str(sum(len(got.pattern_ids) for got in seat.patterns)),
        )
    return table


def proposals_table(proposals: Iterable[proposals_pb2.Proposal]) -> Table:
    """Proposals with what became of each; `pattern` is the one it became part of."""
    table = new_table(
        "Proposals", " player", " contest", "ply", " library", " verdict", "pattern", " cells", " reason"
    )
    table.show_lines = True
    for proposal in proposals:
        table.add_row(
            shown(proposal.player),
            shown(proposal.contest_id),
            str(proposal.content.ply),
            _word(pattern_pb2.Library.Name(proposal.content.library)),
            _word(proposals_pb2.Verdict.Name(proposal.verdict)),
            str(proposal.pattern_id or ""),
            Text(proposal.content.cells),
            shown(proposal.reason),
        )
    return table


def _word(name: str) -> str:
    """An enum's value in a word: `LIBRARY_MIDDLE_GAME` is `middle-game`."""
    return name.partition("_")[2].lower().replace("_", "-")


def events_table(events: Iterable[Any]) -> Table:
    """Events with who caused them and what they did."""
    table = new_table("Events", "number", " time", " game", " by", " what")
    for event in events:
        table.add_row(
            str(event.sequence),
            event.time.ToJsonString(),
            event.game_id,
            shown(event.actor),
            shown(_describe_event(event)),
        )
    return table


def _describe_report(body: Any) -> str:
    report = body.report
    names = " - ".join(player.name for player in report.contest.players)
    how = "void" if report.void else f"{len(report.plies)} plies, {report.termination}"
    return f"{report.contest.contest_id} {names}, {how}"


# What an event of a kind did, by its body.
_EVENT_DETAILS: Final[dict[str, Callable[[Any], str]]] = {
    "contest_reported": _describe_report,
    "pattern_deleted": lambda body: f"{body.pattern_id}",
    "pattern_restored": lambda body: f"{body.record.pattern_id}",
    "library_pruned": lambda body: f"below {body.below:g}",
    "opening_deleted": lambda body: " ".join(body.moves),
    "removal_restored": lambda body: (
        f"{body.removal}, {len(body.patterns)} patterns, {len(body.nodes)} positions"
    ),
    "player_muted": lambda body: body.player,
    "player_unmuted": lambda body: body.player,
    "player_forgotten": lambda body: body.player,
    "game_forked": lambda body: f"from {body.from_game_id}",
    "history_imported": lambda body: f"{len(body.ratings)} ratings",
    "patterns_imported": lambda body: f"{len(body.records)}",
    "tesujis_imported": lambda body: f"{len(body.records)}",
    "evaluation_imported": lambda body: f"{sum(len(record.weights) for record in body.records)}",
    "openings_imported": lambda body: f"{len(body.nodes)}",
    "openings_analysed": lambda body: f"{len(body.nodes)} positions",
    "analyses_forgotten": lambda body: body.analyst or "everybody's",
    "proposal_judged": lambda body: f"{body.proposal.proposal_id} by {body.proposal.player}",
}


def _describe_event(event: Any) -> str:
    kind = event.WhichOneof("kind") or "unknown"
    words: str = kind.replace("_", " ")
    describe = _EVENT_DETAILS.get(kind)
    return words if describe is None else f"{words}: {describe(getattr(event, kind))}"
