"""LUDAE's measures of games, side by side: `python -m research.game_table RESULTS --document PAGE`.

For each game the same players, which search by 8, 30 and 90 random games a move, play contests that an
ACADEMY of its own learns from; it computes what needs nothing but reports. Clarity and clearness are
measured here, because they need searches and the referee's program; and tempo, because it needs contests of
the best players with each other.
"""

import ast
import importlib
import json
import math
import random
import statistics
import sys
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from academy.cli.comparison import standard_errors
from academy.v1 import contests_pb2, libraries_pb2, libraries_pb2_grpc
from academy.wire.files import write_whole
from arena.academy.client import AcademyClient
from arena.academy.embedded import EmbeddedAcademy
from arena.ratings.elo import EloRules
from benchmarks import arguments
from benchmarks.figures import placed
from clients.bots.search_game import SearchGame
from clients.bots.strength import Strength
from clients.bots.tree_search import TreeSearchThinker
from referees.api import Referee, referee
from research.contests import Entrant, play

GAMES: Final[Mapping[str, tuple[str, Mapping[str, object]]]] = {
    "Tic-tac-toe": ("openspiel", {"game": "tic_tac_toe"}),
    "Connect four": ("openspiel", {"game": "connect_four"}),
    "Breakthrough 6x6": ("openspiel", {"game": "breakthrough(rows=6,columns=6)"}),
    "Othello": ("openspiel", {"game": "othello"}),
    "English draughts": ("draughts", {"variant": "english"}),
    "Hex 5x5": ("hex", {"board_size": 5}),
    "Hex 7x7": ("hex", {"board_size": 7}),
    "Hex 9x9": ("hex", {"board_size": 9}),
    "Go 5x5": ("go", {"board_size": 5, "komi": 7.5}),
    "Go 7x7": ("go", {"board_size": 7, "komi": 7.5}),
    "Go 9x9": ("go", {"board_size": 9, "komi": 7.5}),
}
LEVELS: Final = (8, 30, 90)
FIRST_ELO: Final = 1000.0
# The best search, the most that a move may lose by it to be reasonable, and the searches that are tried.
BEST_PLAYOUTS: Final = 300
REASONABLE: Final = 0.05
TRIED: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)
COLUMNS: Final = (
    "size", "depth", "width", "tempo", "mobility", "decisiveness", "drama", "draws", "first_player_score",
    "length",
)  # fmt: skip


def rules_of(title: str) -> Referee[Any, Any]:
    """The rules of a game of the table."""
    name, settings = GAMES[title]
    return referee(name).from_settings(settings)


@dataclass
class WatchedSearch(TreeSearchThinker):
    """A search that keeps its tree."""

    root: Any = field(default=None, init=False)

    def _search(
        self, game: SearchGame[Any, Any], root: Any, began: float, end: float, least: int = 1
    ) -> None:
        self.root = root
        super()._search(game, root, began, end, least)

    def depth(self) -> int:
        """Plies from the root to the deepest position of the tree."""
        deepest, waiting = 0, [(self.root, 0)]
        while waiting:
            node, depth = waiting.pop()
            deepest = max(deepest, depth)
            waiting += [(child, depth + 1) for child in node.children if child is not None]
        return deepest


def clarity(rules: Referee[Any, Any], positions: Sequence[Any]) -> dict[str, float]:
    """How deep and how large the smallest search is that finds a reasonable move, on the average."""
    depths, nodes = [], []
    for number, position in enumerate(positions):
        best = TreeSearchThinker(BEST_PLAYOUTS, random.Random(f"best/{number}")).think(rules, position)
        values = {rules.move_text(known.move): known.value for known in best.candidates}
        for playouts in TRIED:
            search = WatchedSearch(playouts, random.Random(f"{playouts}/{number}"))
            move = rules.move_text(search.think(rules, position).candidates[0].move)
            if values[move] >= max(values.values()) - REASONABLE or playouts == TRIED[-1]:
                depths.append(search.depth())
                nodes.append(search.root.total + 1.0)
                break
    return {
        "search_depth": statistics.fmean(depths),
        "search_nodes": statistics.fmean(nodes),
        "clarity": statistics.fmean(depths) / math.log10(statistics.fmean(nodes)),
        "searches": len(depths),
    }


def clearness(name: str) -> int | None:
    """The size of the referee's rules, compressed, without comments and names of documents; None if unknown.

    That is an upper bound of the smallest program. Rules that are not written in Python are not counted.
    """
    if name == "openspiel":
        return None
    package = Path(importlib.import_module(f"referees.{name}").__file__ or "").parent
    spoken = {"gtp", "sgf", "pdn", "settings", "__init__"}
    source = ""
    for file in sorted(package.glob("*.py")):
        if file.stem not in spoken:
            tree = ast.parse(file.read_text())
            for node in ast.walk(tree):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
                    node.body = node.body[1:] or [ast.Pass()]
            source += ast.unparse(tree)
    return len(zlib.compress(source.encode(), 9))


def tempo(rules: Referee[Any, Any], count: int) -> list[float] | None:
    """Plies to the first interaction between two of the best players: the mean and its standard error.

    None where the referee does not say what an interaction is, or none came.
    """
    plies = []
    for number in range(count):
        best = [Entrant(name, Strength("monte-carlo", playouts=LEVELS[-1]), FIRST_ELO) for name in "ab"]
        position = rules.start(0)
        if rules.interaction(position) is None:
            return None
        for ply, made in enumerate(play(rules, f"tempo/{number}", best, f"tempo/{number}").report.plies, 1):
            move = rules.read_move(position, made.player, made.move)
            position = rules.play(position, {made.player: move})
            if rules.interaction(position):
                plies.append(ply)
                break
    if len(plies) < 2:
        return None
    return [statistics.fmean(plies), statistics.stdev(plies) / len(plies) ** 0.5]


def contests(rules: Referee[Any, Any], count: int, seed: str) -> Iterator[contests_pb2.ReportContestRequest]:
    """Contests of all pairs of levels in turn, with LUDAE's Elo."""
    elo = dict.fromkeys(LEVELS, FIRST_ELO)
    pairs = [*combinations(LEVELS, 2)]
    for number in range(count):
        levels = pairs[number % len(pairs)]
        levels = levels if number // len(pairs) % 2 == 0 else levels[::-1]
        entrants = [
            Entrant(f"{level} playouts", Strength("monte-carlo", playouts=level), elo[level])
            for level in levels
        ]
        played = play(rules, f"{seed}/{number}", entrants, f"{seed}/{number}")
        names, before = [entrant.name for entrant in entrants], [entrant.elo for entrant in entrants]
        after = EloRules().rate(names, before, played.winners)
        elo.update(zip(levels, after, strict=True))
        played.report.elo_after.extend(after)
        yield played.report


def measure(title: str, count: int, positions: int) -> dict[str, Any]:
    """All measures of a game of the table."""
    name, rules = GAMES[title][0], rules_of(title)
    met: list[Any] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(EmbeddedAcademy(Path(folder) / "data", Path(folder) / "server.log")) as server,
        closing(AcademyClient(connection := server.start())) as link,
        connection.channel() as channel,
    ):
        link.register_game(rules.spec())
        for number, report in enumerate(contests(rules, count, rules.spec().game_id)):
            link.open_contest(report.contest)
            link.report(report)
            if len(met) < positions:
                met.append(position_of(rules, report, random.Random(f"{title}/{number}")))
        answer = libraries_pb2_grpc.LibraryServiceStub(channel).GetMeasures(
            libraries_pb2.GetMeasuresRequest(game_id=rules.spec().game_id), metadata=connection.metadata
        )
    errors = standard_errors(answer)
    return {
        "title": title,
        "contests": answer.contests,
        "measures": {
            key: [known.value, errors.get(key)]
            for key, known in answer.measures.items()
            if known.HasField("value")
        },
        "clearness": clearness(name),
        **clarity(rules, met),
    }


def position_of(
    rules: Referee[Any, Any], report: contests_pb2.ReportContestRequest, chance: random.Random
) -> Any:
    """A position of a contest in which somebody moved."""
    position = rules.start(0)
    for ply in report.plies[: chance.randrange(len(report.plies))]:
        position = rules.play(position, {ply.player: rules.read_move(position, ply.player, ply.move)})
    return position


def table(results: Sequence[Mapping[str, Any]]) -> str:
    """The results as a table of Markdown, a row a game."""
    heads = ["game", "contests", *(name.replace("_", " ") for name in COLUMNS)]
    heads += ["clarity", "search: depth, nodes", "clearness"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for result in results:
        cells = [result["title"], str(result["contests"])]
        cells += [_cell(*result["measures"].get(name, (None, None))) for name in COLUMNS]
        cells.append(f"{result['clarity']:.2f}")
        cells.append(f"{result['search_depth']:.1f}, {result['search_nodes']:.0f}")
        cells.append("–" if result["clearness"] is None else f"{result['clearness']:,}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(value: float | None, error: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3g}" if error is None else f"{value:.3g} ± {2 * error:.2g}"


def main() -> None:
    """Measure the games that are not in the results yet, and write the table."""
    parser = arguments.parser(__doc__)
    parser.add_argument("results", type=Path, help="a file of JSON lines, to be continued")
    parser.add_argument(
        "--contests", type=arguments.count, default=30, help="of each game that is not in the file yet"
    )
    parser.add_argument(
        "--positions", type=arguments.count, default=20, help="of each such game that are searched"
    )
    parser.add_argument("--games", nargs="*", choices=GAMES, default=list(GAMES), metavar="GAME")
    parser.add_argument("--document", type=Path, help="a page with marks around its table, which is replaced")
    options = parser.parse_args()
    if options.document:
        # Before hours of measurements rather than after them.
        try:
            placed(options.document.read_text(encoding="utf-8"), "games", "")
        except (OSError, ValueError) as error:
            parser.error(f"{options.document}: {error}")
    kept = options.results.read_text().splitlines() if options.results.exists() else []
    results = {line["title"]: line for line in map(json.loads, kept)}
    for title in options.games:
        if title not in results:
            results[title] = measure(title, options.contests, options.positions)
        if "tempo" not in results[title]["measures"]:
            measured = tempo(rules_of(title), options.positions)
            results[title]["measures"]["tempo"] = measured or (None, None)
        write_whole(options.results, (f"{json.dumps(result)}\n".encode() for result in results.values()))
    shown = table([results[title] for title in GAMES if title in results])
    sys.stdout.write(shown)
    if options.document:
        page = options.document.read_text(encoding="utf-8")
        options.document.write_text(placed(page, "games", shown), encoding="utf-8")


if __name__ == "__main__":
    main()
