"""The log: numbered without gaps, small, and read in pages either way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from academy.store import event_log
from academy.store.contest_commands import ReportContest
from academy.store.errors import InvalidRecordError, StoreCorruptError
from academy.store.game_registration import RegisterGame
from academy.store.library_commands import DeleteGame
from academy.store.library_store import Store
from academy.v1 import events_pb2
from tests.academy.store.examples import go_game, report


@given(actor=st.text(max_size=2_000), sequence=st.integers(0, 2**64 - 1))
def test_packing_loses_nothing(actor: str, sequence: int) -> None:
    event = events_pb2.Event(sequence=sequence, actor=actor)
    assert event_log.unpack(event_log.pack(event)) == event


def test_a_long_event_is_stored_compressed() -> None:
    event = events_pb2.Event(contest_reported=events_pb2.ContestReported(report=report("c1")))
    assert len(event_log.pack(event)) * 3 < event.ByteSize()


@pytest.mark.parametrize("stored", [b"", b"\x07abc", b"\x01not zlib", b"\x00\xff\xff\xff"])
def test_record_that_is_not_an_event_is_corrupt(stored: bytes) -> None:
    with pytest.raises(StoreCorruptError):
        event_log.unpack(stored)


def test_events_are_numbered_over_all_games(store: Store) -> None:
    store.run(RegisterGame(go_game("other"), "arena"))
    for number in range(6):
        store.run(ReportContest(report(f"c{number}", ["go-9x9", "other"][number % 2], plies=4), "arena"))
    events, place = store.read(event_log.read_page, 100)
    assert [event.sequence for event in events] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert place == 0
    others, _ = store.read(event_log.read_page, 100, game_id="other")
    assert [event.sequence for event in others] == [2, 4, 6, 8]
    assert {event.game_id for event in others} == {"other"}


@pytest.mark.parametrize("newest_first", [False, True])
def test_a_game_registered_again_has_no_events_of_the_deleted_game(store: Store, newest_first: bool) -> None:
    store.run(DeleteGame("go-9x9", "admin"))
    store.run(RegisterGame(go_game(), "arena"))
    store.run(ReportContest(report("c1", plies=2), "arena"))
    events, place = store.read(event_log.read_page, 1, game_id="go-9x9", newest_first=newest_first)
    more, last = store.read(event_log.read_page, 1, place, game_id="go-9x9", newest_first=newest_first)
    assert sorted(event.sequence for event in (*events, *more)) == [3, 4] and last == 0
    everything, _ = store.read(event_log.read_page, 100, newest_first=newest_first)
    assert sorted(event.sequence for event in everything) == [1, 2, 3, 4]


@pytest.mark.parametrize("game_id", ["", "go-9x9"])
@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("most", [1, 2, 3, 4, 100])
def test_pages_put_together_are_the_log(store: Store, game_id: str, newest_first: bool, most: int) -> None:
    store.run(RegisterGame(go_game("a"), "arena"))
    store.run(RegisterGame(go_game("z"), "arena"))
    for number in range(3):
        store.run(ReportContest(report(f"c{number}", plies=2), "arena"))
    sequences: list[int] = []
    place = 0
    while True:
        events, place = store.read(
            event_log.read_page, most, place, game_id=game_id, newest_first=newest_first
        )
        assert len(events) <= most
        sequences += [event.sequence for event in events]
        if not place:
            break
    expected = [1, 4, 5, 6] if game_id else [1, 2, 3, 4, 5, 6]
    assert sequences == sorted(expected, reverse=newest_first)


@pytest.mark.parametrize("place", [-1, 2**63])
def test_a_place_that_no_page_of_the_log_has_is_refused(store: Store, place: int) -> None:
    with pytest.raises(InvalidRecordError, match=f"page: {place} "):
        store.read(event_log.read_page, 1, place)
