"""Random patterns and boards of the example games."""

from hypothesis import strategies as st

from academy.knowledge.boards import Board, Geometry, GraphGeometry, HexGeometry
from academy.knowledge.cells import Code, State
from academy.knowledge.patterns import Pattern, graph_pattern, grid_pattern
from tests.academy.matching.strategies import fillings

from .games import GAMES

games = st.sampled_from(GAMES)
codes = st.sampled_from(tuple(Code))
# A code that is neither '#' nor '+', of which every pattern holds one.
telling_codes = st.sampled_from(tuple(code for code in Code if code not in (Code.ANYTHING, Code.OFF_BOARD)))


@st.composite
def patterns(draw: st.DrawFn, geometry: Geometry) -> Pattern:
    """A pattern of up to 4 rows and columns; on hexagons also other outlines than a rhombus."""
    if isinstance(geometry, GraphGeometry):
        nodes = draw(st.lists(st.integers(0, geometry.size - 1), min_size=1, unique=True))
        filling = draw(st.lists(codes, min_size=len(nodes), max_size=len(nodes)))
        filling[0] = draw(telling_codes)
        return graph_pattern(zip(nodes, filling, strict=True))
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    places = [(row, column) for row in range(rows) for column in range(columns)]
    if isinstance(geometry, HexGeometry) and draw(st.booleans()):
        # Hexagon of side 2, whole or broken open.
        ring = [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
        places = ring + draw(st.sampled_from([[], [(1, 1)]]))
    filling = draw(fillings(tuple(Code), len(places)))
    filling[draw(st.integers(0, len(places) - 1))] = draw(telling_codes)
    return grid_pattern((*place, code) for place, code in zip(places, filling, strict=True))


@st.composite
def boards(draw: st.DrawFn, geometry: Geometry) -> Board:
    """A board of any states, cells off the board included."""
    return Board(geometry, bytes(draw(fillings(tuple(State), geometry.size))))
