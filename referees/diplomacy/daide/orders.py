"""Orders in DAIDE's tokens, and positions read from messages."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from referees.diplomacy.daide.tokens import (
    CLOSE,
    FIXED,
    OPEN,
    Tokens,
    Vocabulary,
    bracketed,
    number_of,
    number_token,
)
from referees.diplomacy.map import NOBODY, Map, Unit, UnitKind, bits
from referees.diplomacy.orders import BUILT, WAIVE, Order, OrderKind
from referees.diplomacy.position import Dislodged, Phase, Position, Season

Tree = Any
"""A token, or what stands in parentheses as a tuple of trees; the grammar says which."""

_KINDS: Final = {UnitKind.ARMY: FIXED["AMY"], UnitKind.FLEET: FIXED["FLT"]}
_VERBS: Final = {
    OrderKind.HOLD: FIXED["HLD"],
    OrderKind.MOVE: FIXED["MTO"],
    OrderKind.CONVOYED_MOVE: FIXED["CTO"],
    OrderKind.SUPPORT_HOLD: FIXED["SUP"],
    OrderKind.SUPPORT_MOVE: FIXED["SUP"],
    OrderKind.CONVOY: FIXED["CVY"],
    OrderKind.RETREAT: FIXED["RTO"],
    OrderKind.DISBAND: FIXED["DSB"],
    OrderKind.BUILD_ARMY: FIXED["BLD"],
    OrderKind.BUILD_FLEET: FIXED["BLD"],
    OrderKind.REMOVE: FIXED["REM"],
}
_SEASONS: Final = {
    (Phase.MOVES, Season.SPRING): FIXED["SPR"],
    (Phase.RETREATS, Season.SPRING): FIXED["SUM"],
    (Phase.MOVES, Season.AUTUMN): FIXED["FAL"],
    (Phase.RETREATS, Season.AUTUMN): FIXED["AUT"],
    (Phase.BUILDS, Season.AUTUMN): FIXED["WIN"],
}
PHASES: Final = {token: phase for phase, token in _SEASONS.items()}


class SaidUnit(NamedTuple):
    """A unit as a message names it; `location` is None where the map has no such coast."""

    power: int
    kind: UnitKind
    location: int | None


class SaidOrder(NamedTuple):
    """An order as a message gives it, its parts looked up in the map.

    `verb` is its token. `unit` is whom it is for, None in a waive of `power`; `other` whom a support or a
    convoy helps. `target` is a location, None where there is none or the map has no such coast; `route` the
    provinces of VIA.
    """

    power: int
    verb: int
    unit: SaidUnit | None = None
    other: SaidUnit | None = None
    target: int | None = None
    moves: bool = False
    route: tuple[int, ...] = ()


def tree_of(tokens: Sequence[int]) -> tuple[Tree, ...]:
    """Tokens, whose parentheses match, with what stands in parentheses as tuples."""
    levels: list[list[Tree]] = [[]]
    for token in tokens:
        if token == OPEN:
            levels.append([])
        elif token == CLOSE:
            inner = tuple(levels.pop())
            levels[-1].append(inner)
        else:
            levels[-1].append(token)
    return tuple(levels[0])


def flat(tree: Sequence[Tree]) -> Tokens:
    """The tokens of a tree."""
    tokens: list[int] = []
    for part in tree:
        if isinstance(part, int):
            tokens.append(part)
        else:
            tokens += bracketed(*flat(part))
    return tuple(tokens)


def turn_of(position: Position) -> tuple[int, int]:
    """The season's token and the year of a position."""
    return _SEASONS[position.phase, position.season], position.year


def turn_tokens(position: Position) -> Tokens:
    """The turn of a position, in parentheses: `(SPR 1901)`."""
    season, year = turn_of(position)
    return bracketed(season, number_token(year))


def read_turn(tree: Tree) -> tuple[int, int]:
    """The season's token and the year of a turn."""
    season, year = tree
    return season, number_of(year)


def place_tokens(words: Vocabulary, location: int) -> Tokens:
    """A location: a province, or one and its coast in parentheses."""
    board = words.map
    province = words.provinces[board.province_of[location]]
    _, _, coast = board.location_codes[location].partition("/")
    return bracketed(province, FIXED[f"{coast}S"]) if coast else (province,)


def read_place(words: Vocabulary, tree: Tree) -> int | None:
    """The location that a message names; None where the map has no such coast."""
    board = words.map
    if isinstance(tree, int):
        return board.main_location[words.province_of[tree]]
    province, coast = tree
    code = board.codes[words.province_of[province]]
    return board.location_numbers.get(f"{code}/{words.names[coast][:2]}")


def unit_tokens(words: Vocabulary, unit: Unit) -> Tokens:
    """A unit, in parentheses: `(RUS FLT (STP SCS))`."""
    return bracketed(words.powers[unit.power], _KINDS[unit.kind], *place_tokens(words, unit.location))


def dislodged_tokens(words: Vocabulary, unit: Unit, options: Sequence[int]) -> Tokens:
    """A unit that must retreat, with its options: `(ENG FLT NTH MRT (LON YOR))`."""
    places = [token for option in options for token in place_tokens(words, option)]
    return (*unit_tokens(words, unit)[:-1], FIXED["MRT"], *bracketed(*places), CLOSE)


def read_unit(words: Vocabulary, tree: Tree) -> SaidUnit:
    """A unit that a message names."""
    power, token, place = tree[:3]
    kind = UnitKind.ARMY if token == _KINDS[UnitKind.ARMY] else UnitKind.FLEET
    return SaidUnit(words.power_of[power], kind, read_place(words, place))


def order_tokens(words: Vocabulary, position: Position, power: int, order: Order) -> Tokens:
    """An order of a power, in parentheses; units that it names are looked up in the position.

    A move by convoy goes by a shortest chain of fleets that stand there; without one it is written as a move.
    """
    board = words.map
    if order.kind is OrderKind.WAIVE:
        return bracketed(words.powers[power], FIXED["WVE"])
    unit = _ordered(position, power, order)
    kind: OrderKind = order.kind
    seas: tuple[int, ...] = ()
    if kind is OrderKind.CONVOYED_MOVE:
        seas = route(position, board.province_of[unit.location], board.province_of[order.target])
        # VIA names one sea at least.
        kind = kind if seas else OrderKind.MOVE
    tokens = [*unit_tokens(words, unit), _VERBS[kind]]
    match kind:
        case OrderKind.MOVE | OrderKind.RETREAT:
            tokens += place_tokens(words, order.target)
        case OrderKind.CONVOYED_MOVE:
            tokens += (words.provinces[board.province_of[order.target]], FIXED["VIA"])
            tokens += bracketed(*(words.provinces[sea] for sea in seas))
        case OrderKind.SUPPORT_HOLD:
            tokens += unit_tokens(words, _standing(position, board.province_of[order.target]))
        case OrderKind.SUPPORT_MOVE:
            tokens += unit_tokens(words, _standing(position, order.source))
            tokens += (FIXED["MTO"], words.provinces[board.province_of[order.target]])
        case OrderKind.CONVOY:
            tokens += unit_tokens(words, _standing(position, order.source))
            tokens += (FIXED["CTO"], words.provinces[board.province_of[order.target]])
    return bracketed(*tokens)


def _ordered(position: Position, power: int, order: Order) -> Unit:
    """The unit of an order, standing, dislodged or to be built."""
    if order.kind in BUILT:
        return Unit(power, BUILT[order.kind], order.location)
    province = position.map.province_of[order.location]
    return position.ordered_unit(province) or _standing(position, province)


def _standing(position: Position, province: int) -> Unit:
    """The unit in a province; where an order names a missing one, an army of the first power."""
    return position.unit_in(province) or Unit(0, UnitKind.ARMY, position.map.main_location[province])


def route(position: Position, source: int, target: int) -> tuple[int, ...]:
    """The seas of a shortest chain of fleets between two coasts; empty without one."""
    board = position.map
    fleets = 0
    for unit in position.units:
        fleets |= 1 << board.province_of[unit.location]
    fleets &= board.seas
    ends = board.sea_access[target] & fleets
    came_from = dict.fromkeys(bits(board.sea_access[source] & fleets), -1)
    fresh = list(came_from)
    while fresh:
        sea = fresh.pop(0)
        if ends >> sea & 1:
            chain = [sea]
            while came_from[chain[-1]] >= 0:
                chain.append(came_from[chain[-1]])
            return tuple(reversed(chain))
        for near in bits(board.sea_borders[sea] & fleets):
            if near not in came_from:
                came_from[near] = sea
                fresh.append(near)
    return ()


def read_order(words: Vocabulary, tree: Tree) -> SaidOrder:
    """An order of a message whose syntax is right."""
    first, verb, *rest = tree
    if isinstance(first, int):
        return SaidOrder(words.power_of[first], verb)
    unit = read_unit(words, first)
    order = SaidOrder(unit.power, verb, unit)
    if verb in (FIXED["MTO"], FIXED["RTO"]):
        return order._replace(target=read_place(words, rest[0]), moves=True)
    if verb == FIXED["CTO"]:
        route = tuple(words.province_of[sea] for sea in rest[2])
        return order._replace(target=read_place(words, rest[0]), moves=True, route=route)
    if verb in (FIXED["SUP"], FIXED["CVY"]):
        order = order._replace(other=read_unit(words, rest[0]))
        if len(rest) > 1:
            order = order._replace(target=read_place(words, rest[2]), moves=True)
    return order


_STAYING: Final = {_VERBS[kind]: kind for kind in (OrderKind.HOLD, OrderKind.DISBAND, OrderKind.REMOVE)}
_MOVING: Final = {_VERBS[kind]: kind for kind in (OrderKind.MOVE, OrderKind.CONVOYED_MOVE, OrderKind.RETREAT)}


def meant(board: Map, order: SaidOrder) -> Order | None:
    """The referee's order for an order in DAIDE; None if it names a coast that does not exist."""
    if order.unit is None:
        return WAIVE
    location = order.unit.location
    if location is None or (order.moves and order.target is None):
        return None
    target = -1 if order.target is None else order.target
    if order.verb in _STAYING:
        return Order(_STAYING[order.verb], location)
    if order.verb in _MOVING:
        return Order(_MOVING[order.verb], location, target)
    if order.verb == FIXED["BLD"]:
        kind = OrderKind.BUILD_ARMY if order.unit.kind is UnitKind.ARMY else OrderKind.BUILD_FLEET
        return Order(kind, location)
    if order.other is None or order.other.location is None:
        return None
    source = board.province_of[order.other.location]
    if order.verb == FIXED["CVY"]:
        return Order(OrderKind.CONVOY, location, target, source)
    if order.moves:
        return Order(OrderKind.SUPPORT_MOVE, location, target, source)
    return Order(OrderKind.SUPPORT_HOLD, location, board.main_location[source])


_OPTIONS_PLACE: Final = 4


class UnreadableMessageError(ValueError):
    """A server's message that is not what the syntax says it is."""


def read_owners(words: Vocabulary, tree: Sequence[Tree]) -> tuple[int, ...]:
    """The owners of all centres, from SCO. Raises UnreadableMessageError."""
    owners = dict.fromkeys(words.map.centres, NOBODY)
    for part in tree[1:]:
        if not isinstance(part, tuple) or not part or not all(isinstance(token, int) for token in part):
            raise UnreadableMessageError(f"owners of centres: {part!r}")
        power, *centres = part
        for token in centres:
            centre = words.province_of.get(token)
            if centre not in owners:
                raise UnreadableMessageError(f"a centre {token!r}: the map has none there")
            owners[centre] = words.power_of.get(power, NOBODY)
    return tuple(owners.values())


def read_position(words: Vocabulary, tree: Sequence[Tree], owners: tuple[int, ...]) -> Position:
    """The position from NOW, given who owns what. Raises UnreadableMessageError, and InvalidPositionError."""
    try:
        season_token, year = read_turn(tree[1])
        phase, season = PHASES[season_token]
        standing, dislodged = [], []
        for tokens in tree[2:]:
            power, kind, location = read_unit(words, tokens)
            if location is None:
                raise UnreadableMessageError(f"no such coast: {tokens!r}")
            unit = Unit(power, kind, location)
            if len(tokens) <= _OPTIONS_PLACE:
                standing.append(unit)
                continue
            options = [read_place(words, option) for option in tokens[_OPTIONS_PLACE]]
            dislodged.append(
                Dislodged(unit, tuple(sorted(option for option in options if option is not None)))
            )
    except (LookupError, TypeError, ValueError) as error:
        raise UnreadableMessageError(f"a position: {error}") from error
    return Position(
        words.map,
        year,
        season,
        phase,
        tuple(sorted(standing, key=lambda unit: unit.location)),
        tuple(sorted(dislodged, key=lambda entry: entry.unit.location)),
        owners,
    ).checked()
