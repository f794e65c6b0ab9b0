"""What one power writes for a phase: its orders, and perhaps a draw, as one line of text.

`A PAR - BUR, F BRE - MAO, A MAR S A PAR - BUR`, `A PAR B, WAIVE`, `A PAR H, DRAW` for a draw of all
survivors, `A PAR H, DRAW ENG FRA` for one between some; `NONE` where nothing is ordered.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final, Self

from referees.api import UnreadableMoveError
from referees.diplomacy.map import UnknownPlaceError
from referees.diplomacy.notation import UnreadableOrderError, order_text, read_order
from referees.diplomacy.orders import Order, OrderKind
from referees.diplomacy.position import Position

MAX_ORDERS: Final = 100
MAX_LINE: Final = 10_000
# DAIDE's orders are each in brackets and begin with a unit in brackets.
_DAIDE_BETWEEN: Final = re.compile(r"\)\s*(?=\(\s*\()")
NO_ORDERS: Final = "NONE"
DRAW: Final = "DRAW"


@dataclass(frozen=True)
class PowerOrders:
    """A power's orders in a phase.

    `draw` are the powers between whom it would draw, every survivor if empty, and None if it would not.
    `written` are the orders in the words in which they were given, to be quoted; empty where none were.
    """

    orders: tuple[Order, ...]
    draw: frozenset[int] | None = None
    text: str = field(default=NO_ORDERS, compare=False)
    written: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, position: Position, orders: Iterable[Order], draw: frozenset[int] | None = None) -> Self:
        """Orders in the order of their places, with their text."""
        listed = tuple(sorted(orders, key=_place))
        parts = [order_text(position, order) for order in listed] or [NO_ORDERS]
        if draw is not None:
            codes = [position.map.powers[power].code for power in sorted(draw)]
            parts.append(" ".join([DRAW, *codes]))
        return cls(listed, draw, ", ".join(parts))

    @classmethod
    def read(cls, position: Position, text: str, lenient_coasts: bool = True) -> Self:
        """Read a line; orders may be separated by commas, semicolons or line ends.

        Raises UnreadableMoveError.
        """
        if len(text) > MAX_LINE:
            raise UnreadableMoveError(f"a line of {len(text)} characters: at most {MAX_LINE} are read")
        parts = [
            part.strip()
            for part in _DAIDE_BETWEEN.sub("),", text).replace(";", ",").replace("\n", ",").split(",")
        ]
        if not any(parts):
            raise UnreadableMoveError(f"an empty line: a power that orders nothing says {NO_ORDERS}")
        orders: list[tuple[Order, str]] = []
        draw: frozenset[int] | None = None
        for part in filter(None, parts):
            words = part.upper().split()
            if words[0] == DRAW:
                draw = _read_draw(position, words[1:])
            elif words != [NO_ORDERS]:
                try:
                    orders.append((read_order(position, part, lenient_coasts), part))
                except UnreadableOrderError as error:
                    raise UnreadableMoveError(str(error)) from None
        if len(orders) > MAX_ORDERS:
            raise UnreadableMoveError(f"{len(orders)} orders: at most {MAX_ORDERS} are read")
        plain = cls.of(position, (order for order, _ in orders), draw)
        by_place = sorted(orders, key=lambda pair: _place(pair[0]))
        return replace(plain, written=tuple(words for _, words in by_place))


def _read_draw(position: Position, codes: list[str]) -> frozenset[int]:
    try:
        return frozenset(position.map.power(code) for code in codes)
    except UnknownPlaceError as error:
        raise UnreadableMoveError(str(error)) from None


def _place(order: Order) -> tuple[bool, int]:
    """Waives come last."""
    return order.kind is OrderKind.WAIVE, order.location
