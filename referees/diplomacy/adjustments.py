"""How many units each power builds or removes at a year's end, and which it loses if it does not say."""

from functools import cache

from referees.diplomacy.map import Map, Unit, UnitKind
from referees.diplomacy.position import Position
from referees.diplomacy.settings import Choices, RemovalDistance, RemovalRoute
from referees.graph_layout import reachable


def owners_after(position: Position) -> tuple[int, ...]:
    """Who owns the supply centres when the units in them have taken them."""
    board = position.map
    number_of = centre_numbers(board)
    owners = list(position.owners)
    for unit in position.units:
        number = number_of[board.province_of[unit.location]]
        if number >= 0:
            owners[number] = unit.power
    return tuple(owners)


@cache
def centre_numbers(board: Map) -> tuple[int, ...]:
    """For each province its number among the supply centres, -1 for one without."""
    return tuple(
        board.centres.index(province) if province in board.centres else -1
        for province in range(len(board.codes))
    )


def free_homes(position: Position, power: int) -> list[int]:
    """The home centres (provinces) of a power that it owns and in which no unit stands."""
    board = position.map
    number_of = centre_numbers(board)
    taken = {board.province_of[unit.location] for unit in position.units}
    return [
        home
        for home in board.powers[power].homes
        if home not in taken and position.owners[number_of[home]] == power
    ]


def adjustment(position: Position, power: int) -> int:
    """How many units a power may build (above 0) or must remove (below 0), counted now.

    Builds are those that it has room for: it may have more centres than units and no free home centre.
    """
    return adjustments(position)[power]


def adjustments(position: Position) -> list[int]:
    """`adjustment` of every power."""
    counts = [position.owners.count(power) for power in range(len(position.map.powers))]
    for unit in position.units:
        counts[unit.power] -= 1
    for power, count in enumerate(counts):
        if count > 0:
            counts[power] = min(count, len(free_homes(position, power)))
    return counts


def civil_disorder_order(position: Position, power: int, choices: Choices) -> list[Unit]:
    """A power's units in the order in which they are removed when it does not say which.

    The farthest from its centres goes first; of equal ones a fleet before an army, then by the province's
    name (DATC 3.0, 4.D.5 to 4.D.8).
    """
    board = position.map
    if choices.removal_distance is RemovalDistance.HOME_CENTRES:
        centres = frozenset(board.powers[power].homes)
    else:
        centres = frozenset(position.centres_of(power))
    everywhere = choices.removal_route is RemovalRoute.LAND_AND_SEA

    def urgency(unit: Unit) -> tuple[int, bool, str]:
        province = board.province_of[unit.location]
        kind = UnitKind.ARMY if everywhere else unit.kind
        steps = distances(board, kind, unit.location)
        distance = min((steps[centre] for centre in centres), default=len(board.codes))
        return -distance, unit.kind is UnitKind.ARMY, board.names[province]

    return sorted(position.units_of(power), key=urgency)


@cache
def distances(board: Map, kind: UnitKind, location: int) -> tuple[int, ...]:
    """How many provinces a unit is from each other one; the number of provinces where there is no way.

    By `kind`: armies count seas like land, as they may be convoyed; fleets count their own moves alone, and
    there is no way for them to a centre inland.
    """
    size = len(board.codes)
    if kind is UnitKind.ARMY:
        steps = reachable(board.neighbours, board.province_of[location])
        return tuple(steps.get(province, size) for province in range(size))
    steps = reachable(board.reach[kind], location)
    return tuple(min(steps.get(place, size) for place in places) for places in board.places)
