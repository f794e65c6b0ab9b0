"""After a change of rules: how long old libraries give wrong answers, and how new contests correct them.

    python -m research.change

ACADEMY learns connect four. Then the rules change: the player that makes a row has lost. The same contests
are reported to a fork of the game, which begins with the old libraries, and to a new game, which begins with
none. Before each report both are asked what they expect in the contest's positions. The Brier score of these
answers against the contest's result says how wrong they are; a quarter is that of one who expects a half
everywhere.
"""

import json
import random
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any, Final

from academy.knowledge.boards import Board
from academy.knowledge.spec import GameSpec
from academy.v1 import contests_pb2, game_pb2, libraries_pb2, libraries_pb2_grpc
from arena.academy.client import AcademyClient
from arena.academy.embedded import EmbeddedAcademy
from benchmarks import arguments
from clients.academy import Academy
from clients.bots.strength import Strength
from clients.connection import Connection
from clients.seat import Seat
from referees.api import Outcome
from referees.openspiel import OpenSpiel, SpielPosition
from research.contests import Entrant, play
from research.whole_lines import read_whole_lines

SETTINGS: Final = {"game": "connect_four"}
BLOCK: Final = 20
# Patterns that ACADEMY cuts from a contest.
PATTERNS: Final = 8
UNKNOWN: Final = 0.5
# Plies at the beginning of a contest, and the share at its end, that both are asked about.
OPENING_PLIES: Final = 6
ENDGAME_SHARE: Final = 0.2
# Playouts a move, and their Elo.
LEVELS: Final = {4: 1000.0, 16: 1200.0, 40: 1400.0}
GAMES: Final = ("fork", "new")


@dataclass(frozen=True)
class Block:
    """What some contests in succession say: Brier scores by game and library, and the share that is known."""

    contests: int
    brier: dict[str, float]
    known: dict[str, float]


@dataclass(frozen=True)
class Question:
    """A position of a contest: the moves to it, the board after the next move, its mover and the result."""

    moves: Sequence[str]
    move: str
    board: Board
    seat: int
    score: float


class Misere(OpenSpiel):
    """The changed game: who would have won has lost."""

    # Not that of OpenSpiel's games, whose random games are played without asking for the outcome here.
    name = "misere"

    def outcome(self, position: SpielPosition) -> Outcome | None:
        """The outcome with the winner and the loser exchanged."""
        outcome = super().outcome(position)
        if outcome is None or len(outcome.winners) != 1:
            return outcome
        return replace(outcome, winners=(3 - outcome.winners[0],))


def rules(changed: bool) -> OpenSpiel:
    """The game before or after the change."""
    return (Misere if changed else OpenSpiel).from_settings(SETTINGS)


def contest(changed: bool, number: int, seed: str) -> contests_pb2.ReportContestRequest:
    """A contest of two of the population, drawn by chance."""
    chance = random.Random(f"{seed}/{changed}/{number}")
    entrants = []
    for seat in (1, 2):
        level = chance.choice(tuple(LEVELS))
        name = f"level {level} {'first' if seat == 1 else 'second'}"
        entrants.append(Entrant(name, Strength("monte-carlo", playouts=level), LEVELS[level]))
    report = play(rules(changed), f"{seed}/{number}", entrants, f"{seed}/{changed}/{number}").report
    report.elo_after.extend(entrant.elo for entrant in entrants)
    return report


def questions(report: contests_pb2.ReportContestRequest, changed: bool) -> Iterator[Question]:
    """The positions of a contest that both games are asked about."""
    play_on, moves = rules(changed), [ply.move for ply in report.plies]
    position = play_on.start(0)
    won = [result == contests_pb2.RESULT_WIN for result in report.results]
    drawn = not any(won)
    for number, ply in enumerate(report.plies):
        position = play_on.play(position, {ply.player: play_on.read_move(position, ply.player, ply.move)})
        yield Question(
            moves[:number],
            ply.move,
            play_on.board(position, 1),
            ply.player,
            UNKNOWN if drawn else float(won[ply.player - 1]),
        )


def expected_in_opening(academy: Academy, spec: GameSpec, game: str, question: Question) -> float | None:
    """What the opening tree expects for the mover; None where it does not know the move."""
    seat = Seat(game, spec.geometry, question.seat)
    for known in academy.opening(seat, question.moves, own_moves=len(question.moves) // 2):
        if question.move == known.move or question.move in known.equivalents:
            return known.value
    return None


def expected_by_patterns(academy: Academy, spec: GameSpec, game: str, question: Question) -> float | None:
    """What the patterns on a board expect for the mover, on the average; None without any."""
    seat = Seat(game, spec.geometry, question.seat)
    (matches,) = academy.patterns(seat, [question.board])
    return statistics.fmean(match.value for match in matches) if matches else None


class Comparison:
    """One ACADEMY with the old game, its fork and the new game."""

    def __init__(self, connection: Connection, seed: str) -> None:
        self._connection = connection
        self._seed = seed
        self._link = AcademyClient(connection)
        self._spec = rules(changed=False).spec()
        self._register(self._spec)

    def _register(self, spec: GameSpec) -> None:
        """Register a game whose patterns ACADEMY cuts from the contests itself, as nobody else proposes."""
        self._link.register_game(spec)
        settings = game_pb2.LibrarySettings(analysed_patterns=PATTERNS)
        with self._connection.channel() as channel:
            libraries_pb2_grpc.LibraryServiceStub(channel).UpdateSettings(
                libraries_pb2.UpdateSettingsRequest(
                    game_id=spec.game_id, settings=settings, fields=["analysed_patterns"]
                ),
                metadata=self._connection.metadata,
            )

    def learn_old(self, contests: int) -> None:
        """Report contests of the old game, and fork it."""
        for number in range(contests):
            self._report(contest(False, number, f"{self._seed}-old"), self._spec.game_id)
        self._register(replace(self._spec, game_id="new"))
        with self._connection.channel() as channel:
            libraries_pb2_grpc.LibraryServiceStub(channel).ForkGame(
                libraries_pb2.ForkGameRequest(game_id=self._spec.game_id, new_game_id="fork"),
                metadata=self._connection.metadata,
            )

    def follow(self, contests: int) -> Iterator[Block]:
        """Report contests of the changed game to both, and say after each block how wrong they were."""
        answers: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
        with Academy(self._connection) as academy:
            for number in range(contests):
                report = contest(True, number, self._seed)
                for game in GAMES:
                    for name, answer in self._ask(academy, report, game):
                        answers[name].append(answer)
                    self._report(report, game)
                if (number + 1) % BLOCK == 0:
                    brier, known = (
                        {
                            name: statistics.fmean(figures[place] for figures in pairs)
                            for name, pairs in answers.items()
                        }
                        for place in (0, 1)
                    )
                    yield Block(number + 1, brier, known)
                    answers.clear()

    def close(self) -> None:
        """End the connection."""
        self._link.close()

    def _ask(
        self, academy: Academy, report: contests_pb2.ReportContestRequest, game: str
    ) -> Iterator[tuple[str, tuple[float, float]]]:
        """Yield for each question the game and library, the Brier score, and 1 where the answer is known."""
        positions = list(questions(report, True))
        late = round(len(positions) * (1.0 - ENDGAME_SHARE))
        for library, expect, chosen in (
            ("openings", expected_in_opening, positions[:OPENING_PLIES]),
            ("patterns", expected_by_patterns, positions[late:]),
        ):
            for question in chosen:
                value = expect(academy, self._spec, game, question)
                brier = ((UNKNOWN if value is None else value) - question.score) ** 2
                yield f"{game} {library}", (brier, float(value is not None))

    def _report(self, report: contests_pb2.ReportContestRequest, game: str) -> None:
        report = contests_pb2.ReportContestRequest.FromString(report.SerializeToString())
        report.contest.game_id = game
        report.contest.contest_id = f"{game}/{report.contest.contest_id}"
        self._link.open_contest(report.contest)
        self._link.report(report)


def measure(seed: str, old: int, new: int) -> list[Block]:
    """One repetition, with an ACADEMY of its own."""
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(EmbeddedAcademy(Path(folder) / "data", Path(folder) / "server.log")) as server,
        closing(Comparison(server.start(), seed)) as comparison,
    ):
        comparison.learn_old(old)
        return list(comparison.follow(new))


def main() -> None:
    """Measure, keep each repetition's blocks as a line of JSON, and draw the means."""
    parser = arguments.parser(__doc__)
    parser.add_argument(
        "results", type=Path, help="a file of JSON lines; repetitions in it are not made again"
    )
    parser.add_argument("--old", type=arguments.count, default=200, help="contests before the change")
    parser.add_argument("--new", type=arguments.count, default=300, help="contests after it")
    parser.add_argument(
        "--repetitions", type=arguments.count, default=5, help="measure until the file has as many"
    )
    parser.add_argument("--plot", type=Path, help="an SVG file to draw")
    options = parser.parse_args()
    if options.new % BLOCK:
        parser.error(f"--new {options.new}: give a multiple of {BLOCK}, of which each point is the mean")
    lines = list(map(json.loads, read_whole_lines(options.results)))
    size = {"old": options.old, "new": options.new}
    for line in lines:
        if any(line[name] != count for name, count in size.items()):
            parser.error(
                f"{options.results}: measured with --old {line['old']} --new {line['new']}, not with "
                f"--old {options.old} --new {options.new}; give these, or another file"
            )
    for number in range(len(lines), options.repetitions):
        blocks = [vars(block) for block in measure(f"change-{number}", options.old, options.new)]
        lines.append(size | {"blocks": blocks})
        with options.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(lines[-1]) + "\n")
    repetitions = [line["blocks"] for line in lines]
    for library in ("openings", "patterns"):
        sys.stdout.write(f"\n{library}: Brier score of the fork, of the new game, and share known of both\n")
        for block in zip(*repetitions, strict=True):
            sys.stdout.write(_row(block, library) + "\n")
    if options.plot:
        options.plot.write_text(drawing(repetitions), encoding="utf-8")


def _row(blocks: Sequence[dict[str, Any]], library: str) -> str:
    cells = [f"{blocks[0]['contests']:5d}"]
    for figure in ("brier", "known"):
        for game in GAMES:
            values = [block[figure][f"{game} {library}"] for block in blocks]
            spread = 2.0 * statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
            cells.append(f"{statistics.fmean(values):.3f} ± {spread:.3f}")
    return "  ".join(cells)


_COLOURS: Final = {"fork": "#c2410c", "new": "#1d4ed8"}
_WIDTH: Final = 360
_HEIGHT: Final = 220


def drawing(repetitions: Sequence[Sequence[dict[str, Any]]]) -> str:
    """Both libraries' scores over the contests since the change."""
    parts = [_panel(repetitions, library, 50 + place * (_WIDTH + 60)) for place, library in
             enumerate(("openings", "patterns"))]  # fmt: skip
    width, height = 2 * (_WIDTH + 60) + 20, _HEIGHT + 80
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="12" fill="#444">{"".join(parts)}</svg>\n'
    )


def _panel(repetitions: Sequence[Sequence[dict[str, Any]]], library: str, left: int) -> str:
    top, most = 30, 0.5
    last = repetitions[0][-1]["contests"]

    def at(contests: float, brier: float) -> str:
        return f"{left + contests / last * _WIDTH:.1f},{top + (1 - min(brier, most) / most) * _HEIGHT:.1f}"

    parts = [f'<text x="{left}" y="18" font-weight="bold">{escape(library)}</text>']
    for brier in (0.0, 0.25, 0.5):
        (x1, y), (x2, _) = at(0, brier).split(","), at(last, brier).split(",")
        parts.append(f'<line x1="{x1}" y1="{y}" x2="{x2}" y2="{y}" stroke="#bbb"/>')
        parts.append(f'<text x="{left - 6}" y="{float(y) + 4}" text-anchor="end">{brier:g}</text>')
    for contests in range(0, last + 1, 100):
        x = at(contests, 0).split(",")[0]
        parts.append(f'<text x="{x}" y="{top + _HEIGHT + 16}" text-anchor="middle">{contests}</text>')
    for place, game in enumerate(GAMES):
        points = " ".join(
            at(
                blocks[0]["contests"] - BLOCK / 2,
                statistics.fmean(b["brier"][f"{game} {library}"] for b in blocks),
            )
            for blocks in zip(*repetitions, strict=True)
        )
        parts.append(f'<polyline points="{points}" fill="none" stroke="{_COLOURS[game]}" stroke-width="2"/>')
        parts.append(f'<text x="{left + 90 + 80 * place}" y="18" fill="{_COLOURS[game]}">{game}</text>')
    middle = left + _WIDTH / 2
    parts.append(f'<text x="{middle}" y="{top + _HEIGHT + 36}" text-anchor="middle">contests</text>')
    return "".join(parts)


if __name__ == "__main__":
    main()
