"""How long a matching query takes: 5,000 patterns under 8 symmetries on 19x19 middle-game boards.

Run with `python -m benchmarks.matching`. Boards come from random games, patterns are cut out of other
random games and blurred: "plain" ones keep at least 15 bits of information, "loose" ones 8, for
which thousands of places match on every board.
"""

import random
import tracemalloc
from collections.abc import Callable, Iterator
from math import log2
from statistics import median, quantiles
from time import perf_counter

from sgfmill.boards import Board as GoBoard

from academy.knowledge.boards import Board, SquareGeometry
from academy.knowledge.cells import Code, State
from academy.knowledge.patterns import Pattern, grid_pattern
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import SQUARE
from academy.matching.index import PatternIndex
from tests.academy.matching.reference import all_matches, state_at

SIZE = 19
PATTERNS = 5_000
SEED = 2024
SOURCE_GAMES = 200
BOARDS = 20
ROUNDS = 10
NAIVE_BOARDS = 1
PLIES = range(100, 160)
PLAIN_BITS = 15.0
LOOSE_BITS = 8.0
SIDES = (3, 3, 3, 4, 4, 5, 5, 5)
LARGE_SIDES = (6, 7, 8, 9)
LARGE_SHARE = 0.05
EDGE_RIM = 1

GO = GameSpec("go", SquareGeometry(SIZE, SIZE), symmetries=tuple(SQUARE))

# How often a middle-game board satisfies each code, and what a cell may be blurred to.
ODDS = {
    Code.EMPTY: 0.66,
    Code.FIRST_SOLDIER: 0.17,
    Code.FIRST_PIECE: 0.17,
    Code.SECOND_SOLDIER: 0.17,
    Code.SECOND_PIECE: 0.17,
    Code.NO_SECOND_PIECE: 0.83,
    Code.NO_FIRST_PIECE: 0.83,
    Code.OFF_BOARD: 0.1,
    Code.ANYTHING: 1.0,
}
BLURRED = {
    State.EMPTY: (Code.NO_SECOND_PIECE, Code.NO_FIRST_PIECE, Code.ANYTHING),
    State.FIRST_SOLDIER: (Code.FIRST_PIECE, Code.NO_SECOND_PIECE, Code.ANYTHING),
    State.SECOND_SOLDIER: (Code.SECOND_PIECE, Code.NO_FIRST_PIECE, Code.ANYTHING),
    State.OFF_BOARD: (Code.OFF_BOARD, Code.ANYTHING),
}


def middle_game(chance: random.Random) -> Board:
    """A random game's position: most moves are played beside the one before."""
    board = GoBoard(SIZE)
    last = (SIZE // 2, SIZE // 2)
    for ply in range(chance.choice(PLIES)):
        row, column = last
        while board.get(row, column) is not None:
            near = chance.random() < 0.7
            row = last[0] + chance.randint(-3, 3) if near else chance.randrange(SIZE)
            column = last[1] + chance.randint(-3, 3) if near else chance.randrange(SIZE)
            row, column = min(max(row, 0), SIZE - 1), min(max(column, 0), SIZE - 1)
        board.play(row, column, "bw"[ply % 2])
        last = row, column
    states = {None: State.EMPTY, "b": State.FIRST_SOLDIER, "w": State.SECOND_SOLDIER}
    return Board(
        GO.geometry, bytes(states[board.get(row, column)] for row in range(SIZE) for column in range(SIZE))
    )


def blurred_patterns(
    chance: random.Random, boards: list[Board], blur: float, bits: float
) -> Iterator[Pattern]:
    while True:
        board = chance.choice(boards)
        sides = LARGE_SIDES if chance.random() < LARGE_SHARE else SIDES
        rows, columns = chance.choice(sides), chance.choice(sides)
        top = chance.randint(-EDGE_RIM, SIZE + EDGE_RIM - rows)
        left = chance.randint(-EDGE_RIM, SIZE + EDGE_RIM - columns)
        codes = []
        for row in range(rows):
            for column in range(columns):
                state = State(state_at(board, top + row, left + column))
                codes.append(chance.choice(BLURRED[state]) if chance.random() < blur else Code(state))
        information = -sum(log2(ODDS[code]) for code in codes)
        stones = sum(ODDS[code] < 0.2 and code is not Code.OFF_BOARD for code in codes)
        if stones and information >= bits:
            yield grid_pattern((*divmod(place, columns), code) for place, code in enumerate(codes))


def microseconds(work: Callable[..., object], *args: object) -> float:
    begin = perf_counter()
    work(*args)
    return (perf_counter() - begin) * 1e6


def filled(library: dict[int, Pattern]) -> tuple[PatternIndex, list[float]]:
    index = PatternIndex(GO)
    return index, [microseconds(index.put, pattern_id, library[pattern_id]) for pattern_id in library]


def memory_of_index(library: dict[int, Pattern]) -> int:
    tracemalloc.start()
    index, _ = filled(library)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(index) == len(library)
    return taken


def report(name: str, blur: float, bits: float) -> None:
    chance = random.Random(SEED)
    source = [middle_game(chance) for _ in range(SOURCE_GAMES)]
    boards = [middle_game(chance) for _ in range(BOARDS)]
    drawn = blurred_patterns(chance, source, blur, bits)
    library = {pattern_id: next(drawn) for pattern_id in range(PATTERNS)}
    cells = sum(len(pattern.cells) for pattern in library.values())
    tested = sum(code != Code.ANYTHING for pattern in library.values() for code in pattern.codes)

    index, puts = filled(library)
    found = [len(index.match(board)) for board in boards]
    queries = [microseconds(index.match, board) for _ in range(ROUNDS) for board in boards]
    naive = median(microseconds(all_matches, GO, library, board) for board in boards[:NAIVE_BOARDS])
    removed = chance.sample(sorted(library), PATTERNS // 2)
    removals = [microseconds(index.remove, pattern_id) for pattern_id in removed]
    memory = memory_of_index(library)

    print(f"{name}: {len(library):,} patterns of {tested / len(library):.1f} tested cells on average,")
    print(f"  {median(found):,.0f} matches on a board of {SIZE}x{SIZE}")
    for label, times in (("query", queries), ("put", puts), ("remove", removals)):
        print(f"  {label:8}{median(times):12,.0f} us  (99 of 100 below {quantiles(times, n=100)[98]:,.0f})")
    print(f"  naive   {naive:12,.0f} us  ({naive / median(queries):,.0f} times a query)")
    print(f"  memory  {memory / 1e6:12.2f} MB  ({memory / cells:.0f} bytes a cell of a pattern)")


if __name__ == "__main__":
    report("plain", blur=0.45, bits=PLAIN_BITS)
    report("loose", blur=0.6, bits=LOOSE_BITS)
