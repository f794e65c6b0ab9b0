"""MILA's own list of actions, which leaves out long convoys and fleets that a convoy does not need.

Source: the list of Paquette et al. (2019) as google-deepmind/diplomacy has it. It keeps convoys by routes of
at most four fleets, none of which could be left out.
"""

from collections.abc import Iterator
from functools import cache
from typing import Final

from referees.diplomacy.deepmind.actions import Parts, parts
from referees.diplomacy.deepmind.notation import mila_strings
from referees.diplomacy.deepmind.possible_actions import POSSIBLE_ACTIONS, STANDARD, OrderCode
from referees.diplomacy.provinces import UnitKind, bits

LONGEST_ROUTE: Final = 4


@cache
def mila_list() -> tuple[str, ...]:
    """All strings of the list: `WAIVE`, then the others in alphabetical order."""
    routes = _routes()
    kept: set[str] = set()
    for action in POSSIBLE_ACTIONS:
        said = parts(action)
        kept.update(text for text in mila_strings(action) if _is_listed(said, text, routes))
    kept.remove("WAIVE")
    return "WAIVE", *sorted(kept)


def _is_listed(said: Parts, text: str, routes: dict[tuple[int, int], list[int]]) -> bool:
    here = 1 << said.province
    match said.code:
        case OrderCode.CONVOY_TO:
            return (said.province, said.target) in routes
        case OrderCode.CONVOY:
            return any(seas & here for seas in routes.get((said.third, said.target), ()))
        case OrderCode.SUPPORT_MOVE_TO if " S A " in text:
            by_land = STANDARD.reach_mask[UnitKind.ARMY][STANDARD.main_location[said.third]]
            if by_land >> said.target & 1:
                return True
            return any(not seas & here for seas in routes.get((said.third, said.target), ()))
    return True


def _routes() -> dict[tuple[int, int], list[int]]:
    """By two coasts: the routes between them, as bits of seas, that have no shorter way within them."""
    found: dict[tuple[int, int], list[int]] = {}
    for sea in bits(STANDARD.seas):
        for route in _paths((sea,)):
            seas = sum(1 << passed for passed in route)
            starts = _touched_only_by(route, 0)
            ends = _touched_only_by(route, len(route) - 1)
            for start in bits(starts):
                for end in bits(ends & ~(1 << start)):
                    found.setdefault((start, end), []).append(seas)
    return found


def _paths(path: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """A path over seas and all that go on from it without a chord."""
    yield path
    if len(path) == LONGEST_ROUTE:
        return
    beside = 0
    for sea in path[:-1]:
        beside |= STANDARD.sea_borders[sea] | 1 << sea
    for sea in bits(STANDARD.sea_borders[path[-1]] & ~beside):
        yield from _paths((*path, sea))


def _touched_only_by(route: tuple[int, ...], place: int) -> int:
    """The coasts (bits) that one sea of a route touches and no other."""
    coasts = STANDARD.shores[route[place]]
    for number, sea in enumerate(route):
        if number != place:
            coasts &= ~STANDARD.shores[sea]
    return coasts
