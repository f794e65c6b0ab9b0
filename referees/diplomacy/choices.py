"""The choices that the rules of Diplomacy leave open, and the printed editions as sets of them.

The questions are those of L. Kruijswijk's "Diplomacy Adjudicator Test Cases", chapter 4.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final


class AdjacentConvoy(Enum):
    """When an army that is ordered to a province beside its own goes by sea, without saying so (4.A.3)."""

    EXPLICIT = "explicit"
    """Never: it must be ordered to."""
    INTENT = "intent"
    """When a fleet of its own power, which a route could need, is ordered to convoy it there."""
    ANY_FLEET = "any fleet"
    """When any fleet is ordered to convoy it there, and the other unit comes the opposite way or by land."""


class RemovalDistance(Enum):
    """From where the distance of a unit is counted that a power forgot to remove (4.D.8)."""

    OWNED_CENTRES = "owned centres"
    HOME_CENTRES = "home centres"


class RemovalRoute(Enum):
    """Over what the distance of a unit is counted that a power forgot to remove (4.D.8)."""

    LAND_AND_SEA = "land and sea"
    """Over all provinces that touch, for armies and fleets alike."""
    OWN_MOVES = "own moves"
    """Armies over all provinces, as they may be convoyed; fleets where they sail, never inland (6.J.6)."""


@dataclass(frozen=True)
class Choices:
    """How open questions are answered; the defaults are what DATC 3.0 recommends.

    `adjacent_convoy`: see AdjacentConvoy. `land_route_left`: whether a move ordered by convoy goes over land
    when the convoy fails; `unsaid_land_route_left`: whether one that goes by convoy without saying so, under
    `adjacent_convoy`, does. `removal_distance`, `removal_route`: see RemovalDistance and RemovalRoute.
    `lenient_coasts`: whether a coast is filled in where only one fits, ignored in orders for armies, and
    ignored where the ordered unit stands on another one; else such an order is void.
    """

    adjacent_convoy: AdjacentConvoy = AdjacentConvoy.INTENT
    land_route_left: bool = False
    unsaid_land_route_left: bool = False
    removal_distance: RemovalDistance = RemovalDistance.OWNED_CENTRES
    removal_route: RemovalRoute = RemovalRoute.LAND_AND_SEA
    lenient_coasts: bool = True


EDITIONS: Final = {
    "1971": Choices(
        AdjacentConvoy.ANY_FLEET,
        unsaid_land_route_left=True,
        removal_distance=RemovalDistance.HOME_CENTRES,
        removal_route=RemovalRoute.OWN_MOVES,
    ),
    "1982": Choices(removal_distance=RemovalDistance.HOME_CENTRES, removal_route=RemovalRoute.OWN_MOVES),
    "2000": Choices(removal_distance=RemovalDistance.HOME_CENTRES, removal_route=RemovalRoute.OWN_MOVES),
    "2023": Choices(),
    "dptg": Choices(removal_route=RemovalRoute.OWN_MOVES),
    "deepmind": Choices(AdjacentConvoy.EXPLICIT, removal_route=RemovalRoute.OWN_MOVES),
}
