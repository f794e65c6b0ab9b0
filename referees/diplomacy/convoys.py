"""Which coasts fleets link: flooding over sets of seas, so that no route is ever listed."""

from functools import lru_cache

from referees.diplomacy.map import Map, bits


def fleets_reached(board: Map, start: int, fleets: int) -> int:
    """The seas with fleets (bits) that are linked with `start` (bits of some of them)."""
    borders = board.sea_borders
    reached = fresh = start
    while fresh:
        near = 0
        while fresh:
            low = fresh & -fresh
            near |= borders[low.bit_length() - 1]
            fresh ^= low
        fresh = near & fleets & ~reached
        reached |= fresh
    return reached


def are_linked(board: Map, source: int, target: int, fleets: int) -> bool:
    """Whether fleets in these seas (bits) make a chain from one coast to another."""
    goal = board.sea_access[target] & fleets
    start = board.sea_access[source] & fleets
    if not goal or not start:
        return False
    return bool(goal & start) or bool(fleets_reached(board, start, fleets) & goal)


@lru_cache(maxsize=1 << 14)
def needs_fleet(board: Map, source: int, target: int, sea: int) -> bool:
    """Whether a route from one coast to another could need a fleet in this sea.

    It needs a fleet when without it the others of the route would make no chain: on a route where only the
    first sea touches the one coast, only the last the other, and each sea only the seas before and after it.
    """
    starts, goals, borders = board.sea_access[source], board.sea_access[target], board.sea_borders
    waiting = [(start, starts, start == sea) for start in bits(starts)]
    while waiting:
        last, barred, passed = waiting.pop()
        if goals >> last & 1:
            if passed:
                return True
            continue
        beside = barred | borders[last] | 1 << last
        waiting += [(near, beside, passed or near == sea) for near in bits(borders[last] & ~barred)]
    return False


def chains(board: Map, fleets: int) -> list[tuple[int, int]]:
    """The fleets' chains: of each its seas, and the coasts that they touch, as bits."""
    reached = []
    while fleets:
        chain = fleets_reached(board, fleets & -fleets, fleets)
        reached.append((chain, _coasts(board, chain)))
        fleets &= ~chain
    return reached


@lru_cache(maxsize=1 << 14)
def ways_round(board: Map, chain: int, fleet: int) -> tuple[int, ...]:
    """What tells whether a fleet of a chain can be part of a convoy: sets of coasts (bits).

    A route from one coast to another can lead through the fleet, without passing a sea twice, if at least
    one of the two is in each of these sets: they are the coasts that the fleet's part of the chain touches
    when one of the other fleets is away (the fan lemma of Menger's theorem).
    """
    here = 1 << fleet
    whole = _coasts(board, chain)
    parts = {
        _coasts(board, fleets_reached(board, here, chain & ~(1 << other))) for other in bits(chain & ~here)
    }
    return tuple(sorted(parts - {whole}))


def _coasts(board: Map, seas: int) -> int:
    coasts = 0
    for sea in bits(seas):
        coasts |= board.shores[sea]
    return coasts
