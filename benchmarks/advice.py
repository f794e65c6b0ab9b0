"""What learning by itself adds to a report, and a question for advice beside the same one for patterns.

    python -m benchmarks.advice

Processor time is that of the store's process for reports, of client, server and writer together for
questions. Each report goes to every game in turn, so all meet the same load of the machine. Contests are
random games of 78 plies on 9x9, which have more different tesujis and patterns than real ones.
"""

import math
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from pathlib import Path
from statistics import median
from typing import Final, TypeVar

from academy.knowledge.boards import Board
from academy.knowledge.cells import State
from academy.store.contest_commands import RegisterGame, ReportContest
from academy.store.library_store import Store
from academy.v1 import contests_pb2, game_pb2
from clients import Academy, Connection, Seat
from clients.academy import Questions
from clients.seat import MatchOptions
from tests.academy.service.running import serving
from tests.academy.store.examples import contest, go, go_game, report

Item = TypeVar("Item")

GAME: Final = "go-9x9"
CONTESTS: Final = 80
QUESTIONS: Final = 100
BOTS: Final = 4
_Learnt = game_pb2.LibrarySettings
LEARNT: Final = {
    "nothing": _Learnt(analysed_patterns=0),
    "1,000 tesujis": _Learnt(analysed_patterns=0, tesuji_capacity=1_000),
    "evaluation, features alone": _Learnt(analysed_patterns=0, evaluation=True, evaluation_patterns=0),
    "evaluation, 1,000 patterns": _Learnt(analysed_patterns=0, evaluation=True, evaluation_patterns=1_000),
    "evaluation, 5,000 patterns": _Learnt(analysed_patterns=0, evaluation=True, evaluation_patterns=5_000),
    "`analysed_patterns` = 10": _Learnt(analysed_patterns=10),
    "that, 1,000 tesujis and 5,000 patterns": _Learnt(
        analysed_patterns=10, tesuji_capacity=1_000, evaluation=True, evaluation_patterns=5_000
    ),
}
MOVES: Final = 10
# What bots ask for: `clients.bots.advised_player`.
MOST_MATCHES: Final = 32
LOW: Final = 0.2


def reports() -> Iterator[contests_pb2.ReportContestRequest]:
    """Contests with all boards."""
    for number in count():
        played = report(f"{number}", GAME, plies=78)
        played.start_board = "-" * len(played.plies[0].board)
        yield played


def taught(settings: game_pb2.LibrarySettings) -> game_pb2.Game:
    game = go_game(GAME)
    game.settings.CopyFrom(settings)
    return game


def times(act: Callable[[Item], object], items: Iterable[Item], clock: Callable[[], float]) -> list[float]:
    """The milliseconds that something takes, by a clock."""
    taken = []
    for item in items:
        begun = clock()
        act(item)
        taken.append(1e3 * (clock() - begun))
    return taken


def interval(values: Sequence[float]) -> str:
    """A median with its 95 % interval, by the order of the values."""
    ordered = sorted(values)
    beside = math.ceil(0.98 * math.sqrt(len(ordered)))
    low, high = (
        ordered[len(ordered) // 2 - beside],
        ordered[min(len(ordered) // 2 + beside, len(ordered) - 1)],
    )
    return f"{median(ordered):.2f} [{low:.2f}, {high:.2f}]"


def measure_reports() -> None:
    """Print a row for each combination of what is learnt."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        learning: dict[str, Callable[[contests_pb2.ReportContestRequest], float]] = {}
        for number, (what, settings) in enumerate(LEARNT.items()):
            store = stack.enter_context(Store(folder / f"{number}"))
            store.run(RegisterGame(taught(settings), "benchmark"))
            learning[what] = partial(_report, store)
        contests = reports()
        for played in islice(contests, CONTESTS):
            for learn in learning.values():
                learn(played)
        rows = [
            {what: learn(played) for what, learn in learning.items()} for played in islice(contests, CONTESTS)
        ]
    print("| a report, and what ACADEMY learns by itself | ms | times the first row |\n|---|---|---|")
    first = next(iter(LEARNT))
    for what in LEARNT:
        ratios = [row[what] / row[first] for row in rows]
        print(f"| {what} | {median(row[what] for row in rows):.1f} | {interval(ratios)} |", flush=True)


def _report(store: Store, played: contests_pb2.ReportContestRequest) -> float:
    begun = time.process_time()
    store.run(ReportContest(played, "benchmark"))
    return 1e3 * (time.process_time() - begun)


@dataclass(frozen=True)
class Table:
    """What bots may ask: of which seats, about which boards, and these after each of some moves."""

    seats: list[Seat]
    boards: list[Board]
    after: list[list[Board]]

    def advice(self, stream: Questions, seat: Seat, number: int) -> None:
        """Ask for advice on all empty cells."""
        stream.advise(seat, self.boards[number % len(self.boards)], (), LOW, line=[""] * number)

    def patterns(self, stream: Questions, seat: Seat, number: int) -> None:
        """Ask for the patterns that moves change."""
        board, after = self.boards[number % len(self.boards)], self.after[number % len(self.boards)]
        options = MatchOptions((), MOST_MATCHES)
        stream.opponent_gains(seat, board, after, LOW, plies=number, options=options)


def measure_questions() -> None:
    """Print what a bot pays for advice, and for patterns instead."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "data") as server:
        arena = server.arena()
        settings = game_pb2.LibrarySettings(tesuji_capacity=1_000, analysed_patterns=10)
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=taught(settings)))
        contests = reports()
        for _ in range(CONTESTS):
            arena.contests.ReportContest(next(contests))
        tickets, seats = [], []
        for number in range(BOTS):
            played = contest(f"measured-{number}", GAME)
            opened = arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=played))
            tickets.append(opened.tickets[0])
            seats.append(Seat(GAME, go().geometry, 1, played.contest_id))
        boards = [Board.from_letters(go().geometry, ply.board) for ply in next(contests).plies[10:60:2]]
        table = Table(seats, boards, [[*_with_pieces(board)] for board in boards])
        print("\n| a question on a stream | processor time, ms | p50, ms | questions a second, four bots |")
        print("|---|---|---|---|")
        with ExitStack() as stack:
            streams = []
            for ticket in tickets:
                academy = stack.enter_context(Academy(Connection(str(server.address), ticket)))
                streams.append(stack.enter_context(academy.stream()))
            for what, ask in (
                ("`Advise`: advice on all empty cells", table.advice),
                (f"`MatchSuccessors`: patterns after {MOVES} moves", table.patterns),
            ):
                alone = partial(ask, streams[0], seats[0])
                times(alone, range(len(boards)), time.process_time)
                spent = times(alone, range(QUESTIONS), time.process_time)
                waited = times(alone, range(QUESTIONS), time.perf_counter)
                begun = time.perf_counter()
                with ThreadPoolExecutor(BOTS) as pool:
                    asking = [
                        pool.submit(times, partial(ask, *bot), range(QUESTIONS), time.perf_counter)
                        for bot in zip(streams, seats, strict=True)
                    ]
                    for asked in asking:
                        asked.result()
                rate = BOTS * QUESTIONS / (time.perf_counter() - begun)
                print(f"| {what} | {interval(spent)} | {interval(waited)} | {rate:,.0f} |", flush=True)


def _with_pieces(board: Board) -> Iterator[Board]:
    empty = [cell for cell, state in enumerate(board.states) if state == State.EMPTY]
    for cell in empty[:MOVES]:
        states = bytearray(board.states)
        states[cell] = State.SECOND_SOLDIER
        yield Board(board.geometry, bytes(states))


if __name__ == "__main__":
    measure_reports()
    measure_questions()
