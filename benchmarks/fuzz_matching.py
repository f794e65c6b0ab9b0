"""Random libraries, boards and moves, and both kernels against the obvious matcher, for as long as asked.

`python -m benchmarks.fuzz_matching --seconds 600`. A failure prints the seed that shows it again:
`python -m benchmarks.fuzz_matching --seed N`.
"""

import random
import sys
import time
from itertools import permutations

from academy.knowledge.boards import Board, CellChange, Geometry, GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.cells import Code, State
from academy.knowledge.patterns import InvalidPatternError, Pattern, graph_pattern, grid_pattern
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import NodeSymmetry
from academy.matching.index import PatternIndex
from academy.matching.kernels import NAMES
from academy.matching.matches import MatchQuery
from academy.matching.warming import warm_up
from benchmarks import arguments
from tests.academy.matching.both_kernels import as_tuples, matches_after
from tests.academy.matching.reference import Match, all_matches, state_at
from tests.academy.matching.strategies import HEXAGON_GROUPS, SQUARE_GROUPS

LONGEST_SIDE = 19
MOST_NODES = 40
MOST_PATTERNS = 12
MOST_MOVES = 12
# However short a run is: fewer show nothing.
FEWEST_GAMES = 10
TELLING = [code for code in Code if code not in (Code.ANYTHING, Code.OFF_BOARD)]


def random_game(chance: random.Random) -> GameSpec:
    rows, columns = chance.randint(1, LONGEST_SIDE), chance.randint(1, LONGEST_SIDE)
    shape = chance.choice(("square", "square", "hex", "hex", "graph"))
    if shape == "square":
        names, geometry = chance.choice(SQUARE_GROUPS), SquareGeometry(rows, columns)
        return GameSpec(shape, geometry, symmetric=False, symmetries=tuple(chance.sample(names, len(names))))
    if shape == "hex":
        names = chance.choice(HEXAGON_GROUPS)
        grid = HexGeometry(rows, columns)
        return GameSpec(shape, grid, symmetric=False, symmetries=tuple(chance.sample(names, len(names))))
    size = chance.randint(1, MOST_NODES)
    moving = chance.randint(1, min(5, size))
    turns = [
        NodeSymmetry("identity" if number == 0 else f"s{number}", (*image, *range(moving, size)))
        for number, image in enumerate(permutations(range(moving)))
    ]
    return GameSpec(
        shape,
        GraphGeometry(tuple(f"n{node}" for node in range(size))),
        symmetric=False,
        symmetries=tuple(turn.name for turn in turns),
        node_symmetries=tuple(turns),
    )


def random_board(chance: random.Random, geometry: Geometry) -> Board:
    states = chance.choices(list(State), k=chance.randint(1, 6))
    return Board(geometry, bytes(chance.choices(states, k=geometry.size)))


def random_pattern(chance: random.Random, board: Board) -> Pattern:
    """A piece of the board and its surroundings with some cells blurred, or nothing but chance."""
    geometry = board.geometry
    cut = chance.random() < 0.8
    blur = chance.random()

    def code(row: int, column: int) -> Code:
        if not cut:
            return chance.choice(list(Code))
        if chance.random() < blur:
            return Code.ANYTHING
        return chance.choice([code for code in Code if code & state_at(board, row, column)])

    if isinstance(geometry, GraphGeometry):
        nodes = chance.sample(range(geometry.size), chance.randint(1, geometry.size))
        return graph_pattern((node, code(0, node)) for node in nodes)
    rows = min(geometry.rows + 2, chance.choice((1, 2, 3, 4, 5, 9, 21)))
    columns = min(geometry.columns + 2, chance.choice((1, 2, 3, 4, 5, 9, 21)))
    top = chance.randint(-2, geometry.rows)
    left = chance.randint(-2, geometry.columns)
    cells = [(row, column) for row in range(rows) for column in range(columns)]
    if isinstance(geometry, HexGeometry):
        cells = chance.sample(cells, chance.randint(1, len(cells)))
    return grid_pattern((row, column, code(top + row, left + column)) for row, column in cells)


def random_library(chance: random.Random, spec: GameSpec, board: Board) -> dict[int, Pattern]:
    patterns: dict[int, Pattern] = {}
    for number in range(chance.randint(1, MOST_PATTERNS)):
        try:
            patterns[number] = spec.check_pattern(random_pattern(chance, board))
        except InvalidPatternError:
            continue
    return patterns


def random_moves(chance: random.Random, board: Board) -> list[list[CellChange]]:
    moves: list[list[CellChange]] = []
    for _ in range(chance.randint(0, MOST_MOVES)):
        count = min(board.geometry.size, chance.choice((1, 1, 1, 2, 3)))
        cells = chance.sample(range(board.geometry.size), count)
        moves.append([(cell, chance.choice(list(State))) for cell in cells])
    return moves


def check(seed: int) -> int:
    """Try one game, library and board; return how many matches it had. Raises AssertionError."""
    chance = random.Random(seed)
    spec = random_game(chance)
    board = random_board(chance, spec.geometry)
    library = random_library(chance, spec, board)
    moves = random_moves(chance, board)
    expected = all_matches(spec, library, board)
    for kernel in NAMES:
        index = PatternIndex(spec, kernel)
        for number, pattern in library.items():
            index.put(number, pattern)
        assert as_tuples(index.match(board)) == expected, f"{kernel} differs from the reference"
        check_some(index, board, expected, chance.randint(0, len(expected)))
        check_each(index, spec, board, library, chance)
        check_moves(index, board, moves)
        kept = dict(library)
        for number in chance.sample(sorted(library), len(library) // 2):
            index.remove(number)
            del kept[number]
        remaining = [match for match in expected if match[0] in kept]
        assert as_tuples(index.match(board)) == remaining, f"{kernel} differs after removals"
    return len(expected)


def check_some(index: PatternIndex, board: Board, expected: list[Match], most: int) -> None:
    result = index.snapshot().match(MatchQuery(board, None, most))
    assert as_tuples(result) == expected[:most], f"the first {most} differ"
    assert result.total == len(expected), f"{result.total} in all instead of {len(expected)}"


def check_each(
    index: PatternIndex, spec: GameSpec, board: Board, library: dict[int, Pattern], chance: random.Random
) -> None:
    most_each, most = chance.randint(1, 20), chance.randint(1, 100)
    views = [board, spec.reversed_board(board)]
    of_pattern = [
        [all_matches(spec, {number: library[number]}, view) for view in views] for number in sorted(library)
    ]
    wanted = [
        (match, number > 0)
        for on_views in of_pattern
        for number, matches in enumerate(on_views)
        for match in matches[:most_each]
    ]
    result = index.snapshot().match(MatchQuery(board, None, most, most_each, True))
    matches = list(zip(as_tuples(result), result.reversed.tolist(), strict=True))
    assert matches == wanted[:most], f"the first {most}, {most_each} of each pattern, differ for both players"
    assert result.total == sum(len(matches) for on_views in of_pattern for matches in on_views)


def check_moves(index: PatternIndex, board: Board, moves: list[list[CellChange]]) -> None:
    result = index.snapshot().match_successors(MatchQuery(board), moves)
    for number, move in enumerate(moves):
        states = bytearray(board.states)
        for cell, state in move:
            states[cell] = state
        alone = index.match(Board(board.geometry, bytes(states)))
        assert matches_after(result, number) == as_tuples(alone), f"move {number}, {move}, differs"


def main() -> int:
    parser = arguments.parser(__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, help="try this one only")
    options = parser.parse_args()
    first = random.SystemRandom().randrange(1 << 48) if options.seed is None else options.seed
    fewest = FEWEST_GAMES if options.seed is None else 1
    # Compiling, which may take a minute, is not part of the time.
    for name in NAMES:
        warm_up(name)
    end = time.monotonic() + (options.seconds if options.seed is None else 0.0)
    tried = matches = 0
    while tried < fewest or time.monotonic() < end:
        seed = first + tried
        try:
            matches += check(seed)
        except AssertionError as failure:
            print(f"seed {seed}: {failure}", file=sys.stderr)
            return 1
        except Exception:
            print(f"seed {seed}:", file=sys.stderr)
            raise
        tried += 1
    print(f"{tried:,} games, {matches:,} matches, no difference (seeds from {first})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
