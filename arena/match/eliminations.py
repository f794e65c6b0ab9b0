"""Players that left a game of several: whether it goes on without them, and how it ends if it does not."""

from collections.abc import Sequence
from typing import Any, Final

from arena.jobs import Fault
from arena.match.recorder import GameRecorder
from arena.match.verdicts import Loss, given_against, still_in
from arena.players.player import Seating
from referees.api import Outcome, Referee, Termination

# Whose player is not there, as opposed to one that resigned or broke the rules.
_LOST: Final = (Fault.DISCONNECTED, Fault.LATE)


class Eliminations:
    """The seats of one game whose players forfeited or resigned."""

    def __init__(self, rules: Referee[Any, Any], seatings: Sequence[Seating], sheet: GameRecorder) -> None:
        self._rules = rules
        self._seatings = seatings
        self._sheet = sheet
        self._losses: dict[int, Loss] = {}

    def __contains__(self, seat: int) -> bool:
        return seat in self._losses

    def __len__(self) -> int:
        return len(self._losses)

    @property
    def seats(self) -> frozenset[int]:
        """The seats that are left."""
        return frozenset(self._losses)

    def add(self, loss: Loss, position: Any) -> bool:
        """Note that a player is gone; whether the referee moves for it and somebody is left to play."""
        rules, seat = self._rules, loss.seat
        self._losses[seat] = loss
        if rules.seats <= 2 or rules.stand_in_move(position, seat) is None:
            return False
        if self.all_left(position):
            return False
        why = "resigned" if loss.termination is Termination.RESIGNATION else "failed"
        label = self._seatings[seat - 1].label
        self._sheet.warnings.append(
            f"{label} {why}: from now on the referee moves for {rules.seat_name(seat)}"
        )
        return True

    def all_left(self, position: Any) -> bool:
        """Whether nobody is left to play who was not eliminated."""
        return bool(self._losses) and self.seats.issuperset(still_in(self._rules, self._standing(position)))

    def breakdown(self, position: Any) -> str:
        """Why nobody plays any more, where that is so and some of the players were lost; else nothing."""
        losses = self._losses.values()
        if self.all_left(position) and any(loss.fault in _LOST for loss in losses):
            return "; ".join(loss.reason for loss in losses if loss.reason)
        return ""

    def loss(self, seat: int) -> Loss:
        """Why a seat's player is gone."""
        return self._losses[seat]

    def outcome(self, position: Any) -> Outcome:
        """The outcome of a game that does not go on without those that left."""
        return given_against(self._rules, [*self._losses.values()], self._standing(position))

    def _standing(self, position: Any) -> Outcome | None:
        return None if self._rules.seats <= 2 else self._rules.adjudicate(position)
