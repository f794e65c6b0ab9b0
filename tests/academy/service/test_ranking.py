"""The strongest matches are the same whether the weaker patterns were looked at or not."""

import random
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from academy.knowledge.boards import Board, SquareGeometry
from academy.knowledge.cells import Code, State
from academy.knowledge.pattern_entry import PatternEntry
from academy.knowledge.patterns import grid_pattern
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import SQUARE
from academy.knowledge.votes import Vote, VoteTally
from academy.matching.matches import Matches, MatchQuery
from academy.service.pattern_cache import PatternCache, RankedPatterns
from academy.store.codec.games import library_to_proto

SPEC = GameSpec("go", SquareGeometry(5, 5), symmetries=tuple(SQUARE))
LIBRARIES = (Library.MIDDLE_GAME, Library.ENDGAME)
STATES = (State.EMPTY, State.FIRST_SOLDIER, State.SECOND_SOLDIER)
EVERYTHING = 1_000_000
NUMBERS = [[library_to_proto(library) for library in some] for some in (LIBRARIES, LIBRARIES[:1])]


def shelf(chance: random.Random, size: int, cells: int) -> PatternCache:
    """Patterns that fit often if they have few cells, and hardly ever if they have many."""
    filled = PatternCache(SPEC)
    for number in range(size):
        codes = chance.choices([Code(state) for state in STATES], k=cells)
        codes[0] = Code.FIRST_SOLDIER
        vote = Vote("ann", chance.randrange(100_000, 200_000), chance.randrange(1_000_000), 1)
        pattern = grid_pattern((*divmod(place, 3), code) for place, code in enumerate(codes))
        filled.put(chance.choice(LIBRARIES), PatternEntry(number, pattern, 1, VoteTally((vote,))))
    return filled


def listed(matches: Matches, ranked: RankedPatterns) -> list[tuple[int, ...]]:
    columns = (matches.symmetries, matches.rows, matches.columns, matches.reversed)
    ids = ranked.pattern_ids.take(matches.places).tolist()
    return list(zip(ids, *(column.tolist() for column in columns), strict=True))


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_a_limit_leaves_the_strongest(data: st.DataObject) -> None:
    seed, size = data.draw(st.integers(0, 2**32)), data.draw(st.integers(0, 150))
    cells, most = data.draw(st.sampled_from((1, 2, 3, 6, 9))), data.draw(st.integers(1, 40))
    elo, per_pattern = (
        data.draw(st.sampled_from((None, 1_300.0))),
        data.draw(st.sampled_from((1, 3, EVERYTHING))),
    )
    both = data.draw(st.booleans())
    chance = random.Random(seed)
    filled = shelf(chance, size, cells)
    ranked = filled.ranked
    board = Board(SPEC.geometry, bytes(chance.choices(STATES, k=25)))
    selection = ranked.select([library_to_proto(Library.ENDGAME)], elo)

    matches, everything = (
        ranked.match(MatchQuery(board, selection, limit, per_pattern, both)) for limit in (most, EVERYTHING)
    )

    assert listed(matches, ranked) == listed(everything, ranked)[:most]
    assert not everything.more
    if matches.more:
        assert len(matches.places) == most
        assert most <= matches.total <= everything.total
    else:
        assert matches.total == everything.total
    strengths = dict(
        zip(filled.figures["pattern_id"].tolist(), filled.figures["strength"].tolist(), strict=True)
    )
    strongest_listed = [strengths[number] for number, *_ in listed(everything, ranked)]
    assert all(stronger >= other for stronger, other in pairwise(strongest_listed))


def test_weaker_patterns_are_not_looked_at_where_the_stronger_are_enough() -> None:
    ranked = shelf(random.Random(1), 400, 1).ranked
    board = Board(SPEC.geometry, bytes([State.FIRST_SOLDIER]) * 25)
    selection = ranked.select(map(library_to_proto, LIBRARIES))
    # Each pattern lies on all 25 cells.
    matches = ranked.match(MatchQuery(board, selection, 10))
    assert (len(matches.places), matches.more) == (10, True)
    assert matches.total < ranked.match(MatchQuery(board, selection, EVERYTHING)).total == 400 * 25
