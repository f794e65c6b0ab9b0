"""Ending a game that its players hold to be decided, by the expected values that they tell."""

from typing import Any, Final

from arena.jobs import Adjudication
from referees.api import Outcome, Referee, Termination

# A value of 0.55 is to be within 0.05 of 0.5, which floats deny.
_SLACK: Final = 1e-9


class Adjudicator:
    """Follows what the seats tell of one game, by the rules that `Adjudication` describes."""

    def __init__(self, rules: Adjudication, referee: Referee[Any, Any]) -> None:
        self._rules = rules
        self._referee = referee
        # For how many of its moves in a row each seat has told that it loses, wins, or draws.
        self._losing = [0] * referee.seats
        self._winning = [0] * referee.seats
        self._drawing = [0] * referee.seats

    def note(self, seat: int, value: float | None) -> None:
        """Take in what a seat tells of its own move; None breaks its row."""
        low, margin = self._rules.resign_value, self._rules.draw_margin
        told = value if value is not None else float("nan")
        for row, holds in (
            (self._losing, low is not None and told <= low + _SLACK),
            (self._winning, low is not None and told >= 1.0 - low - _SLACK),
            (self._drawing, margin is not None and abs(told - 0.5) <= margin + _SLACK),
        ):
            row[seat - 1] = row[seat - 1] + 1 if holds else 0

    def verdict(self, position: Any, plies: int) -> Outcome | None:
        """How the game ends after so many plies, or None while it goes on."""
        rules, referee = self._rules, self._referee
        for seat in range(1, referee.seats + 1):
            others = [count for other, count in enumerate(self._losing, start=1) if other != seat]
            agreed = not rules.two_sided or self._winning[seat - 1] >= rules.resign_moves
            if rules.resign_value is not None and agreed and min(others, default=0) >= rules.resign_moves:
                detail = f"told values for {rules.resign_moves} moves each"
                return referee.won_by(seat, Termination.ADJUDICATION, detail)
        even = rules.draw_margin is not None and min(self._drawing) >= rules.draw_moves
        if even and plies >= rules.draw_after:
            detail = f"told even values for {rules.draw_moves} moves each"
            return referee.drawn(Termination.ADJUDICATION, detail)
        if rules.count_after is not None and plies >= rules.count_after:
            return referee.adjudicate(position)
        return None
