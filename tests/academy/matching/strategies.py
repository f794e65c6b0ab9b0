"""Random games, boards and patterns of every geometry."""

from collections.abc import Sequence
from itertools import permutations
from typing import TypeVar

from hypothesis import strategies as st

from academy.knowledge.boards import Board, Geometry, GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.cells import Code, State
from academy.knowledge.patterns import Pattern, graph_pattern, grid_pattern
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import HEXAGON, SQUARE, GridSymmetry, NodeSymmetry

T = TypeVar("T")
SIDES = st.integers(1, 9)
NODES = 6
TELLING = tuple(code for code in Code if code not in (Code.ANYTHING, Code.OFF_BOARD))


def _groups(symmetries: dict[str, GridSymmetry]) -> tuple[tuple[str, ...], ...]:
    """Every subgroup that one or two of the symmetries make."""
    by_matrix = {symmetry.matrix: symmetry for symmetry in symmetries.values()}
    cells = set()
    for first in symmetries.values():
        for second in symmetries.values():
            group = {(1, 0, 0, 1), first.matrix, second.matrix}
            while True:
                larger = {by_matrix[a].after(by_matrix[b]) for a in group for b in group}
                if larger == group:
                    break
                group = larger
            cells.add(tuple(sorted(by_matrix[matrix].name for matrix in group)))
    return tuple(sorted(cells))


SQUARE_GROUPS = _groups(SQUARE)
HEXAGON_GROUPS = _groups(HEXAGON)


@st.composite
def graph_games(draw: st.DrawFn) -> GameSpec:
    """Nodes in threes that may change places among each other, or all of them at once."""
    size = draw(st.integers(1, NODES))
    moving = draw(st.integers(1, min(3, size)))
    nodes = tuple(f"n{node}" for node in range(size))
    turns = [
        NodeSymmetry(
            "identity" if image == tuple(range(moving)) else f"s{number}", (*image, *range(moving, size))
        )
        for number, image in enumerate(permutations(range(moving)))
    ]
    names = draw(st.permutations([turn.name for turn in turns]))
    return GameSpec(
        "graph", GraphGeometry(nodes), symmetric=False, symmetries=tuple(names), node_symmetries=tuple(turns)
    )


@st.composite
def grid_games(draw: st.DrawFn) -> GameSpec:
    rows, columns = draw(SIDES), draw(SIDES)
    hexagonal = draw(st.booleans())
    geometry: Geometry = HexGeometry(rows, columns) if hexagonal else SquareGeometry(rows, columns)
    groups = HEXAGON_GROUPS if hexagonal else SQUARE_GROUPS
    names = draw(st.permutations(draw(st.sampled_from(groups))))
    return GameSpec("grid", geometry, symmetric=False, symmetries=tuple(names))


games = st.one_of(grid_games(), grid_games(), graph_games())
square_games = st.builds(
    lambda rows, columns, names: GameSpec("square", SquareGeometry(rows, columns), symmetries=names),
    SIDES,
    SIDES,
    st.sampled_from(SQUARE_GROUPS),
)


def fillings(choices: Sequence[T], size: int) -> st.SearchStrategy[list[T]]:
    """One of the choices for each cell, all drawn at once: a draw for each takes most of a test's time."""
    return st.binary(min_size=size, max_size=size).map(
        lambda drawn: [choices[byte % len(choices)] for byte in drawn]
    )


@st.composite
def boards(draw: st.DrawFn, geometry: Geometry) -> Board:
    """Boards whose states come from a few or from all, so that patterns are often on them."""
    states = draw(st.lists(st.sampled_from(State), min_size=1, max_size=6))
    return Board(geometry, bytes(draw(fillings(states, geometry.size))))


@st.composite
def patterns(draw: st.DrawFn, geometry: Geometry) -> Pattern:
    """Patterns a game's geometry allows, from one cell to the board and its edge."""
    codes = draw(st.lists(st.sampled_from(Code), min_size=1, max_size=4))
    if isinstance(geometry, GraphGeometry):
        cells = [
            (0, node) for node in draw(st.lists(st.integers(0, geometry.size - 1), min_size=1, unique=True))
        ]
    else:
        longest = 2 + max(geometry.rows, geometry.columns)
        usual = st.integers(1, min(4, longest))
        rows, columns = draw(st.one_of(st.tuples(usual, usual), st.tuples(*[st.integers(1, longest)] * 2)))
        cells = [(row, column) for row in range(rows) for column in range(columns)]
        if isinstance(geometry, HexGeometry):
            left_out = draw(st.sets(st.sampled_from(cells), max_size=len(cells) - 1))
            kept = [cell for cell in cells if cell not in left_out]
            if len({row for row, _ in kept}) == 1 + max(row for row, _ in kept) - min(row for row, _ in kept):
                cells = kept
    filling = draw(fillings(codes, len(cells)))
    filling[draw(st.integers(0, len(cells) - 1))] = draw(st.sampled_from(TELLING))
    if isinstance(geometry, GraphGeometry):
        return graph_pattern((node, code) for (_, node), code in zip(cells, filling, strict=True))
    return grid_pattern((*cell, code) for cell, code in zip(cells, filling, strict=True))


def libraries(geometry: Geometry, most: int = 6) -> st.SearchStrategy[dict[int, Pattern]]:
    return st.dictionaries(st.integers(0, 50), patterns(geometry), max_size=most)
