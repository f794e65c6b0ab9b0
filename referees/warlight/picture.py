"""The map with owners and armies as a picture."""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from referees.drawing import Area, Arrow, Cell, Drawing, Layout, Mark, Point
from referees.map_cells import round_cells
from referees.warlight.map_layout import with_places
from referees.warlight.maps import WarMap
from referees.warlight.position import (
    UNSEEN,
    Attacked,
    Deployed,
    Transferred,
    WarPosition,
)
from referees.warlight.turn import SEATS

# Half of all territories are at least so far from the next one, so that numbers on them can be read.
_APART: Final = 48.0
_RADIUS: Final = 15.0
_MARGIN: Final = 62.0
# No two territories are nearer than this.
_NEAREST: Final = 40.0
_ROUNDS: Final = 40


def draw(war_map: WarMap, position: WarPosition) -> Drawing:
    """A position, or what a seat sees of it, with the orders of the turn before."""
    marks = tuple(
        Mark(off=True) if owner == UNSEEN else Mark(owner, str(armies))
        for owner, armies in zip(position.owners, position.armies, strict=True)
    )
    layout = _lay_out(war_map)
    arrows = tuple(_arrows(war_map, position, layout))
    territories = tuple(position.owners.count(seat) for seat in SEATS)
    return Drawing(layout, marks, f"turn {position.turn}", arrows, territories)


def _arrows(war_map: WarMap, position: WarPosition, layout: Layout) -> Iterator[Arrow]:
    """What was deployed, transferred and attacked."""
    cell_of = {territory.id: cell for territory, cell in zip(war_map.territories, layout.cells, strict=True)}
    for event in position.events:
        match event:
            case Deployed():
                place, name = cell_of[event.to].place, cell_of[event.to].name
                yield Arrow(event.seat, place, place, f"{event.sent} deployed on {name}", f"+{event.sent}")
            case Transferred() | Attacked():
                source, target = cell_of[event.source], cell_of[event.to]
                what = f"{event.sent} from {source.name} to {target.name}"
                if isinstance(event, Attacked):
                    end = "captured" if event.captured else "held"
                    what += f": {event.killed} killed of {event.defenders}, {event.lost} lost, {end}"
                failed = isinstance(event, Attacked) and not event.captured
                yield Arrow(event.seat, source.place, target.place, what, str(event.sent), failed=failed)


@lru_cache(maxsize=16)
def _lay_out(war_map: WarMap) -> Layout:
    placed = [territory.place or (0.0, 0.0) for territory in with_places(war_map).territories]
    apart = sorted(
        min(math.dist(place, other) for other in placed if other != place) for place in set(placed)
    )
    scale = _APART / apart[len(apart) // 2]
    left, up = (min(place[way] for place in placed) for way in (0, 1))
    points = _moved_apart([(_MARGIN + scale * (x - left), _MARGIN + scale * (y - up)) for x, y in placed])
    shapes = round_cells(points, 1.2 * _APART) if len(set(points)) == len(points) else [()] * len(points)
    names = [f"{territory.id}:{territory.name}" for territory in war_map.territories]
    cells = tuple(
        Cell(point, (shape,) if shape else (), name, tag=str(territory.id))
        for point, shape, name, territory in zip(points, shapes, names, war_map.territories, strict=True)
    )
    areas = tuple(
        Area(
            bonus.name, f"+{bonus.armies}", tuple(war_map.index[territory] for territory in bonus.territories)
        )
        for bonus in war_map.bonuses
    )
    return Layout(
        width=max(x for x, _ in points) + _MARGIN,
        height=max(y for _, y in points) + _MARGIN,
        cells=cells,
        links=tuple((points[first], points[second]) for first, second in war_map.edges),
        areas=areas,
        radius=_RADIUS,
        standing="Territories",
    )


def _moved_apart(points: Sequence[Point]) -> list[Point]:
    """The same map where no two territories lie so near to each other that their numbers would overlap."""
    places = np.array(points)
    far = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    # Those that are far apart do not come near in so few rounds.
    first, second = np.nonzero(np.triu(far < 2 * _NEAREST, 1))
    for _ in range(_ROUNDS):
        ways = places[first] - places[second]
        apart = np.hypot(ways[:, 0], ways[:, 1])
        # Each of a pair goes half of what is missing; those in one place have no way to go.
        pushes = ways * (np.maximum(_NEAREST - apart, 0.0) / 2 / np.maximum(apart, 1.0))[:, None]
        np.add.at(places, first, pushes)
        np.add.at(places, second, -pushes)
    places += np.maximum(_MARGIN - places.min(axis=0), 0.0)
    return [(float(x), float(y)) for x, y in places]
