"""What players claim when they ask in a contest, and whether it holds.

A claim is found to be false by another one, while the contest goes on, or by what the arena reports.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from academy.knowledge.contests import FalseClaim, FalseConsultation
from academy.knowledge.error_details import WithDetails
from academy.knowledge.proposing import gain
from academy.knowledge.votes import VALUE_SCALE

__all__ = [
    "LOW_OUTLIER",
    "POSITIONS_PER_OUTLIER",
    "VALUE_TOLERANCE",
    "Claim",
    "ClaimsContradictError",
    "Expectation",
    "contradict",
    "differ",
    "false_claim",
    "false_consultation",
]

# Players round the values they state.
VALUE_TOLERANCE: Final = 0.01
_TOLERANCE: Final = round(VALUE_TOLERANCE * VALUE_SCALE)
# A stated value is a low outlier if both neighbours (after the player's last move and after this one) are
# more than this above it: the least gain of a tesuji, so that a smaller lie makes none.
LOW_OUTLIER: Final = 0.10
# One in this number of positions asked about may be a low outlier.
POSITIONS_PER_OUTLIER: Final = 4


class ClaimsContradictError(WithDetails, RuntimeError):
    """A player claimed two boards or two values of one position: it gets no more answers in the contest."""

    def __init__(self, contest_id: str, seat: int) -> None:
        super().__init__(
            f"seat {seat} claimed two boards, or values more than {VALUE_TOLERANCE} apart, for the same "
            f"position of contest {contest_id!r} (same number of plies); it gets no more answers in this "
            "contest. State each position's value once, the same as to the arena",
            seat=seat,
        )


def false_consultation(seat: int, claimed: Sequence[str], played: Sequence[str]) -> FalseConsultation | None:
    """Compare the moves that a player claimed when it consulted openings with those that were played.

    The rule counts consultations by one's own moves, so other moves could bring more of them.

    Args:
        seat: The player's seat, from 1.
        claimed: The moves of the last consultation.
        played: The moves of the contest.

    Returns:
        Where they part; None where the claimed moves are the beginning of the played ones.
    """
    for number, (claim, move) in enumerate(zip_longest(claimed, played[: len(claimed)], fillvalue=""), 1):
        if claim != move:
            return FalseConsultation(seat, number, claim, move)
    return None


def differ(value: float, other: float) -> bool:
    """Return whether two expected values are further apart than rounding to 0.01 makes them.

    Args:
        value: An expected value, 0.0 to 1.0.
        other: Another.
    """
    return abs(gain(value, other)) > VALUE_TOLERANCE


@dataclass(frozen=True, slots=True)
class Claim:
    """The expected value that a player claimed with a question for patterns, in the position after `plies`.

    `plies` is None where it did not say: then `board` alone says which position. It is any name that is
    unique to the board.
    """

    plies: int | None
    board: bytes
    value: float


@dataclass(frozen=True, slots=True)
class Expectation:
    """The values that a player stated to the arena with a move, for the positions before and after it.

    `earlier` is the value it stated after its own move before; None where it stated none.
    """

    before: float
    after: float
    earlier: float | None = None

    @property
    def lower_neighbour(self) -> float:
        """The lower of the values stated after the move before and after this one."""
        return self.after if self.earlier is None else min(self.earlier, self.after)

    @property
    def is_low_outlier(self) -> bool:
        """Whether the value before the move is far below both neighbours."""
        return gain(self.before, self.lower_neighbour) > LOW_OUTLIER


def false_claim(
    seat: int,
    claims: Sequence[Claim],
    stated: Sequence[Expectation | None],
    boards: Sequence[bytes],
    ended_unasked: bool,
) -> FalseClaim | None:
    """Find the first claim of a player that does not hold (how-learning-works.md, "Fair use").

    Values that agree do not hold either where more than one in `POSITIONS_PER_OUTLIER` of the positions
    claimed, and more than one, are low outliers: otherwise a player could lie to the arena in the same way.

    Args:
        seat: The player's seat, from 1.
        claims: What it claimed when it asked for patterns. A claim without plies may be of any position with
            its board; where no board is known it does not hold.
        stated: What it stated to the arena with its next move after each number of plies, from 0; None for
            nothing.
        boards: The boards of these positions and of the last one; empty where they are not known.
        ended_unasked: Whether no value of the last position could be stated, as when a player resigns: a
            claim of it then holds.

    Returns:
        The claim; None where all claims hold.
    """
    by_place = _group_by_place(claims, stated, boards)
    fitting = {plies: expected for of_place in by_place.values() for plies, expected in of_place.fitting()}
    outliers = {plies: expected for plies, expected in fitting.items() if expected.is_low_outlier}
    unasked = {place for place, of_place in by_place.items() if ended_unasked and len(stated) in of_place.at}
    wrong = [
        (claim, by_place[place].at)
        for claim in claims
        if (place := _place(claim)) not in unasked and not by_place[place].holds(claim)
    ]
    if wrong:
        claim, at = min(wrong, key=lambda pair: (not pair[1], pair[1], pair[0].value))
        other = next(
            (expected.before for plies in at if plies < len(stated) and (expected := stated[plies])), None
        )
        return FalseClaim(seat, at[0] if at else claim.plies, claim.value, other, len(wrong), len(claims))
    if len(outliers) > max(1, len(fitting) // POSITIONS_PER_OUTLIER):
        plies = min(outliers)
        first = outliers[plies]
        value, around = first.before, first.lower_neighbour
        return FalseClaim(seat, plies, value, value, len(outliers), len(claims), around)
    return None


def contradict(claims: Iterable[Claim]) -> bool:
    """Return whether claims of one position cannot all be true.

    Args:
        claims: What a player claimed in the position after as many plies. Claims of before boards were kept
            have the board of none.
    """
    known = list(claims)
    values = [claim.value for claim in known]
    return len({claim.board for claim in known if any(claim.board)}) > 1 or (
        bool(values) and differ(min(values), max(values))
    )


class _ClaimsOfPlace:
    """The claims about one number of plies or one board, and the positions that they may mean.

    Both are sorted by value: a player may claim thousands, of a board that stood thousands of times.
    """

    def __init__(
        self, at: Sequence[int], claims: Iterable[Claim], stated: Sequence[Expectation | None]
    ) -> None:
        self.at = at
        self._expected = {
            plies: expected for plies in at if plies < len(stated) and (expected := stated[plies])
        }
        self._claimed = sorted(_millionths(claim.value) for claim in claims)
        self._stated = sorted(_millionths(expected.before) for expected in self._expected.values())

    def holds(self, claim: Claim) -> bool:
        """Return whether one of the positions has the value claimed."""
        return _is_near(claim.value, self._stated)

    def fitting(self) -> Iterator[tuple[int, Expectation]]:
        """Yield the positions of which a claim holds."""
        for plies, expected in self._expected.items():
            if _is_near(expected.before, self._claimed):
                yield plies, expected


def _group_by_place(
    claims: Sequence[Claim], stated: Sequence[Expectation | None], boards: Sequence[bytes]
) -> dict[int | bytes, _ClaimsOfPlace]:
    positions: dict[int | bytes, list[int]] = {plies: [plies] for plies in range(len(stated) + 1)}
    for plies, board in enumerate(boards):
        positions.setdefault(board, []).append(plies)
    by_place: dict[int | bytes, list[Claim]] = {}
    for claim in claims:
        by_place.setdefault(_place(claim), []).append(claim)
    return {place: _ClaimsOfPlace(positions.get(place, []), made, stated) for place, made in by_place.items()}


def _place(claim: Claim) -> int | bytes:
    return claim.board if claim.plies is None else claim.plies


def _is_near(value: float, others: Sequence[int]) -> bool:
    """Return whether a value does not differ from one of those, sorted and in millionths."""
    least = bisect_left(others, _millionths(value) - _TOLERANCE)
    return least < len(others) and others[least] <= _millionths(value) + _TOLERANCE


def _millionths(value: float) -> int:
    return round(value * VALUE_SCALE)
