"""What one power has submitted in a turn: orders, draws, and whether it waits for the deadline."""

from collections.abc import Collection, Sequence

from referees.diplomacy.adjustments import adjustment
from referees.diplomacy.daide.messages import Submitted
from referees.diplomacy.daide.notes import ACCEPTED, is_for_own_unit, note_of
from referees.diplomacy.daide.orders import (
    Tree,
    dislodged_tokens,
    flat,
    meant,
    read_order,
    unit_tokens,
)
from referees.diplomacy.daide.tokens import (
    FIXED,
    Tokens,
    Vocabulary,
    bracketed,
    number_token,
)
from referees.diplomacy.legal import legal_orders
from referees.diplomacy.orders import WAIVE, Order, OrderKind
from referees.diplomacy.position import Phase, Position
from referees.diplomacy.power_orders import PowerOrders


class OrderBook:
    """The orders of one power in one turn.

    `draws` are the draws that it would accept, each as its powers; `waits` tells that it wants the deadline
    awaited although its orders are complete.
    """

    def __init__(self, words: Vocabulary, position: Position, power: int, *, any_order: bool) -> None:
        self._words = words
        self._position = position
        self._power = power
        self._any_order = any_order
        self._legal = legal_orders(position, power)
        self._orders: dict[int, Order] = {}
        self._waives = 0
        self.submitted: dict[int, Submitted] = {}
        self.draws: set[frozenset[int]] = set()
        self.waits = False

    @property
    def due(self) -> int:
        """How many orders the turn asks for."""
        if self._position.phase is Phase.BUILDS:
            return abs(adjustment(self._position, self._power))
        return len(self._legal)

    @property
    def given(self) -> int:
        """How many orders there are."""
        return len(self._orders) + self._waives

    @property
    def settled(self) -> bool:
        """Whether all orders are there, and the deadline need not be awaited."""
        return not self.waits and self.given >= self.due

    def submit(self, tree: Tree) -> int:
        """Take an order; returns the note on it, MBV where it was taken.

        A new order for a unit takes the place of an older one.
        """
        position, said = self._position, read_order(self._words, tree)
        order = meant(position.map, said)
        province = None
        if said.unit is not None and said.unit.location is not None:
            province = position.map.province_of[said.unit.location]
        earlier = self.given - (province in self._orders)
        note = note_of(position, self._power, said, self._legal, earlier)
        taken = note == ACCEPTED or (self._any_order and is_for_own_unit(position, note))
        if not taken:
            return note
        if province is None:
            self._waives += 1
            return ACCEPTED
        assert isinstance(tree, tuple) and said.unit is not None and said.unit.location is not None
        if note != ACCEPTED or order is None:
            stays = OrderKind.HOLD if position.phase is Phase.MOVES else OrderKind.DISBAND
            order = Order(stays, said.unit.location)
        self._orders[province] = order
        self.submitted[province] = Submitted(bracketed(*flat(tree)), note)
        return ACCEPTED

    def withdraw(self, tree: Tree) -> bool:
        """Take an order back; whether it was there."""
        assert isinstance(tree, tuple)
        if isinstance(tree[0], int):
            if tree[0] != self._words.powers[self._power] or not self._waives:
                return False
            self._waives -= 1
            return True
        tokens = bracketed(*flat(tree))
        for province, submitted in self.submitted.items():
            if submitted.tokens == tokens:
                del self.submitted[province], self._orders[province]
                return True
        return False

    def clear(self) -> None:
        """Take all orders back."""
        self._orders.clear()
        self.submitted.clear()
        self._waives = 0

    def missing(self) -> Tokens:
        """MIS: the units without orders, or how many removals (above 0) or builds (below 0) are missing."""
        position, words = self._position, self._words
        said: Tokens = (FIXED["MIS"],)
        if position.phase is Phase.BUILDS:
            left = max(0, self.due - self.given)
            removing = adjustment(position, self._power) < 0
            return (*said, *bracketed(number_token(left if removing else -left))) if left else said
        if position.phase is Phase.RETREATS:
            for unit, options in position.dislodged:
                if unit.power == self._power and self._province(unit.location) not in self._orders:
                    said += dislodged_tokens(words, unit, options)
            return said
        for unit in position.units_of(self._power):
            if self._province(unit.location) not in self._orders:
                said += unit_tokens(words, unit)
        return said

    def _province(self, location: int) -> int:
        return self._position.map.province_of[location]

    def orders(self, draw: frozenset[int] | None) -> PowerOrders:
        """What the referee is told."""
        waives = min(self._waives, self.due - len(self._orders))
        listed: Sequence[Order] = [*self._orders.values(), *[WAIVE] * waives]
        return PowerOrders.of(self._position, listed, draw)

    def draw(self, survivors: Collection[int]) -> frozenset[int] | None:
        """The draw it stands for: one of all survivors if it accepts that, else the first of others."""
        everybody = frozenset(survivors)
        if everybody in self.draws:
            return everybody
        return min(self.draws, key=sorted, default=None)
