"""What is counted is written once, remembered within bounds, and counted here where it cannot be written."""

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from academy.knowledge.claims import Claim
from academy.knowledge.settings import Library
from academy.service import consultation_counts
from academy.service.access import ContestSeat
from academy.service.consultation_counts import AnalysisAllowance, ContestCounts
from academy.store.consultation_notes import NoteUses
from academy.store.errors import AnalysisExceededError, StoreFullError
from academy.store.library_store import Store
from academy.store.tokens import Caller, Role
from academy.v1 import contests_pb2

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


def test_uses_that_cannot_be_noted_refuse_no_answer_and_are_noted_with_the_next_one(tmp_path: Path) -> None:
    async def noting(store: Store) -> int:
        counts = ContestCounts(store)
        with patch.object(store, "note", side_effect=StoreFullError("the disk is full")):
            counts.note_uses(seat(1), Library.ENDGAME, [1, 2])
        with patch.object(store, "note", wraps=store.note) as note:
            counts.note_uses(seat(1), Library.ENDGAME, [1])
            counts.note_uses(seat(1), Library.ENDGAME, [1])
        return note.call_count

    with Store(tmp_path) as store:
        assert asyncio.run(noting(store)) == 1


def test_what_is_noted_later_comes_into_the_store_by_itself_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consultation_counts, "_KEEPING_SECONDS", 0.01)

    async def noting(store: Store) -> None:
        counts, keep_notes, kept = ContestCounts(store), store.keep_notes, list[object]()

        def keep() -> object:
            kept.append(keep_notes())
            return kept[-1]

        with patch.object(store, "keep_notes", keep):
            for pattern_id in (1, 2, 3):
                kept.clear()
                counts.note_uses(seat(1), Library.ENDGAME, [pattern_id])
                async with asyncio.timeout(20):
                    # There is nothing left to keep.
                    while not kept or kept[-1] is not None:
                        await asyncio.sleep(0.01)

    with Store(tmp_path) as store:
        asyncio.run(noting(store))


def test_of_a_claim_that_comes_again_what_else_it_is_answered_counts_as_used(tmp_path: Path) -> None:
    claim, short = Claim(0, bytes(8), 0.2), contests_pb2.PatternAnswer()

    async def asking(store: Store) -> list[object]:
        counts = ContestCounts(store)
        with patch.object(store, "note", wraps=store.note) as note:
            for pattern_ids in ([1], [1, 2], [2]):
                counts.note_answer(seat(1), claim, short, {Library.ENDGAME: pattern_ids})
        return [call.args[0] for call in note.call_args_list]

    with Store(tmp_path) as store:
        _, second = asyncio.run(asking(store))
    assert second == NoteUses("contest-1", 1, Library.ENDGAME, [2])


class Clock:
    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.threat("leaks")
def test_while_nothing_can_be_written_a_name_is_answered_and_gets_no_more_patterns(tmp_path: Path) -> None:
    clock, bot = Clock(), Caller("copier", Role.BOT)

    async def asking(store: Store) -> None:
        allowance = AnalysisAllowance(store, 4)
        await allowance.take(bot, "go", [1, 2])
        with patch.object(store, "write", side_effect=StoreFullError("the disk is full")):
            clock.now += 600
            await allowance.take(bot, "go", [2, 3, 4])
            with pytest.raises(AnalysisExceededError) as refused:
                await allowance.take(bot, "go", [4, 5])
            assert refused.value.details() == {"returned": "4", "more": "1", "limit": "4"}
            assert refused.value.retry_after == 3_000
            await allowance.take(bot, "go", [1, 2, 3, 4])
            await allowance.take(Caller("reader", Role.BOT), "go", [5])
            clock.now += 3_000
            await allowance.take(bot, "go", [5, 6, 7, 8])

    with Store(tmp_path, clock=clock) as store:
        asyncio.run(asking(store))


def test_what_a_name_saw_in_this_hour_is_not_written_again(tmp_path: Path) -> None:
    async def asking(store: Store) -> int:
        allowance = AnalysisAllowance(store, 4)
        with patch.object(store, "write", wraps=store.write) as write:
            for pattern_ids in ([1, 2], [2, 1], [1], []):
                await allowance.take(Caller("reader", Role.BOT), "go", pattern_ids)
        return write.call_count

    with Store(tmp_path) as store:
        assert asyncio.run(asking(store)) == 1
