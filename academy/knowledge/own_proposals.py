"""What ACADEMY itself proposes from a contest: patterns around the players' moves.

They are judged like proposals of players. Nothing but the report decides what is cut, so that the same
events make the same libraries.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from academy.knowledge.boards import Board
from academy.knowledge.contests import ContestReport, Proposal
from academy.knowledge.cutting import around_move
from academy.knowledge.pattern_entry import PatternEntry
from academy.knowledge.proposing import gain, is_late, needed_gain
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.knowledge.votes import Vote

__all__ = ["ACADEMY_PROPOSER", "SHARE", "move_own_vote", "propose_from"]

# Its name as a proposer, which no player may have.
ACADEMY_PROPOSER: Final = "<ACADEMY>"
# How far ACADEMY's vote for a pattern moves when it is met again.
SHARE: Final = 0.2


@dataclass(frozen=True, slots=True)
class _OwnMove:
    """An own move of a seat, and what was expected before and after it."""

    ply: int
    before: float | None
    value: float

    @property
    def raised(self) -> float:
        return 0.0 if self.before is None else gain(self.before, self.value)

    @property
    def is_tesuji(self) -> bool:
        return self.before is not None and self.raised >= needed_gain(self.before, self.value)


def propose_from(
    report: ContestReport,
    spec: GameSpec,
    average_length: float,
    most: int,
    give_way: Callable[[], None] = lambda: None,
) -> list[Proposal]:
    """Return what ACADEMY itself proposes from a contest (how-learning-works.md, "ACADEMY's own analysis").

    Args:
        report: The contest's report, with boards and values.
        spec: The game.
        average_length: The plies of an average game.
        most: How many patterns for each player at most.
        give_way: Called between moves that are cut.

    Returns:
        The proposals, seat by seat; none where more than two play or all move at once.
    """
    if not most or not spec.two_in_turn:
        return []

    boards = [Board(spec.geometry, states) for states in report.boards]

    def cut(seat: int, moves: Iterable[_OwnMove], library: Library) -> Iterator[Proposal]:
        for move in moves:
            for pattern in around_move(boards[move.ply - 1], boards[move.ply], seat):
                yield Proposal(seat, library, pattern, move.ply, move.value, move.before)
            give_way()

    proposed = []
    for seat in range(1, spec.players + 1):
        moves = list(_moves(report, seat))
        give_way()
        # At most half are tesuji, those that gained most; the rest are the clearest positions near the end.
        raising = sorted((move for move in moves if move.is_tesuji), key=lambda move: -move.raised)
        late = [move for move in moves if is_late(move.ply, len(report.plies), average_length)]
        late.sort(key=lambda move: -abs(move.value - 0.5))
        # A report may have thousands of moves: no more are cut than are wanted.
        tesuji = list(islice(cut(seat, raising, Library.MIDDLE_GAME), most // 2))
        proposed += [*tesuji, *islice(cut(seat, late, Library.ENDGAME), most - len(tesuji))]
    return proposed


def _moves(report: ContestReport, seat: int) -> Iterator[_OwnMove]:
    stated: float | None = None
    for number, (before, ply) in enumerate(zip(report.boards, report.plies, strict=False), 1):
        value = ply.values.get(seat)
        if value is None:
            continue
        if ply.player == seat and before and ply.states:
            yield _OwnMove(number, stated, value)
        stated = value


def move_own_vote(vote: Vote, known: PatternEntry | None) -> Vote:
    """Return ACADEMY's new vote for a pattern that it may have met before.

    Args:
        vote: What it found now.
        known: The pattern as the library has it; None where it is new.

    Returns:
        The vote; where ACADEMY had one, moved by `SHARE` of the way to what it found now.
    """
    votes = (*known.votes.counted, *known.votes.silent) if known is not None else ()
    old = next((known_vote for known_vote in votes if known_vote.player == vote.player), None)
    if old is None:
        return vote

    def move_towards(before: int, now: int) -> int:
        return before + round(SHARE * (now - before))

    return replace(
        vote,
        elo_hundredths=move_towards(old.elo_hundredths, vote.elo_hundredths),
        value_millionths=move_towards(old.value_millionths, vote.value_millionths),
    )
