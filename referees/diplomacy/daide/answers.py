"""What a DAIDE server answers to each message of a client."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from referees.diplomacy.daide import grammar
from referees.diplomacy.daide.messages import (
    centre_owners,
    command,
    map_definition,
    map_message,
    standing,
    time_left,
)
from referees.diplomacy.daide.orders import Tree, flat, read_turn, tree_of, turn_of
from referees.diplomacy.daide.table import DaideTable, Listener, OrderBook
from referees.diplomacy.daide.tokens import FIXED, PRESS_CATEGORY, Tokens, bracketed, number_of
from referees.diplomacy.position import Phase


class Heard(NamedTuple):
    """A message of somebody at the table, and when it came; of NOT the tree is what stands in it."""

    listener: Listener
    tokens: Tokens
    tree: tuple[Tree, ...]
    now: float


# Messages, or whether what was asked is done: YES or REJ with the message.
Answer = bool | Iterable[Tokens]

_SILENT: Final = (FIXED["HUH"], FIXED["PRN"])


def answer(table: DaideTable, listener: Listener, tokens: Tokens, now: float) -> None:
    """Answer a message of somebody at the table. `now` is a time of the table's clock."""
    if tokens[0] in _SILENT:
        return
    try:
        grammar.check_message(table.words, tokens, table.variant.level)
    except grammar.UnbalancedParenthesesError:
        listener.say((FIXED["PRN"], *bracketed(*tokens)))
        return
    except grammar.DaideSyntaxError as wrong:
        listener.say(command("HUH", (*tokens[: wrong.place], FIXED["ERR"], *tokens[wrong.place :])))
        return
    tree = tree_of(tokens)
    name = table.words.names[tokens[0]]
    if name == "NOT":
        tree = tree[1]
        name = f"NOT {table.words.names[tree[0]]}"
    heard, power = Heard(listener, tokens, tree, now), listener.power
    # What the server never does is refused: a second name, saved games.
    reply: Answer = False
    if name in _ANSWERS:
        reply = _ANSWERS[name](table, heard)
    elif name in _ANSWERS_TO_POWERS and power is not None and _plays(table, power):
        reply = _ANSWERS_TO_POWERS[name](table, power, heard)
    if isinstance(reply, bool):
        reply = [command("YES" if reply else "REJ", tokens)]
    for message in reply:
        listener.say(message)


def _plays(table: DaideTable, power: int) -> bool:
    """Whether the game goes on, and the power plays it."""
    return table.game is not None and not table.over and power in table.alive


def _note_agreement(table: DaideTable, heard: Heard) -> Answer:
    """Note what a client says of the map; YES and REJ to anything else ask for no answer."""
    inner = heard.tree[1]
    if inner[0] == FIXED["MAP"]:
        right = flat(inner) == map_message(table.words)
        table.agreed[heard.listener] = right and heard.tokens[0] == FIXED["YES"]
    return ()


# Orders


def _take_orders(table: DaideTable, power: int, heard: Heard) -> Answer:
    orders, order_book = _of_this_turn(table, heard), table.order_books[power]
    if orders is None:
        return False
    for order in orders:
        heard.listener.say(command("THX", flat(order), (order_book.submit(order),)))
    for message in _incomplete(order_book):
        heard.listener.say(message)
    table.set_disorder(power, False)
    return ()


def _incomplete(order_book: OrderBook) -> list[Tokens]:
    missing = order_book.missing()
    return [missing] if len(missing) > 1 else []


def _withdraw_orders(table: DaideTable, power: int, heard: Heard) -> bool:
    order_book = table.order_books[power]
    if len(heard.tree) == 1:
        order_book.clear()
    withdrawn = [order_book.withdraw(order) for order in heard.tree[1:]]
    return all(withdrawn)


def _go(table: DaideTable, power: int, heard: Heard) -> Answer:
    order_book = table.order_books[power]
    order_book.waits = False
    return [command("YES", heard.tokens), *_incomplete(order_book)]


def _wait(table: DaideTable, power: int, heard: Heard) -> bool:
    table.order_books[power].waits = True
    return True


def _offer_draw(table: DaideTable, power: int, heard: Heard) -> bool:
    draw = _drawn(table, heard.tree)
    accepted = (
        table.position.phase is Phase.MOVES
        and (len(heard.tree) == 1 or table.variant.pda)
        and draw <= frozenset(table.alive)
        and len(draw) > 1
    )
    if accepted:
        table.order_books[power].draws.add(draw)
    return accepted


def _take_draw_back(table: DaideTable, power: int, heard: Heard) -> bool:
    table.order_books[power].draws.discard(_drawn(table, heard.tree))
    return True


def _drawn(table: DaideTable, tree: tuple[Tree, ...]) -> frozenset[int]:
    """The powers of a draw: all that are left, where it names none."""
    return frozenset(table.alive if len(tree) == 1 else _powers(table, tree[1]))


def _powers(table: DaideTable, tree: tuple[Tree, ...]) -> list[int]:
    return [table.words.power_of[token] for token in tree]


def _of_this_turn(table: DaideTable, heard: Heard) -> tuple[Tree, ...] | None:
    """What a message says, after the turn if it names one; None where that is another turn."""
    first, *rest = heard.tree[1:]
    if not isinstance(first[0], int) or first[0] >> 8 != FIXED["SPR"] >> 8:
        return first, *rest
    return tuple(rest) if read_turn(first) == turn_of(table.position) else None


# Time


def _tell_time(table: DaideTable, heard: Heard) -> Answer:
    if len(heard.tree) == 1:
        left = table.seconds_left(heard.now)
        return False if left is None else [time_left(left)]
    longest = max(table.variant.limit(phase) or 0 for phase in Phase)
    seconds = number_of(heard.tree[1][0])
    accepted = 0 <= seconds <= longest and bool(longest)
    if accepted:
        # Times that have passed ring before this alarm is set.
        table.ring(heard.now)
        table.alarms.setdefault(heard.listener, set()).add(seconds)
    return accepted


def _stop_alarm(table: DaideTable, heard: Heard) -> bool:
    alarms = table.alarms.get(heard.listener, set())
    if len(heard.tree) == 1:
        alarms.clear()
        return True
    seconds = number_of(heard.tree[1][0])
    accepted = seconds in alarms
    alarms.discard(seconds)
    return accepted


# Press


def _pass_admin_message(table: DaideTable, heard: Heard) -> Answer:
    # In games without press, bots could negotiate by it.
    if table.variant.level == 0:
        return False
    table.say(heard.tokens)
    return ()


def _pass_press(table: DaideTable, power: int, heard: Heard) -> Answer:
    parts = _of_this_turn(table, heard)
    if parts is None:
        return False
    # A receiver that is named twice gets the message once, and answers it once.
    receivers = list(dict.fromkeys(_powers(table, parts[0])))
    if power in receivers or not _is_time_for_press(table, heard.now):
        return False
    powers = table.words.powers
    for receiver in receivers:
        if receiver not in table.alive:
            return [command("OUT", (powers[receiver],))]
        if receiver in table.disorder:
            return [command("CCD", (powers[receiver],))]
    addressees = tuple(powers[receiver] for receiver in receivers)
    forwarded = command("FRM", (powers[power],), addressees, _within_level(table, parts[1]))
    for other in table.listeners:
        if other.power in receivers:
            other.say(forwarded)
    return True


def _is_time_for_press(table: DaideTable, now: float) -> bool:
    variant = table.variant
    match table.position.phase:
        case Phase.RETREATS:
            return not variant.npr
        case Phase.BUILDS:
            return not variant.npb
    left = table.seconds_left(now)
    return variant.ptl is None or left is None or left > variant.ptl


def _within_level(table: DaideTable, press: tuple[Tree, ...]) -> Tokens:
    """The press, without tokens above the level where it is TRY."""
    if press[0] != FIXED["TRY"] or not isinstance(press[1], tuple):
        return flat(press)
    kept = (
        token
        for token in flat(press[1])
        if token >> 8 != PRESS_CATEGORY
        or grammar.level_of(table.words.names.get(token, "")) <= table.variant.level
    )
    return command("TRY", tuple(kept))


_ANSWERS: Final[Mapping[str, Callable[[DaideTable, Heard], Answer]]] = {
    "MAP": lambda table, _: [map_message(table.words)],
    "MDF": lambda table, _: [map_definition(table.words)],
    "HLO": lambda table, heard: table.game is not None and [table.hello(heard.listener)],
    "SCO": lambda table, _: [centre_owners(table.words, table.position)],
    "NOW": lambda table, _: [standing(table.words, table.position)],
    "ORD": lambda table, _: table.last_results or False,
    "HST": lambda table, heard: table.history.get(read_turn(heard.tree[1]), False),
    "TME": _tell_time,
    "NOT TME": _stop_alarm,
    "ADM": _pass_admin_message,
    "YES": _note_agreement,
    "REJ": _note_agreement,
}
_ANSWERS_TO_POWERS: Final[Mapping[str, Callable[[DaideTable, int, Heard], Answer]]] = {
    "SUB": _take_orders,
    "NOT SUB": _withdraw_orders,
    "MIS": lambda table, power, _: [table.order_books[power].missing()],
    "GOF": _go,
    "NOT GOF": _wait,
    "DRW": _offer_draw,
    "NOT DRW": _take_draw_back,
    "SND": _pass_press,
}
