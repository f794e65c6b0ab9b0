"""Opening moves as ACADEMY's trees know them, and the names that people give them."""

from collections.abc import Iterable
from functools import cache
from hashlib import blake2b
from importlib import resources
from operator import attrgetter
from typing import Final, NamedTuple

from referees.api import UnreadableMoveError
from referees.diplomacy.adjustments import adjustment
from referees.diplomacy.legal import as_listed, legal_orders
from referees.diplomacy.map import Map, shipped_map
from referees.diplomacy.notation import order_text
from referees.diplomacy.orders import WAIVE, Order, OrderKind
from referees.diplomacy.position import Phase, Position
from referees.diplomacy.power_orders import PowerOrders
from referees.toml_text import read_toml

# ACADEMY takes no longer ones.
MAX_LENGTH: Final = 1_024
_DIGEST_BYTES: Final = 8


def opening_move(position: Position, power: int, orders: Iterable[Order]) -> str:
    """A power's orders of a phase in their situation, as one move of its opening tree.

    Orders that cannot be carried out are what they come to: units hold, dislodged ones disband, builds are
    waived; so are those that were not given. Only removals that were not ordered stay open.
    """
    seen = situation(position, power)
    written = ", ".join(order_text(position, order) for order in carried_out(position, power, orders)) or "-"
    text = f"[{seen}] {written}" if seen else written
    if len(text) <= MAX_LENGTH:
        return text
    digest = blake2b(text.encode(), digest_size=_DIGEST_BYTES).hexdigest()
    return f"{text[: MAX_LENGTH - len(digest) - 2]} #{digest}"


def situation(position: Position, power: int) -> str:
    """What a power's next move depends on; empty in a map's first position.

    In moves and retreats: where its units stand, which of them are dislodged, and which powers' units stand
    in its home provinces or beside them. In builds: how many centres it has.
    """
    if position.phase is Phase.BUILDS:
        return f"{len(position.centres_of(power))} centres"
    if position == _first_position(position.map):
        return ""
    standing = [position.map.unit_text(unit) for unit in position.units_of(power)]
    lost = [unit for unit, _ in position.dislodged if unit.power == power]
    standing += [f"{position.map.unit_text(unit)} dislodged" for unit in lost]
    near = _near_home(position.map, power)
    entered = [
        (position.map.powers[unit.power].code, position.map.codes[position.map.province_of[unit.location]])
        for unit in position.units
        if unit.power != power and position.map.province_of[unit.location] in near
    ]
    own = ", ".join(standing) or "no units"
    return "; ".join([own, *(f"{code} {province}" for code, province in sorted(entered))])


def read_opening_move(text: str) -> tuple[str, str]:
    """The situation of a move of an opening tree, and its orders."""
    if not text.startswith("["):
        return "", text
    seen, _, orders = text[1:].partition("] ")
    return seen, orders


def carried_out(position: Position, power: int, orders: Iterable[Order]) -> list[Order]:
    """What a power's orders of a phase come to: one for each unit, or as many builds as are due."""
    legal = legal_orders(position, power)
    given: dict[int, Order] = {}
    for order in orders:
        listed = as_listed(position.map, order)
        if order.kind is not OrderKind.WAIVE:
            province = position.map.province_of[order.location]
            if listed in legal.get(province, ()):
                given[province] = listed
    if position.phase is Phase.BUILDS:
        built = list(given.values())
        waived = max(0, adjustment(position, power) - len(built))
        return [*sorted(built, key=_LOCATION), *[WAIVE] * waived]
    idle = OrderKind.HOLD if position.phase is Phase.MOVES else OrderKind.DISBAND
    return [
        given.get(position.map.province_of[unit.location], Order(idle, unit.location))
        for unit in sorted(position.ordered_units(power), key=_LOCATION)
    ]


@cache
def _first_position(board: Map) -> Position:
    return Position.start(board)


@cache
def _near_home(board: Map, power: int) -> frozenset[int]:
    """A power's home provinces and those that any unit reaches from them."""
    homes = board.powers[power].homes
    return frozenset(homes).union(*(board.neighbours[home] for home in homes))


_LOCATION: Final = attrgetter("location")


_FILE: Final = "opening_names.toml"


class OpeningName(NamedTuple):
    """A name, and the orders that all openings of that name have in common."""

    name: str
    orders: frozenset[Order]


@cache
def opening_names(board: Map, power: int) -> tuple[OpeningName, ...]:
    """The names of a power's openings on a map; none where nobody has named them."""
    text = (resources.files("referees.diplomacy") / _FILE).read_text("utf-8")
    entries = read_toml(text).get(board.name, {}).get(board.powers[power].code, {})
    start = Position.start(board)
    return tuple(
        OpeningName(name, frozenset(PowerOrders.read(start, orders).orders))
        for orders, name in entries.items()
    )


def opening_name(start: Position, power: int, orders: Iterable[Order]) -> str:
    """What a power's orders in a map's first position are called: the name with the most orders of them.

    Empty where none fits.
    """
    given = frozenset(carried_out(start, power, orders))
    fitting = [opening for opening in opening_names(start.map, power) if opening.orders <= given]
    most = max((len(opening.orders) for opening in fitting), default=0)
    return " / ".join(opening.name for opening in fitting if len(opening.orders) == most)


def standard_names(line: tuple[str, ...]) -> str:
    """What a line of the opening tree of the standard map is called, as `academy openings` asks.

    `line` is `player 3` and that player's moves. `player 3` alone is the power.
    """
    board = shipped_map("standard")
    power = next((power for power in range(len(board.powers)) if line[:1] == (f"player {power + 1}",)), None)
    if power is None or len(line) > 2:
        return ""
    if len(line) == 1:
        return board.powers[power].name
    situation, written = read_opening_move(line[1])
    if situation:
        return ""
    start = Position.start(board)
    try:
        orders = PowerOrders.read(start, written)
    except UnreadableMoveError:
        return ""
    return opening_name(start, power, orders.orders)
