"""Uses of patterns are written once a seat, and what was written is remembered within bounds."""

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from academy.knowledge.settings import Library
from academy.service.access import ContestSeat
from academy.service.consultation_counts import ContestCounts
from academy.store.library_store import Store

MANY = range(40_000)


def seat(number: int) -> ContestSeat:
    return ContestSeat(f"contest-{number}", 1, 1500.0)


class Noting:
    """Says whether anything is written when uses are noted."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._counts = ContestCounts(store)

    def writes(self, number: int, pattern_ids: range) -> bool:
        return self.count_writes([number], pattern_ids) == 1

    def count_writes(self, seats: Iterable[int], pattern_ids: range) -> int:
        async def noting() -> None:
            for number in seats:
                self._counts.note_uses(seat(number), Library.ENDGAME, pattern_ids)

        with patch.object(self._store, "note", wraps=self._store.note) as note:
            asyncio.run(noting())
        return note.call_count


@pytest.fixture
def noting(tmp_path: Path) -> Iterator[Noting]:
    with Store(tmp_path, queue_size=10_000) as store:
        yield Noting(store)


def test_a_use_is_written_once_a_seat(noting: Noting) -> None:
    assert noting.writes(1, range(3))
    assert not noting.writes(1, range(3))
    assert noting.writes(1, range(4))
    assert noting.writes(2, range(3))


def test_uses_of_few_seats_with_many_patterns_are_forgotten(noting: Noting) -> None:
    assert noting.writes(1, MANY)
    assert not noting.writes(1, MANY)
    assert noting.writes(2, MANY)
    assert not noting.writes(2, MANY)
    assert noting.writes(1, MANY)


def test_uses_of_many_seats_with_few_patterns_are_forgotten(noting: Noting) -> None:
    assert noting.count_writes(range(2_000), range(1)) == 2_000
    assert not noting.writes(1_999, range(1))
    assert noting.writes(0, range(1))


def test_uses_of_a_single_seat_are_all_remembered(noting: Noting) -> None:
    everything = range(100_000)
    assert noting.writes(1, everything)
    assert not noting.writes(1, everything)
