"""What a question about openings costs in a contest, where ACADEMY counts it.

    python -m benchmarks.openings

Times are medians of processor time of client, server and writer together, in one process. The tree is full:
1,000 nodes of Go 9x9, learnt from contests whose players like some moves much more than others. Each question
is the first of its seat, so it is counted.
"""

import random
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from statistics import median
from typing import Final

from academy.knowledge.contests import Contestant, ContestReport, Ply, Result
from academy.knowledge.openings import OpeningTree
from academy.knowledge.settings import LibrarySettings
from academy.store.codec.openings import node_to_proto
from academy.store.library_import import ImportLibraries
from academy.v1 import contests_pb2, pattern_pb2
from benchmarks import arguments
from clients import Academy, Connection, Seat
from clients.academy import Questions
from tests.academy.service.running import Running, serving
from tests.academy.store.examples import contest, go, go_game

GAME: Final = "go-9x9"
BOT: Final = "gnugo 1"
CONTESTS: Final = 2_000
DEPTH: Final = 14
WIDTH: Final = 7
# The chance that a player prefers the next move of the list to all before it.
FICKLE: Final = 0.4
QUESTIONS: Final = 100
_numbers = count()


def nodes() -> list[pattern_pb2.OpeningNodeRecord]:
    """A tree as two thousand contests leave it: each move is one of a few, the first of them most often."""
    chance = random.Random(7)
    spec, tree, fresh_id = go(), OpeningTree(go()), 1
    players = Contestant("ann", 1500.0), Contestant("bob", 1500.0)
    for number in range(CONTESTS):
        results = (Result.WIN, Result.LOSS) if chance.random() < 0.5 else (Result.LOSS, Result.WIN)
        plies = []
        for depth in range(1, DEPTH + 1):
            choice = 0
            while choice < WIDTH - 1 and chance.random() < FICKLE:
                choice += 1
            cell = spec.cell_names[(WIDTH * depth + choice) % len(spec.cell_names)]
            plies.append(Ply(2 - depth % 2, cell, values={1: chance.random()}))
        report = ContestReport(f"{number}", players, tuple(plies), results)
        fresh_id = tree.learn(report, fresh_id, 3.0 * DEPTH, LibrarySettings())
    return [node_to_proto(node, GAME) for node in sorted(tree.nodes.values(), key=lambda node: node.depth)]


def taught(server: Running, plies_ahead: int) -> None:
    """Have a server know a full tree."""
    game = go_game(GAME)
    game.settings.opening_plies_ahead = plies_ahead
    server.arena().contests.RegisterGame(contests_pb2.RegisterGameRequest(game=game))
    server.store.run(ImportLibraries(GAME, {}, nodes(), False, "benchmark"))


def seats(server: Running, count: int) -> Iterator[Seat]:
    """Seats of contests, each opened when it is needed."""
    arena = server.arena().contests
    for _ in range(count):
        played = contest(f"measured-{next(_numbers)}", GAME)
        arena.OpenContest(contests_pb2.OpenContestRequest(contest=played))
        yield Seat(GAME, go().geometry, 1, played.contest_id)


def milliseconds(server: Running, asking: Questions, learns: bool) -> float:
    """The median of the processor time of a question, after the game has learnt where it `learns`."""
    taken = []
    root = [node for node in nodes() if not node.node_id]
    for seat in seats(server, QUESTIONS):
        if learns:
            server.store.run(ImportLibraries(GAME, {}, root, False, "benchmark", again=True))
        begun = time.process_time()
        asking.book_move(seat, [], 0)
        taken.append(time.process_time() - begun)
    return 1e3 * median(taken)


def main() -> None:
    """Print the table."""
    arguments.parser(__doc__).parse_args()
    print("| a question about openings | as a call, ms | on a stream, ms |\n|---|---|---|")
    for ahead in (0, 6):
        with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "data") as server:
            taught(server, ahead)
            connection = Connection(str(server.address), server.token(BOT))
            with Academy(connection) as academy, academy.stream() as stream:
                for row, learns in (("asked before", False), ("new since a contest", True)):
                    call, streamed = (milliseconds(server, asking, learns) for asking in (academy, stream))
                    print(f"| {row}, {ahead} plies ahead | {call:.2f} | {streamed:.2f} |", flush=True)


if __name__ == "__main__":
    main()
