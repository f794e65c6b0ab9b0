"""Orders as text, in three notations, and read leniently from any of them.

STANDARD: `A PAR - BUR`, `A PAR S A MAR - BUR`, `F ECH C A LON - BRE`, `A LON - BRE VIA`, `A PAR B`,
`A PAR D`.
MILA: the same with `ENG`, `BOT`, `LYO` for `ECH`, `GOB`, `GOL`.
DEEPMIND: `PAR - BUR`, `PAR S MAR - BUR`, `ECH C LON - BRE`, `LON - BRE VC`, `B A PAR`, `R PAR`.
"""

import re
from collections.abc import Sequence
from enum import Enum
from functools import cache
from typing import Final

from referees.diplomacy.orders import WAIVE, Order, OrderKind
from referees.diplomacy.position import Phase, Position
from referees.diplomacy.provinces import Map, Unit, UnitKind, UnknownPlace

MAX_LENGTH: Final = 200


class UnreadableOrder(ValueError):
    """Text that is no order, or no order for the units of the position."""


class Notation(Enum):
    """How orders are written."""

    STANDARD = "standard"
    MILA = "mila"
    DEEPMIND = "deepmind"


_VERBS: Final = {
    word: verb
    for verb, words in {
        "H": "H HOLD HOLDS HLD",
        "-": "- M MOVE MOVES MTO CTO",
        "S": "S SH SUPPORT SUPPORTS SUP",
        "C": "C CONVOY CONVOYS CVY",
        "R": "R RETREAT RETREATS RTO",
        "D": "D DISBAND DISBANDS DSB REMOVE REMOVES REM",
        "B": "B BUILD BUILDS BLD",
    }.items()
    for word in words.split()
}
_KINDS: Final = {"A": UnitKind.ARMY, "ARMY": UnitKind.ARMY, "F": UnitKind.FLEET, "FLEET": UnitKind.FLEET}
_WAIVES: Final = ("W", "WAIVE", "WVE")
_ARROWS: Final = re.compile(r"\s*(?:-+>|=>|\u2192|\u2013)\s*|(?<=[\w)])-(?=\w)|\s+-\s*")
_VIA: Final = re.compile(r"\s+(?:VC|(?:VIA|BY)(?:\s+CONVOY)?)$")
_GLUED_COAST: Final = re.compile(r"^([^/(]+?)(MAYBE_)?([NSEW]C)$")


def order_text(position: Position, order: Order, notation: Notation = Notation.STANDARD) -> str:
    """An order as text; the units that it names are looked up in the position before the phase."""
    if order.kind is OrderKind.WAIVE:
        return "W" if notation is Notation.DEEPMIND else "WAIVE"
    if notation is Notation.DEEPMIND:
        return _deepmind_text(position, order)
    board = position.map
    codes = board.mila_codes if notation is Notation.MILA else board.location_codes
    place = codes[order.location]
    if order.kind in (OrderKind.BUILD_ARMY, OrderKind.BUILD_FLEET):
        return f"{'A' if order.kind is OrderKind.BUILD_ARMY else 'F'} {place} B"
    subject = f"{_letter(position, board.province_of[order.location])} {place}"
    target = codes[order.target]
    match order.kind:
        case OrderKind.HOLD:
            return f"{subject} H"
        case OrderKind.MOVE:
            return f"{subject} - {target}"
        case OrderKind.CONVOYED_MOVE:
            return f"{subject} - {target} VIA"
        case OrderKind.SUPPORT_HOLD:
            return f"{subject} S {_helped(position, board.province_of[order.target], codes)}"
        case OrderKind.SUPPORT_MOVE:
            return f"{subject} S {_helped(position, order.source, codes)} - {target}"
        case OrderKind.CONVOY:
            return f"{subject} C {_helped(position, order.source, codes)} - {target}"
        case OrderKind.RETREAT:
            return f"{subject} R {target}"
        case _:
            return f"{subject} D"


def _letter(position: Position, province: int) -> str:
    unit = _ordered_unit(position, province)
    return unit.kind.letter if unit else "A"


def _helped(position: Position, province: int, codes: Sequence[str]) -> str:
    unit = position.unit_in(province)
    location = unit.location if unit else position.map.main_location[province]
    return f"{unit.kind.letter if unit else 'A'} {codes[location]}"


def _deepmind_text(position: Position, order: Order) -> str:
    board = position.map
    place = board.codes[board.province_of[order.location]]
    target = board.codes[board.province_of[order.target]]
    source = board.codes[order.source]
    match order.kind:
        case OrderKind.HOLD:
            return f"{place} H"
        case OrderKind.MOVE:
            return f"{place} - {_deepmind_target(board, order.target)}"
        case OrderKind.CONVOYED_MOVE:
            return f"{place} - {target} VC"
        case OrderKind.SUPPORT_HOLD:
            return f"{place} SH {target}"
        case OrderKind.SUPPORT_MOVE:
            return f"{place} S {source} - {target}"
        case OrderKind.CONVOY:
            return f"{place} C {source} - {target}"
        case OrderKind.RETREAT:
            return f"{place} - {_deepmind_target(board, order.target)}"
        case OrderKind.DISBAND:
            return f"{place} D"
        case OrderKind.BUILD_ARMY:
            return f"B A {place}"
        case OrderKind.BUILD_FLEET:
            return f"B F {board.location_codes[order.location].replace('/', '')}"
        case _:
            return f"R {place}"


def _deepmind_target(board: Map, location: int) -> str:
    """The second coast has a name; the first one and the province itself are not told apart."""
    province = board.province_of[location]
    coasts = board.coasts[province]
    if not coasts:
        return board.codes[province]
    if location == coasts[-1]:
        return board.location_codes[location].replace("/", "")
    return board.location_codes[coasts[0]].replace("/", "maybe_")


def read_order(position: Position, text: str, lenient_coasts: bool = True) -> Order:
    """Read an order in any of the notations, in upper or lower case, with codes or whole names.

    Words may stand for letters (`supports`, `via convoy`, `->`); kinds of units may be left out where a unit
    stands. An army's move to a province that it cannot walk to is one by convoy. With `lenient_coasts` a
    coast that a fleet can only mean is filled in. Whether the order can be carried out is not looked at.
    Raises UnreadableOrder.
    """
    if len(text) > MAX_LENGTH:
        raise UnreadableOrder(f"an order of {len(text)} characters: at most {MAX_LENGTH} are read")
    try:
        return _read(position, _words(position.map, text), lenient_coasts)
    except UnknownPlace as error:
        raise UnreadableOrder(f"{text.strip()!r}: {error}") from None


def _words(board: Map, text: str) -> list[str]:
    line = text.strip().upper()
    for name, code in _hyphened(board):
        line = line.replace(name, code)
    line = _ARROWS.sub(" - ", line)
    via = _VIA.search(line)
    if via:
        line = line[: via.start()]
    words = line.split()
    if not words:
        raise UnreadableOrder("an empty line is no order")
    return [*words, "VIA"] if via else words


@cache
def _hyphened(board: Map) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name.upper(), code) for name, code in zip(board.names, board.codes, strict=True) if "-" in name
    )


def _read(position: Position, words: list[str], lenient_coasts: bool) -> Order:
    board = position.map
    if len(words) == 1 and words[0] in _WAIVES:
        return WAIVE
    by_convoy = words[-1] == "VIA"
    if by_convoy:
        words = words[:-1]
    first = _VERBS.get(words[0])
    if first in ("B", "D") or (first == "R" and len(words) > 1):
        verb, subject, rest = ("D" if first == "R" else str(first)), words[1:], []
    else:
        where = next((n for n, word in enumerate(words) if n and word in _VERBS), None)
        if where is None:
            raise UnreadableOrder(f"{' '.join(words)!r} says of a unit neither hold, -, S, C, R, D nor B")
        verb, subject, rest = _VERBS[words[where]], words[:where], words[where + 1 :]
    said, location = _unit(board, subject)
    if verb == "B":
        _expect_no_more(rest)
        if said is None:
            raise UnreadableOrder(f"build what? say A or F before {' '.join(subject)}")
        return Order(OrderKind.BUILD_ARMY if said is UnitKind.ARMY else OrderKind.BUILD_FLEET, location)
    unit = _ordered_unit(position, board.province_of[location])
    if unit and said is not None and unit.kind is not said:
        raise UnreadableOrder(f"{' '.join(subject)!r}: the unit that stands there is {_name(unit.kind)}")
    if unit and location == board.main_location[board.province_of[location]]:
        location = unit.location
    kind = unit.kind if unit else said
    if verb == "H":
        _expect_no_more(rest)
        return Order(OrderKind.HOLD, location)
    if verb == "D":
        _expect_no_more(rest)
        return Order(OrderKind.REMOVE if position.phase is Phase.BUILDS else OrderKind.DISBAND, location)
    if verb in ("R", "-"):
        target = _place(board, rest[1:] if rest[:1] == ["TO"] else rest, kind)
        if lenient_coasts:
            target = _only_coast(board, kind, location, target)
        if verb == "R" or position.phase is Phase.RETREATS:
            return Order(OrderKind.RETREAT, location, target)
        return _move(board, kind, location, target, by_convoy)
    return _help(board, verb, location, rest)


def _move(board: Map, kind: UnitKind | None, location: int, target: int, by_convoy: bool) -> Order:
    if kind is UnitKind.ARMY and not by_convoy and target not in board.reach[kind][location]:
        province = board.province_of[target]
        by_convoy = (
            board.main_location[province] == target
            and province != board.province_of[location]
            and bool(board.sea_access[province] and board.sea_access[board.province_of[location]])
        )
    return Order(OrderKind.CONVOYED_MOVE if by_convoy else OrderKind.MOVE, location, target)


def _only_coast(board: Map, kind: UnitKind | None, location: int, target: int) -> int:
    """The coast that a fleet can only mean when it names none."""
    province = board.province_of[target]
    if kind is UnitKind.FLEET and target == board.main_location[province]:
        fitting = [coast for coast in board.coasts[province] if coast in board.reach[kind][location]]
        if len(fitting) == 1:
            return fitting[0]
    return target


def _help(board: Map, verb: str, location: int, rest: list[str]) -> Order:
    if "-" not in rest:
        if verb == "C":
            raise UnreadableOrder("a convoy says from where and to where: F NTH C A LON - NWY")
        if rest and _VERBS.get(rest[-1]) == "H":
            rest = rest[:-1]
        _, helped = _unit(board, rest)
        return Order(OrderKind.SUPPORT_HOLD, location, board.main_location[board.province_of[helped]])
    dash = rest.index("-")
    helped_kind, start = _unit(board, rest[:dash])
    target = _place(board, rest[dash + 1 :], helped_kind)
    if verb == "C" or helped_kind is UnitKind.ARMY:
        target = board.main_location[board.province_of[target]]
    kind = OrderKind.CONVOY if verb == "C" else OrderKind.SUPPORT_MOVE
    return Order(kind, location, target, board.province_of[start])


def _unit(board: Map, words: Sequence[str]) -> tuple[UnitKind | None, int]:
    kind = _KINDS.get(words[0]) if len(words) > 1 else None
    return kind, _place(board, words if kind is None else words[1:], kind)


def _place(board: Map, words: Sequence[str], kind: UnitKind | None) -> int:
    name = " ".join(words)
    if not name:
        raise UnreadableOrder("a province is missing")
    try:
        return board.location(name)
    except UnknownPlace:
        glued = _GLUED_COAST.match(name)
        if not glued:
            raise
        if glued[2] and kind is not UnitKind.FLEET:
            return board.location(glued[1])
        return board.location(f"{glued[1]}/{glued[3]}")


def _ordered_unit(position: Position, province: int) -> Unit | None:
    """The unit that an order of the position's phase is for."""
    if position.phase is Phase.RETREATS:
        for unit, _ in position.dislodged:
            if position.map.province_of[unit.location] == province:
                return unit
    return position.unit_in(province)


def _expect_no_more(rest: Sequence[str]) -> None:
    if rest:
        raise UnreadableOrder(f"{' '.join(rest)!r} is too much")


def _name(kind: UnitKind) -> str:
    return "an army" if kind is UnitKind.ARMY else "a fleet"
