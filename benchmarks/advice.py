"""What tesujis cost: learning from a report, and a question for advice beside the same one for patterns.

    python -m benchmarks.advice

Times are medians of processor time: of the store's process for reports, of client, server and writer together
for questions. Contests are random games of 78 plies on 9x9, which have more different tesujis than real ones.
"""

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
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
from clients.seat import MatchOptions
from tests.academy.service.running import serving
from tests.academy.store.examples import contest, go, go_game, report

Item = TypeVar("Item")

GAME: Final = "go-9x9"
CONTESTS: Final = 80
QUESTIONS: Final = 200
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


def milliseconds(act: Callable[[Item], object], items: Iterable[Item]) -> float:
    """The median of the processor time that something takes."""
    taken = []
    for item in items:
        begun = time.process_time()
        act(item)
        taken.append(time.process_time() - begun)
    return 1e3 * median(taken)


def cost_of_report(settings: game_pb2.LibrarySettings) -> float:
    """The milliseconds of a report to a game that has learnt under these settings."""
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "data") as store:
        store.run(RegisterGame(taught(settings), "benchmark"))
        contests = reports()

        def learn(played: contests_pb2.ReportContestRequest) -> None:
            store.run(ReportContest(played, "benchmark"))

        for _ in range(CONTESTS):
            learn(next(contests))
        return milliseconds(learn, list(islice(contests, CONTESTS)))


def measure_reports() -> None:
    """Print a row for each combination of what is learnt."""
    print("| a report, and what ACADEMY learns by itself | without tesujis, ms | with 1,000, ms |")
    print("|---|---|---|")
    for patterns in (0, 10):
        without, learning = (
            cost_of_report(game_pb2.LibrarySettings(tesuji_capacity=tesujis, analysed_patterns=patterns))
            for tesujis in (0, 1_000)
        )
        print(f"| `analysed_patterns` = {patterns} | {without:.1f} | {learning:.1f} |", flush=True)


def measure_questions() -> None:
    """Print what a bot pays for advice, and for patterns instead."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "data") as server:
        arena = server.arena()
        settings = game_pb2.LibrarySettings(tesuji_capacity=1_000, analysed_patterns=10)
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=taught(settings)))
        contests = reports()
        for _ in range(CONTESTS):
            arena.contests.ReportContest(next(contests))
        opened = contests_pb2.OpenContestRequest(contest=contest("measured", GAME))
        ticket = arena.contests.OpenContest(opened).tickets[0]
        seat = Seat(GAME, go().geometry, 1, "measured")
        boards = [Board.from_letters(seat.geometry, ply.board) for ply in next(contests).plies[10:60:2]]
        after = [[*_with_pieces(board)] for board in boards]
        print("\n| a question on a stream | ms |\n|---|---|")
        with Academy(Connection(str(server.address), ticket)) as academy, academy.stream() as stream:
            rows = {
                "advice on all empty cells": lambda number: stream.advise(
                    seat, boards[number % len(boards)], (), LOW, plies=number
                ),
                f"patterns after {MOVES} moves": lambda number: stream.opponent_gains(
                    seat,
                    boards[number % len(boards)],
                    after[number % len(boards)],
                    LOW,
                    plies=number,
                    options=MatchOptions((), MOST_MATCHES),
                ),
            }
            for what, ask in rows.items():
                milliseconds(ask, range(len(boards)))
                print(f"| {what} | {milliseconds(ask, range(QUESTIONS)):.2f} |", flush=True)


def _with_pieces(board: Board) -> Iterator[Board]:
    empty = [cell for cell, state in enumerate(board.states) if state == State.EMPTY]
    for cell in empty[:MOVES]:
        states = bytearray(board.states)
        states[cell] = State.SECOND_SOLDIER
        yield Board(board.geometry, bytes(states))


if __name__ == "__main__":
    measure_reports()
    measure_questions()
