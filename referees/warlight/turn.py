"""One turn of WarLight: deployments, attacks and transfers in their order, and the chances of a fight."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from referees.warlight.maps import WarMap
from referees.warlight.orders import AttackTransfer, Deploy, Order
from referees.warlight.position import Attacked, Deployed, Event, RefusedOrder, Transferred, WarPosition

# Rates and luck are whole thousandths: 0.6 * 5 is 3, and no rounding of floats decides a fight.
UNIT: Final = 1000
_WHOLE: Final = UNIT * UNIT


class Fight(NamedTuple):
    """What an attack did: armies killed and lost, and whether the territory fell."""

    killed: int
    lost: int
    captured: bool


@dataclass(frozen=True)
class CombatRules:
    """Rates at which attackers and defenders kill, and luck, in thousandths; and how numbers are rounded.

    With `weighted` rounding the fraction is the probability of rounding up; without it numbers are
    rounded to the nearest, halves up.
    """

    offence: int = 600
    defence: int = 700
    luck: int = 0
    weighted: bool = True

    def fight(self, attackers: int, defenders: int, chance: random.Random) -> Fight:
        """Fight once."""
        killed = min(self._kills(self.offence, attackers, chance), defenders)
        lost = min(self._kills(self.defence, defenders, chance), attackers)
        if killed == defenders and lost == attackers:
            killed -= 1
        return Fight(killed, lost, killed == defenders)

    def _kills(self, rate: int, armies: int, chance: random.Random) -> int:
        parts = rate * armies * (UNIT - self.luck)
        if self.luck:
            hits = sum([chance.random() * UNIT < rate for _ in range(armies)])
            parts += hits * UNIT * self.luck
        whole, rest = divmod(parts, _WHOLE)
        if not rest:
            return whole
        if self.weighted:
            return whole + (chance.random() * _WHOLE < rest)
        return whole + (2 * rest >= _WHOLE)


SEATS = (1, 2)


class TurnResult:
    """A turn that is being carried out; `events` are what happened, `first` who had the first move.

    Armies move once a turn: `_movable` counts those of each territory that have not moved. Arrivals are
    not among them, nor the survivors of an attack; who conquers a territory cannot leave it this turn.
    `_planned` counts the same as if the opponent killed no army.
    """

    def __init__(
        self,
        war_map: WarMap,
        combat: CombatRules,
        base_income: int,
        move_order: str,
        position: WarPosition,
        chance: random.Random,
    ) -> None:
        self._map, self._index = war_map, war_map.index
        self._combat, self._base_income = combat, base_income
        self._move_order = move_order
        self._chance = chance
        self._before = position
        self._owners = bytearray(position.owners)
        self._armies = list(position.armies)
        self._movable: list[int] = []
        self._planned: list[int] = []
        self._used: set[tuple[int, int]] = set()
        self.events: list[Event] = []
        self.first = 0

    def play(self, orders: Mapping[int, tuple[Order, ...]]) -> WarPosition:
        """Carry out the orders of both seats; returns the position after the turn."""
        for seat in SEATS:
            left = self._map.income(self._owners, seat, self._base_income)
            for order in orders[seat]:
                if isinstance(order, Deploy):
                    left -= self._deploy(seat, order, left)
        self._movable = self._armies.copy()
        self._planned = self._armies.copy()
        waiting = {
            seat: iter([order for order in orders[seat] if isinstance(order, AttackTransfer)])
            for seat in SEATS
        }
        slots = self._slots()
        while len(waiting) == len(SEATS):
            seat = next(slots)
            if not self._move_next(seat, waiting[seat]):
                del waiting[seat]
        for seat, rest in waiting.items():
            while self._move_next(seat, rest):
                pass
        return WarPosition(
            self._before.turn + 1,
            bytes(self._owners),
            tuple(self._armies),
            self._before.seed,
            tuple(self.events),
            self.first,
        )

    def _slots(self) -> Iterator[int]:
        """Whose order is next, for ever: A BB AA BB ..., or pairs with a coin for each."""
        if self._move_order == "paired":
            while True:
                seat = self._chance.choice(SEATS)
                yield seat
                yield 3 - seat
        seat = self.first = self._first_mover()
        while True:
            yield seat
            seat = 3 - seat
            yield seat

    def _first_mover(self) -> int:
        if self._move_order == "random":
            return self._chance.choice(SEATS)
        if self._move_order == "fewer_armies":
            before = self._before
            first_total, second_total = (
                sum(n for owner, n in zip(before.owners, before.armies, strict=True) if owner == seat)
                for seat in SEATS
            )
            if first_total != second_total:
                return 1 if first_total < second_total else 2
        # The seed chooses who begins the first turn; that player begins every other one.
        begins = random.Random(f"{self._before.seed} first mover").choice(SEATS)
        return begins if self._before.turn % 2 else 3 - begins

    def _sees(self, seat: int, at: int) -> bool:
        """Whether a territory that is not the seat's touches one that is."""
        return seat in [self._owners[near] for near in self._map.neighbours[at]]

    def _deploy(self, seat: int, order: Deploy, left: int) -> int:
        at = self._index.get(order.to)
        if at is None:
            why = f"the map has no territory {order.to}"
        elif self._owners[at] != seat:
            why = f"{order.to} is not its own"
        elif order.armies < 1:
            why = f"{order.armies} armies: at least 1 must be deployed"
        elif left < 1:
            why = "the income is used up"
        else:
            sent = min(order.armies, left)
            self._armies[at] += sent
            self.events.append(Deployed(seat, order.to, order.armies, sent, self._sees(3 - seat, at)))
            return sent
        self.events.append(RefusedOrder(seat, order, why))
        return 0

    def _move_next(self, seat: int, waiting: Iterator[AttackTransfer]) -> bool:
        """Carry out a seat's next order in which an army moves. Returns whether there was one."""
        for order in waiting:
            why, sound = self._why_not(seat, order)
            if not why:
                self._move(seat, order)
                return True
            self.events.append(RefusedOrder(seat, order, why, sound))
        return False

    def _why_not(self, seat: int, order: AttackTransfer) -> tuple[str, bool]:
        """Why no army can move, empty if one can, and whether that is for what the opponent did this turn."""
        _, source, to = order
        start, end = self._index.get(source), self._index.get(to)
        if start is None or end is None:
            return f"the map has no territory {source if start is None else to}", False
        if end not in self._map.adjacent[start]:
            return f"{source} and {to} do not touch", False
        if order.armies < 1:
            return f"{order.armies} armies: at least 1 must be sent", False
        was_own = self._before.owners[start] == seat
        if self._owners[start] != seat:
            return f"{source} is not its own", was_own
        if (start, end) in self._used:
            return f"an order from {source} to {to} was carried out before", False
        if self._free(start) < 1:
            why = f"no army of {source} can move: one stands guard, the others have moved or arrived"
            return why, was_own and self._planned[start] > 1
        return "", True

    def _free(self, start: int) -> int:
        return self._movable[start] - 1

    def _move(self, seat: int, order: AttackTransfer) -> None:
        wanted, source, to = order
        start, end = self._index[source], self._index[to]
        sent = min(wanted, self._free(start))
        self._movable[start] -= sent
        self._planned[start] -= min(wanted, self._planned[start] - 1)
        self._used.add((start, end))
        owners, armies = self._owners, self._armies
        seen = self._sees(3 - seat, start) or self._sees(3 - seat, end)
        against = owners[end]
        if against == seat:
            armies[start] -= sent
            armies[end] += sent
            self.events.append(Transferred(seat, source, to, wanted, sent, seen))
            return
        defenders = armies[end]
        killed, lost, captured = self._combat.fight(sent, defenders, self._chance)
        if captured:
            armies[start] -= sent
            armies[end] = sent - lost
            owners[end] = seat
            self._movable[end] = 1
        else:
            armies[start] -= lost
            armies[end] -= killed
            self._movable[end] -= killed
        self.events.append(
            Attacked(seat, source, to, wanted, sent, against, defenders, killed, lost, captured, seen)
        )
