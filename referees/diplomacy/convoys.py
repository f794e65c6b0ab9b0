"""Which coasts fleets link: flooding over sets of seas, so that no route is ever listed."""

from referees.diplomacy.provinces import Map


def fleets_reached(board: Map, start: int, fleets: int) -> int:
    """Of the seas with fleets (bits), those linked with `start` (bits of some of them)."""
    borders = board.sea_borders
    reached = fresh = start & fleets
    while fresh:
        near = 0
        while fresh:
            low = fresh & -fresh
            near |= borders[low.bit_length() - 1]
            fresh ^= low
        fresh = near & fleets & ~reached
        reached |= fresh
    return reached


def linked(board: Map, source: int, target: int, fleets: int) -> bool:
    """Whether fleets in these seas (bits) make a chain from one coast to another."""
    goal = board.sea_access[target] & fleets
    start = board.sea_access[source] & fleets
    if not goal or not start:
        return False
    return bool(goal & start) or bool(fleets_reached(board, start, fleets) & goal)
