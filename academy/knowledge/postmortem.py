"""Decisions about a contest after its end: endgame values, and which proposals count.

Each rule returns the reason against a proposal, or None where it passes.
"""

import math
from typing import Final

from academy.knowledge.cells import Code
from academy.knowledge.claims import LOW_OUTLIER, POSITIONS_PER_OUTLIER, differ
from academy.knowledge.contests import ContestReport, FalseClaim, Proposal, Result
from academy.knowledge.merging import information, is_vague
from academy.knowledge.occurrence import occurs
from academy.knowledge.proposing import ENDGAME_SHARE, gain, is_late, needed_gain
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.knowledge.votes import ELO_SCALE

__all__ = ["ADVERSARY_MARGIN", "endgame_value", "objection"]

ADVERSARY_MARGIN: Final = 100.0
_WIDE: Final = frozenset({Code.ANYTHING, Code.NO_FIRST_PIECE, Code.NO_SECOND_PIECE})


def endgame_value(value: float, result: Result) -> float:
    """Return an endgame pattern's value in the light of the contest's result (source: LUDAE).

    Args:
        value: The proposed value, 0.0 to 1.0.
        result: The proposer's result.

    Returns:
        sqrt(v) after a win, v² after a loss, (v + 0.5) / 2 after a draw.
    """
    match result:
        case Result.WIN:
            return math.sqrt(value)
        case Result.LOSS:
            return value * value
        case Result.DRAW:
            return (value + 0.5) / 2


def objection(
    proposal: Proposal,
    report: ContestReport,
    spec: GameSpec,
    average_length: float,
    least_information: int = 0,
) -> str | None:
    """Return why a proposal does not count (how-learning-works.md, "The libraries").

    Args:
        proposal: The proposal.
        report: The report of its contest.
        spec: The game.
        average_length: The plies of an average game.
        least_information: The bits that a pattern must keep where it leaves cells open.

    Returns:
        The reason in words; None where the proposal counts.
    """
    for consultation in report.false_consultations:
        if consultation.seat == proposal.seat:
            return (
                "the proposer consulted the opening tree about another game: move "
                f"{consultation.number} was declared to be {consultation.claimed[:80]!r}, but "
                + (
                    f"{consultation.played[:80]!r} was played"
                    if consultation.played
                    else "the contest had ended"
                )
            )
    for claim in report.false_claims:
        if claim.seat == proposal.seat:
            return _false_claim(claim)
    if proposal.marked is None:
        against = _too_vague(proposal, least_information)
        if against is not None:
            return against
    if not 1 <= proposal.ply <= len(report.plies):
        return f"ply {proposal.ply}: the contest had {len(report.plies)} plies"
    against = _contradiction(proposal, report, spec)
    if against is not None:
        return against
    if proposal.library is Library.ENDGAME:
        return _too_early(proposal, len(report.plies), average_length)
    return _no_tesuji(proposal, report)


def _too_vague(proposal: Proposal, least_information: int) -> str | None:
    if is_vague(proposal.pattern.codes):
        return "nothing but '#', '1', '2' and '+': such a pattern lies almost anywhere"
    bits = information(proposal.pattern.codes)
    if bits < least_information and not _WIDE.isdisjoint(proposal.pattern.codes):
        return (
            f"a pattern with '1', '2' or '#' must say at least {least_information} bits of the board "
            f"(least_information): this one says {bits:.1f}"
        )
    return None


def _false_claim(claim: FalseClaim) -> str:
    what = f"the proposer asked for patterns with an expected value of {claim.claimed:.4g}"
    if claim.around is not None:
        against = (
            f" after {claim.plies} plies, and stated the same to the arena, but its own values just before "
            f"and after were {claim.around:.4g} or more; such outliers (more than {LOW_OUTLIER:.2f} lower) "
            f"are accepted once, or in one position of {POSITIONS_PER_OUTLIER}"
        )
    elif claim.plies is None:
        against = " on a board that never stood in the contest, without saying after how many plies"
    elif claim.value is None:
        against = f" after {claim.plies} plies, and stated none to the arena with its next move"
    else:
        against = f" after {claim.plies} plies, but stated {claim.value:.4g} to the arena"
    return f"{what}{against} ({claim.count} of {claim.claims} claims do not hold)"


def _contradiction(proposal: Proposal, report: ContestReport, spec: GameSpec) -> str | None:
    ply = report.plies[proposal.ply - 1]
    stated = ply.values.get(proposal.seat)
    if stated is None:
        return f"the proposer stated no expected value after ply {proposal.ply} of the contest"
    if differ(stated, proposal.value):
        return (
            f"value {proposal.value:.4g} proposed, but {stated:.4g} stated in the contest "
            f"for ply {proposal.ply}"
        )
    # A marked pattern stood before the ply: `TesujiTable.read_proposal` compares it.
    if proposal.marked is None and ply.states and not occurs(proposal.pattern, spec.geometry, ply.states):
        return f"the pattern did not stand on the board after ply {proposal.ply}"
    return None


def _stated_value_before(report: ContestReport, seat: int, ply: int) -> float | None:
    """Return the expected value that a player stated last before a ply; None where it stated none."""
    earlier = reversed(report.plies[: ply - 1])
    return next((known.values[seat] for known in earlier if seat in known.values), None)


def _too_early(proposal: Proposal, plies: int, average_length: float) -> str | None:
    if is_late(proposal.ply, plies, average_length):
        return None
    share = ENDGAME_SHARE * average_length
    return (
        f"ply {proposal.ply} of {plies} is neither final nor among the last {share:.1f} "
        f"(20 % of an average game of {average_length:.1f})"
    )


def _no_tesuji(proposal: Proposal, report: ContestReport) -> str | None:
    elo = report.contestants[proposal.seat - 1].elo
    adversary = max(
        (other.elo for seat, other in enumerate(report.contestants, 1) if seat != proposal.seat), default=elo
    )
    if round(adversary * ELO_SCALE) <= round(elo * ELO_SCALE) - ADVERSARY_MARGIN * ELO_SCALE:
        return (
            f"the strongest opponent's Elo {adversary:.0f} must be above {elo - ADVERSARY_MARGIN:.0f}, "
            f"the proposer's {elo:.0f} less {ADVERSARY_MARGIN:.0f}"
        )
    if report.plies[proposal.ply - 1].player != proposal.seat:
        return f"ply {proposal.ply} was not the proposer's move"
    before = proposal.value_before
    if before is None:
        return "the expected value before the move was not stated"
    stated = _stated_value_before(report, proposal.seat, proposal.ply)
    if stated is None:
        return f"the proposer stated no expected value before ply {proposal.ply} of the contest"
    if differ(stated, before):
        return (
            f"the proposal gives {before:.4g} as the value before the move, but the last value stated in the "
            f"contest before ply {proposal.ply} was {stated:.4g}"
        )
    # The move explains a position less bad than was thought at first only as far as it was thought bad last.
    before = max(before, report.plies[proposal.ply - 1].values_before.get(proposal.seat, before))
    raised, needed = gain(before, proposal.value), needed_gain(before, proposal.value)
    if raised < needed:
        return f"the move raised the expected value by {raised:.4g}; {needed:.2f} is needed"
    if report.results[proposal.seat - 1] is Result.LOSS:
        return "the contest was lost"
    return None
