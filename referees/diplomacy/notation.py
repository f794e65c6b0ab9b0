"""Orders as text: written in one spelling, and read in any notation."""

import re
from collections.abc import Sequence
from functools import cache
from itertools import takewhile
from typing import Final, NamedTuple

from referees.diplomacy.map import SPELLINGS, Map, Terrain, Unit, UnitKind, UnknownPlaceError
from referees.diplomacy.orders import BUILT, WAIVE, Order, OrderKind
from referees.diplomacy.position import Phase, Position


def order_text(position: Position, order: Order) -> str:
    """An order as text; the units that it names are looked up in the position before the phase.

    Where no unit stands, the text names no kind of unit.
    """
    if order.kind is OrderKind.WAIVE:
        return "WAIVE"
    board = position.map
    codes = board.location_codes
    place = codes[order.location]
    if order.kind in BUILT:
        return f"{BUILT[order.kind].letter} {place} B"
    subject = _subject_text(position.ordered_unit(board.province_of[order.location]), place)
    target = codes[order.target]
    match order.kind:
        case OrderKind.HOLD:
            return f"{subject} H"
        case OrderKind.MOVE | OrderKind.CONVOYED_MOVE as kind:
            return f"{subject} - {target}{' VIA' if kind is OrderKind.CONVOYED_MOVE else ''}"
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


def _subject_text(unit: Unit | None, place: str) -> str:
    return f"{unit.kind.letter} {place}" if unit else place


def _helped(position: Position, province: int, codes: Sequence[str]) -> str:
    unit = position.unit_in(province)
    return _subject_text(unit, codes[unit.location if unit else position.map.main_location[province]])


_ARROW: Final = re.compile(r"[-=]+>?|>+|[\u2010-\u2015\u2190-\u21ff\u2212\u27f5-\u27ff]")
_QUARTER: Final = r"(?:(?:NORTH|SOUTH|EAST|WEST)(?:ERN)?[ -]COAST|[NSEW]CS?)"
_COAST: Final = re.compile(rf"(?<=\w)\s*(?:/|-|\(|\s)\s*\(?({_QUARTER})(?!\w)\)?")
_BRACKETS: Final = re.compile(r"[()\[\]]")
_ARTICLE: Final = re.compile(r"\bAN?\s+(?=(?:ARMY|FLEET)\b)")


class OrderWords(NamedTuple):
    """Words in one spelling, a convoy's way left out; `by_convoy` where they say that a move goes by sea.

    `owners` are the powers that were named, each with the place of the unit that it owns in the text.
    """

    words: list[str]
    by_convoy: bool
    owners: list[tuple[str, str]]


class _Names(NamedTuple):
    """How a map's places are found in a line, and the names of its powers."""

    pattern: re.Pattern[str]
    codes: dict[str, str]
    powers: frozenset[str]


@cache
def _names(board: Map) -> _Names:
    codes = {
        " ".join(re.split(r"[\s.-]+", alias)): board.codes[province]
        for alias, province in board.aliases.items()
        if not alias.isalnum()
    }
    longest_first = sorted(codes, key=len, reverse=True)
    patterns = [r"[\s.-]+".join(map(re.escape, name.split())) for name in longest_first]
    powers = frozenset(name.upper() for power in board.powers for name in (power.name, power.code))
    return _Names(re.compile(rf"\b(?:{'|'.join(patterns) or '(?!)'})\b"), codes, powers)


def order_words(board: Map, text: str) -> OrderWords:
    """Take a line apart. Words that mean nothing here are kept as they are, in upper case."""
    names = _names(board)
    line = " ".join(text.upper().split())
    line = names.pattern.sub(lambda match: names.codes[" ".join(re.split(r"[\s.-]+", match[0]))], line)
    line = _ARTICLE.sub("", line.replace(".", " "))
    line = _COAST.sub(lambda match: _coast(board, match), line)
    power, colon, rest = line.partition(":")
    owner = ""
    if colon and power.strip() in names.powers:
        owner, line = power.strip(), rest
    line = _BRACKETS.sub(" ", _ARROW.sub(" - ", line))
    spelt: list[str] = []
    owners: list[tuple[str, str]] = []
    written = line.split()
    for number, word in enumerate(written):
        following = written[number + 1] if number + 1 < len(written) else ""
        if word in names.powers and SPELLINGS.get(following) in ("A", "F"):
            owner = word
            continue
        spelling = word if _is_place(board, word) else SPELLINGS.get(word, word)
        place = word.partition("/")[0]
        if owner and (_is_place(board, place) or word not in SPELLINGS):
            owners += [(owner, place)] if _is_place(board, place) else []
            owner = ""
        # `moves to`, and `retreats to`.
        if spelling and not (spelling == "-" and spelt and spelt[-1] in ("-", "R")):
            spelt.append(spelling)
    words, by_convoy = _without_way(board, spelt, "CTO" in written)
    return OrderWords(words, by_convoy, owners)


def _coast(board: Map, match: re.Match[str]) -> str:
    quarter = match[1]
    if _is_place(board, quarter):
        return match[0]
    return f"/{quarter[0]}C"


def _is_place(board: Map, word: str) -> bool:
    return word in board.location_numbers or word in board.aliases


def _without_way(board: Map, words: list[str], by_convoy: bool) -> tuple[list[str], bool]:
    """Leave out `VIA` and the seas of a convoy's way, whether they follow it or stand between arrows."""
    if "VIA" in words:
        at = words.index("VIA")
        way = [word for word in words[at + 1 :] if word != "-"]
        if way == ["C"] or all(_is_sea(board, word) for word in way):
            words, by_convoy = words[:at], True
    while words.count("-") > 1:
        first = words.index("-")
        second = words.index("-", first + 1)
        if second != first + 2 or not _is_sea(board, words[first + 1]):
            break
        words, by_convoy = words[:first] + words[second:], True
    return words, by_convoy


def _is_sea(board: Map, word: str) -> bool:
    return _is_place(board, word) and bool(board.seas >> board.province(word) & 1)


MAX_LENGTH: Final = 200
_VERBS: Final = frozenset("H-SCRDB")
_KINDS: Final = {"A": UnitKind.ARMY, "F": UnitKind.FLEET}
# Only a move goes by convoy; what helps one may say so, too.
_BY_CONVOY: Final = (OrderKind.CONVOYED_MOVE, OrderKind.SUPPORT_MOVE, OrderKind.CONVOY)
_WITH_COAST: Final = re.compile(r"(.+)/[NSEW]C")
# DeepMind's `STPSC` and `SPAMAYBE_NC`.
_GLUED_COAST: Final = re.compile(r"^([^/(]+?)(MAYBE_)?([NSEW]C)$")


class UnreadableOrderError(ValueError):
    """Text that is not an order, or no order for the units of the position."""


def read_order(position: Position, text: str, lenient_coasts: bool = True) -> Order:
    """Read an order in any of the notations, in upper or lower case, with codes or whole names.

    Words may stand for letters (`supports`, `via convoy`, `->`). Kinds of units may be left out or wrong
    where a unit stands: the position tells them (DATC 3.0, 4.C.1 and 4.C.2); but a wrong one with what only
    such a unit could do is refused. An army's move to a province that it cannot walk to is one by convoy.
    With `lenient_coasts` a coast that a fleet can only mean is filled in, and one is ignored where an army
    goes or stands and where the province has none. A power that is named must own the unit (the home centre,
    in a build). Whether the order can be carried out is not looked at. Raises UnreadableOrderError, which
    quotes the text.
    """
    if len(text) > MAX_LENGTH:
        raise UnreadableOrderError(f"an order of {len(text)} characters: at most {MAX_LENGTH} are read")
    if not text.strip():
        raise UnreadableOrderError("an empty line is not an order")
    words, by_convoy, owners = order_words(position.map, text)
    try:
        order = _Reader(position, lenient_coasts).read(words, by_convoy)
        if by_convoy and order.kind not in _BY_CONVOY:
            raise UnreadableOrderError("only a move goes by convoy")
        for power, place in owners:
            _check_owner(position, order, position.map.power(power), position.map.province(place))
        return order
    except (UnknownPlaceError, UnreadableOrderError) as error:
        raise UnreadableOrderError(f"{text.strip()!r}: {error}") from None


class _Reader:
    """Reads one order for a position."""

    def __init__(self, position: Position, lenient_coasts: bool) -> None:
        self._position = position
        self._board = position.map
        self._lenient_coasts = lenient_coasts

    def read(self, words: list[str], by_convoy: bool) -> Order:
        board, phase = self._board, self._position.phase
        if words in (["WAIVE"], ["WAIVE", "B"], ["B", "WAIVE"]):
            return WAIVE
        verb, subject, rest = _split_order(words)
        named_kind, location = self._unit(subject)
        if verb == "B":
            _expect_no_more(rest)
            return self._build(named_kind, location)
        unit = self._position.ordered_unit(board.province_of[location])
        unnamed = location == board.main_location[board.province_of[location]]
        if unit and (unnamed or (self._lenient_coasts and unit.kind is UnitKind.ARMY)):
            location = unit.location
        kind = unit.kind if unit else named_kind
        if verb == "H":
            _expect_no_more(rest)
            return Order(OrderKind.HOLD, location)
        if verb == "D":
            _expect_no_more(rest)
            return Order(OrderKind.REMOVE if phase is Phase.BUILDS else OrderKind.DISBAND, location)
        if verb in ("R", "-"):
            target = self._place(rest, kind)
            if self._lenient_coasts:
                target = _fitting_coast(board, kind, location, target)
            order = Order(OrderKind.RETREAT, location, target)
            if verb == "-" and phase is not Phase.RETREATS:
                order = _move(board, kind, location, target, by_convoy)
        else:
            order = self._help(verb, location, rest)
        if unit and named_kind is not None and named_kind is not unit.kind:
            _check_meant(board, unit, order)
        return order

    def _build(self, kind: UnitKind | None, location: int) -> Order:
        board = self._board
        if kind is None:
            if board.terrain[board.province_of[location]] is not Terrain.LAND:
                raise UnreadableOrderError(f"build what? say A or F before {board.location_codes[location]}")
            kind = UnitKind.ARMY
        return Order(OrderKind.BUILD_ARMY if kind is UnitKind.ARMY else OrderKind.BUILD_FLEET, location)

    def _help(self, verb: str, location: int, rest: list[str]) -> Order:
        board = self._board
        rest = _reverse(rest)
        if "-" not in rest:
            if verb == "C":
                raise UnreadableOrderError("a convoy says from where and to where: F NTH C A LON - NWY")
            # `S A BUR H`, `S H A BUR`
            rest = [word for number, word in enumerate(rest) if word != "H" or 0 < number < len(rest) - 1]
            _, helped = self._unit(rest)
            return Order(OrderKind.SUPPORT_HOLD, location, board.main_location[board.province_of[helped]])
        dash = rest.index("-")
        named_kind, start = self._unit(rest[:dash])
        helped_unit = self._position.unit_in(board.province_of[start])
        kind = helped_unit.kind if helped_unit else named_kind
        target = self._place(rest[dash + 1 :], kind)
        if verb == "C" or kind is UnitKind.ARMY:
            target = board.main_location[board.province_of[target]]
        return Order(
            OrderKind.CONVOY if verb == "C" else OrderKind.SUPPORT_MOVE,
            location,
            target,
            board.province_of[start],
        )

    def _unit(self, words: Sequence[str]) -> tuple[UnitKind | None, int]:
        kind = _KINDS.get(words[0]) if len(words) > 1 else None
        return kind, self._place(words if kind is None else words[1:], kind)

    def _place(self, words: Sequence[str], kind: UnitKind | None) -> int:
        if not words:
            raise UnreadableOrderError("a province is missing")
        name = " ".join(words)
        try:
            return self._location(name)
        except UnknownPlaceError:
            glued = _GLUED_COAST.match(name)
            if not glued:
                raise
        if glued[2] and kind is not UnitKind.FLEET:
            return self._location(glued[1])
        return self._location(f"{glued[1]}/{glued[3]}")

    def _location(self, name: str) -> int:
        try:
            return self._board.location(name)
        except UnknownPlaceError:
            coast = _WITH_COAST.fullmatch(name)
            if not coast or not self._lenient_coasts:
                raise
            location = self._board.location(coast[1])
            if self._board.coasts[self._board.province_of[location]]:
                raise
            return location


def _split_order(words: list[str]) -> tuple[str, list[str], list[str]]:
    """What is ordered, the words for whom, and those that follow."""
    if not words:
        raise UnreadableOrderError("it names no unit and says nothing to do; an order is like A PAR - BUR")
    if words in (["A"], ["F"]):
        raise UnreadableOrderError("a province is missing")
    # `R A PAR - GAS`, `- A PAR - BUR`
    if words[:1] in (["R"], ["-"]) and "-" in words[2:]:
        dash = words.index("-", 2)
        return words[0], words[1:dash], words[dash + 1 :]
    # `B A PAR`, `D A PAR`, and DeepMind's `R PAR`, which removes.
    if words[:1] in (["B"], ["D"]) or (words[:1] == ["R"] and len(words) > 1):
        return "D" if words[0] == "R" else words[0], words[1:], []
    subject = words[:1] + list(takewhile(lambda word: word not in _VERBS, words[1:]))
    if len(subject) >= len(words):
        raise UnreadableOrderError("it says of a unit neither hold, -, S, C, R, D nor B")
    return words[len(subject)], subject, words[len(subject) + 1 :]


def _reverse(rest: list[str]) -> list[str]:
    """`- BUR FROM PAR` as `PAR - BUR`; `H - BUR` as `BUR`."""
    if rest[:1] == ["-"] and "FROM" in rest:
        at = rest.index("FROM")
        return [*rest[at + 1 :], *rest[:at]]
    return rest[2:] if rest[:2] == ["H", "-"] else rest


def _move(board: Map, kind: UnitKind | None, location: int, target: int, by_convoy: bool) -> Order:
    if kind is UnitKind.ARMY and not by_convoy and target not in board.reach[kind][location]:
        province = board.province_of[target]
        by_convoy = board.main_location[province] == target and _by_sea(board, location, target)
    return Order(OrderKind.CONVOYED_MOVE if by_convoy else OrderKind.MOVE, location, target)


def _by_sea(board: Map, location: int, target: int) -> bool:
    start, end = board.province_of[location], board.province_of[target]
    return start != end and bool(board.sea_access[start] and board.sea_access[end])


def _check_meant(board: Map, unit: Unit, order: Order) -> None:
    """Refuse what only the kind of unit that was written, and does not stand there, could do."""
    army = unit.kind is UnitKind.ARMY
    where = board.province_of[order.target]
    near = bool(board.reach_mask[unit.kind][unit.location] >> where & 1)
    possible = near
    if order.kind is OrderKind.CONVOY:
        possible = not army
    elif army and order.kind in (OrderKind.MOVE, OrderKind.CONVOYED_MOVE):
        possible = near or _by_sea(board, unit.location, order.target)
    if not possible:
        name = "an army" if army else "a fleet"
        raise UnreadableOrderError(f"the unit that stands there is {name}, which cannot do that")


def _fitting_coast(board: Map, kind: UnitKind | None, location: int, target: int) -> int:
    """The coast that a fleet can only mean when it names none; for an army the province."""
    main = board.main_location[board.province_of[target]]
    if kind is UnitKind.ARMY:
        return main
    if kind is UnitKind.FLEET and target == main:
        coasts = board.coasts[board.province_of[target]]
        fitting = [coast for coast in coasts if coast in board.reach[kind][location]]
        if len(fitting) == 1:
            return fitting[0]
    return target


def _check_owner(position: Position, order: Order, power: int, province: int) -> None:
    """Refuse a power that does not own the unit, or the home centre, that it is named with."""
    board = position.map
    unit = position.ordered_unit(province)
    if order.kind in BUILT:
        owns = province in board.powers[power].homes
    else:
        owns = unit is None or unit.power == power
    if not owns:
        what = f"the unit in {board.codes[province]}" if unit else f"the centre {board.codes[province]}"
        raise UnreadableOrderError(f"{what} is not {board.powers[power].name}'s")


def _expect_no_more(rest: Sequence[str]) -> None:
    if rest:
        raise UnreadableOrderError(f"{' '.join(rest)!r} is too much")
