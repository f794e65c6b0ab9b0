"""DeepMind's actions as strings: those of MILA (Paquette et al., 2019) and DeepMind's short ones.

MILA's strings name kinds of units and their coasts, which an action does not: an action may be up to six
of them. A string is one action, but for `X D`, which disbands in a phase of retreats and removes in others,
and for short strings of moves, which are retreats in a phase of retreats.
"""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Final

from referees.diplomacy.deepmind.actions import (
    KINDS,
    POSSIBLE_ACTIONS,
    STANDARD,
    IllegalActionError,
    OrderCode,
    Parts,
    parts,
    place_of,
)
from referees.diplomacy.deepmind.policy_host.__main__ import Season
from referees.diplomacy.map import UnitKind, bits
from referees.diplomacy.orders import OrderKind

Place = tuple[UnitKind, int]
_RETREATS: Final = (OrderCode.DISBAND, OrderCode.RETREAT_TO)
_FORMS: Final = {
    OrderKind.HOLD: "{place} H",
    OrderKind.MOVE: "{place} - {coast}",
    OrderKind.RETREAT: "{place} - {coast}",
    OrderKind.CONVOYED_MOVE: "{place} - {target} VC",
    OrderKind.SUPPORT_HOLD: "{place} SH {target}",
    OrderKind.SUPPORT_MOVE: "{place} S {source} - {target}",
    OrderKind.CONVOY: "{place} C {source} - {target}",
    OrderKind.DISBAND: "{place} D",
    OrderKind.BUILD_ARMY: "B A {place}",
    OrderKind.BUILD_FLEET: "B F {built}",
    OrderKind.REMOVE: "R {place}",
    OrderKind.WAIVE: "W",
}


@cache
def mila_strings(action: int) -> tuple[str, ...]:
    """All strings of MILA's notation that an action can be, in alphabetical order.

    Raises IllegalActionError.
    """
    return tuple(sorted(_mila(parts(action))))


def mila_action(text: str, season: Season) -> int:
    """The action that a string of MILA's notation is in a season. Raises IllegalActionError."""
    return _find(text, season, mila_strings)


@cache
def short_string(action: int, kind: UnitKind | None = None) -> str:
    """An action as DeepMind writes it for people: `PAR - BUR`, `PAR S MAR - BUR`, `LON - BRE VC`, `R STP`.

    With the kind of the ordered unit a target is `SPA` for an army and `SPANC` for a fleet; without, it is
    `SPAmaybe_NC`. Raises IllegalActionError.
    """
    code, province, flag, target, target_flag, third = parts(action)
    codes = STANDARD.codes
    return _FORMS[KINDS[code]].format(
        place=codes[province],
        target=codes[target],
        source=codes[third],
        coast=f"{codes[target]}{_coast(kind, target, target_flag)}",
        built=f"{codes[province]}{_coast(UnitKind.FLEET, province, flag)}",
    )


def short_action(text: str, season: Season) -> int:
    """The action that a short string is in a season, with kinds known or not. Raises IllegalActionError."""
    return _find(text, season, _short_strings)


def _short_strings(action: int) -> tuple[str, ...]:
    """With the kind unknown and known; armies go to no coast."""
    strings = [short_string(action), short_string(action, UnitKind.FLEET)]
    if not parts(action).target_flag:
        strings.append(short_string(action, UnitKind.ARMY))
    return tuple(set(strings))


def _coast(kind: UnitKind | None, province: int, flag: int) -> str:
    if not STANDARD.coasts[province] or kind is UnitKind.ARMY:
        return ""
    if flag:
        return "SC"
    return "maybe_NC" if kind is None else "NC"


def _find(text: str, season: Season, strings: Callable[[int], tuple[str, ...]]) -> int:
    actions = _actions_by_string(strings).get(text, ())
    if len(actions) > 1:
        actions = tuple(
            action for action in actions if (parts(action).code in _RETREATS) == season.is_retreats()
        )
    if len(actions) != 1:
        raise IllegalActionError(f"{text[:40]!r} is not an action of the standard map")
    return actions[0]


@cache
def _actions_by_string(strings: Callable[[int], tuple[str, ...]]) -> dict[str, tuple[int, ...]]:
    table: dict[str, tuple[int, ...]] = {}
    for action in POSSIBLE_ACTIONS:
        for text in strings(action):
            table[text] = (*table.get(text, ()), action)
    return table


def _mila(action_parts: Parts) -> Iterator[str]:
    code, province, flag, target, _, third = action_parts
    names = STANDARD.mila_codes
    aim = names[STANDARD.main_location[target]]
    match code:
        case OrderCode.WAIVE:
            yield "WAIVE"
        case OrderCode.BUILD_ARMY:
            yield f"A {names[STANDARD.main_location[province]]} B"
        case OrderCode.BUILD_FLEET:
            yield f"{_unit((UnitKind.FLEET, place_of(UnitKind.FLEET, province, flag)))} B"
        case OrderCode.HOLD | OrderCode.DISBAND | OrderCode.REMOVE:
            letter = "H" if code is OrderCode.HOLD else "D"
            yield from (f"{_unit(place)} {letter}" for place in _places(province))
        case OrderCode.CONVOY_TO:
            yield f"A {names[STANDARD.main_location[province]]} - {aim} VIA"
        case OrderCode.CONVOY:
            army = names[STANDARD.main_location[third]]
            yield f"F {names[STANDARD.main_location[province]]} C A {army} - {aim}"
        case OrderCode.MOVE_TO | OrderCode.RETREAT_TO:
            yield from _mila_moves(action_parts, "-" if code is OrderCode.MOVE_TO else "R")
        case OrderCode.SUPPORT_HOLD | OrderCode.SUPPORT_MOVE_TO:
            holds = code is OrderCode.SUPPORT_HOLD
            helped = _places(target) if holds else [unit for unit in _places(third) if _can_go(unit, target)]
            goal = "" if holds else f" - {aim}"
            for place, unit in product(_reaching(province, target), helped):
                yield f"{_unit(place)} S {_unit(unit)}{goal}"


def _mila_moves(action_parts: Parts, verb: str) -> Iterator[str]:
    for kind, location in _places(action_parts.province):
        # To no coast goes an army.
        if action_parts.target_flag and kind is UnitKind.ARMY:
            continue
        to = place_of(kind, action_parts.target, action_parts.target_flag)
        if to in STANDARD.reach[kind][location]:
            yield f"{_unit((kind, location))} {verb} {STANDARD.mila_codes[to]}"


def _can_go(place: Place, target: int) -> bool:
    """Whether a unit's move to a province can be supported: an army may go there by convoy."""
    kind, location = place
    if kind is UnitKind.ARMY:
        return STANDARD.can_stand(kind, STANDARD.main_location[target])
    return bool(STANDARD.reach_mask[kind][location] >> target & 1)


@cache
def _places(province: int) -> tuple[Place, ...]:
    """The kinds of units that can be in a province, each with where it stands."""
    areas = STANDARD.places[province]
    return tuple((kind, area) for kind in UnitKind for area in areas if STANDARD.can_stand(kind, area))


def _reaching(province: int, target: int) -> Iterator[Place]:
    """Those that could go to a target, and so support there."""
    for kind, location in _places(province):
        if STANDARD.reach_mask[kind][location] >> target & 1:
            yield kind, location


def _unit(place: Place) -> str:
    kind, location = place
    return f"{kind.letter} {STANDARD.mila_codes[location]}"


LONGEST_ROUTE: Final = 4


@cache
def mila_list() -> tuple[str, ...]:
    """All strings of the list: `WAIVE`, then the others in alphabetical order."""
    routes = _routes()
    kept: set[str] = set()
    for action in POSSIBLE_ACTIONS:
        action_parts = parts(action)
        kept.update(text for text in mila_strings(action) if _is_listed(action_parts, text, routes))
    kept.remove("WAIVE")
    return "WAIVE", *sorted(kept)


def _is_listed(action_parts: Parts, text: str, routes: dict[tuple[int, int], list[int]]) -> bool:
    here = 1 << action_parts.province
    match action_parts.code:
        case OrderCode.CONVOY_TO:
            return (action_parts.province, action_parts.target) in routes
        case OrderCode.CONVOY:
            return any(seas & here for seas in routes.get((action_parts.third, action_parts.target), ()))
        case OrderCode.SUPPORT_MOVE_TO if " S A " in text:
            by_land = STANDARD.reach_mask[UnitKind.ARMY][STANDARD.main_location[action_parts.third]]
            if by_land >> action_parts.target & 1:
                return True
            return any(not seas & here for seas in routes.get((action_parts.third, action_parts.target), ()))
    return True


def _routes() -> dict[tuple[int, int], list[int]]:
    """By two coasts: the routes between them, as bits of seas, that have no shorter way within them."""
    routes: dict[tuple[int, int], list[int]] = {}
    for sea in bits(STANDARD.seas):
        for route in _paths((sea,)):
            seas = sum(1 << passed for passed in route)
            starts = _touched_only_by(route, 0)
            ends = _touched_only_by(route, len(route) - 1)
            for start in bits(starts):
                for end in bits(ends & ~(1 << start)):
                    routes.setdefault((start, end), []).append(seas)
    return routes


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
