"""New servers begin with a snapshot from NATS' object store, and the log is cut behind it."""

import asyncio
import errno
import math
import shutil
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from nats.js import JetStreamContext
from nats.js.api import ObjectInfo

from academy.service.game_cache import GameCache
from academy.service.pattern_cache import PatternCacheFiles
from academy.store.environment import PATTERN_CACHES, Environment
from academy.store.errors import (
    LogDivergedError,
    LogUnavailableError,
    StoreError,
    StoreFullError,
)
from academy.store.game_registration import RegisterGame
from academy.store.library_store import Store
from academy.store.maintenance.check import check
from academy.store.replica import read_view
from academy.store.shared_log import snapshots
from academy.store.shared_log.address import LogAddress
from academy.store.shared_log.jetstream import JetStreamLog
from academy.store.shared_log.shared_writer import SharedWriter
from academy.store.tokens import CreateToken, Role, tokens
from tests.academy.store.examples import go_game, teach
from tests.academy.store.shared_log.conftest import OpenStore
from tests.academy.store.shared_log.nats_servers import NatsServer
from tests.academy.store.shared_log.test_shared_writer import (
    GAME,
    counted_reports,
    followed,
    wait_until_equal,
)


@pytest.fixture
def first(log: LogAddress, open_store: OpenStore) -> Store:
    """A server that has made two snapshots, and has learnt since."""
    store = open_store("first", log)
    store.run(RegisterGame(go_game(), "arena"))
    for number in range(2):
        assert teach(store, f"before/{number}")
        snapshots.make(store.environment)
    assert teach(store, "after")
    return store


@pytest.fixture(autouse=True)
def patient_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each question to NATS wait for its answer however long a busy machine takes."""
    monkeypatch.setattr("academy.store.shared_log.connection._ANSWER_SECONDS", 60.0)


def damage(log: LogAddress, name: str) -> None:
    """Put something else in a snapshot's place."""
    with closing(JetStreamLog(log)) as connection:

        async def replace() -> None:
            store = await connection.stream.object_store(f"{log.stream}-snapshots")
            await store.put(name, b"not this")

        connection.run(replace())


def follows(data: Path, copy: Path) -> int:
    """Return the last message that a file of data has."""
    copy.mkdir()
    shutil.copy(data, copy / "data.mdb")
    with Environment(copy, read_only=True) as environment, environment.reading() as transaction:
        return followed(transaction)


def names(log: LogAddress) -> list[str]:
    """The snapshots, newest first."""
    with closing(JetStreamLog(log)) as connection:
        return [snapshot.name for snapshot in snapshots._list(connection)]


def test_a_new_server_needs_no_message_that_a_snapshot_holds(
    log: LogAddress, first: Store, open_store: OpenStore
) -> None:
    left = snapshots.cut(first.environment)
    assert left > 1
    fresh = open_store("fresh", log)
    assert counted_reports(fresh) == ["after", "before/0", "before/1"]
    assert teach(fresh, "here")
    wait_until_equal(first, fresh)
    assert list(check(fresh.environment)) == []


def test_a_cut_behind_a_snapshot_of_the_empty_log_removes_nothing(
    log: LogAddress, open_store: OpenStore
) -> None:
    store = open_store("first", log)
    assert snapshots.make(store.environment).followed == 0
    store.run(RegisterGame(go_game(), "arena"))
    assert teach(store, "before")
    snapshots.make(store.environment)
    assert snapshots.cut(store.environment) == 1
    for name in names(log):
        damage(log, name)
    wait_until_equal(store, open_store("fresh", log))


def test_a_new_server_has_the_pattern_caches_of_the_one_that_made_the_snapshot(
    log: LogAddress, first: Store, open_store: OpenStore
) -> None:
    asyncio.run(GameCache(first).game(GAME))
    # One that a server removes meanwhile.
    (first.environment.folder / PATTERN_CACHES / "00.patterns").symlink_to("missing")
    snapshots.make(first.environment)
    assert teach(first, "since")
    fresh = open_store("fresh", log)
    wait_until_equal(first, fresh)
    with fresh.environment.reading() as transaction:
        caches = PatternCacheFiles(fresh.environment.folder)
        saved = caches.load(transaction, read_view(transaction, GAME))
    assert saved is not None and saved.arrays


def test_a_damaged_snapshot_is_passed_over_for_the_one_before(
    log: LogAddress, first: Store, open_store: OpenStore, caplog: pytest.LogCaptureFixture
) -> None:
    snapshots.cut(first.environment)
    damage(log, names(log)[0])
    wait_until_equal(first, open_store("fresh", log))
    assert "cannot be used: it cannot be decompressed: not a gzip file" in caplog.text


def test_without_a_good_snapshot_the_whole_log_is_read(
    log: LogAddress, first: Store, open_store: OpenStore
) -> None:
    for name in names(log):
        damage(log, name)
    wait_until_equal(first, open_store("fresh", log))


def test_a_new_server_that_finds_no_good_snapshot_of_a_log_that_was_cut_begins_when_there_is_one(
    log: LogAddress, first: Store, open_store: OpenStore
) -> None:
    snapshots.cut(first.environment)
    for name in names(log):
        damage(log, name)
    with pytest.raises(StoreError, match=r"no snapshot can be used.*run `academy snapshot` at a server"):
        open_store("fresh", log)
    snapshots.make(first.environment)
    wait_until_equal(first, open_store("fresh", log))


def test_snapshots_have_as_many_copies_as_the_log(nats: NatsServer, open_store: OpenStore) -> None:
    # Two addresses would have two copies; one was wished.
    log = LogAddress.parse(f"nats://{nats.host},{nats.host}/copies", 1)
    with open_store("first", log) as store:
        store.run(RegisterGame(go_game(), "arena"))
        assert snapshots.make(store.environment).followed == 1


def test_snapshots_fit_into_the_messages_that_nats_takes(tmp_path: Path) -> None:
    with NatsServer(tmp_path / "nats", max_payload="8KB") as nats:
        log = nats.address("small")
        with Store(tmp_path / "first", log=log) as store:
            store.run(RegisterGame(go_game(), "arena"))
            assert all(teach(store, f"contest/{number}") for number in range(5))
            made = snapshots.make(store.environment)
        assert made.size > 8 << 10
        assert snapshots.fetch(tmp_path / "fresh", log) == made.followed


def test_a_snapshot_of_another_log_is_refused(
    nats: NatsServer, log: LogAddress, first: Store, open_store: OpenStore, tmp_path: Path
) -> None:
    other = LogAddress.parse(f"{log.text}-other")
    store = open_store("other", other)
    for number in range(20):
        store.run(RegisterGame(go_game(f"go-{number}"), "arena"))
    made = snapshots.make(store.environment)
    with closing(JetStreamLog(other)) as there, (tmp_path / "packed").open("wb") as file:
        there.run(snapshots._get(there, made, file))
    with closing(JetStreamLog(log)) as here, (tmp_path / "packed").open("rb") as file:
        wrong = snapshots.Snapshot(f"{snapshots._prefix(here)}{made.followed:020d}", made.followed, 0)
        here.run(snapshots._put(here, wrong, file))
    assert names(log)[0] == wrong.name
    wait_until_equal(first, open_store("fresh", log))


def test_a_folder_of_a_log_that_was_made_again_neither_stores_snapshots_nor_cuts(
    log: LogAddress, first: Store, open_store: OpenStore
) -> None:
    with closing(JetStreamLog(log)) as connection:
        connection.run(connection.stream.delete_stream(log.stream))
    for do in (snapshots.make, snapshots.cut):
        with pytest.raises(LogDivergedError, match=r"no stream.*which this folder follows"):
            do(first.environment)
    second = open_store("second", log)
    second.run(RegisterGame(go_game(), "arena"))
    made = [snapshots.make(second.environment).name]
    assert teach(second, "instead")
    made.insert(0, snapshots.make(second.environment).name)
    for do in (snapshots.make, snapshots.cut):
        with pytest.raises(LogDivergedError, match="follows another stream"):
            do(first.environment)
    assert names(log) == made
    with closing(JetStreamLog(log)) as connection:
        assert connection.state.first == 1


def test_only_the_newest_snapshots_are_kept_and_the_log_is_cut_behind_the_oldest_of_them(
    log: LogAddress, first: Store
) -> None:
    before = names(log)
    made = snapshots.make(first.environment)
    assert names(log) == [made.name, before[0]]
    assert snapshots.cut(first.environment, keep=3) == 1
    # Its last message stays: by that a new server knows that the log is its own.
    assert snapshots.cut(first.environment) == int(before[0].partition("-")[2])


def test_parts_that_a_killed_server_left_in_the_object_store_are_removed(
    log: LogAddress, first: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = f"OBJ_{log.stream}-snapshots"
    with closing(JetStreamLog(log)) as connection:

        def parts() -> set[str]:
            info = connection.run(connection.stream.stream_info(bucket, subjects_filter="$O.*.C.>"))
            return set(info.state.subjects or {})

        whole = parts()
        left = f"$O.{log.stream}-snapshots.C.left"
        connection.run(connection.stream.publish(left, b"half"))
        # Another server may be storing it now, however wrong the clock is here.
        with monkeypatch.context() as wrong:
            wrong.setattr(time, "time", lambda: 1e10)
            connection.run(snapshots._remove_remains(connection))
        assert parts() == whole | {left}
        monkeypatch.setattr(snapshots, "_LEFT_SECONDS", -3_600.0)
        connection.run(snapshots._remove_remains(connection))
        assert parts() == whole


def test_a_part_that_another_server_removes_first_does_not_fail_the_snapshot(
    log: LogAddress, first: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    bucket, left = f"OBJ_{log.stream}-snapshots", f"$O.{log.stream}-snapshots.C.left"
    list_objects = snapshots._list_objects

    async def remove_first(connection: JetStreamLog) -> list[ObjectInfo]:
        await connection.stream.purge_stream(bucket, subject=left)
        return await list_objects(connection)

    monkeypatch.setattr(snapshots, "_list_objects", remove_first)
    with closing(JetStreamLog(log)) as connection:
        connection.run(connection.stream.publish(left, b"half"))
        connection.run(snapshots._remove_remains(connection))
    assert "parts of snapshots are not removed: no message found (10037)" in caplog.text


def test_a_server_that_was_away_while_the_log_was_cut_begins_with_a_snapshot_and_keeps_its_old_data(
    log: LogAddress, open_store: OpenStore, tmp_path: Path
) -> None:
    store = open_store("first", log)
    with open_store("late", log) as late:
        late.run(CreateToken("mine", Role.BOT))
    store.run(RegisterGame(go_game(), "arena"))
    for number in range(2):
        assert teach(store, f"contest/{number}")
        snapshots.make(store.environment)
    snapshots.cut(store.environment)
    # The folder knows its log.
    with open_store("late") as late:
        assert teach(late, "after")
        wait_until_equal(store, late)
    kept = tmp_path / "kept"
    kept.mkdir()
    (tmp_path / "late" / snapshots.BEHIND).rename(kept / "data.mdb")
    with Environment(kept, read_only=True) as old, old.reading() as transaction:
        assert [token.name for token in tokens(transaction)] == ["mine"]


def test_a_start_removes_what_killed_starts_left_and_no_snapshot_that_is_being_made(
    log: LogAddress, first: Store, open_store: OpenStore, tmp_path: Path
) -> None:
    under_way, left = tmp_path / "new" / ".snapshot-1", tmp_path / "new" / ".fetched-1"
    for draft in (under_way, left):
        draft.mkdir(parents=True)
    with open_store("new", log) as new:
        wait_until_equal(first, new)
    assert (under_way.exists(), left.exists()) == (True, False)


def test_a_server_that_is_behind_again_keeps_the_data_of_both_times_however_often_it_is_killed(
    log: LogAddress, open_store: OpenStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store("first", log)
    store.run(RegisterGame(go_game(), "arena"))
    folder = tmp_path / "late"
    behind = []
    for number in range(2):
        with open_store("late", log) as late:
            behind.append(late.read(followed))
        for contest_number in range(2):
            assert teach(store, f"contest/{number}/{contest_number}")
            snapshots.make(store.environment)
        snapshots.cut(store.environment)
        with monkeypatch.context() as killed:
            killed.setattr(snapshots, "put_in_place", Mock(side_effect=KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                open_store("late", log)
        # Else a start without --log would begin a history of its own.
        assert follows(folder / "data.mdb", tmp_path / f"killed-{number}") == behind[-1]
    with open_store("late", log) as late:
        wait_until_equal(store, late)
    kept = sorted(folder.glob("behind*.mdb"), key=lambda file: len(file.name))
    assert [follows(file, tmp_path / file.stem) for file in kept] == behind


def test_a_new_server_does_not_wait_for_ever_where_nats_is_lost_while_it_lists_snapshots(
    own_nats: NatsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = own_nats.address("lost")
    with Store(tmp_path / "first", log=log) as store:
        snapshots.make(store.environment)
    monkeypatch.setattr("academy.store.shared_log.connection.PATIENCE", 0.5)
    monkeypatch.setattr(snapshots, "_STALLED_SECONDS", 1.0)
    subscribe = JetStreamContext.subscribe

    async def lose_nats(self: JetStreamContext, subject: str, cb: Any, **options: Any) -> Any:
        async def lose(message: object) -> None:
            """As if it had not come any more."""

        made = await subscribe(self, subject, cb=lose, **options)
        own_nats.kill()
        return made

    monkeypatch.setattr(JetStreamContext, "subscribe", lose_nats)
    with pytest.raises(LogUnavailableError, match="try again"):
        Store(tmp_path / "fresh", log=log)
    assert not (tmp_path / "fresh" / "data.mdb").exists()


def test_a_snapshot_that_a_stop_interrupts_leaves_no_complaint(
    log: LogAddress, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_store("first", log)
    writer = store._writer
    assert isinstance(writer, SharedWriter)

    def fail_as_when_the_interpreter_ends(*_: object) -> None:
        while writer._ends == math.inf:
            time.sleep(0.01)
        raise RuntimeError("cannot schedule new futures after shutdown")

    complaints: list[object] = []
    monkeypatch.setattr(threading, "excepthook", complaints.append)
    monkeypatch.setattr(snapshots, "make", fail_as_when_the_interpreter_ends)
    store.schedule_snapshots(every=1, cut=False)
    store.run(RegisterGame(go_game(), "arena"))
    store.close()
    writer._snapshot.join(20)
    assert not complaints and not caplog.records


def test_a_full_disk_is_named_where_a_new_server_takes_a_snapshot(
    log: LogAddress, first: Store, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_as_a_full_disk(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(snapshots, "_unpack", fail_as_a_full_disk)
    with pytest.raises(StoreFullError, match=r"No space left.*room for two copies"):
        open_store("fresh", log)


def test_a_folder_with_a_log_of_its_own_has_no_snapshots(open_store: OpenStore) -> None:
    with pytest.raises(StoreError, match="log of its own; `academy backup` copies it"):
        snapshots.make(open_store("own").environment)


def test_of_two_servers_the_one_whose_message_it_is_makes_the_snapshot_and_cuts_the_log(
    log: LogAddress, open_store: OpenStore
) -> None:
    stores = [open_store(name, log) for name in ("one", "two")]
    for store in stores:
        store.schedule_snapshots(every=5, cut=True)
    stores[0].run(RegisterGame(go_game(), "arena"))
    deadline = time.monotonic() + 60
    number = 0
    with closing(JetStreamLog(log)) as connection:
        while connection.state.first == 1:
            assert time.monotonic() < deadline
            assert teach(stores[number % 2], f"contest/{number}")
            number += 1
            connection.look_again()
    fresh = open_store("fresh", log)
    wait_until_equal(*stores, fresh)
    assert len(counted_reports(fresh)) == number
