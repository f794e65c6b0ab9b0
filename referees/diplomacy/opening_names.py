"""What openings of the first spring are called, for display: names and the orders that they stand for."""

from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Final, NamedTuple

from referees.api import UnreadableMoveError
from referees.diplomacy.opening_moves import carried_out, read_opening_move
from referees.diplomacy.orders import Order
from referees.diplomacy.position import Position
from referees.diplomacy.power_orders import PowerOrders
from referees.diplomacy.provinces import Map, shipped_map
from referees.toml_text import read_toml

_FILE: Final = "opening_names.toml"


class OpeningName(NamedTuple):
    """A name, and the orders that all openings of that name have in common."""

    name: str
    orders: frozenset[Order]


@cache
def opening_names(board: Map, power: int) -> tuple[OpeningName, ...]:
    """The names of a power's openings on a map; none where nobody has named them."""
    text = (resources.files("referees.diplomacy") / _FILE).read_text("utf-8")
    told = read_toml(text).get(board.name, {}).get(board.powers[power].code, {})
    start = Position.start(board)
    return tuple(
        OpeningName(name, frozenset(PowerOrders.read(start, orders).orders)) for orders, name in told.items()
    )


def opening_name(start: Position, power: int, orders: Iterable[Order]) -> str:
    """What a power's orders in a map's first position are called: the name with the most orders of them.

    Empty where none fits.
    """
    given = frozenset(carried_out(start, power, orders))
    fitting = [each for each in opening_names(start.map, power) if each.orders <= given]
    most = max((len(each.orders) for each in fitting), default=0)
    return " / ".join(each.name for each in fitting if len(each.orders) == most)


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
    situation, said = read_opening_move(line[1])
    if situation:
        return ""
    start = Position.start(board)
    try:
        orders = PowerOrders.read(start, said)
    except UnreadableMoveError:
        return ""
    return opening_name(start, power, orders.orders)
