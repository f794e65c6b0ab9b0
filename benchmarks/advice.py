"""What learning by itself adds to a report, and a question for advice beside the same one for patterns.

    python -m benchmarks.advice
    python -m benchmarks.advice questions

Processor time is that of the store's process for reports, of client, server and writer together for
questions. Each question is asked in turn with an echo: a server of gRPC alone that returns as many bytes.
Each report goes to every game in turn, so all meet the same load of the machine. Contests are random games of
78 plies on 9x9, which have more different tesujis and patterns than real ones.
"""

import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from pathlib import Path
from statistics import median
from typing import Any, Final, TypeVar

import grpc
from grpc import aio

from academy.knowledge.boards import Board
from academy.knowledge.cells import State
from academy.knowledge.fair_use import LUDAE_FAIR_USE, FairUse
from academy.matching.warming import warm_up
from academy.service.limits import Limits
from academy.service.server import channel_options
from academy.store.contest_commands import ReportContest
from academy.store.game_registration import RegisterGame
from academy.store.library_store import Store
from academy.v1 import consultation_pb2, contests_pb2, game_pb2
from benchmarks import arguments
from benchmarks.intervals import median_with_interval
from clients import Academy, Connection, Seat
from clients.academy import Questions
from clients.seat import MatchOptions
from clients.streams import AnswerStream
from tests.academy.service.running import Running, limited
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
# What the server knows that is asked. The book is asked when that is due: before one move in four, or each.
KNOWN: Final = {
    "tesujis": _Learnt(analysed_patterns=0, tesuji_capacity=1_000),
    "tesujis, patterns": _Learnt(analysed_patterns=10, tesuji_capacity=1_000),
    "tesujis, patterns, evaluation": _Learnt(
        analysed_patterns=10, tesuji_capacity=1_000, evaluation=True, evaluation_patterns=5_000
    ),
    "all, and the book": _Learnt(
        analysed_patterns=10,
        tesuji_capacity=1_000,
        evaluation=True,
        evaluation_patterns=5_000,
        opening_moves_per_consultation=1,
    ),
}
MOVES: Final = 10
UNLIMITED: Final = {"questions_per_second": 1e9, "question_burst": 1e9}
_ECHO: Final = "benchmark.Echo"
# Questions before those that are measured; and contests of each bot, one for as many questions as boards.
WARMING: Final = 25
CONTESTS_OF_BOT: Final = 10
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
    game.placement = game_pb2.PLACEMENT_CAPTURING
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
        print(
            f"| {what} | {median(row[what] for row in rows):.1f} | {median_with_interval(ratios, 2)} |",
            flush=True,
        )


def _report(store: Store, played: contests_pb2.ReportContestRequest) -> float:
    begun = time.process_time()
    store.run(ReportContest(played, "benchmark"))
    return 1e3 * (time.process_time() - begun)


@dataclass(frozen=True)
class Table:
    """What bots may ask: about which boards, and these after each of some moves."""

    boards: list[Board]
    after: list[list[Board]]

    def advice(self, stream: Questions, seats: Sequence[Seat], number: int) -> None:
        """Ask for advice on all empty cells, and for the book's move where it is due."""
        contest, turn = divmod(number, len(self.boards))
        stream.advise(seats[contest % len(seats)], self.boards[turn], (), LOW, line=_line(turn))

    def advice_message(self, seat: Seat, turn: int) -> consultation_pb2.AdviseRequest:
        """The same question as its message."""
        message = seat.build_advice_request(self.boards[turn], (), LOW, line=_line(turn))
        assert message is not None, "advice may always be asked of a position this low"
        return message

    def patterns(self, stream: Questions, seats: Sequence[Seat], number: int) -> None:
        """Ask for the patterns that moves change."""
        contest, turn = divmod(number, len(self.boards))
        seat, board, options = seats[contest % len(seats)], self.boards[turn], MatchOptions((), MOST_MATCHES)
        stream.opponent_gains(seat, board, self.after[turn], LOW, plies=2 * turn, options=options)

    def successors(self, stream: Questions, seats: Sequence[Seat], number: int) -> None:
        """Ask which patterns moves change, in one question about the position."""
        contest, turn = divmod(number, len(self.boards))
        seat, board, options = seats[contest % len(seats)], self.boards[turn], MatchOptions((), MOST_MATCHES)
        stream.successors(seat, board, self.after[turn], LOW, plies=2 * turn, options=options)


def _line(turn: int) -> list[str]:
    return ["D4", "F6"] * turn


def measure_questions() -> None:
    """Print what a bot pays for advice, and for patterns instead."""
    print(
        "\n| a question on a stream | processor time, ms | an echo, ms | more than the echo, ms | p50, ms "
        "| questions a second, three bots |"
    )
    print("|---|---|---|---|---|---|")
    for known, settings in KNOWN.items():
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            # Else a bot that asks without thinking waits for its rate, and that would be measured.
            server = stack.enter_context(limited(folder / "data", **UNLIMITED))
            contests = reports()
            teach(server, settings, contests)
            boards = [Board.from_letters(go().geometry, ply.board) for ply in next(contests).plies[10:60:2]]
            table = Table(boards, [[*_with_pieces(board)] for board in boards])
            rules = FairUse(
                settings.opening_moves_per_consultation or LUDAE_FAIR_USE.opening_moves_per_consultation
            )
            _measure(server, rules, f"`Advise` on all empty cells: {known}", table, table.advice)
            if rules.opening_moves_per_consultation == 1:
                matching = f"`MatchPatterns`: patterns after {MOVES} moves"
                _measure(server, rules, matching, table, table.patterns)
                _measure(
                    server, rules, f"`MatchSuccessors`: what {MOVES} moves change", table, table.successors
                )


def teach(
    server: Running, settings: game_pb2.LibrarySettings, contests: Iterator[contests_pb2.ReportContestRequest]
) -> None:
    """Have a server learn from contests."""
    arena = server.arena()
    arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=taught(settings)))
    for played in islice(contests, CONTESTS):
        arena.contests.ReportContest(played)


@contextmanager
def _echoing(server: Running, answer: consultation_pb2.PlayResponse) -> Iterator[int]:
    """A server of gRPC alone in the loop of another one, at a port of its own; it returns one answer."""

    async def play(requests: AsyncIterator[consultation_pb2.PlayRequest], _: Any) -> AsyncIterator[Any]:
        async for _request in requests:
            yield answer

    async def start() -> tuple[aio.Server, int]:
        echo = aio.server(options=channel_options(Limits()))
        handler = grpc.stream_stream_rpc_method_handler(
            play,
            consultation_pb2.PlayRequest.FromString,
            consultation_pb2.PlayResponse.SerializeToString,
        )
        echo.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_ECHO, {"Play": handler}),))
        port = echo.add_insecure_port("127.0.0.1:0")
        await echo.start()
        return echo, port

    echo, port = server.within(start())
    try:
        yield port
    finally:
        server.within(echo.stop(0.0))


def _measure(
    server: Running,
    rules: FairUse,
    what: str,
    table: Table,
    ask: Callable[[Questions, Sequence[Seat], int], None],
) -> None:
    """Print the row of one question; each turn of a contest is asked about once."""
    arena = server.arena()
    with ExitStack() as stack:
        bots = []
        for name in map(str, range(BOTS)):
            seats = []
            for number in range(CONTESTS_OF_BOT):
                played = contest(f"{what[:5]}-{name}-{number}", GAME)
                played.players[0].name = name
                arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=played))
                seats.append(Seat(GAME, go().geometry, 1, played.contest_id, rules))
            academy = stack.enter_context(Academy(Connection(str(server.address), server.token(name))))
            bots.append(partial(ask, stack.enter_context(academy.stream()), seats))
        alone = bots[0]
        times(alone, range(WARMING), time.process_time)
        message = table.advice_message(seats[0], 0)
        token = server.token(str(BOTS - 1))
        known = server.client(token).consultation.Advise(message)
        port = stack.enter_context(_echoing(server, consultation_pb2.PlayResponse(advice=known)))
        connection = Connection(f"127.0.0.1:{port}", token)
        channel = stack.enter_context(connection.channel())
        play = channel.stream_stream(
            f"/{_ECHO}/Play",
            consultation_pb2.PlayRequest.SerializeToString,
            consultation_pb2.PlayResponse.FromString,
        )
        echo = AnswerStream(play, connection)
        stack.callback(echo.close)
        echoed = consultation_pb2.PlayRequest(advice=message)
        ask_echo = partial(echo.ask, seconds=echo.seconds)
        times(ask_echo, [echoed] * WARMING, time.process_time)
        spent, of_echo = [], []
        for number in range(WARMING, WARMING + QUESTIONS):
            spent += times(alone, [number], time.process_time)
            of_echo += times(ask_echo, [echoed], time.process_time)
        more = [whole - part for whole, part in zip(spent, of_echo, strict=True)]
        waited = times(alone, range(WARMING + QUESTIONS, WARMING + 2 * QUESTIONS), time.perf_counter)
        begun = time.perf_counter()
        with ThreadPoolExecutor(BOTS) as pool:
            asking = [pool.submit(times, bot, range(QUESTIONS), time.perf_counter) for bot in bots[1:]]
            for question in asking:
                question.result()
        rate = len(asking) * QUESTIONS / (time.perf_counter() - begun)
        columns = " | ".join(median_with_interval(taken, 2) for taken in (spent, of_echo, more, waited))
        print(f"| {what} | {columns} | {rate:,.0f} |", flush=True)


def _with_pieces(board: Board) -> Iterator[Board]:
    empty = [cell for cell, state in enumerate(board.states) if state == State.EMPTY]
    for cell in empty[:MOVES]:
        states = bytearray(board.states)
        states[cell] = State.SECOND_SOLDIER
        yield Board(board.geometry, bytes(states))


def main() -> None:
    """Print both tables, or the one of questions."""
    parser = arguments.parser(__doc__)
    parser.add_argument("part", nargs="?", choices=["questions"], help="measure these alone")
    if parser.parse_args().part is None:
        measure_reports()
    # A server compiles its kernel beside its first answers, for a minute or two.
    warm_up()
    measure_questions()


if __name__ == "__main__":
    main()
