"""Maps of two halves that are each other's image: finding the mirror of a map, and building such maps.

The halves are told by the last letter of their territories' names, `N` and `S`.
"""

from collections import Counter
from collections.abc import Sequence

from referees.warlight.maps import Bonus, InvalidMapError, Territory, WarMap

NORTH, SOUTH = "N", "S"
# Between the two halves of a drawing, of its height.
_GAP = 0.06


def mirror_of(war_map: WarMap) -> tuple[int, ...] | None:
    """The index of each territory's image, or None of a map without a mirror.

    Images bear the same name but for the last letter. Neighbours' images must be neighbours, and a
    bonus's image a bonus of as many armies.
    """
    named = {each.name: at for at, each in enumerate(war_map.territories)}
    if len(named) < len(war_map.territories):
        return None
    image = []
    for each in war_map.territories:
        other = {NORTH: SOUTH, SOUTH: NORTH}.get(each.name[-1], "")
        partner = named.get(each.name[:-1] + other) if other else None
        if partner is None:
            return None
        image.append(partner)
    adjacent = war_map.adjacent
    if any(adjacent[image[at]] != {image[near] for near in nears} for at, nears in enumerate(adjacent)):
        return None
    regions = sorted((armies, sorted(region)) for armies, region in war_map.regions)
    images = sorted((armies, sorted(image[at] for at in region)) for armies, region in war_map.regions)
    return tuple(image) if regions == images else None


def northern(war_map: WarMap) -> list[int]:
    """The indices of the northern half of a map that has a mirror."""
    return [at for at, each in enumerate(war_map.territories) if each.name[-1] == NORTH]


def double(half: WarMap, offset: int, bridges: Sequence[int], name: str) -> WarMap:
    """Mirror a map: one half keeps its ids, the other's are `offset` higher.

    A bridge links a territory, by its id, with its own image. Drawn, the halves lie one above the
    other, the lower one upside down, and a little apart however high the half is. Raises InvalidMapError.
    """
    highest = half.territories[-1].id
    if offset < highest:
        raise InvalidMapError(f"offset {offset}: it must be at least {highest}, the highest id")
    if not bridges:
        raise InvalidMapError("no bridges: the two halves must be linked somewhere")
    shared, times = Counter(each.name for each in half.territories).most_common(1)[0]
    if times > 1:
        raise InvalidMapError(
            f"{times} territories are called {shared}: a territory's image is found by its name"
        )
    for bridge in bridges:
        if bridge not in half.index:
            raise InvalidMapError(f"a bridge at {bridge}, which is no territory")

    lowest = max([each.place[1] for each in half.territories if each.place is not None], default=0.0)
    height = 500 * (1 - _GAP) / lowest if lowest else 0.0

    def halves() -> tuple[list[Territory], list[Territory]]:
        north, south = [], []
        for each in half.territories:
            above = below = None
            if each.place is not None:
                right, down = each.place
                down *= height
                above, below = (right, round(down, 1)), (right, round(1000 - down, 1))
            over = (each.id,) if each.id in bridges else ()
            ways = tuple(near + offset for near in each.neighbours)
            across = tuple(id_ + offset for id_ in over)
            north.append(Territory(each.id, each.name + NORTH, each.neighbours + across, above))
            south.append(Territory(each.id + offset, each.name + SOUTH, over + ways, below))
        return north, south

    bonuses = [
        Bonus(bonus.name + letter, bonus.armies, tuple(id_ + shift for id_ in bonus.territories))
        for letter, shift in ((NORTH, 0), (SOUTH, offset))
        for bonus in half.bonuses
    ]
    north, south = halves()
    return WarMap(name, (*north, *south), tuple(bonuses))
