"""Places to draw a map's territories at, where its file has none.

Territories lie as far from each other as there are steps between them, as nearly as a plane allows:
stress majorisation (Gansner, Koren and North, "Graph Drawing by Stress Majorization", 2004).
"""

from dataclasses import replace
from typing import Final

import numpy as np

from referees.warlight.maps import WarMap, reachable
from referees.warlight.mirrors import mirror_of, northern

_ROUNDS: Final = 60
_MARGIN: Final = 30.0
# Above this many territories the distances between all pairs would take minutes: they go in rows.
_MAX_PLACED: Final = 800


def with_places(war_map: WarMap) -> WarMap:
    """The map with a place for every territory; a map that has all is returned as it is.

    Of a mirrored map the northern half is laid out, and the southern one is its image below.
    """
    if all(each.place for each in war_map.territories):
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
        territories=tuple(replace(each, place=places[at]) for at, each in enumerate(war_map.territories)),
    )


def _spread(war_map: WarMap, drawn: list[int]) -> list[tuple[float, float]]:
    """Places from 0 to 1 both ways for territories given by their indices."""
    count = len(drawn)
    if count > _MAX_PLACED:
        side = int(np.ceil(np.sqrt(count)))
        return [(number % side / side, number // side / side) for number in range(count)]
    far = np.ones((count, count))
    for row, at in enumerate(drawn):
        steps = reachable(war_map.neighbours, at)
        far[row] = [max(1, steps[other]) for other in drawn]
    weights = far**-2.0
    np.fill_diagonal(weights, 0.0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.pinv(laplacian)
    turns = np.arange(count) * 2.399963  # the golden angle: a start without two equal places
    spots = np.stack([np.cos(turns), np.sin(turns)], axis=1) * np.sqrt(np.arange(1, count + 1))[:, None]
    for _ in range(_ROUNDS):
        apart = np.linalg.norm(spots[:, None] - spots[None], axis=2)
        np.fill_diagonal(apart, 1.0)
        pull = weights * far / np.maximum(apart, 1e-9)
        spots = inverse @ (np.diag(pull.sum(axis=1)) - pull) @ spots
    spots -= spots.min(axis=0)
    spots /= np.maximum(spots.max(axis=0), 1e-9)
    return [(float(right), float(down)) for right, down in spots]
