"""A DAIDE game as its server leads it: who takes part, the orders that clients submit, and the time."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Protocol

from referees.diplomacy.adjudication import PhaseAdjudication
from referees.diplomacy.adjustments import adjustment
from referees.diplomacy.daide.frames import message_frame
from referees.diplomacy.daide.messages import (
    ACCEPTED,
    DaideVariant,
    Participant,
    Submitted,
    centre_owners,
    command,
    is_for_own_unit,
    map_definition,
    note_of,
    results,
    standing,
    summary,
    time_left,
)
from referees.diplomacy.daide.orders import (
    Tree,
    dislodged_tokens,
    flat,
    meant,
    read_order,
    turn_of,
    unit_tokens,
)
from referees.diplomacy.daide.tokens import (
    FIXED,
    MOST_NUMBER,
    Tokens,
    Vocabulary,
    bracketed,
    number_token,
    vocabulary,
)
from referees.diplomacy.game import GamePosition, survivors
from referees.diplomacy.legal import legal_orders
from referees.diplomacy.map import InvalidMapError
from referees.diplomacy.orders import WAIVE, Order, OrderKind
from referees.diplomacy.position import Phase, Position
from referees.diplomacy.power_orders import PowerOrders
from referees.diplomacy.settings import DiplomacySettings


class OrderBook:
    """The orders of one power in one turn.

    `draws` are the draws that it would accept, each as its powers; `waits` is whether it wants the deadline
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
    def complete(self) -> bool:
        """Whether no order is missing."""
        return self.given >= self.due

    @property
    def settled(self) -> bool:
        """Whether all orders are there, and the deadline need not be awaited."""
        return not self.waits and self.complete

    def submit(self, tree: Tree) -> int:
        """Take an order; returns the note on it, MBV where it was taken.

        A new order for a unit takes the place of an older one.
        """
        position, tokens = self._position, read_order(self._words, tree)
        order = meant(position.map, tokens)
        location = None if tokens.unit is None else tokens.unit.location
        province = None if location is None else self._province(location)
        earlier = self.given - (province in self._orders)
        note = note_of(position, self._power, tokens, self._legal, earlier)
        if note != ACCEPTED and not (self._any_order and is_for_own_unit(position, note)):
            return note
        if location is None or province is None:
            self._waives += 1
            return ACCEPTED
        if note != ACCEPTED or order is None:
            stays = OrderKind.HOLD if position.phase is Phase.MOVES else OrderKind.DISBAND
            order = Order(stays, location)
        self._orders[province] = order
        self.submitted[province] = Submitted(bracketed(*flat(tree)), note)
        return ACCEPTED

    def withdraw(self, tree: Tree) -> bool:
        """Take an order back. Returns whether there was one."""
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
        tokens: Tokens = (FIXED["MIS"],)
        if position.phase is Phase.BUILDS:
            left = max(0, self.due - self.given)
            removing = adjustment(position, self._power) < 0
            return (*tokens, *bracketed(number_token(left if removing else -left))) if left else tokens
        if position.phase is Phase.RETREATS:
            for unit, options in position.dislodged:
                if unit.power == self._power and self._province(unit.location) not in self._orders:
                    tokens += dislodged_tokens(words, unit, options)
            return tokens
        for unit in position.units_of(self._power):
            if self._province(unit.location) not in self._orders:
                tokens += unit_tokens(words, unit)
        return tokens

    def _province(self, location: int) -> int:
        return self._position.map.province_of[location]

    def orders(self, draw: frozenset[int] | None) -> PowerOrders:
        """The power's orders for the referee."""
        waives = min(self._waives, self.due - len(self._orders))
        listed: Sequence[Order] = [*self._orders.values(), *[WAIVE] * waives]
        return PowerOrders.of(self._position, listed, draw)

    def draw(self, survivors: Collection[int]) -> frozenset[int] | None:
        """The draw it stands for: one of all survivors if it accepts that, else the first of others."""
        everybody = frozenset(survivors)
        if everybody in self.draws:
            return everybody
        return min(self.draws, key=sorted, default=None)


class Listener(Protocol):
    """Somebody at the table: who plays a power, or an observer (None)."""

    power: int | None

    def say(self, tokens: Tokens) -> None:
        """Send it a message."""


class DaideTable:
    """The game of some powers that are played over DAIDE; others may be played otherwise.

    `participants` are all powers', `passcodes` those of the powers at this table.
    """

    def __init__(
        self,
        words: Vocabulary,
        variant: DaideVariant,
        participants: Sequence[Participant],
        passcodes: Mapping[int, int],
    ) -> None:
        self.words = words
        self.variant = variant
        self.participants = list(participants)
        self.passcodes = passcodes
        self.listeners: list[Listener] = []
        self.game: GamePosition | None = None
        self.over = False
        self.order_books: dict[int, OrderBook] = {}
        self.disorder: set[int] = set()
        self.history: dict[tuple[int, int], list[Tokens]] = {}
        self.last_results: list[Tokens] = []
        self.agreed: dict[Listener, bool] = {}
        self.alarms: dict[Listener, set[int]] = {}
        self._rung_until = 0.0
        """How many seconds of the turn were left when alarms rang last."""
        self.deadline: float | None = None
        """When the time of the turn is over; None without a limit, and while the clock is stopped."""
        self._left: float | None = None

    # Who is there

    def enter(self, listener: Listener, now: float) -> None:
        """Somebody takes part from now on; an observer of a game that goes on gets its standing."""
        self.listeners.append(listener)
        if listener.power is not None or self.game is None:
            return
        listener.say(self.hello(listener))
        listener.say(centre_owners(self.words, self.position))
        listener.say(standing(self.words, self.position))
        for power in sorted(self.disorder):
            listener.say(command("CCD", (self.words.powers[power],)))
        left = self.seconds_left(now)
        if left is not None:
            listener.say(time_left(left) if self._left is None else command("NOT", time_left(left)))

    def hello(self, listener: Listener) -> Tokens:
        """HLO for somebody at the table."""
        power = listener.power
        token, passcode = FIXED["UNO"], 0
        if power is not None:
            token, passcode = self.words.powers[power], self.passcodes[power]
        return command("HLO", (token,), (number_token(passcode),), self.variant.tokens)

    def leave(self, listener: Listener) -> None:
        """A listener gets nothing more."""
        if listener in self.listeners:
            self.listeners.remove(listener)
        self.alarms.pop(listener, None)
        self.agreed.pop(listener, None)

    def say(self, tokens: Tokens) -> None:
        """Send a message to all."""
        for listener in self.listeners:
            listener.say(tokens)

    # The turn

    @property
    def position(self) -> Position:
        """The position of the turn."""
        if self.game is None:
            return Position.start(self.words.map)
        return self.game.position

    @property
    def turns(self) -> int:
        """How many turns are over."""
        return len(self.history)

    @property
    def alive(self) -> tuple[int, ...]:
        """The powers that are not eliminated."""
        return tuple(range(len(self.words.powers))) if self.game is None else survivors(self.game)

    def begin(self, game: GamePosition) -> None:
        """The game begins with this position: HLO, SCO and NOW."""
        self.game = game
        for listener in self.listeners:
            listener.say(self.hello(listener))
        self.say(centre_owners(self.words, game.position))
        self._next_turn()

    def _next_turn(self) -> None:
        self.order_books = {
            power: OrderBook(self.words, self.position, power, any_order=self.variant.aoa)
            for power in self.passcodes
        }
        self.deadline = self._left = None
        self.say(standing(self.words, self.position))

    def ask(self, now: float) -> None:
        """The time of the turn begins."""
        limit = self.variant.limit(self.position.phase)
        self._left = None
        if limit is not None:
            self.deadline, self._rung_until = now + limit, limit
            self.say(time_left(limit))

    def submitted(self) -> dict[tuple[int, int], Submitted]:
        """The orders of this turn by power and province."""
        return {
            (power, province): order
            for power, order_book in self.order_books.items()
            for province, order in order_book.submitted.items()
        }

    def processed(self, adjudication: PhaseAdjudication, after: GamePosition) -> None:
        """A turn is over: ORD for each order, SCO in autumn, the game's end if it is one, and NOW."""
        before = adjudication.position
        messages = results(self.words, adjudication, self.submitted())
        if before.phase is Phase.MOVES:
            self.last_results = []
        self.last_results += messages
        self.game = after
        owners = centre_owners(self.words, after.position)
        now = standing(self.words, after.position)
        self.history[turn_of(before)] = [*messages, owners, now]
        for tokens in messages:
            self.say(tokens)
        took_centres = before.phase is not Phase.BUILDS and (
            after.position.phase is Phase.BUILDS or after.position.year > before.year
        )
        if took_centres:
            self.say(owners)
        if after.outcome is not None:
            self.finish(tuple(seat - 1 for seat in after.outcome.winners))
        self._next_turn()

    def finish(self, winners: Sequence[int]) -> None:
        """The game is over: SLO or DRW, and SMR. Without winners it has no result, and only SMR is sent."""
        if self.over or self.game is None:
            return
        self.over = True
        self.deadline = self._left = None
        powers = tuple(self.words.powers[winner] for winner in winners)
        if len(winners) == 1:
            self.say(command("SLO", powers))
        elif winners:
            everybody = not self.variant.pda or set(winners) == set(self.alive)
            self.say(command("DRW") if everybody and not self.variant.pda else command("DRW", powers))
        self.say(summary(self.words, self.position, self.participants, self.game.eliminated))

    # Waiting for orders

    def agreed_draw(self) -> frozenset[int] | None:
        """The draw that every survivor would accept, if all of them sit here; of several the largest."""
        alive = self.alive
        if self.position.phase is not Phase.MOVES or any(power not in self.order_books for power in alive):
            return None
        common = frozenset.intersection(*(frozenset(self.order_books[power].draws) for power in alive))
        return max(common, key=lambda draw: (len(draw), sorted(draw)), default=None)

    def set_disorder(self, power: int, disorder: bool) -> None:
        """A power is in civil disorder from now on, or no longer: CCD or NOT (CCD) to all."""
        if disorder and power not in self.disorder:
            self.disorder.add(power)
            self.say(command("CCD", (self.words.powers[power],)))
        elif not disorder and power in self.disorder:
            self.disorder.discard(power)
            self.say(command("NOT", command("CCD", (self.words.powers[power],))))

    # Time

    def seconds_left(self, now: float) -> float | None:
        """What is left of the turn's time; None where it has no limit."""
        if self._left is not None:
            return self._left
        return None if self.deadline is None else max(0.0, self.deadline - now)

    def stop_time(self, now: float) -> None:
        """The clock stops, as somebody is disconnected (DSD)."""
        if self.deadline is not None:
            self._left = max(0.0, self.deadline - now)
            self.deadline = None
            self.say(command("NOT", time_left(self._left)))

    def start_time(self, now: float) -> None:
        """The time goes on."""
        if self._left is not None:
            self.deadline = now + self._left
            self.say(time_left(self._left))
            self._left = None

    def ring(self, now: float) -> None:
        """Send the time left to those that asked for it; of what has passed since the last time."""
        if self.deadline is None:
            return
        left = self.deadline - now
        for listener, seconds in self.alarms.items():
            for wanted in sorted(seconds, reverse=True):
                if left <= wanted < self._rung_until:
                    listener.say(time_left(wanted))
        self._rung_until = left


class DaideDialogue:
    """Diplomacy under given settings, over DAIDE.

    Raises InvalidMapError for a map that it cannot be played on.
    """

    def __init__(self, settings: DiplomacySettings) -> None:
        self._settings = settings
        self.words: Vocabulary = vocabulary(settings.map)
        try:
            message_frame(map_definition(self.words))
        except ValueError as error:
            raise InvalidMapError(
                f"the map {settings.map.name!r}: its definition (MDF) is {error}; "
                "leave borders or provinces out"
            ) from None

    def variant(self, seconds: float) -> DaideVariant:
        """The game's options. A phase for which the settings have no limit gets `seconds`."""
        settings = self._settings
        limit = max(1, min(MOST_NUMBER, math.floor(seconds)))
        options = {field.name: getattr(settings, field.name) for field in fields(DaideVariant)}
        limits = {name: options[name] or limit for name in ("mtl", "rtl", "btl")}
        return DaideVariant(**{**options, **limits})
