"""Orders as values and as text, in the words of the game's protocol."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from referees.api import UnreadableMoveError

MAX_ORDERS: Final = 2000
PASS: Final = "pass"
_SHOWN: Final = 80
_NUMBER: Final = r"(-?[0-9]{1,12})"
_DEPLOY: Final = re.compile(rf"Deploy {_NUMBER} on {_NUMBER}", re.IGNORECASE)
_ATTACK_TRANSFER: Final = re.compile(rf"AttackTransfer {_NUMBER} from {_NUMBER} to {_NUMBER}", re.IGNORECASE)


class Deploy(NamedTuple):
    """Place armies of the income on a territory, by its id."""

    armies: int
    to: int

    @property
    def text(self) -> str:
        """`Deploy 4 on 5`."""
        return f"Deploy {self.armies} on {self.to}"


class AttackTransfer(NamedTuple):
    """Send armies to a neighbour: an attack, or a transfer if it is the player's own by then."""

    armies: int
    source: int
    to: int

    @property
    def text(self) -> str:
        """`AttackTransfer 4 from 5 to 29`."""
        return f"AttackTransfer {self.armies} from {self.source} to {self.to}"


Order = Deploy | AttackTransfer
Orders = tuple[Order, ...]


def read_order(line: str) -> Order:
    """Read an order; case and the number of blanks do not matter. Raises UnreadableMoveError."""
    words = " ".join(line.split())
    if match := _DEPLOY.fullmatch(words):
        return Deploy(int(match[1]), int(match[2]))
    if match := _ATTACK_TRANSFER.fullmatch(words):
        return AttackTransfer(int(match[1]), int(match[2]), int(match[3]))
    raise UnreadableMoveError(
        f"{words[:_SHOWN]!a} is neither 'Deploy ARMIES on ID' nor 'AttackTransfer ARMIES from ID to ID'"
    )


def orders_text(orders: Iterable[Order]) -> str:
    """Orders on one line, divided by `; `, or `pass`."""
    return "; ".join([order.text for order in orders]) or PASS


def read_orders(text: str) -> Orders:
    """Read orders divided by `;` or ends of lines; none in an empty text or `pass`.

    Raises UnreadableMoveError.
    """
    if text.strip().lower() == PASS:
        return ()
    lines = [line for line in re.split(r"[;\n]", text) if line.strip()]
    if len(lines) > MAX_ORDERS:
        raise UnreadableMoveError(f"{len(lines)} orders: at most {MAX_ORDERS} can be given in a turn")
    return tuple(map(read_order, lines))
