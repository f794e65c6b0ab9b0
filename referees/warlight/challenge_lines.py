"""The dialogue of the WarLight AI Challenge: the map once, the standing every turn, orders until `end`.

    Map / TerritoryDefinition ... / BonusDefinition ... / EndMap
    Turn N / Territory ID ownedBy You|Neutral|Opponent withArmies N ... / EndStanding
    GameOver

A bot answers a standing with `Deploy N on ID` and `AttackTransfer N from ID to ID`, then `end`. One line
is ours: `academy-expected_value X` tells the bot's own expected value, from 0 to 1; of two numbers the first
is of what stands before the orders.
"""

from collections.abc import Sequence
from typing import Final

from referees.api import UnreadableMoveError
from referees.lines import BotTime, LineDialogue, Prompt, Reading
from referees.warlight.map_text import protocol_lines
from referees.warlight.maps import WarMap
from referees.warlight.orders import MAX_ORDERS, PASS, Order, orders_text, read_order
from referees.warlight.position import NEUTRAL, UNSEEN, RefusedOrder, WarPosition

END: Final = "end"
EXPECTED_VALUE: Final = "academy-expected_value"


class ChallengeLines(LineDialogue[WarPosition]):
    """The dialogue on one map."""

    def __init__(self, war_map: WarMap) -> None:
        self._map_lines = tuple(protocol_lines(war_map))
        self._rows = [f"Territory {each.id} ownedBy " for each in war_map.territories]

    def greeting(self, seat: int, time: BotTime) -> Sequence[str]:
        """The map."""
        return self._map_lines

    def standing(self, view: WarPosition, seat: int) -> list[str]:
        """`Turn N`, the territories that the seat sees in the order of their ids, and `EndStanding`."""
        words = {NEUTRAL: "Neutral withArmies ", seat: "You withArmies ", 3 - seat: "Opponent withArmies "}
        lines = [
            f"{row}{words[owner]}{armies}"
            for row, owner, armies in zip(self._rows, view.owners, view.armies, strict=True)
            if owner != UNSEEN
        ]
        return [f"Turn {view.turn}", *lines, "EndStanding"]

    def turn(self, view: WarPosition, seat: int) -> Sequence[Prompt]:
        """The standing, answered up to `end`."""
        lines = self.standing(view, seat)
        return (Prompt(lambda milliseconds: lines, END),)

    def read(self, answers: Sequence[Sequence[str]], seat: int) -> Reading:
        """Read orders line by line; a line that is none is dropped."""
        orders: list[Order] = []
        complaints = []
        before = value = None
        for line in answers[0]:
            try:
                if line.split()[:1] == [EXPECTED_VALUE]:
                    before, value = _expected_values(line)
                elif line.strip():
                    orders.append(read_order(line))
            except UnreadableMoveError as error:
                complaints.append(f"a line was dropped: {error}")
        if len(orders) > MAX_ORDERS:
            complaints.append(f"{len(orders)} orders: those after the first {MAX_ORDERS} were dropped")
        return Reading(orders_text(orders[:MAX_ORDERS]), tuple(complaints), value, before)

    def passing(self) -> str:
        """No orders."""
        return PASS

    def refusals(self, view: WarPosition, seat: int) -> Sequence[str]:
        """Each order that was not carried out, and why."""
        return refusals(view, seat)

    def farewell(self) -> Sequence[str]:
        """`GameOver`."""
        return ("GameOver",)


def refusals(view: WarPosition, seat: int) -> list[str]:
    """Each order of the turn before that was not carried out by its player's own fault, and why."""
    return [
        f"order '{event.order.text}' was not carried out: {event.why}"
        for event in view.events
        if isinstance(event, RefusedOrder) and event.seat == seat and not event.sound
    ]


def _expected_values(line: str) -> tuple[float | None, float]:
    """What the bot expected before its orders, if it tells that too, and with them.

    Raises UnreadableMoveError.
    """
    told = line.strip().removeprefix(EXPECTED_VALUE).strip()
    try:
        values = [float(word) for word in told.split()]
    except ValueError:
        values = []
    if not (1 <= len(values) <= 2 and all(0.0 <= value <= 1.0 for value in values)):
        raise UnreadableMoveError(
            f"'{EXPECTED_VALUE}': {told[:80]!a} is no number from 0 to 1, nor two of them"
        )
    return (values[0] if len(values) == 2 else None), values[-1]
