"""Places to draw a map's territories at, where its file has none: as far apart as there are steps between."""

from dataclasses import replace
from typing import Final

import numpy as np

from referees.graph_layout import reachable, spread
from referees.warlight.maps import WarMap, mirror_of, northern

_ROUNDS: Final = 60
_MARGIN: Final = 30.0
# Above this many territories the distances between all pairs would take minutes: they go in rows.
_MAX_PLACED: Final = 800


def with_places(war_map: WarMap) -> WarMap:
    """The map with a place for every territory; a map that has all is returned as it is.

    Of a mirrored map the northern half is laid out, and the southern one is its image below.
    """
    if all(territory.place for territory in war_map.territories):
        return war_map
    image = mirror_of(war_map)
    drawn = list(range(len(war_map.territories))) if image is None else northern(war_map)
    spots = _spread(war_map, drawn)
    height = 1000.0 if image is None else 480.0
    places: dict[int, tuple[float, float]] = {}
    for at, (right, down) in zip(drawn, spots, strict=True):
        place = (
            round(_MARGIN + right * (1000 - 2 * _MARGIN), 1),
            round(_MARGIN + down * (height - _MARGIN), 1),
        )
        places[at] = place
        if image is not None:
            places[image[at]] = place[0], round(1000 - place[1], 1)
    return replace(
        war_map,
        territories=tuple(
            replace(territory, place=places[at]) for at, territory in enumerate(war_map.territories)
        ),
    )


def _spread(war_map: WarMap, drawn: list[int]) -> list[tuple[float, float]]:
    """Places from 0 to 1 both ways for territories given by their indices."""
    count = len(drawn)
    if count > _MAX_PLACED:
        side = int(np.ceil(np.sqrt(count)))
        return [(number % side / side, number // side / side) for number in range(count)]
    steps = (reachable(war_map.neighbours, at) for at in drawn)
    far = np.array([[territory[other] for other in drawn] for territory in steps], dtype=float)
    return spread(far, rounds=_ROUNDS)
