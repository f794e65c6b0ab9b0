"""What it is worth to a power to have a unit somewhere: its centres and the ways to them.

A supply centre is worth taking, the more the larger its owner is, and an own one worth guarding while it is
threatened. That spreads over the moves of armies and of fleets, weaker with each step, so that units far from
everything still know where to go.
"""

from functools import cache
from typing import Final

from clients.bots.diplomacy.front import Front
from referees.diplomacy import Map, Season, UnitKind
from referees.diplomacy.game import centre_counts
from referees.diplomacy.map import NOBODY, bits

Worth = tuple[list[float], list[float]]
"""By kind of unit and location."""

NEUTRAL: Final = 1.0
ENEMY: Final = 0.7
PER_CENTRE: Final = 0.05
OWN_HOME: Final = 0.4
GUARD: Final = 0.45
# Where a unit stands counts in autumn; in spring, what it can reach counts as well.
STEPS: Final = {
    Season.SPRING: (0.7, 0.9, 0.5, 0.3, 0.2, 0.15, 0.1, 0.1, 0.1, 0.1),
    Season.AUTUMN: (1.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.1, 0.1, 0.1),
}
SPREAD: Final = 5.0
# Of the best coast that an army could be convoyed to over one sea.
CROSSING: Final = 0.5


def worth_of(front: Front) -> Worth:
    """The worth of each location to an army and to a fleet of the front's power."""
    board = front.position.map
    base = _centres(front)
    weights = STEPS[front.position.season]
    found = []
    for kind in UnitKind:
        reach = board.reach[kind]
        across = _across(board) if kind is UnitKind.ARMY else ((),) * len(board.province_of)
        layer = [base[province] for province in board.province_of]
        total = [weights[0] * worth for worth in layer]
        for weight in weights[1:]:
            layer = [
                (
                    layer[place]
                    + sum(layer[near] for near in reach[place])
                    + CROSSING * max((layer[far] for far in across[place]), default=0.0)
                )
                / SPREAD
                if reach[place]
                else 0.0
                for place in range(len(layer))
            ]
            total = [sum_so_far + weight * worth for sum_so_far, worth in zip(total, layer, strict=True)]
        found.append(total)
    return found[UnitKind.ARMY], found[UnitKind.FLEET]


@cache
def _across(board: Map) -> tuple[tuple[int, ...], ...]:
    """For each location the coasts over one sea from its province, where armies stand."""
    found = []
    for location, province in enumerate(board.province_of):
        coasts = 0
        if location == board.main_location[province]:
            for sea in bits(board.sea_access[province]):
                coasts |= board.shores[sea]
        found.append(tuple(board.main_location[coast] for coast in bits(coasts & ~(1 << province))))
    return tuple(found)


def _centres(front: Front) -> list[float]:
    board = front.position.map
    counts = centre_counts(front.position)
    base = [0.0] * len(board.codes)
    for centre in board.centres:
        owner = front.owner[centre]
        if owner == front.power:
            base[centre] = GUARD * min(front.against[centre], 2)
        elif owner is None or owner == NOBODY:
            base[centre] = NEUTRAL
        else:
            base[centre] = ENEMY + PER_CENTRE * counts[owner]
        if owner != front.power and centre in board.powers[front.power].homes:
            base[centre] += OWN_HOME
    return base
