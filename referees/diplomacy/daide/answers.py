"""What a DAIDE server answers to each message of a client."""

from collections.abc import Callable
from typing import Final

from referees.diplomacy.daide import grammar
from referees.diplomacy.daide.messages import (
    centre_owners,
    command,
    map_definition,
    map_message,
    standing,
    time_left,
)
from referees.diplomacy.daide.orders import Tree, flat, read_turn, tree_of
from referees.diplomacy.daide.session import DaideSession, Listener
from referees.diplomacy.daide.tokens import (
    FIXED,
    PRESS_CATEGORY,
    Tokens,
    bracketed,
    number_of,
)
from referees.diplomacy.position import Phase

_SILENT: Final = (FIXED["HUH"], FIXED["PRN"])
Answer = Callable[["Answers", Listener, tuple[Tree, ...], Tokens, float], None]


class Answers:
    """Answers for one table."""

    def __init__(self, table: DaideSession) -> None:
        self._table = table
        self._words = table.words

    def hear(self, listener: Listener, tokens: Tokens, now: float) -> None:
        """Answer a message of somebody at the table. `now` is a time of the table's clock."""
        if tokens[0] in _SILENT:
            return
        try:
            grammar.check_message(self._words, tokens, self._table.variant.level)
        except grammar.UnbalancedParenthesesError:
            listener.say((FIXED["PRN"], *bracketed(*tokens)))
            return
        except grammar.DaideSyntaxError as wrong:
            marked = (*tokens[: wrong.place], FIXED["ERR"], *tokens[wrong.place :])
            listener.say(command("HUH", marked))
            return
        tree = tree_of(tokens)
        name = self._words.names[tokens[0]]
        if name == "NOT":
            inner = tree[1]
            assert isinstance(inner, tuple) and isinstance(inner[0], int)
            name = f"NOT {self._words.names[inner[0]]}"
            tree = inner
        _ANSWERS.get(name, Answers._refuse)(self, listener, tree, tokens, now)

    def _refuse(self, listener: Listener, _: tuple[Tree, ...], tokens: Tokens, __: float) -> None:
        """What the server never does: a second name, saved games."""
        listener.say(command("REJ", tokens))

    def _agreement(self, listener: Listener, tree: tuple[Tree, ...], tokens: Tokens, _: float) -> None:
        """Note what a client says of the map; YES and REJ to anything else ask for no answer."""
        inner = tree[1]
        assert isinstance(inner, tuple)
        if inner[0] == FIXED["MAP"]:
            right = flat(inner) == map_message(self._words)
            self._table.agreed[listener] = right and tokens[0] == FIXED["YES"]

    def _judge(self, listener: Listener, tokens: Tokens, accepted: bool) -> None:
        listener.say(command("YES" if accepted else "REJ", tokens))

    # What stands

    def _map(self, listener: Listener, *_: object) -> None:
        listener.say(map_message(self._words))

    def _definition(self, listener: Listener, *_: object) -> None:
        listener.say(map_definition(self._words))

    def _hello(self, listener: Listener, _: tuple[Tree, ...], tokens: Tokens, __: float) -> None:
        table = self._table
        if table.game is None:
            listener.say(command("REJ", tokens))
            return
        listener.say(table.hello(listener))

    def _owners(self, listener: Listener, *_: object) -> None:
        listener.say(centre_owners(self._words, self._table.position))

    def _now(self, listener: Listener, *_: object) -> None:
        listener.say(standing(self._words, self._table.position))

    def _results(self, listener: Listener, _: tuple[Tree, ...], tokens: Tokens, __: float) -> None:
        for message in self._table.last_results or [command("REJ", tokens)]:
            listener.say(message)

    def _history(self, listener: Listener, tree: tuple[Tree, ...], tokens: Tokens, _: float) -> None:
        for message in self._table.history.get(read_turn(tree[1]), [command("REJ", tokens)]):
            listener.say(message)

    # Orders

    def _orders(self, listener: Listener, tree: tuple[Tree, ...], tokens: Tokens, _: float) -> None:
        table, power = self._table, listener.power
        orders = tree[1:]
        if power is None or not self._playing(power):
            listener.say(command("REJ", tokens))
            return
        if self._is_turn(orders[0]):
            if read_turn(orders[0]) != table.turn_of(table.position):
                listener.say(command("REJ", tokens))
                return
            orders = orders[1:]
        desk = table.desks[power]
        for order in orders:
            assert isinstance(order, tuple)
            listener.say(command("THX", flat(order), (desk.submit(order),)))
        missing = desk.missing()
        if len(missing) > 1:
            listener.say(missing)
        table.set_disorder(power, False)

    def _withdrawal(self, listener: Listener, tree: tuple[Tree, ...], tokens: Tokens, _: float) -> None:
        power = listener.power
        accepted = power is not None and self._playing(power)
        if accepted:
            assert power is not None
            desk = self._table.desks[power]
            if len(tree) == 1:
                desk.clear()
            else:
                withdrawn = [desk.withdraw(order) for order in tree[1:]]
                accepted = all(withdrawn)
        self._judge(listener, tokens, accepted)

    def _missing(self, listener: Listener, _: tuple[Tree, ...], tokens: Tokens, __: float) -> None:
        power = listener.power
        if power is None or not self._playing(power):
            listener.say(command("REJ", tokens))
        else:
            listener.say(self._table.desks[power].missing())

    def _go(self, listener: Listener, _: tuple[Tree, ...], tokens: Tokens, __: float) -> None:
        power = listener.power
        if power is None or not self._playing(power):
            listener.say(command("REJ", tokens))
            return
        desk = self._table.desks[power]
        desk.waits = False
        listener.say(command("YES", tokens))
        missing = desk.missing()
        if len(missing) > 1:
            listener.say(missing)

    def _wait(self, listener: Listener, _: tuple[Tree, ...], tokens: Tokens, __: float) -> None:
        power = listener.power
        accepted = power is not None and self._playing(power)
        if accepted:
            assert power is not None
            self._table.desks[power].waits = True
        self._judge(listener, tokens, accepted)

    def _draw(self, listener: Listener, tree: tuple[Tree, ...], tokens: Tokens, _: float) -> None:
        table, draw = self._table, self._powers_of_draw(tree)
        power = listener.power
        accepted = (
            power is not None
            and self._playing(power)
            and table.position.phase is Phase.MOVES
            and (len(tree) == 1 or table.variant.pda)
            and draw <= frozenset(table.alive)
            and len(draw) > 1
        )
        if accepted:
            assert power is not None
            table.desks[power].draws.add(draw)
        self._judge(listener, tokens, accepted)

    def _no_draw(self, listener: Listener, tree: tuple[Tree, ...], tokens: Tokens, _: float) -> None:
        power = listener.power
        accepted = power is not None and self._playing(power)
        if accepted:
            assert power is not None
            self._table.desks[power].draws.discard(self._powers_of_draw(tree))
        self._judge(listener, tokens, accepted)

    def _powers_of_draw(self, tree: tuple[Tree, ...]) -> frozenset[int]:
        return frozenset(self._table.alive if len(tree) == 1 else self._powers(tree[1]))

    def _powers(self, tree: Tree) -> list[int]:
        assert isinstance(tree, tuple)
        powers = (self._words.power(token) for token in tree if isinstance(token, int))
        return [power for power in powers if power is not None]

    def _playing(self, power: int) -> bool:
        """Whether the game goes on, and the power plays it."""
        table = self._table
        return table.game is not None and not table.over and power in table.alive

    @staticmethod
    def _is_turn(tree: Tree) -> bool:
        return isinstance(tree, tuple) and isinstance(tree[0], int) and tree[0] >> 8 == FIXED["SPR"] >> 8

    # Time

    def _time(self, listener: Listener, tree: tuple[Tree, ...], tokens: Tokens, now: float) -> None:
        table, variant = self._table, self._table.variant
        if len(tree) == 1:
            left = table.seconds_left(now)
            listener.say(command("REJ", tokens) if left is None else time_left(left))
            return
        longest = max(variant.limit(phase) or 0 for phase in Phase)
        seconds = self._seconds(tree)
        accepted = 0 <= seconds <= longest and bool(longest)
        if accepted:
            table.alarms.setdefault(listener, set()).add(seconds)
        self._judge(listener, tokens, accepted)

    def _no_time(self, listener: Listener, tree: tuple[Tree, ...], tokens: Tokens, _: float) -> None:
        alarms = self._table.alarms.get(listener, set())
        accepted = len(tree) == 1 or self._seconds(tree) in alarms
        if len(tree) == 1:
            alarms.clear()
        else:
            alarms.discard(self._seconds(tree))
        self._judge(listener, tokens, accepted)

    @staticmethod
    def _seconds(tree: tuple[Tree, ...]) -> int:
        inner = tree[1]
        assert isinstance(inner, tuple) and isinstance(inner[0], int)
        return number_of(inner[0])

    # Press

    def _admin(self, listener: Listener, _: tuple[Tree, ...], tokens: Tokens, __: float) -> None:
        # In games without press, bots could negotiate by it.
        if self._table.variant.level == 0:
            listener.say(command("REJ", tokens))
        else:
            self._table.say(tokens)

    def _press(self, listener: Listener, tree: tuple[Tree, ...], tokens: Tokens, now: float) -> None:
        table, power = self._table, listener.power
        parts = tree[1:]
        in_time = True
        if self._is_turn(parts[0]):
            in_time = read_turn(parts[0]) == table.turn_of(table.position)
            parts = parts[1:]
        receivers = list(dict.fromkeys(self._powers(parts[0])))
        if power is None or not in_time or not self._may_speak(power, now) or power in receivers:
            listener.say(command("REJ", tokens))
            return
        for receiver in receivers:
            if receiver not in table.alive:
                listener.say(command("OUT", (self._words.powers[receiver],)))
                return
            if receiver in table.disorder:
                listener.say(command("CCD", (self._words.powers[receiver],)))
                return
        listener.say(command("YES", tokens))
        assert isinstance(parts[1], tuple)
        # A receiver that is named twice gets the message once, and answers it once.
        addressees = tuple(self._words.powers[receiver] for receiver in receivers)
        forwarded = command("FRM", (self._words.powers[power],), addressees, self._within_level(parts[1]))
        for other in table.listeners:
            if other.power in receivers:
                other.say(forwarded)

    def _may_speak(self, power: int, now: float) -> bool:
        table, variant = self._table, self._table.variant
        if not self._playing(power):
            return False
        match table.position.phase:
            case Phase.RETREATS:
                return not variant.npr
            case Phase.BUILDS:
                return not variant.npb
        left = table.seconds_left(now)
        return variant.ptl is None or left is None or left > variant.ptl

    def _within_level(self, press: tuple[Tree, ...]) -> Tokens:
        """The press, without tokens above the level where it is TRY."""
        if press[0] != FIXED["TRY"] or not isinstance(press[1], tuple):
            return flat(press)
        names = self._words.names
        kept = (
            token
            for token in flat(press[1])
            if token >> 8 != PRESS_CATEGORY
            or grammar.level_of(names.get(token, "")) <= self._table.variant.level
        )
        return command("TRY", tuple(kept))


_ANSWERS: Final[dict[str, Answer]] = {
    "MAP": Answers._map,
    "MDF": Answers._definition,
    "HLO": Answers._hello,
    "SCO": Answers._owners,
    "NOW": Answers._now,
    "ORD": Answers._results,
    "HST": Answers._history,
    "SUB": Answers._orders,
    "NOT SUB": Answers._withdrawal,
    "MIS": Answers._missing,
    "GOF": Answers._go,
    "NOT GOF": Answers._wait,
    "DRW": Answers._draw,
    "NOT DRW": Answers._no_draw,
    "TME": Answers._time,
    "NOT TME": Answers._no_time,
    "ADM": Answers._admin,
    "SND": Answers._press,
    "YES": Answers._agreement,
    "REJ": Answers._agreement,
}
