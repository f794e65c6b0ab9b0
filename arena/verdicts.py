"""Who has won where the board alone does not say: losses, the move limit, and players who count."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from arena.jobs import Fault
from referees.api import Outcome, Referee, Termination

UNKNOWN_SUMMARY = "?"


@dataclass(frozen=True)
class Loss:
    """A seat's game is over: it resigned or forfeited, for a reason; `fault` is what a forfeit is for."""

    seat: int
    termination: Termination
    reason: str = ""
    fault: Fault = Fault.NONE


def given_against(
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
    """The seats that were not eliminated, as far as the standing tells."""
    eliminated = standing.eliminated if standing is not None else ()
    seats = range(1, referee.seats + 1)
    return [seat for seat in seats if not eliminated or eliminated[seat - 1] is None]


def move_limit_hit(limit: int) -> Outcome:
    """The outcome of a game that was stopped after `limit` plies: no result."""
    return Outcome((), Termination.MOVE_LIMIT, "Void", detail=f"hit the move limit of {limit} plies")


def agreed_score(referee: Referee[Any, Any], told: Mapping[int, Outcome]) -> Outcome:
    """The outcome that the players' own counts (by seat) make.

    Nobody told one: unknown. They name different winners: unknown. The same winner by different
    margins: that winner without a margin. An outcome without a margin does not contradict others.
    """
    if not told:
        return Outcome((), Termination.UNKNOWN, UNKNOWN_SUMMARY, detail="no score reported")
    counts = list(told.values())
    if len({count.winners for count in counts}) > 1:
        return Outcome((), Termination.UNKNOWN, UNKNOWN_SUMMARY, detail="players disagreed")
    if len(counts[0].winners) != 1:
        return counts[0]
    bare = referee.won_by(counts[0].winners[0], Termination.SCORE, "unknown margin")
    margins = {count.summary: count for count in counts if count.summary != bare.summary}
    return margins.popitem()[1] if len(margins) == 1 else bare


def is_witnessed(outcome: Outcome, told: Mapping[int, Outcome]) -> bool:
    """Whether somebody who gains nothing by the outcome told it: who lost, or all who share a draw."""
    shared = len(outcome.winners) > 1 and told.keys() >= set(outcome.winners)
    return shared or any(seat not in outcome.winners for seat in told)
