"""Who has won where the board alone does not say.

Losses and players that left, the move limit, agreed scores, and adjudication by the players' values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from arena.jobs import Adjudication, Fault
from arena.match.recorder import GameRecorder
from arena.players.player import Seating
from referees.api import Outcome, Referee, Termination

UNKNOWN_SUMMARY = "?"


@dataclass(frozen=True)
class Loss:
    """A seat's game is over: it resigned or forfeited, for a reason; `fault` is what a forfeit is for."""

    seat: int
    termination: Termination
    reason: str = ""
    fault: Fault = Fault.NONE


def decide_against(
    referee: Referee[Any, Any], losses: Sequence[Loss], standing: Outcome | None = None
) -> Outcome:
    """The outcome when seats resign or forfeit, several at once where moves are simultaneous.

    In a game of two the other wins; in one of more the others share the win, without those that were
    eliminated by the `standing` (the game counted as it stands, where that can be done). Where nobody is
    left the result is unknown.
    """
    lost = {loss.seat for loss in losses}
    winners = tuple(seat for seat in still_in(referee, standing) if seat not in lost)
    detail = "; ".join(loss.reason for loss in losses if loss.reason)
    termination = losses[0].termination
    if not winners:
        counted = Outcome((), termination, UNKNOWN_SUMMARY) if standing is None else standing
        return replace(counted, winners=(), termination=termination, summary=UNKNOWN_SUMMARY, detail=detail)
    if len(winners) == 1:
        return referee.won_by(winners[0], termination, detail)
    names = " and ".join(referee.seat_name(seat) for seat in sorted(lost))
    return Outcome(winners, termination, f"{names} lost", detail=detail)


def still_in(referee: Referee[Any, Any], standing: Outcome | None) -> list[int]:
    """The seats that were not eliminated, as far as the standing shows it."""
    eliminated = standing.eliminated if standing is not None else ()
    seats = range(1, referee.seats + 1)
    return [seat for seat in seats if not eliminated or eliminated[seat - 1] is None]


def move_limit_hit(limit: int) -> Outcome:
    """The outcome of a game that was stopped after `limit` plies: no result."""
    return Outcome((), Termination.MOVE_LIMIT, UNKNOWN_SUMMARY, detail=f"hit the move limit of {limit} plies")


def agreed_score(referee: Referee[Any, Any], by_seat: Mapping[int, Outcome]) -> Outcome:
    """The outcome that the players' own counts (by seat) make.

    Without a count the outcome is unknown. They name different winners: unknown. The same winner by different
    margins: that winner without a margin. An outcome without a margin does not contradict others.
    """
    if not by_seat:
        return Outcome((), Termination.UNKNOWN, UNKNOWN_SUMMARY, detail="no score reported")
    counts = list(by_seat.values())
    if len({count.winners for count in counts}) > 1:
        return Outcome((), Termination.UNKNOWN, UNKNOWN_SUMMARY, detail="players disagreed")
    if len(counts[0].winners) != 1:
        return counts[0]
    bare = referee.won_by(counts[0].winners[0], Termination.SCORE, "unknown margin")
    margins = {count.summary: count for count in counts if count.summary != bare.summary}
    return margins.popitem()[1] if len(margins) == 1 else bare


def is_witnessed(outcome: Outcome, by_seat: Mapping[int, Outcome]) -> bool:
    """Whether a player that gains nothing reported the outcome: a loser, or all that share a draw."""
    shared = len(outcome.winners) > 1 and by_seat.keys() >= set(outcome.winners)
    return shared or any(seat not in outcome.winners for seat in by_seat)


# A value of 0.55 counts as within 0.05 of 0.5, which floats deny.
_SLACK: Final = 1e-9


class Adjudicator:
    """Follows the seats' values in one game, by the rules that `Adjudication` describes."""

    def __init__(self, rules: Adjudication, referee: Referee[Any, Any]) -> None:
        self._rules = rules
        self._referee = referee
        # The number of moves in a row for which each seat's values say that it loses, wins, or draws.
        self._losing = [0] * referee.seats
        self._winning = [0] * referee.seats
        self._drawing = [0] * referee.seats

    def note(self, seat: int, value: float | None) -> None:
        """Take in a seat's value of its own move; None breaks its row."""
        low, margin = self._rules.resign_value, self._rules.draw_margin
        number = value if value is not None else float("nan")
        for row, holds in (
            (self._losing, low is not None and number <= low + _SLACK),
            (self._winning, low is not None and number >= 1.0 - low - _SLACK),
            (self._drawing, margin is not None and abs(number - 0.5) <= margin + _SLACK),
        ):
            row[seat - 1] = row[seat - 1] + 1 if holds else 0

    def verdict(self, position: Any, plies: int) -> Outcome | None:
        """How the game ends after `plies` plies, or None while it goes on."""
        rules, referee = self._rules, self._referee
        for seat in range(1, referee.seats + 1):
            others = [count for other, count in enumerate(self._losing, start=1) if other != seat]
            agreed = not rules.two_sided or self._winning[seat - 1] >= rules.resign_moves
            if rules.resign_value is not None and agreed and min(others, default=0) >= rules.resign_moves:
                detail = f"agreeing values for {rules.resign_moves} moves each"
                return referee.won_by(seat, Termination.ADJUDICATION, detail)
        even = rules.draw_margin is not None and min(self._drawing) >= rules.draw_moves
        if even and plies >= rules.draw_after:
            detail = f"even values for {rules.draw_moves} moves each"
            return referee.drawn(Termination.ADJUDICATION, detail)
        if rules.count_after is not None and plies >= rules.count_after:
            return referee.adjudicate(position)
        return None


# Whose player is absent, as opposed to one that resigned or broke the rules.
_LOST: Final = (Fault.DISCONNECTED, Fault.LATE)


class Departures:
    """The seats of one game whose players forfeited or resigned."""

    def __init__(self, rules: Referee[Any, Any], seatings: Sequence[Seating], sheet: GameRecorder) -> None:
        self._rules = rules
        self._seatings = seatings
        self._sheet = sheet
        self._losses: dict[int, Loss] = {}

    def __contains__(self, seat: int) -> bool:
        return seat in self._losses

    @property
    def seats(self) -> frozenset[int]:
        """The seats whose players have left."""
        return frozenset(self._losses)

    def note_loss(self, loss: Loss, position: Any) -> bool:
        """Note that a player has left.

        Returns whether the game goes on: the referee moves for the seat, and somebody is left to play.
        """
        rules, seat = self._rules, loss.seat
        self._losses[seat] = loss
        has_moves = rules.seats > 2 and rules.stand_in_move(position, seat) is not None
        if not has_moves or self.all_left(position):
            return False
        why = "resigned" if loss.termination is Termination.RESIGNATION else "failed"
        label = self._seatings[seat - 1].label
        self._sheet.warnings.append(
            f"{label} {why}: from now on the referee moves for {rules.seat_name(seat)}"
        )
        return True

    def all_left(self, position: Any) -> bool:
        """Whether all players that were not eliminated have left."""
        return bool(self._losses) and self.seats.issuperset(still_in(self._rules, self._standing(position)))

    def breakdown(self, position: Any) -> str:
        """Why all players have left, where some of them were lost; else an empty text."""
        losses = self._losses.values()
        if self.all_left(position) and any(loss.fault in _LOST for loss in losses):
            return "; ".join(loss.reason for loss in losses if loss.reason)
        return ""

    def loss_of(self, seat: int) -> Loss:
        """Why a seat's player has left."""
        return self._losses[seat]

    def outcome(self, position: Any) -> Outcome:
        """The outcome of a game that does not go on without those that left."""
        return decide_against(self._rules, [*self._losses.values()], self._standing(position))

    def _standing(self, position: Any) -> Outcome | None:
        return None if self._rules.seats <= 2 else self._rules.adjudicate(position)
