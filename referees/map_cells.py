"""The cells of a map around its points: what of the plane is nearest to each (Voronoi's cells)."""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from referees.drawing import Point

FRAME: Final = -1
_CORNERS: Final = 16


class Side(NamedTuple):
    """A corner of a cell, and whose cell lies beyond the side from here to the next corner, or FRAME."""

    corner: Point
    beyond: int


def cells(points: Sequence[Point], width: float, height: float) -> list[list[Side]]:
    """Each point's cell within a frame from (0, 0), as its sides in turn. Points must differ."""
    frame = ((0.0, 0.0), (width, 0.0), (width, height), (0.0, height))
    return [_cell(points, number, frame) for number in range(len(points))]


def round_cells(points: Sequence[Point], radius: float) -> list[tuple[Point, ...]]:
    """Each point's cell as far as the `radius` reaches, as its corners. Points must differ."""
    turns = [math.tau * corner / _CORNERS for corner in range(_CORNERS)]
    circles = (
        [(right + radius * math.cos(turn), down + radius * math.sin(turn)) for turn in turns]
        for right, down in points
    )
    return [
        tuple(side.corner for side in _cell(points, number, circle)) for number, circle in enumerate(circles)
    ]


def _cell(points: Sequence[Point], number: int, frame: Sequence[Point]) -> list[Side]:
    here = points[number]
    sides = [Side(corner, FRAME) for corner in frame]
    nearest_first = sorted(
        (math.dist(here, point), other) for other, point in enumerate(points) if other != number
    )
    for distance, other in nearest_first:
        if not sides or distance / 2 > max(math.dist(here, side.corner) for side in sides):
            break
        sides = _cut(sides, here, points[other], other)
    return sides


def _cut(sides: list[Side], here: Point, neighbour: Point, other: int) -> list[Side]:
    """What of a cell is nearer to `here` than to `neighbour`."""
    right, down = neighbour[0] - here[0], neighbour[1] - here[1]
    middle = (here[0] + neighbour[0]) / 2 * right + (here[1] + neighbour[1]) / 2 * down
    beyond = [side.corner[0] * right + side.corner[1] * down - middle for side in sides]
    kept: list[Side] = []
    for at, side in enumerate(sides):
        after = (at + 1) % len(sides)
        inside, next_inside = beyond[at] <= 0, beyond[after] <= 0
        if inside:
            kept.append(side)
        if inside != next_inside:
            share = beyond[at] / (beyond[at] - beyond[after])
            first, last = side.corner, sides[after].corner
            crossing = (first[0] + share * (last[0] - first[0]), first[1] + share * (last[1] - first[1]))
            # Leaving, the new side begins here; coming back, the old one goes on.
            kept.append(Side(crossing, other if inside else side.beyond))
    return kept
