"""An index finds what the obvious matcher finds, match by match."""

from hypothesis import given, settings
from hypothesis import strategies as st

from academy.knowledge.spec import GameSpec
from academy.matching.index import PatternIndex
from academy.matching.matches import Matches
from tests.academy.matching.reference import Match, all_matches
from tests.academy.matching.strategies import boards, games, libraries


def as_tuples(matches: Matches) -> list[Match]:
    columns = (matches.pattern_ids, matches.symmetries, matches.rows, matches.columns)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_it_finds_what_the_obvious_matcher_finds(data: st.DataObject) -> None:
    spec: GameSpec = data.draw(games)
    library = data.draw(libraries(spec.geometry))
    board = data.draw(boards(spec.geometry))
    index = PatternIndex(spec)
    for pattern_id, pattern in library.items():
        index.put(pattern_id, pattern)
    assert as_tuples(index.match(board)) == all_matches(spec, library, board)
