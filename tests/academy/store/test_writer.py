"""The writer: commands grouped into durable commits, each on its own when one is refused."""

import asyncio
import gc
import resource
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from academy.knowledge.settings import Library
from academy.store import event_log
from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.environment import TableName
from academy.store.errors import (
    InvalidRecordError,
    StoreBusyError,
    StoreClosedError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    UnknownGameError,
)
from academy.store.game_registration import RegisterGame
from academy.store.library_commands import DeletePattern
from academy.store.library_store import Store
from academy.store.maintenance.check import check
from academy.store.writer import WriteContext
from tests.academy.store.examples import contest, go_game, learn, report
from tests.academy.store.holding import Hold, held
from tests.academy.store.processes import run_python


@dataclass
class Put:
    """A command that stores a key, then does something more."""

    key: bytes
    then: Callable[[], None] = lambda: None
    size: int = 1

    def execute(self, work: WriteContext) -> bytes:
        work.transaction.put(TableName.META, self.key, bytes(self.size))
        self.then()
        return self.key


def keys(store: Store) -> set[bytes]:
    with store.environment.reading() as transaction:
        return {key for key, _ in transaction.scan(TableName.META)} - {b"schema", b"source go-9x9"}


def test_what_is_acknowledged_is_stored(store: Store) -> None:
    assert store.run(Put(b"a")) == b"a"
    assert keys(store) == {b"a"}


def test_only_the_refused_command_of_a_group_is_undone(store: Store) -> None:
    def refuse() -> None:
        raise InvalidRecordError("field", "no")

    hold, _ = held(store)
    futures = [store.submit(Put(b"1")), store.submit(Put(b"2", refuse)), store.submit(Put(b"3"))]
    hold.may_end.set()
    assert futures[0].result(10) == b"1"
    with pytest.raises(InvalidRecordError, match="field: no"):
        futures[1].result(10)
    assert futures[2].result(10) == b"3"
    assert keys(store) == {b"1", b"3"}


def test_a_refused_report_between_others_leaves_their_knowledge_right(store: Store) -> None:
    wrong = report("wrong")
    wrong.plies[-1].board = "x"
    hold, _ = held(store)
    futures = [store.submit(ReportContest(item, "arena")) for item in (report("1"), wrong, report("2"))]
    hold.may_end.set()
    assert futures[0].result(10).counted
    with pytest.raises(InvalidRecordError):
        futures[1].result(10)
    assert futures[2].result(10).counted
    assert store.follow().refresh("go-9x9").measures.contests == 2
    assert not list(check(store.environment))


def test_a_mistake_in_a_command_is_its_callers_and_the_writer_lives_on(store: Store) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.run(Put(b"a", fail))
    assert store.run(Put(b"b")) == b"b"
    assert keys(store) == {b"b"}


def test_many_wait_for_one_commit(store: Store) -> None:
    hold, _ = held(store)
    futures = [store.submit(Put(b"%d" % number)) for number in range(200)]
    assert store.waiting_writes >= 199
    before = store.environment.version
    hold.may_end.set()
    for future in futures:
        future.result(10)
    assert store.environment.version - before <= 2


@pytest.mark.threat("flood")
def test_when_too_many_wait_the_next_is_refused_at_once(tmp_path: Path) -> None:
    with Store(tmp_path / "small queue", queue_size=3) as store:
        hold, _ = held(store)
        waiting = [store.submit(Put(b"%d" % number)) for number in range(3)]
        with pytest.raises(StoreBusyError, match="3 writes are waiting"):
            store.submit(Put(b"too many"))
        hold.may_end.set()
        for future in waiting:
            future.result(10)
        assert keys(store) == {b"0", b"1", b"2"}


def test_a_command_cancelled_in_time_is_not_done(store: Store) -> None:
    hold, _ = held(store)
    first, second = store.submit(Put(b"1")), store.submit(Put(b"2"))
    assert first.cancel()
    hold.may_end.set()
    second.result(10)
    assert keys(store) == {b"2"}


def test_a_refusal_whose_caller_has_gone_is_not_logged(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    # What earlier tests left is logged when it is collected.
    gc.collect()
    caplog.clear()
    hold = Hold()

    async def go_away() -> None:
        held = asyncio.create_task(store.write(hold))
        refused = asyncio.create_task(store.write(DeletePattern("go-9x9", Library.ENDGAME, 99, "admin")))
        done, _ = await asyncio.wait([refused], timeout=0.1)
        assert not done
        refused.cancel()
        hold.may_end.set()
        await held
        # Then it is refused, too.
        await store.write(RegisterGame(go_game("go-7x7"), "arena"))

    asyncio.run(go_away())
    gc.collect()
    assert not caplog.messages


def test_closing_finishes_what_waits_and_stops(tmp_path: Path) -> None:
    store = Store(tmp_path / "closing")
    hold, _ = held(store)
    futures = [store.submit(Put(b"%d" % number)) for number in range(20)]
    closing = threading.Thread(target=store.close)
    closing.start()
    hold.may_end.set()
    closing.join(10)
    assert [future.result(0) for future in futures] == [b"%d" % number for number in range(20)]
    with pytest.raises(StoreClosedError):
        store.submit(Put(b"late"))
    with Store(tmp_path / "closing", read_only=True) as reopened:
        assert len(keys(reopened)) == 20
        with pytest.raises(StoreReadOnlyError):
            reopened.submit(Put(b"no"))


def test_the_map_grows_in_the_middle_of_a_group_and_every_command_is_done_once(store: Store) -> None:
    hold, _ = held(store)
    futures: list[Future[Any]] = []
    futures += [store.submit(ReportContest(report(f"c{number}"), "arena")) for number in range(10)]
    futures.append(store.submit(Put(b"big", size=100 << 20)))
    futures += [store.submit(ReportContest(report(f"d{number}"), "arena")) for number in range(10)]
    hold.may_end.set()
    for future in futures:
        future.result(30)
    assert store.read(event_log.last_sequence) == 21
    assert store.follow().refresh("go-9x9").measures.contests == 20
    assert not list(check(store.environment))


def test_an_unknown_game_registered_later_in_the_group_is_not_a_surprise(store: Store) -> None:
    hold, _ = held(store)
    too_early = store.submit(OpenContest(contest("c1", "other")))
    store.submit(RegisterGame(go_game("other"), "arena"))
    in_time = store.submit(OpenContest(contest("c1", "other")))
    hold.may_end.set()
    with pytest.raises(UnknownGameError):
        too_early.result(10)
    assert in_time.result(10)[0].game_id == "other"


def test_more_games_than_fit_in_memory_are_loaded_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert store._writer is not None
    monkeypatch.setattr(store._writer._games, "_most", 2)
    games = [f"game-{number}" for number in range(4)]
    for game_id in games:
        store.run(RegisterGame(go_game(game_id), "arena"))
    for turn in range(3):
        for game_id in games:
            learn(store, contests=1, first=turn, game_id=game_id)
    assert len(store._writer._games._loaded) == 2
    assert not list(check(store.environment))


# A disk without room


def test_a_full_map_refuses_the_whole_commit_and_nothing_is_half_done(tmp_path: Path) -> None:
    with Store(tmp_path / "full", largest_map=1 << 19) as store:
        store.run(RegisterGame(go_game(), "arena"))
        counted = 0
        with pytest.raises(StoreFullError, match="limit of 524,288 bytes"):
            while True:
                store.run(ReportContest(report(f"c{counted}"), "arena"))
                counted += 1
        assert counted > 20
        assert store.read(event_log.last_sequence) == 1 + counted
        assert store.follow().refresh("go-9x9").measures.contests == counted
        assert not list(check(store.environment))


def test_when_the_disk_takes_no_more_writes_are_refused_until_it_does(tmp_path: Path) -> None:
    output = run_python(
        """
        import resource, sys
        from pathlib import Path
        from tests.academy.store.test_writer import write_until_full
        write_until_full(Path(sys.argv[1]))
        """,
        str(tmp_path / "data"),
    )
    assert output.splitlines() == ["refused", "refused again", "readable", "taken", "sound"]


def write_until_full(folder: Path) -> None:
    """Write under a limit on the size of files, in a process of its own, and tell what happens."""
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Store(folder) as store:
        store.run(RegisterGame(go_game(), "arena"))
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, unlimited[1]))
        counted = 0
        try:
            while True:
                store.run(ReportContest(report(f"c{counted}"), "arena"))
                counted += 1
        except StoreError as error:
            assert "check the limit on file sizes, the room left, and the disk" in str(error)
            print("refused")
        try:
            store.run(ReportContest(report(f"c{counted}"), "arena"))
        except StoreError:
            print("refused again")
        if store.follow().refresh("go-9x9").measures.contests == counted > 20:
            print("readable")
        resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
        if store.run(ReportContest(report(f"c{counted}"), "arena")).counted:
            print("taken")
        if not list(check(store.environment)):
            print("sound")
