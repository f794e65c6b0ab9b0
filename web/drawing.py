"""Boards and patterns as SVG, drawn here so that pages need no script. Colours are the style sheet's."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from markupsafe import Markup, escape

from academy.knowledge.boards import Board, Geometry, GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.cells import CODE_LETTERS
from academy.knowledge.patterns import Pattern
from academy.knowledge.symmetries import Cell
from web.graph_places import places_of

__all__ = [
    "LETTER_MEANINGS",
    "TESUJI_MEANINGS",
    "BoardMarks",
    "CellLink",
    "draw_bar",
    "draw_board",
    "draw_legend",
    "draw_pattern",
    "draw_tesuji",
]

LETTER_MEANINGS: Final = {
    "x": "soldier of the first player",
    "b": "king of the first player",
    "B": "any piece of the first player",
    "o": "soldier of the second player",
    "w": "king of the second player",
    "W": "any piece of the second player",
    "-": "empty",
    "1": "empty or the first player's",
    "2": "empty or the second player's",
    "#": "anything",
    "+": "off the board",
}
TESUJI_MEANINGS: Final = {
    "*": "empty; the move goes here",
    "_": "empty; a piece would come to rest here",
}
_UNIT: Final = 20
_HALF: Final = _UNIT / 2
_ROW: Final = _UNIT * math.sqrt(3) / 2
_MARGIN: Final = 4
# Pixels for a unit of a drawing, where there is room.
_SCALE: Final = 1.6
_COORDINATES: Final = 18
_MAP_WIDTH: Final = 1_000
_MAP_HEIGHT: Final = 640
_CELL_NAME: Final = re.compile(r"([A-Za-z]{1,2})([0-9]{1,2})")
_LONGEST_LABEL: Final = 8


@dataclass(frozen=True)
class CellLink:
    """Where a click on a cell leads.

    Attributes:
        address: The page.
        label: What it is, for those who do not see the board.
        known: Whether ACADEMY knows the move; others are shown on hover alone.
        rank: The move's place in the list, from 1; 0 for none.
    """

    address: str
    label: str
    known: bool = True
    rank: int = 0


@dataclass(frozen=True)
class BoardMarks:
    """What is shown on a board besides its pieces.

    Attributes:
        names: The cells' names row by row; empty without names.
        last: The cells that the last move changed.
        links: Cells to click on.
        matches: By cell the numbers of the patterns that lie there.
        lit: Cells to highlight.
    """

    names: Sequence[str] = ()
    last: frozenset[int] = frozenset()
    links: Mapping[int, CellLink] = field(default_factory=dict)
    matches: Mapping[int, Sequence[int]] = field(default_factory=dict)
    lit: frozenset[int] = frozenset()


@dataclass(frozen=True)
class _Spot:
    """The middle of a cell or node, and its outline where it is a hexagon."""

    x: float
    y: float
    hexagon: bool = False

    def outline(self, kind: str) -> str:
        if not self.hexagon:
            x, y = self.x - _HALF, self.y - _HALF
            return f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{_UNIT}" height="{_UNIT}"/>'
        radius = _UNIT / math.sqrt(3)
        corners = ((math.sin(turn), math.cos(turn)) for turn in (math.pi / 3 * side for side in range(6)))
        points = " ".join(
            f"{self.x + radius * right:.2f},{self.y + radius * down:.2f}" for right, down in corners
        )
        return f'<polygon class="{kind}" points="{points}"/>'


@dataclass
class _Sheet:
    """A drawing that grows as things are put on it."""

    parts: list[str] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0

    def reach(self, x: float, y: float) -> None:
        self.width, self.height = max(self.width, x), max(self.height, y)

    def markup(self, label: str, kind: str, *, interactive: bool = False) -> Markup:
        role = "group" if interactive else "img"
        width, height = math.ceil(self.width), math.ceil(self.height)
        # An image has no children for those who hear the page; a group has its links.
        return Markup(
            f'<svg class="{kind}" role="{role}" aria-label="{escape(label)}" viewBox="0 0 {width} {height}" '
            f'width="{_SCALE * width:g}" height="{_SCALE * height:g}" xmlns="http://www.w3.org/2000/svg">{"".join(self.parts)}</svg>'
        )


def _disc(spot: _Spot, kind: str, size: float = 8.0) -> str:
    return f'<circle class="{kind}" cx="{spot.x:.2f}" cy="{spot.y:.2f}" r="{size:g}"/>'


def _letter(spot: _Spot, kind: str, letter: str) -> str:
    return f'<text class="{kind}" x="{spot.x:.2f}" y="{spot.y + 3.6:.2f}">{escape(letter)}</text>'


def _piece(spot: _Spot, letter: str) -> Iterator[str]:
    """What stands on a cell; nothing for an empty one."""
    side = "first" if letter in "xbB1" else "second"
    if letter in "xo":
        yield _disc(spot, f"piece {side}")
    elif letter in "bw":
        yield _disc(spot, f"piece {side}")
        yield _disc(spot, f"crown {side}", 4.5)
    elif letter in "BW":
        yield _disc(spot, f"piece {side} either")
        yield _letter(spot, f"on-{side}", letter)
    elif letter in "12":
        yield _disc(spot, f"maybe {side}", 6.0)
        yield _letter(spot, "on-cell", letter)
    elif letter == "*":
        yield _disc(spot, "last-mark", 3.6)
    elif letter == "_":
        yield _letter(spot, "on-cell", letter)


_KINDS: Final = {"+": "cell off", "#": "cell any"}


def _grid_spot(row: int, column: int, hexagonal: bool, left: float, top: float) -> _Spot:
    if hexagonal:
        radius = _UNIT / math.sqrt(3)
        return _Spot(left + _HALF + _UNIT * (column + row / 2), top + radius + _ROW * row, True)
    return _Spot(left + _HALF + _UNIT * column, top + _HALF + _UNIT * row)


def draw_pattern(pattern: Pattern, geometry: Geometry, label: str = "Pattern") -> Markup:
    """Draw a pattern.

    Args:
        pattern: The pattern.
        geometry: The board of its game.
        label: What to call it for those who do not see it; its rows are read after that.
    """
    letters = [CODE_LETTERS[code] for code in pattern.codes]
    if isinstance(geometry, GraphGeometry):
        return _draw_nodes(pattern, letters, geometry, label)
    return _draw_cells(pattern.cells, letters, isinstance(geometry, HexGeometry), label)


def draw_tesuji(text: str, geometry: Geometry, label: str) -> Markup:
    """Draw a tesuji; cells that belong to no shape are left out.

    Args:
        text: Its cells as ACADEMY sends them.
        geometry: The board of its game.
        label: What to call it for those who do not see it; its rows are read after that.
    """
    hexagonal = isinstance(geometry, HexGeometry)
    lines = text.splitlines()
    # In a row of hexagons a cell takes two characters, and each row lies one further to the right.
    placed = [
        (row, (column - row if hexagonal else column) // (2 if hexagonal else 1), letter)
        for row, line in enumerate(lines)
        for column, letter in enumerate(line if hexagonal else line.split())
        if letter not in " #"
    ]
    return _draw_cells(
        [(row, column) for row, column, _ in placed], [letter for *_, letter in placed], hexagonal, label
    )


def _draw_cells(cells: Sequence[Cell], letters: Sequence[str], hexagonal: bool, label: str) -> Markup:
    sheet = _Sheet()
    rows = [row for row, _ in cells]
    # A slanted row of hexagons would leave room at its left.
    shift = min(column + row / 2 for row, column in cells) * _UNIT if hexagonal else 0.0
    for (row, column), letter in zip(cells, letters, strict=True):
        spot = _grid_spot(row, column, hexagonal, _MARGIN - shift, _MARGIN)
        sheet.parts += [spot.outline(_KINDS.get(letter, "cell")), *_piece(spot, letter)]
        sheet.reach(spot.x + _HALF + _MARGIN, spot.y + _UNIT / math.sqrt(3) + _MARGIN)
    by_row = [
        " ".join(letter for (row, _), letter in zip(cells, letters, strict=True) if row == number)
        for number in range(max(rows) + 1)
    ]
    return sheet.markup(f"{label}: {' / '.join(by_row)}", "pattern")


def _draw_nodes(pattern: Pattern, letters: Sequence[str], geometry: GraphGeometry, label: str) -> Markup:
    nodes = tuple(node for _, node in pattern.cells)
    names = [geometry.nodes[node] for node in nodes]
    places = places_of(geometry, nodes) or ()
    sheet = _Sheet()
    size = 60 + 26 * math.sqrt(len(nodes))
    spots = [_Spot(36 + x * size * 1.3, 18 + y * size) for x, y in places]
    spot_of = dict(zip(nodes, spots, strict=False))
    sheet.parts += _edges(geometry, spot_of)
    for spot, letter, name in zip(spots, letters, names, strict=False):
        sheet.parts += _node(spot, letter, name)
        sheet.reach(spot.x + 36, spot.y + 28)
    words = ", ".join(f"{name} {letter}" for name, letter in zip(names, letters, strict=True))
    return sheet.markup(f"{label}: {words}", "pattern map")


def _edges(geometry: GraphGeometry, spot_of: Mapping[int, _Spot]) -> Iterator[str]:
    for first, second in geometry.edges:
        if first in spot_of and second in spot_of:
            one_end, other = spot_of[first], spot_of[second]
            yield (
                f'<line class="edge" x1="{one_end.x:.1f}" y1="{one_end.y:.1f}" '
                f'x2="{other.x:.1f}" y2="{other.y:.1f}"/>'
            )


def _node(spot: _Spot, letter: str, name: str) -> Iterator[str]:
    kind = {"+": "node off", "#": "node any"}.get(letter, "node")
    yield _disc(spot, kind, 10.0)
    yield from _piece(spot, letter)
    short = name if len(name) <= _LONGEST_LABEL else name[: _LONGEST_LABEL - 1] + "…"
    yield f'<text class="node-name" x="{spot.x:.1f}" y="{spot.y + 22:.1f}">{escape(short)}</text>'


def draw_board(board: Board, marks: BoardMarks, label: str) -> Markup | None:
    """Draw a board.

    Args:
        board: The board.
        marks: What is shown besides its pieces.
        label: What to call it for those who do not see it.

    Returns:
        The drawing; None for a map with too many nodes, or with a single one.
    """
    sheet = _Sheet()
    match board.geometry:
        case GraphGeometry() as geometry:
            places = places_of(geometry) if geometry.size > 1 else None
            if places is None:
                return None
            spots = [_Spot(40 + x * (_MAP_WIDTH - 80), 24 + y * (_MAP_HEIGHT - 64)) for x, y in places]
            sheet.reach(_MAP_WIDTH, _MAP_HEIGHT)
            sheet.parts += _edges(geometry, dict(enumerate(spots)))
        case SquareGeometry() | HexGeometry() as geometry:
            spots = _grid_spots(geometry, marks.names, sheet)
    for number, (spot, letter) in enumerate(zip(spots, board.letters, strict=True)):
        sheet.parts += _marked_cell(board.geometry, spot, letter, number, marks)
    kind = "board map" if isinstance(board.geometry, GraphGeometry) else "board"
    return sheet.markup(label, kind, interactive=bool(marks.links))


def _grid_spots(geometry: SquareGeometry | HexGeometry, names: Sequence[str], sheet: _Sheet) -> list[_Spot]:
    hexagonal = isinstance(geometry, HexGeometry)
    heads = _coordinates(geometry, names)
    room = _COORDINATES if heads else 0
    # Hexagons: letters stand above the first row, which the slant does not move.
    top = _MARGIN + (room if hexagonal else 0)
    spots = [_grid_spot(row, column, hexagonal, _MARGIN + room, top) for row, column in geometry.cells]
    for spot in spots:
        sheet.reach(spot.x + _HALF + _MARGIN, spot.y + _UNIT / math.sqrt(3) + _MARGIN)
    if heads:
        for row, name in enumerate(heads[0]):
            first = spots[row * geometry.columns]
            sheet.parts.append(_letter(_Spot(first.x - _HALF - 8, first.y), "coordinate", name))
        for column, name in enumerate(heads[1]):
            at = spots[column] if hexagonal else spots[-geometry.columns + column]
            away = -_UNIT / math.sqrt(3) - 6 if hexagonal else _UNIT
            sheet.parts.append(_letter(_Spot(at.x, at.y + away), "coordinate", name))
        sheet.reach(0, sheet.height + (0 if hexagonal else room - 4))
    return spots


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


def _marked_cell(
    geometry: Geometry, spot: _Spot, letter: str, number: int, marks: BoardMarks
) -> Iterator[str]:
    matches = marks.matches.get(number, ())
    data = f' data-matches="{" ".join(map(str, matches))}"' if matches else ""
    kinds = [
        "at",
        *(["last"] if number in marks.last else []),
        *(["lit"] if number in marks.lit else []),
        *(["matched"] if matches else []),
    ]
    yield f'<g class="{" ".join(kinds)}"{data}>'
    there = marks.links.get(number)
    if there:
        kind = "play known" if there.known else "play"
        # The list beside the board has the known moves; others would be hundreds of stops for the keyboard.
        stop = "" if there.known else ' tabindex="-1"'
        yield f'<a class="{kind}" href="{escape(there.address)}" aria-label="{escape(there.label)}"{stop}>'
    if isinstance(geometry, GraphGeometry):
        yield from _node(spot, letter, geometry.nodes[number])
    else:
        yield spot.outline("cell off" if letter == "+" else "cell")
        yield from _piece(spot, letter)
    if number in marks.last:
        yield _disc(spot, "last-mark", 2.6)
    if there:
        yield _disc(spot, "choice", 7.0)
        if there.rank:
            yield _letter(spot, "rank", str(there.rank))
        yield "</a>"
    yield "</g>"


def draw_legend(letters: Iterable[str]) -> list[tuple[str, str, Markup]]:
    """Return letters with what they mean and how they are drawn.

    Args:
        letters: Letters of the language of patterns, tesujis' included.
    """
    legend = []
    for letter in letters:
        sheet = _Sheet()
        spot = _grid_spot(0, 0, False, 1, 1)
        sheet.parts += [spot.outline(_KINDS.get(letter, "cell")), *_piece(spot, letter)]
        sheet.reach(_UNIT + 2, _UNIT + 2)
        meaning = (LETTER_MEANINGS | TESUJI_MEANINGS)[letter]
        legend.append((letter, meaning, sheet.markup(meaning, "legend-cell")))
    return legend


def draw_bar(parts: Sequence[tuple[str, float]], label: str) -> Markup:
    """Draw parts of a whole as one bar.

    Args:
        parts: The style and the size of each part.
        label: What they are, in words.
    """
    whole = sum(size for _, size in parts)
    at, drawn = 0.0, []
    for kind, size in parts:
        width = 100 * size / whole if whole else 0.0
        if width:
            drawn.append(f'<rect class="{escape(kind)}" x="{at:.2f}" y="0" width="{width:.2f}" height="10"/>')
        at += width
    return Markup(
        f'<svg class="bar" role="img" aria-label="{escape(label)}" viewBox="0 0 100 10" '
        f'preserveAspectRatio="none">{"".join(drawn)}</svg>'
    )
