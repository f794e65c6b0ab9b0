"""An index twice, once for each kernel: what one finds the other must find."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Board, CellChanges
from academy.knowledge.patterns import Pattern
from academy.knowledge.spec import GameSpec
from academy.matching.index import PatternIndex
from academy.matching.kernels import NAMES
from academy.matching.matches import NO_LIMIT, Matches, MatchQuery
from academy.matching.successors import Successors
from tests.academy.matching.reference import Match


def as_tuples(matches: Matches) -> list[Match]:
    columns = (matches.pattern_ids, matches.symmetries, matches.rows, matches.columns)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def gone_after(successors: Successors, move: int) -> NDArray[np.int32]:
    """Which entries of `base` a move ends."""
    return successors.all_gone[successors.gone_starts[move] : successors.gone_starts[move + 1]]


def new_after(successors: Successors, move: int) -> Matches:
    """The matches that a move brings."""
    which = slice(successors.new_starts[move], successors.new_starts[move + 1])
    return successors.all_new.select(which, int(successors.totals[move]))


def matches_after(successors: Successors, move: int) -> list[Match]:
    """All matches after a move, as a query of that position would list them by number."""
    gone = set(gone_after(successors, move).tolist())
    stay = [match for entry, match in enumerate(as_tuples(successors.base)) if entry not in gone]
    return sorted([*stay, *as_tuples(new_after(successors, move))])


class BothKernels:
    """Answers as `PatternIndex` does, after both kernels have given the same answer."""

    def __init__(self, spec: GameSpec) -> None:
        self.indexes = [PatternIndex(spec, kernel) for kernel in NAMES]

    def __len__(self) -> int:
        return len(self.indexes[0])

    def __contains__(self, pattern_id: int) -> bool:
        return pattern_id in self.indexes[0]

    def put(self, pattern_id: int, pattern: Pattern) -> None:
        for index in self.indexes:
            index.put(pattern_id, pattern)

    def remove(self, pattern_id: int) -> None:
        for index in self.indexes:
            index.remove(pattern_id)

    def match(
        self, board: Board, most: int = NO_LIMIT, per_pattern: int = NO_LIMIT, both: bool = False
    ) -> Matches:
        return same_matches(
            [
                index.snapshot().match(MatchQuery(board, None, most, per_pattern, both))
                for index in self.indexes
            ]
        )

    def match_successors(
        self,
        board: Board,
        moves: Sequence[CellChanges],
        most: int = NO_LIMIT,
        per_pattern: int = NO_LIMIT,
    ) -> Successors:
        query = MatchQuery(board, None, most, per_pattern)
        first, other = (index.snapshot().match_successors(query, moves) for index in self.indexes)
        same_matches((first.base, other.base))
        assert len(first.totals) == len(other.totals) == len(moves)
        for move in range(len(moves)):
            assert gone_after(first, move).tolist() == gone_after(other, move).tolist()
            assert new_after(first, move).total == new_after(other, move).total
            if most == per_pattern == NO_LIMIT:
                assert set(as_tuples(new_after(first, move))) == set(as_tuples(new_after(other, move)))
            assert new_after(first, move).places.tolist() == new_after(other, move).places.tolist()
        return first


def same_matches(answers: Sequence[Matches]) -> Matches:
    first, other = answers
    assert as_tuples(first) == as_tuples(other)
    assert first.places.tolist() == other.places.tolist()
    assert first.reversed.tolist() == other.reversed.tolist()
    assert first.total == other.total
    return first
