"""Several queries, or answers, in one call are what each of them is by itself, by either kernel."""

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.knowledge.boards import Board, SquareGeometry
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import SQUARE
from academy.matching import kernels
from academy.matching.index import PatternIndex
from academy.matching.kernels import NAMES
from academy.matching.matches import NO_LIMIT, Matches
from academy.matching.snapshot import MatchQuery
from tests.academy.matching.both_kernels import as_tuples
from tests.academy.matching.test_index import loose_pattern
from tests.academy.matching.test_writing import NOTHING_LOST, POSITIONS, Placement, lists_of, records

SPEC = GameSpec("go", SquareGeometry(7, 7), symmetries=tuple(SQUARE))
PATTERNS = 40


def library(chance: random.Random, kernel: str) -> PatternIndex:
    index = PatternIndex(SPEC, kernel)
    for number in range(PATTERNS):
        index.put(number, loose_pattern(chance, board(chance), 3, 2, 1 + number % 6))
    return index


def board(chance: random.Random) -> Board:
    return Board(SPEC.geometry, bytes(chance.choices((1, 1, 2, 8), k=49)))


def told(found: Matches) -> tuple[object, ...]:
    return as_tuples(found), found.places.tolist(), found.reversed.tolist(), found.total, found.more


@pytest.mark.parametrize("kernel", NAMES)
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 20), st.booleans(), st.booleans())
def test_queries(kernel: str, seed: int, count: int, both: bool, some: bool) -> None:
    chance = random.Random(seed)
    snapshot = library(chance, kernel).snapshot()
    wanted = np.array([chance.random() < 0.5 for _ in range(PATTERNS)]) if some else None
    limits = (0, 1, 5, 100, NO_LIMIT)
    queries = [
        MatchQuery(board(chance), chance.choice(limits), chance.choice(limits[1:])) for _ in range(count)
    ]

    found = snapshot.match_each(queries, None, wanted, both)

    alone = [snapshot.match(asked, None, wanted, most, each, both) for asked, most, each in queries]
    assert list(map(told, found)) == list(map(told, alone))


Positions = tuple[Sequence[Sequence[Placement]], Sequence[int]]


@st.composite
def answers(draw: st.DrawFn, patterns: int) -> list[Positions]:
    """Answers of one position and more, with placements and totals."""
    short = st.integers(-300, 300)
    placement = st.tuples(st.integers(0, patterns - 1), st.integers(0, 11), short, short, st.booleans())
    # Told in the order of their patterns.
    position = st.lists(placement, max_size=300).map(sorted)
    positions = st.lists(position, min_size=1, max_size=4)
    told_each = draw(st.lists(positions, min_size=1, max_size=6))
    return [(told, [draw(st.integers(0, 10**6)) for _ in told]) for told in told_each]


@pytest.mark.parametrize("kernel", NAMES)
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_answers(kernel: str, data: st.DataObject) -> None:
    patterns, flags = data.draw(st.integers(1, 400)), data.draw(st.booleans())
    every = data.draw(answers(patterns))
    known = records([7 * number for number in range(patterns)])
    positions = [each for told, _ in every for each in told]
    lists = lists_of(positions, [total for _, totals in every for total in totals], flags)
    ends = np.cumsum([len(told) for told, _ in every], dtype=np.int32)
    asked = kernels.kernel(kernel)

    messages, message_ends, tables, table_ends = asked.write_each(lists, ends, NOTHING_LOST, known, POSITIONS)

    starts = zip([0, *message_ends], message_ends, [0, *table_ends], table_ends, strict=False)
    for (told, totals), (start, end, first, last) in zip(every, starts, strict=True):
        message, table = asked.write(lists_of(told, totals, flags), NOTHING_LOST, known, POSITIONS)
        assert messages[start:end].tobytes() == message.tobytes()
        assert tables[first:last].tolist() == table.tolist()
    assert (len(messages), len(tables)) == (message_ends[-1], table_ends[-1])
