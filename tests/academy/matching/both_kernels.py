"""An index twice, once for each kernel: what one finds the other must find."""

from collections.abc import Sequence

from academy.knowledge.boards import Board
from academy.knowledge.patterns import Pattern
from academy.knowledge.spec import GameSpec
from academy.matching.index import PatternIndex
from academy.matching.kernels import NAMES
from academy.matching.matches import NO_LIMIT, Matches, MatchQuery
from academy.matching.successors import Change, Successors
from tests.academy.matching.reference import Match


def as_tuples(matches: Matches) -> list[Match]:
    columns = (matches.pattern_ids, matches.symmetries, matches.rows, matches.columns)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def matches_after(found: Successors, move: int) -> list[Match]:
    """All matches after a move, as a query of that position would list them by number."""
    gone = set(found.gone(move).tolist())
    stay = [match for entry, match in enumerate(as_tuples(found.base)) if entry not in gone]
    return sorted([*stay, *as_tuples(found.new(move))])


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

    def match(self, board: Board, most: int = NO_LIMIT, each: int = NO_LIMIT, both: bool = False) -> Matches:
        return same_matches(
            [index.snapshot().match(MatchQuery(board, None, most, each, both)) for index in self.indexes]
        )

    def match_successors(
        self, board: Board, moves: Sequence[Sequence[Change]], most: int = NO_LIMIT, each: int = NO_LIMIT
    ) -> Successors:
        query = MatchQuery(board, None, most, each)
        one, other = (index.snapshot().match_successors(query, moves) for index in self.indexes)
        same_matches((one.base, other.base))
        assert one.moves == other.moves == len(moves)
        for move in range(len(moves)):
            assert one.gone(move).tolist() == other.gone(move).tolist()
            assert one.new(move).total == other.new(move).total
            if most == each == NO_LIMIT:
                assert set(as_tuples(one.new(move))) == set(as_tuples(other.new(move)))
            assert one.new(move).places.tolist() == other.new(move).places.tolist()
        return one


def same_matches(answers: Sequence[Matches]) -> Matches:
    one, other = answers
    assert as_tuples(one) == as_tuples(other)
    assert one.places.tolist() == other.places.tolist()
    assert one.reversed.tolist() == other.reversed.tolist()
    assert one.total == other.total
    return one
