"""A game of the arena as DeepMind's policies see it: what they are shown, and what they play."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from referees.api import Referee
from referees.dialogues import Reading
from referees.diplomacy.deepmind.actions import IllegalActionError, action_of
from referees.diplomacy.deepmind.notation import short_string
from referees.diplomacy.deepmind.observation import DiplomacyState
from referees.diplomacy.game import GamePosition
from referees.diplomacy.orders import Order, OrderKind
from referees.diplomacy.power_orders import NO_ORDERS, PowerOrders

Rules = Referee[GamePosition, PowerOrders]


class DeepMindGame:
    """Follows a game, and keeps the numbers that an observation takes from the phases before."""

    def __init__(self, rules: Rules, start: GamePosition) -> None:
        self._rules = rules
        self._game = start
        self._state = DiplomacyState(start.position, seasons=int)
        self._legal = self._state.legal_actions()

    def is_at(self, view: GamePosition) -> bool:
        """Whether this is the position that the game has reached."""
        return self._game == view

    def to_move(self) -> tuple[int, ...]:
        """The seats to move."""
        return self._rules.to_move(self._game)

    def follow(self, moves: Mapping[int, PowerOrders]) -> None:
        """Play a phase."""
        actions = [action for _, move in sorted(moves.items()) for action in actions_of(move.orders)]
        self._game = self._rules.play(self._game, moves)
        self._state = DiplomacyState(
            self._game.position,
            build_numbers=self._state.build_numbers,
            last_actions=actions,
            seasons=int,
        )
        self._legal = self._state.legal_actions()

    def follow_texts(self, moves: Mapping[int, str]) -> None:
        """Play a phase, given each seat's line of orders."""
        self.follow({seat: self._rules.read_move(self._game, seat, text) for seat, text in moves.items()})

    def frame(self) -> Mapping[str, object]:
        """The observation and the legal actions; the board's bytes are in base64."""
        seen = self._state.observation()
        return {
            "season": seen.season,
            "board": base64.b64encode(seen.board.tobytes()).decode("ascii"),
            "shape": list(seen.board.shape),
            "build_numbers": seen.build_numbers.tolist(),
            "last_actions": seen.last_actions,
            "legal_actions": self._legal,
        }

    def read(self, seat: int, actions: Sequence[int]) -> Reading:
        """A power's actions as its line of orders; what is not legal, or too much, is dropped."""
        power = seat - 1
        legal = frozenset(self._legal[power])
        kept: list[int] = []
        complaints: list[str] = []
        for action in actions:
            if action not in legal:
                complaints.append(f"the action {_describe(action)} is not among the legal ones")
                continue
            try:
                self._state.orders(power, [*kept, action])
            except IllegalActionError as error:
                complaints.append(f"the action {_describe(action)}: {error}")
            else:
                kept.append(action)
        orders = self._state.orders(power, kept)
        return Reading(PowerOrders.of(self._game.position, orders).text, tuple(complaints))


class DeepMindDialogue:
    """Diplomacy on the standard map, as DeepMind's policies play it. Slots are powers, Austria the first."""

    host = Path(__file__).parent / "policy_host"

    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    def begin(self, view: GamePosition) -> DeepMindGame:
        """A game that begins with this position."""
        return DeepMindGame(self._rules, view)

    def slot(self, seat: int) -> int:
        """The number of the seat's power."""
        return seat - 1

    def passing(self) -> str:
        """No orders: units hold, and dislodged ones disband."""
        return NO_ORDERS


def actions_of(orders: Iterable[Order]) -> list[int]:
    """The actions that orders are. Those that no unit could be given, which did nothing, are left out."""
    actions = []
    for order in orders:
        if order.kind is OrderKind.MOVE and not _is_action(order):
            # To a province that is not a neighbour an army goes by convoy, if at all.
            order = order._replace(kind=OrderKind.CONVOYED_MOVE)
        if _is_action(order):
            actions.append(action_of(order))
    return actions


def _is_action(order: Order) -> bool:
    try:
        action_of(order)
    except IllegalActionError:
        return False
    return True


def _describe(action: int) -> str:
    try:
        return short_string(action)
    except IllegalActionError:
        return f"{action:#x}"
