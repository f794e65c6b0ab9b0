"""Libraries and positions to measure matching on, made from random games: no data of anybody's is used."""

import random
from collections.abc import Iterator
from math import log2

from sgfmill.boards import Board as GoBoard

from academy.knowledge.boards import Board, GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.cells import Code, State
from academy.knowledge.patterns import Pattern, graph_pattern, grid_pattern
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import HEXAGON, SQUARE
from tests.academy.matching.reference import state_at

SIZE = 19
HEX_SIZE = 14
NODES = 262
SOURCE_POSITIONS = 200
PLIES = range(100, 140)
SIDES = (3, 3, 3, 4, 4, 5)
LARGE_SIDES = (6, 7, 8, 9)
LARGE_SHARE = 0.03
EDGE_RIM = 1
TESTED_NODES = range(4, 17)

GO = GameSpec("go", SquareGeometry(SIZE, SIZE), symmetries=tuple(SQUARE))
HEX = GameSpec("hex", HexGeometry(HEX_SIZE, HEX_SIZE), symmetric=False, symmetries=tuple(HEXAGON))
MAP = GameSpec("map", GraphGeometry(tuple(f"n{node}" for node in range(NODES))), symmetric=False)

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


def go_position(chance: random.Random) -> Board:
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


def scattered_position(spec: GameSpec, chance: random.Random) -> Board:
    """A position with a third of its cells taken, by both players alike."""
    states = (State.EMPTY, State.EMPTY, State.EMPTY, State.EMPTY, State.FIRST_SOLDIER, State.SECOND_SOLDIER)
    return Board(spec.geometry, bytes(chance.choices(states, k=spec.geometry.size)))


def position(spec: GameSpec, chance: random.Random) -> Board:
    """A middle-game position of one of the games above."""
    return go_position(chance) if spec is GO else scattered_position(spec, chance)


def library(
    spec: GameSpec, size: int, blur: float, bits: float, stones: int, seed: int = 2024
) -> tuple[dict[int, Pattern], list[Board]]:
    """Patterns cut out of positions, that many of their cells blurred, and other positions to find them on.

    `bits` is the least information a pattern has, `stones` the least number of cells that only a piece fits.
    """
    chance = random.Random(seed)
    source = [position(spec, chance) for _ in range(SOURCE_POSITIONS)]
    if isinstance(spec.geometry, GraphGeometry):
        drawn = _node_patterns(chance, source)
    else:
        drawn = _window_patterns(chance, source, blur, bits, stones)
    patterns = {number: next(drawn) for number in range(size)}
    return patterns, [position(spec, chance) for _ in range(20)]


def _window_patterns(
    chance: random.Random, boards: list[Board], blur: float, bits: float, least_stones: int
) -> Iterator[Pattern]:
    geometry = boards[0].geometry
    assert isinstance(geometry, SquareGeometry | HexGeometry)
    while True:
        board = chance.choice(boards)
        rows, columns = chance.choice(SIDES), chance.choice(SIDES)
        if chance.random() < LARGE_SHARE:
            rows, columns = chance.choice(LARGE_SIDES), chance.choice(LARGE_SIDES)
        top = chance.randint(-EDGE_RIM, geometry.rows + EDGE_RIM - rows)
        left = chance.randint(-EDGE_RIM, geometry.columns + EDGE_RIM - columns)
        codes = []
        for row in range(rows):
            for column in range(columns):
                state = State(state_at(board, top + row, left + column))
                codes.append(chance.choice(BLURRED[state]) if chance.random() < blur else Code(state))
        information = -sum(log2(ODDS[code]) for code in codes)
        stones = sum(ODDS[code] < 0.2 and code is not Code.OFF_BOARD for code in codes)
        if stones >= least_stones and information >= bits:
            yield grid_pattern((*divmod(place, columns), code) for place, code in enumerate(codes))


def _node_patterns(chance: random.Random, boards: list[Board]) -> Iterator[Pattern]:
    telling = [code for code in Code if code not in (Code.ANYTHING, Code.OFF_BOARD)]
    while True:
        board = chance.choice(boards)
        nodes = chance.sample(range(NODES), chance.choice(TESTED_NODES))
        yield graph_pattern(
            (node, chance.choice([code for code in telling if code & board.states[node]])) for node in nodes
        )
