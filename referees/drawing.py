"""Pictures of positions: where a board's cells are, and what stands on them.

A unit of length is a twentieth of a square's side. Colours are for the page that shows a picture to choose.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, Literal

from academy.knowledge.boards import Board, Geometry, GraphGeometry, HexGeometry, SquareGeometry

__all__ = [
    "Area",
    "Arrow",
    "Cell",
    "Drawing",
    "Label",
    "Layout",
    "Mark",
    "Point",
    "crossings",
    "draw_board",
    "layout_of",
]

Point = tuple[float, float]
UNIT: Final = 20.0
_ROW: Final = UNIT * math.sqrt(3) / 2
_RADIUS: Final = UNIT / math.sqrt(3)
_MARGIN: Final = 4.0
_COORDINATES: Final = 18.0
# A map with more nodes would take seconds, and nobody could read it.
MOST_SPREAD: Final = 300
_NODE: Final = 10.0
_MAP_SIZE: Final = (1_000.0, 640.0)
_CELL_NAME: Final = re.compile(r"([A-Za-z]{1,2})([0-9]{1,2})")


@dataclass(frozen=True)
class Cell:
    """A cell of a board.

    Attributes:
        place: Where its piece stands, to the right and down.
        outlines: Its polygons; empty for a disc of the layout's `radius`.
        name: What moves call it; empty without a name.
        ground: What it is, for its colour: `land`, `sea`, `point` where lines cross, or empty.
        named: Whether its name is written at it.
        tag: What orders call it where its name is longer, such as a number; written where there is room.
    """

    place: Point
    outlines: tuple[tuple[Point, ...], ...] = ()
    name: str = ""
    ground: str = ""
    named: bool = False
    tag: str = ""


@dataclass(frozen=True)
class Area:
    """Cells that belong together, such as those of a bonus.

    Attributes:
        name: What it is called.
        value: What it is worth; empty where that means nothing.
        cells: The numbers of its cells.
    """

    name: str
    value: str
    cells: tuple[int, ...]


@dataclass(frozen=True)
class Label:
    """A text beside the cells, such as a coordinate.

    Attributes:
        place: Its middle.
        text: What it says.
    """

    place: Point
    text: str


@dataclass(frozen=True)
class Layout:
    """What all positions of a game have in common.

    Attributes:
        width: The picture's width.
        height: Its height.
        cells: The cells, numbered as boards number them.
        links: Lines behind the cells, by their two ends.
        areas: Cells that belong together.
        labels: Texts beside the cells.
        background: Polygons that are not cells.
        board: Polygons behind lines that cross, on which cells are points.
        borders: Lines over the cells, drawn instead of the outlines of land and sea.
        radius: The size of cells that are discs.
        stars: Points of the lines that are marked, for people to find their way.
        standing: What a position's `standing` counts, such as supply centres; empty where it has none.
    """

    width: float
    height: float
    cells: tuple[Cell, ...]
    links: tuple[tuple[Point, Point], ...] = ()
    areas: tuple[Area, ...] = ()
    labels: tuple[Label, ...] = ()
    background: tuple[tuple[Point, ...], ...] = ()
    board: tuple[tuple[Point, ...], ...] = ()
    borders: tuple[tuple[Point, Point], ...] = ()
    radius: float = _NODE
    stars: tuple[Point, ...] = ()
    standing: str = ""


@dataclass(frozen=True)
class Mark:
    """What is on a cell.

    Attributes:
        seat: Whose piece stands there; 0 for nobody's.
        text: What is written on the piece, such as its kind or its number; without a seat it stands alone.
        crown: Whether it is a king, or otherwise more than a usual piece.
        owner: Who owns the cell itself, whatever stands there; 0 for nobody.
        off: Whether the cell is none at the moment, or nobody may see it.
        place: Where the piece stands, if not in the cell's own place.
        lost: A piece that must leave the cell: its seat and its text.
        centre: Whether the cell counts, as a supply centre does.
    """

    seat: int = 0
    text: str = ""
    crown: bool = False
    owner: int = 0
    off: bool = False
    place: Point | None = None
    lost: tuple[int, str] | None = None
    centre: bool = False


@dataclass(frozen=True)
class Arrow:
    """An order of the turn that led to a position.

    Attributes:
        seat: Whose it was.
        start: Where it begins.
        end: Where it leads; the same place for what was done there, of which only the text is shown.
        label: What it was and what became of it, in words.
        text: What is written at its middle, such as a number of armies; empty for nothing.
        kind: How it is drawn: a `move` has a head, a `support` of another's is dashed, a `convoy` dotted.
        failed: Whether it was not carried out as ordered.
    """

    seat: int
    start: Point
    end: Point
    label: str
    text: str = ""
    kind: Literal["move", "support", "convoy"] = "move"
    failed: bool = False


@dataclass(frozen=True)
class Drawing:
    """A position as a picture.

    Attributes:
        layout: The board; the same object for all positions of a game, as far as that is possible.
        marks: What is on each cell.
        caption: The position's name, such as `S1901M`; empty without one.
        arrows: The orders of the turn before.
        standing: By seat how many it has of what the game is about; empty where that says nothing.
    """

    layout: Layout
    marks: tuple[Mark, ...] = field(repr=False)
    caption: str = ""
    arrows: tuple[Arrow, ...] = field(default=(), repr=False)
    standing: tuple[int, ...] = ()


# By the letters of boards: in games of one or two seats `x` and `b` are the first's, `o` and `w` the other's.
_MARKS: Final = {
    "-": Mark(),
    "+": Mark(off=True),
    "x": Mark(1),
    "b": Mark(1, crown=True),
    "o": Mark(2),
    "w": Mark(2, crown=True),
}


def draw_board(board: Board, names: Sequence[str] = (), layout: Layout | None = None) -> Drawing | None:
    """Return the picture of a board in ACADEMY's letters; None for one that `layout_of` has no places for.

    Args:
        board: The board.
        names: The cells' names; empty without names.
        layout: Where its cells are, with as many cells as the board has; None for `layout_of`.
    """
    layout = layout or layout_of(board.geometry, tuple(names))
    return None if layout is None else Drawing(layout, tuple(_MARKS[letter] for letter in board.letters))


@lru_cache(maxsize=64)
def crossings(geometry: SquareGeometry, names: tuple[str, ...] = (), stars: tuple[int, ...] = ()) -> Layout:
    """Return where to draw a board whose pieces stand where lines cross, as in Go.

    Args:
        geometry: The board.
        names: The cells' names; empty without names.
        stars: The cells that are marked.
    """
    squares = _lay_out_grid(geometry, names)
    places = [cell.place for cell in squares.cells]
    right, down = geometry.columns - 1, geometry.columns * (geometry.rows - 1)
    ways = [(row * geometry.columns, row * geometry.columns + right) for row in range(geometry.rows)]
    ways += [(column, column + down) for column in range(geometry.columns)]
    half = UNIT / 2
    (left, top), (end, bottom) = places[0], places[-1]
    board = (
        (left - half, top - half),
        (end + half, top - half),
        (end + half, bottom + half),
        (left - half, bottom + half),
    )
    return replace(
        squares,
        cells=tuple(replace(cell, ground="point") for cell in squares.cells),
        links=tuple((places[first], places[last]) for first, last in ways),
        board=(board,),
        stars=tuple(places[cell] for cell in stars),
    )


@lru_cache(maxsize=64)
def layout_of(geometry: Geometry, names: tuple[str, ...] = ()) -> Layout | None:
    """Return where to draw a board that has no layout of its own.

    None for a graph with more nodes than `MOST_SPREAD`, or with one, which stands for a game without a board.

    Args:
        geometry: The board: squares, hexagons, or a graph whose nodes are spread by their distances.
        names: The cells' names; empty without names.
    """
    match geometry:
        case GraphGeometry():
            return _lay_out_graph(geometry) if 1 < geometry.size <= MOST_SPREAD else None
        case _:
            return _lay_out_grid(geometry, names)


def grid_cell(row: int, column: int, hexagonal: bool, left: float = 0.0, top: float = 0.0) -> Cell:
    """Return a cell of a grid.

    Args:
        row: Its row, from 0.
        column: Its column, from 0.
        hexagonal: Whether it is a hexagon: then each row begins half a cell further right.
        left: Where the first column begins.
        top: Where the first row begins.
    """
    if hexagonal:
        x, y = left + UNIT * (column + row / 2 + 0.5), top + _RADIUS + _ROW * row
        turns = (math.pi / 3 * side for side in range(6))
        corners = tuple((x + _RADIUS * math.sin(turn), y + _RADIUS * math.cos(turn)) for turn in turns)
    else:
        x, y, half = left + UNIT * (column + 0.5), top + UNIT * (row + 0.5), UNIT / 2
        corners = ((x - half, y - half), (x + half, y - half), (x + half, y + half), (x - half, y + half))
    return Cell((x, y), (corners,))


def _lay_out_grid(geometry: SquareGeometry | HexGeometry, names: Sequence[str]) -> Layout:
    hexagonal = isinstance(geometry, HexGeometry)
    heads = _coordinates(geometry, names)
    room = _COORDINATES if heads else 0.0
    # Hexagons: letters stand above the first row, which the slant does not move.
    top = _MARGIN + (room if hexagonal else 0.0)
    named = names or [""] * geometry.size
    cells = tuple(
        Cell(cell.place, cell.outlines, name)
        for cell, name in zip(
            (grid_cell(row, column, hexagonal, _MARGIN + room, top) for row, column in geometry.cells),
            named,
            strict=True,
        )
    )
    width = max(cell.place[0] for cell in cells) + UNIT / 2 + _MARGIN
    height = max(cell.place[1] for cell in cells) + (_RADIUS if hexagonal else UNIT / 2) + _MARGIN
    labels: list[Label] = []
    if heads:
        for row, name in enumerate(heads[0]):
            x, y = cells[row * geometry.columns].place
            labels.append(Label((x - UNIT / 2 - 8, y), name))
        for column, name in enumerate(heads[1]):
            x, y = cells[column if hexagonal else column - geometry.columns].place
            labels.append(Label((x, y + (-_RADIUS - 6 if hexagonal else UNIT)), name))
        height += 0.0 if hexagonal else room - 4
    return Layout(width, height, cells, labels=tuple(labels))


def _coordinates(
    geometry: SquareGeometry | HexGeometry, names: Sequence[str]
) -> tuple[list[str], list[str]] | None:
    """The names of rows and of columns, where the cells' names are made of them."""
    read = [_CELL_NAME.fullmatch(name) for name in names]
    if not read or not all(read):
        return None
    parts = [(name[1], name[2]) for name in read if name]
    columns = [letter for letter, _ in parts[: geometry.columns]]
    rows = [digits for _, digits in parts[:: geometry.columns]]
    expected = [(column, row) for row in rows for column in columns]
    return (rows, columns) if parts == expected else None


def _lay_out_graph(geometry: GraphGeometry) -> Layout:
    # Only graphs need layouts, and those numpy, which takes long to load.
    from referees.graph_layout import spread_nodes

    width, height = _MAP_SIZE
    places = [(40 + x * (width - 80), 24 + y * (height - 64)) for x, y in spread_nodes(geometry)]
    cells = tuple(
        Cell(place, name=name, named=True) for place, name in zip(places, geometry.nodes, strict=True)
    )
    links = tuple((places[first], places[second]) for first, second in geometry.edges)
    return Layout(width, height, cells, links)
