"""Where a map is drawn: its provinces' points, and the polygons between them (Voronoi's cells)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np

from referees.diplomacy.map import NOBODY, InvalidMapError, Map, Terrain, UnknownPlaceError
from referees.diplomacy.position import Position
from referees.drawing import Arrow, Cell, Layout, Mark, Point
from referees.drawing import Drawing as Picture
from referees.graph_layout import reachable, spread
from referees.map_cells import FRAME, Side, cells
from referees.toml_text import read_toml

MAX_POINTS: Final = 2_000
_LAYOUT_SIZE: Final = (1000.0, 760.0)
_UNIT_RADIUS: Final = 11.0
_LAYOUT_ROUNDS: Final = 120
_MARGIN: Final = 60.0
# How far a coast is from the middle of its province, where the map's file does not say.
_COAST_DISTANCE: Final = 24.0
# Older maps name colours as well; they are the page's to choose.
_ENTRIES: Final = ("size", "points", "impassable", "colours")
_MAX_SIDE: Final = 100_000


@dataclass(frozen=True)
class Drawing:
    """Shapes of a map, in a frame of `width` and `height` from the upper left.

    `shapes` are the provinces' polygons, by province; `impassable` those of no province. `borders` are lines
    between them. `places` are where units stand, by location. `links` join provinces that border each other
    and do not touch here.
    """

    width: float
    height: float
    shapes: tuple[tuple[tuple[Point, ...], ...], ...]
    impassable: tuple[tuple[Point, ...], ...]
    borders: tuple[tuple[Point, Point], ...]
    places: tuple[Point, ...]
    links: tuple[tuple[Point, Point], ...]


class _Plan(NamedTuple):
    """What a drawing is made from: size, points, the province of each, and coasts' points."""

    width: float
    height: float
    points: Sequence[Point]
    owners: Sequence[int]
    coasts: Mapping[int, Point]


def draw(position: Position, arrows: tuple[Arrow, ...] = ()) -> Picture:
    """A position with its units, dislodged ones too, the owners of supply centres, and arrows."""
    board = position.map
    layout = _layout_of(board)
    owners = dict(zip(board.centres, position.owners, strict=True))
    units = {board.province_of[unit.location]: unit for unit in position.units}
    lost = {board.province_of[unit.location]: unit for unit, _ in position.dislodged}
    places = drawing_of(board).places
    marks = []
    for province in range(len(board.codes)):
        unit, gone = units.get(province), lost.get(province)
        marks.append(
            Mark(
                seat=unit.power + 1 if unit else 0,
                text=unit.kind.letter if unit else "",
                owner=owners.get(province, NOBODY) + 1,
                place=places[unit.location] if unit else None,
                lost=(gone.power + 1, gone.kind.letter) if gone else None,
                centre=province in owners,
            )
        )
    centres = tuple(position.owners.count(power) for power in range(len(board.powers)))
    return Picture(layout, tuple(marks), position.name, arrows, centres)


@cache
def _layout_of(board: Map) -> Layout:
    drawing = drawing_of(board)
    cells = tuple(
        Cell(
            drawing.places[board.main_location[number]],
            drawing.shapes[number],
            code,
            "sea" if board.terrain[number] is Terrain.SEA else "land",
            named=True,
        )
        for number, code in enumerate(board.codes)
    )
    return Layout(
        drawing.width,
        drawing.height,
        cells,
        links=drawing.links,
        background=drawing.impassable,
        borders=drawing.borders,
        radius=_UNIT_RADIUS,
        standing="Supply centres",
    )


@cache
def drawing_of(board: Map) -> Drawing:
    """The drawing of a map. Raises InvalidMapError where its file says what cannot be drawn."""
    plan = _read_plan(board)
    if plan is None:
        points = _lay_out(board)
        return _draw(board, _Plan(*_LAYOUT_SIZE, points, range(len(points)), {}), linked=True)
    return _draw(board, plan, linked=False)


def check_drawing(board: Map) -> None:
    """Raise InvalidMapError, which names the entry, where the map's file says what cannot be drawn."""
    if _read_plan(board) is not None:
        drawing_of(board)


def _read_plan(board: Map) -> _Plan | None:
    """The plan in the map's file, if it has one."""
    entries = read_toml(board.text).get("drawing")
    if entries is None:
        return None
    for entry in entries:
        if entry not in _ENTRIES:
            raise InvalidMapError(f"drawing: it has no {entry!r:.60}; there are {', '.join(_ENTRIES)}")
    width, height = _size(entries.get("size"))
    points, owners, coasts = _read_points(board, entries)
    if not all(0 < right < width and 0 < down < height for right, down in [*points, *coasts.values()]):
        raise InvalidMapError(
            f"drawing.points: one lies outside of the map, which is {width:g} by {height:g}"
        )
    return _Plan(width, height, points, owners, coasts)


def _size(entries: object) -> tuple[float, float]:
    if (
        not isinstance(entries, list)
        or len(entries) != 2
        or not all(isinstance(side, int | float) and 0 < side <= _MAX_SIDE for side in entries)
    ):
        raise InvalidMapError(
            f"drawing.size: {entries!r:.60} is not a width and a height of at most {_MAX_SIDE}"
        )
    return float(entries[0]), float(entries[1])


def _read_points(board: Map, entries: Mapping[str, Any]) -> tuple[list[Point], list[int], dict[int, Point]]:
    """All points, whose province each is, and the coasts' points."""
    points: list[Point] = []
    owners: list[int] = []
    coasts: dict[int, Point] = {}
    table = entries.get("points", {})
    if not isinstance(table, dict):
        raise InvalidMapError(f"drawing.points: {table!r:.60} is not a table")
    for code, text in table.items():
        try:
            location = board.location(code)
        except UnknownPlaceError as error:
            raise InvalidMapError(f"drawing.points: {error}") from None
        read = _points(f"drawing.points.{code}", text)
        if location in board.main_location:
            points += read
            owners += [board.province_of[location]] * len(read)
        else:
            coasts[location] = read[0]
    missing = set(range(len(board.codes))) - set(owners)
    if missing:
        raise InvalidMapError(f"drawing.points: there is no point for {board.codes[min(missing)]}")
    nobodys = _points("drawing.impassable", entries["impassable"]) if "impassable" in entries else []
    points += nobodys
    owners += [FRAME] * len(nobodys)
    if len(points) > MAX_POINTS or len(set(points)) != len(points):
        raise InvalidMapError(f"drawing: {len(points)} points; at most {MAX_POINTS} are drawn, all different")
    return points, owners, coasts


def _points(entry: str, text: object) -> list[Point]:
    try:
        points = [
            (float(right), float(down)) for right, down in (pair.split(",") for pair in str(text).split())
        ]
    except ValueError:
        points = []
    if not points:
        raise InvalidMapError(f"{entry}: {text!r:.60} are not points like '120,80 140,95'")
    return points


def _lay_out(board: Map) -> list[Point]:
    """A point for each province."""
    width, height = _LAYOUT_SIZE
    count = len(board.codes)
    steps = [reachable(board.neighbours, province) for province in range(count)]
    # Where no way leads, as far apart as can be.
    far = np.array([[reached.get(other, count) for other in range(count)] for reached in steps], dtype=float)
    return [
        (_MARGIN + right * (width - 2 * _MARGIN), _MARGIN + down * (height - 2 * _MARGIN))
        for right, down in spread(far, rounds=_LAYOUT_ROUNDS, lengthwise=True)
    ]


def _draw(board: Map, plan: _Plan, *, linked: bool) -> Drawing:
    width, height, points, owners, coasts = plan
    outlines = cells(points, width, height)
    shapes: list[list[tuple[Point, ...]]] = [[] for _ in board.codes]
    impassable: list[tuple[Point, ...]] = []
    for owner, sides in zip(owners, outlines, strict=True):
        (impassable if owner == FRAME else shapes[owner]).append(tuple(side.corner for side in sides))
    borders, touching = _borders(owners, outlines)
    firsts = [points[owners.index(province)] for province in range(len(board.codes))]
    links = [
        (firsts[first], firsts[other])
        for first, other in combinations(range(len(board.codes)), 2)
        if linked and other in board.neighbours[first] and (first, other) not in touching
    ]
    return Drawing(
        width,
        height,
        tuple(map(tuple, shapes)),
        tuple(impassable),
        tuple(borders),
        tuple(_place(board, location, firsts, coasts) for location in range(len(board.location_codes))),
        tuple(links),
    )


def _borders(
    owners: Sequence[int], outlines: Sequence[Sequence[Side]]
) -> tuple[list[tuple[Point, Point]], set[tuple[int, int]]]:
    """The lines between cells of different provinces, and which provinces touch, the lesser one first."""
    lines: list[tuple[Point, Point]] = []
    touching: set[tuple[int, int]] = set()
    for number, sides in enumerate(outlines):
        for side, after in zip(sides, [*sides[1:], *sides[:1]], strict=True):
            # Each line once, from the first of its two cells.
            if side.beyond <= number or owners[side.beyond] == owners[number]:
                continue
            first, second = sorted((owners[number], owners[side.beyond]))
            lines.append((side.corner, after.corner))
            if first != FRAME:
                touching.add((first, second))
    return lines, touching


def _place(board: Map, location: int, firsts: Sequence[Point], coasts: Mapping[int, Point]) -> Point:
    province = board.province_of[location]
    middle = firsts[province]
    if location == board.main_location[province] or location in coasts:
        return coasts.get(location, middle)
    # Towards what a fleet on this coast reaches.
    reached = [firsts[board.province_of[place]] for masks in board.reach for place in masks[location]]
    right = sum(point[0] for point in reached) - middle[0] * len(reached)
    down = sum(point[1] for point in reached) - middle[1] * len(reached)
    far = math.hypot(right, down) or 1.0
    return middle[0] + right / far * _COAST_DISTANCE, middle[1] + down / far * _COAST_DISTANCE
