"""Boards and patterns as SVG, drawn here so that pages need no script. Colours are the style sheet's."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from markupsafe import Markup, escape

from academy.knowledge.boards import Geometry, GraphGeometry, HexGeometry
from academy.knowledge.cells import CODE_LETTERS
from academy.knowledge.patterns import Pattern
from referees.drawing import (
    MOST_SPREAD,
    UNIT,
    Arrow,
    Cell,
    Drawing,
    Layout,
    Mark,
    Point,
    grid_cell,
)
from referees.graph_layout import spread_nodes

__all__ = [
    "LETTER_MEANINGS",
    "BoardMarks",
    "CellLink",
    "DrawnBoard",
    "LastMove",
    "draw_bar",
    "draw_board",
    "draw_legend",
    "draw_pattern",
    "draw_results",
    "draw_tesuji",
    "is_map",
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
_TESUJI_MEANINGS: Final = {
    "*": "empty; the move goes here",
    "_": "empty; a piece would come to rest here",
}
# The style of letters' cells, if it is not that of others.
_KINDS: Final = {"+": "cell off", "#": "cell any"}
_MARGIN: Final = 4
# Pixels for a unit of a drawing, where there is room.
_SCALE: Final = 1.6
# Wider drawings are maps: they have room without.
_WIDEST_SCALED: Final = 700
_LONGEST_LABEL: Final = 8
# The pixels that a page of 1,400 has for a map, and the least that letters have there.
_MAP_WIDTH: Final = 1_290
_LEAST_LETTERS: Final = 11.5
_MAP_LETTERS: Final = 13.0
# How wide bold letters are for their size.
_LETTER_WIDTH: Final = 0.66
# Stones nearly touch each other, pieces on squares leave room.
_STONE: Final = 9.4
_PIECE: Final = 8.0
# The length of an arrow's head.
_HEAD: Final = 9.0
# Seats beyond have the last one's colours.
_COLOURS: Final = 8
_AREA_COLOURS: Final = 10


@dataclass(frozen=True)
class CellLink:
    """Where a click on a cell leads.

    Attributes:
        address: The page.
        label: What it is, for those who do not see the board.
        known: Whether the move is among the best that ACADEMY knows; others are shown on hover alone.
        rank: The move's place in the list, from 1; 0 for none.
    """

    address: str
    label: str
    known: bool = True
    rank: int = 0


@dataclass(frozen=True)
class LastMove:
    """What the last move did: the cells that look otherwise, and those of them that a piece came to."""

    changed: frozenset[int] = frozenset()
    arrived: frozenset[int] = frozenset()


@dataclass(frozen=True)
class BoardMarks:
    """What is shown on a board besides its pieces.

    Attributes:
        last: What the last move did.
        links: Cells to click on.
        matches: By cell the numbers of the patterns that lie there.
        lit: Cells to highlight.
    """

    last: LastMove = LastMove()
    links: Mapping[int, CellLink] = field(default_factory=dict)
    matches: Mapping[int, Sequence[int]] = field(default_factory=dict)
    lit: frozenset[int] = frozenset()


@dataclass
class _Sheet:
    """A drawing that grows as things are put on it."""

    parts: list[str] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0
    # The size of its letters; 0 for the usual one.
    text: float = 0.0

    def reach(self, x: float, y: float) -> None:
        self.width, self.height = max(self.width, x), max(self.height, y)

    def markup(self, label: str, kind: str, *, interactive: bool = False) -> Markup:
        role = "group" if interactive else "img"
        width, height = math.ceil(self.width), math.ceil(self.height)
        size = f' font-size="{_number(self.text)}"' if self.text else ""
        scale = _SCALE if width <= _WIDEST_SCALED else 1.0
        # An image has no children for those who hear the page; a group has its links.
        return Markup(
            f'<svg class="{kind}" role="{role}" aria-label="{escape(label)}"{size} '
            f'viewBox="0 0 {width} {height}" '
            f'width="{scale * width:g}" height="{scale * height:g}" '
            f'xmlns="http://www.w3.org/2000/svg">{"".join(self.parts)}</svg>'
        )


def _disc(place: Point, kind: str, size: float = 8.0) -> str:
    return f'<circle class="{kind}" cx="{_number(place[0])}" cy="{_number(place[1])}" r="{_number(size)}"/>'


def _text(place: Point, kind: str, text: str, down: float = 3.6) -> str:
    return (
        f'<text class="{kind}" x="{_number(place[0])}" y="{_number(place[1] + down)}">{escape(text)}</text>'
    )


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _path(outlines: Iterable[Iterable[Point]], kind: str) -> str:
    ways = (
        "M" + "L".join(f"{_number(right)},{_number(down)}" for right, down in outline) + "Z"
        for outline in outlines
    )
    return f'<path class="{kind}" d="{"".join(ways)}"/>'


def _side(seat: int) -> str:
    return f"side-{min(seat, _COLOURS)}"


def _piece(place: Point, letter: str) -> Iterator[str]:
    """What stands on a cell of a pattern; nothing for an empty one."""
    side = _side(1) if letter in "xbB1" else _side(2)
    if letter in "xo":
        yield _disc(place, f"piece {side}")
    elif letter in "bw":
        yield _disc(place, f"piece {side}")
        yield _disc(place, f"crown {side}", 4.5)
    elif letter in "BW":
        yield _disc(place, f"piece {side} either")
        yield _text(place, f"on {side}", letter)
    elif letter in "12":
        yield _disc(place, f"maybe {side}", 6.0)
        yield _text(place, "on-cell", letter)
    elif letter == "*":
        yield _disc(place, "last-mark", 3.6)
    elif letter == "_":
        yield _text(place, "on-cell", letter)


def draw_pattern(pattern: Pattern, geometry: Geometry, label: str = "Pattern") -> Markup:
    """Draw a pattern; those who do not see it hear `label`, and then its rows."""
    letters = [CODE_LETTERS[code] for code in pattern.codes]
    if isinstance(geometry, GraphGeometry):
        return _draw_nodes(pattern, letters, geometry, label)
    return _draw_cells(pattern.cells, letters, isinstance(geometry, HexGeometry), label)


def draw_tesuji(text: str, geometry: Geometry, label: str) -> Markup:
    """Draw a tesuji in ACADEMY's letters; cells that belong to no shape are left out.

    Those who do not see it hear `label`, and then its rows.
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


def _draw_cells(
    cells: Sequence[tuple[int, int]], letters: Sequence[str], hexagonal: bool, label: str
) -> Markup:
    sheet = _Sheet()
    rows = [row for row, _ in cells]
    # A slanted row of hexagons would leave room at its left.
    shift = min(column + row / 2 for row, column in cells) * UNIT if hexagonal else 0.0
    for (row, column), letter in zip(cells, letters, strict=True):
        cell = grid_cell(row, column, hexagonal, _MARGIN - shift, _MARGIN)
        sheet.parts += [_path(cell.outlines, _KINDS.get(letter, "cell")), *_piece(cell.place, letter)]
        sheet.reach(cell.place[0] + UNIT / 2 + _MARGIN, cell.place[1] + UNIT / math.sqrt(3) + _MARGIN)
    by_row = [
        " ".join(letter for (row, _), letter in zip(cells, letters, strict=True) if row == number)
        for number in range(max(rows) + 1)
    ]
    return sheet.markup(f"{label}: {' / '.join(by_row)}", "pattern")


def _draw_nodes(pattern: Pattern, letters: Sequence[str], geometry: GraphGeometry, label: str) -> Markup:
    nodes = tuple(node for _, node in pattern.cells)
    names = [geometry.nodes[node] for node in nodes]
    places = spread_nodes(geometry, nodes) if len(nodes) <= MOST_SPREAD else ()
    sheet = _Sheet()
    size = 60 + 26 * math.sqrt(len(nodes))
    spots = [(36 + x * size * 1.3, 18 + y * size) for x, y in places]
    spot_of = dict(zip(nodes, spots, strict=False))
    sheet.parts += [
        _line(spot_of[first], spot_of[second])
        for first, second in geometry.edges
        if first in spot_of and second in spot_of
    ]
    for spot, letter, name in zip(spots, letters, names, strict=False):
        kind = {"+": "node off", "#": "node any"}.get(letter, "node")
        sheet.parts += [
            _disc(spot, kind, 10.0),
            *_piece(spot, letter),
            _text(spot, "node-name", _short(name), 22),
        ]
        sheet.reach(spot[0] + 36, spot[1] + 28)
    words = ", ".join(f"{name} {letter}" for name, letter in zip(names, letters, strict=True))
    return sheet.markup(f"{label}: {words}", "pattern map")


def _line(first: Point, second: Point, kind: str = "edge") -> str:
    (left, up), (right, down) = first, second
    ends = f'x1="{_number(left)}" y1="{_number(up)}" x2="{_number(right)}" y2="{_number(down)}"'
    return f'<line class="{kind}" {ends}/>'


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_LABEL else name[: _LONGEST_LABEL - 1] + "…"


@dataclass(frozen=True)
class DrawnBoard:
    """A board as SVG, whole and in parts.

    `cells` are the elements that change with what is on the cells, in the order in which the picture has
    them.
    """

    cells: tuple[str, ...]
    whole: Markup
    drawing: Drawing


def draw_board(drawing: Drawing, marks: BoardMarks, label: str) -> DrawnBoard:
    """Draw a board with what is shown besides; those who do not see it hear `label`."""
    layout = drawing.layout
    areas = _area_of(layout)
    grounds = [
        list(_ground(layout, layout.cells[number], mark, areas.get(number)))
        for number, mark in enumerate(drawing.marks)
    ]
    pieces = [list(_standing(layout, number, mark, marks)) for number, mark in enumerate(drawing.marks)]
    sheet = _Sheet(width=layout.width, height=layout.height, text=_map_text(layout))
    sheet.parts += [_path([outline], "cell off") for outline in layout.background]
    sheet.parts += [_path([outline], "ground") for outline in layout.board]
    if is_map(layout):
        # Names and pieces reach into the cells beside their own.
        below = [_cell_element(number, marks, ground) for number, ground in enumerate(grounds)]
        above = [
            _cell_element(number, marks, _linked(number, marks, piece)) for number, piece in enumerate(pieces)
        ]
        sheet.parts += [*below, *_lines(layout), *above]
        sheet.parts += _area_labels(layout)
        cells = (*below, *above)
    else:
        cells = tuple(
            _cell_element(number, marks, _linked(number, marks, [*ground, *piece]))
            for number, (ground, piece) in enumerate(zip(grounds, pieces, strict=True))
        )
        sheet.parts += [*_lines(layout), *cells]
    # One element, however many they are: each move changes them all.
    arrows = "".join(part for arrow in drawing.arrows for part in _arrow(arrow, layout.radius))
    cells = (*cells, f'<g class="at arrows">{arrows}</g>')
    sheet.parts += [cells[-1], *(_text(at.place, "coordinate", at.text) for at in layout.labels)]
    kind = "board" if not is_map(layout) else "board map" if layout.width > _MAP_WIDTH else "board map near"
    return DrawnBoard(cells, sheet.markup(label, kind, interactive=bool(marks.links)), drawing)


def _arrow(arrow: Arrow, radius: float) -> Iterator[str]:
    """An order: a line with a head, or a text alone."""
    kinds = f"arrow {arrow.kind} {_side(arrow.seat)}" + (" failed" if arrow.failed else "")
    yield f'<g class="{kinds}"><title>{escape(arrow.label)}</title>'
    (left, up), (right, down) = arrow.start, arrow.end
    length = math.dist(arrow.start, arrow.end)
    if length > 2 * radius:
        # Between the pieces at both ends, not over them.
        across, along = (right - left) / length, (down - up) / length
        end = radius * 0.9 if arrow.kind == "move" else 0.0
        first = (left + across * radius, up + along * radius)
        tip = (right - across * end, down - along * end)
        yield _line(first, tip, "shaft")
        if arrow.kind == "move":
            yield _path([_head(tip, across, along)], "head")
    if arrow.text:
        middle = ((left + right) / 2, (up + down) / 2)
        place = middle if length else (left + 1.2 * radius, up - 1.2 * radius)
        yield _text(place, "arrow-text", arrow.text)
    yield "</g>"


def _head(tip: Point, across: float, along: float) -> tuple[Point, ...]:
    back = (tip[0] - _HEAD * across, tip[1] - _HEAD * along)
    side = 0.5 * _HEAD
    return (
        tip,
        (back[0] - side * along, back[1] + side * across),
        (back[0] + side * along, back[1] - side * across),
    )


def _lines(layout: Layout) -> Iterator[str]:
    yield from (_line(first, second) for first, second in layout.links)
    yield from (_line(first, second, "border") for first, second in layout.borders)
    yield from (_disc(star, "star", 1.8) for star in layout.stars)


def is_map(layout: Layout) -> bool:
    """Return whether a board is a map, which needs the page's whole width."""
    return layout.width > _WIDEST_SCALED


def _area_of(layout: Layout) -> Mapping[int, int]:
    """The area of each cell that is in one; of those in several the smallest."""
    by_size = sorted(enumerate(layout.areas), key=lambda numbered: -len(numbered[1].cells))
    return {cell: number for number, area in by_size for cell in area.cells}


class _Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: "_Box") -> float:
        """How much of two boxes is the same."""
        across = min(self.right, other.right) - max(self.left, other.left)
        along = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across * along if across > 0 and along > 0 else 0.0


@lru_cache(maxsize=16)
def _area_labels(layout: Layout) -> tuple[str, ...]:
    """The areas' names and values, beside their cells where they hide least and each other not at all."""
    size, radius = _map_text(layout), layout.radius
    put: list[_Box] = []
    labels = []
    for number, area in enumerate(layout.areas):
        if not area.cells:
            continue
        text = f"{area.name} {area.value}".strip()
        half = min(_LETTER_WIDTH * size * len(text), layout.width) / 2
        places = [layout.cells[cell].place for cell in area.cells]
        middle = (sum(x for x, _ in places) / len(places), sum(y for _, y in places) / len(places))

        # Others are too far away for any of these places.
        reach = 2 * half + 6 * radius
        pieces = [
            _Box(x - radius, y - radius, x + radius, y + radius)
            for x, y in (cell.place for cell in layout.cells)
            if any(abs(x - right) < reach and abs(y - down) < 6 * radius for right, down in places)
        ]

        def box(place: Point, half: float = half) -> _Box:
            x = min(max(place[0], half), layout.width - half)
            y = min(max(place[1], size), layout.height - 0.4 * size)
            return _Box(x - half, y - 0.8 * size, x + half, y + 0.25 * size)

        def price(label: _Box, middle: Point = middle, pieces: Sequence[_Box] = pieces) -> float:
            names = sum(label.overlap(other) for other in put)
            hidden = sum(label.overlap(piece) for piece in pieces)
            away = math.dist(((label.left + label.right) / 2, label.bottom), middle)
            return 100 * names + hidden + size * away / 10

        steps = (-1.5, 1.5 + size / radius, -2.3, 2.3 + size / radius, -3.1)
        best = min((box((x, y + step * radius)) for x, y in places for step in steps), key=price)
        put.append(best)
        place = ((best.left + best.right) / 2, best.bottom - 0.25 * size)
        labels.append(_text(place, f"area-name area-{number % _AREA_COLOURS}", text, 0.0))
    return tuple(labels)


def _cell_element(number: int, marks: BoardMarks, parts: Iterable[str]) -> str:
    matches = marks.matches.get(number, ())
    data = f' data-matches="{" ".join(map(str, matches))}"' if matches else ""
    kinds = [
        "at",
        *(["last"] if number in marks.last.changed else []),
        *(["lit"] if number in marks.lit else []),
        *(["matched"] if matches else []),
    ]
    return f'<g class="{" ".join(kinds)}"{data}>{"".join(parts)}</g>'


def _linked(number: int, marks: BoardMarks, parts: Iterable[str]) -> Iterable[str]:
    link = marks.links.get(number)
    if link is None:
        return parts
    kind = "play known" if link.known else "play"
    # The list beside the board has the known moves; others would be hundreds of stops for the keyboard.
    stop = "" if link.known else ' tabindex="-1"'
    begin = f'<a class="{kind}" href="{escape(link.address)}" aria-label="{escape(link.label)}"{stop}>'
    return [begin, *parts, "</a>"]


def _ground(layout: Layout, cell: Cell, mark: Mark, area: int | None) -> Iterator[str]:
    if cell.tag:
        named = "" if area is None else f", {layout.areas[area].name} {layout.areas[area].value}".rstrip()
        yield f"<title>{escape(cell.name)}{escape(named)}</title>"
    kinds = [
        "cell" if cell.outlines else "node",
        *(["off"] if mark.off else []),
        *([cell.ground] if cell.ground else []),
        *([f"own-{min(mark.owner, _COLOURS)}"] if mark.owner else []),
        *([] if area is None else [f"area-{area % _AREA_COLOURS}"]),
    ]
    if cell.outlines:
        yield _path(cell.outlines, " ".join(kinds))
    else:
        yield _disc(cell.place, " ".join(kinds), layout.radius)


def _standing(layout: Layout, number: int, mark: Mark, marks: BoardMarks) -> Iterator[str]:
    """The name of a cell, its piece, and what is marked there."""
    cell = layout.cells[number]
    place = cell.place if mark.place is None else mark.place
    size = _piece_size(layout, cell, mark)
    if mark.centre:
        yield _disc((cell.place[0] + 1.5 * size, cell.place[1]), "centre", 0.35 * size)
    yield from _names(layout, cell, size)
    if mark.lost is not None:
        seat, text = mark.lost
        aside = (place[0] + 0.8 * size, place[1] + 0.8 * size)
        yield _disc(aside, f"piece lost {_side(seat)}", 0.8 * size)
        yield _text(aside, f"on {_side(seat)}", text)
    if mark.seat:
        yield _disc(place, f"piece {_side(mark.seat)}", size)
        if mark.crown:
            yield _disc(place, f"crown {_side(mark.seat)}", 0.56 * size)
    if mark.text:
        kind = f"on {_side(mark.seat)}" if mark.seat else "on-cell"
        yield _text(place, kind, mark.text, 0.36 * (_map_text(layout) or size))
    if mark.text and number in marks.last.changed:
        yield _disc(place, "last-ring", size + 3)
    elif number in marks.last.arrived:
        yield _disc(place, "last-mark", 2.6)
    if number in marks.links:
        yield from _choice(cell.place, marks.links[number])


def _names(layout: Layout, cell: Cell, size: float) -> Iterator[str]:
    if cell.named:
        yield _text(cell.place, "node-name", cell.name if cell.outlines else _short(cell.name), size + 12)
    if cell.tag:
        yield _text(cell.place, "tag", cell.tag, size + 0.75 * _map_text(layout))


def _piece_size(layout: Layout, cell: Cell, mark: Mark) -> float:
    if is_map(layout):
        # As wide as what is written on it.
        return max(layout.radius, 0.34 * _map_text(layout) * len(mark.text) if mark.seat else 0.0)
    if mark.text:
        return layout.radius
    return _STONE if cell.ground == "point" else _PIECE


def _map_text(layout: Layout) -> float:
    """The size of a map's letters, which can be read when the page shows all of it; 0 for other boards."""
    return max(_MAP_LETTERS, _LEAST_LETTERS * layout.width / _MAP_WIDTH) if is_map(layout) else 0.0


def _choice(place: Point, link: CellLink) -> Iterator[str]:
    """What shows that a cell can be clicked on."""
    yield _disc(place, "choice", 7.0)
    if link.rank:
        yield _text(place, "rank", str(link.rank))


def draw_legend(letters: Iterable[str]) -> list[tuple[str, str, Markup]]:
    """Return letters of patterns and tesujis with what they mean and how they are drawn."""
    legend = []
    for letter in letters:
        sheet = _Sheet()
        cell = grid_cell(0, 0, False, 1, 1)
        sheet.parts += [_path(cell.outlines, _KINDS.get(letter, "cell")), *_piece(cell.place, letter)]
        sheet.reach(UNIT + 2, UNIT + 2)
        meaning = (LETTER_MEANINGS | _TESUJI_MEANINGS)[letter]
        legend.append((letter, meaning, sheet.markup(meaning, "legend-cell")))
    return legend


def draw_bar(parts: Sequence[tuple[str, float]], label: str) -> Markup:
    """Draw parts of a whole, of a style and a size each, as one bar; `label` says in words what they are."""
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


def draw_results(wins: int, draws: int, losses: int) -> Markup:
    """Draw a bar of the games that were won, drawn and lost."""
    label = f"{wins} won, {draws} drawn, {losses} lost"
    return draw_bar([("won", wins), ("drawn", draws), ("lost", losses)], label)
