"""Servers that share a log: each store here is what one server has."""

import logging
import math
import random
import re
import shutil
import threading
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import lmdb
import pytest

from academy.knowledge.claims import Claim
from academy.knowledge.game import RULES_VERSION, GameKnowledge
from academy.knowledge.settings import Library
from academy.store import (
    arenas,
    contest_tables,
    event_effects,
    event_log,
    game_tables,
    history,
    rebuild,
    tokens,
)
from academy.store.consultation_notes import NoteClaim
from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.environment import SCHEMA_VERSION, Environment, TableName, Transaction
from academy.store.errors import (
    LogDivergedError,
    LogMessageTooLargeError,
    LogUnavailableError,
    LogUnreadableError,
    LogUpgradingError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    UnknownGameError,
)
from academy.store.fork import ForkGame
from academy.store.game_registration import RegisterGame
from academy.store.library_commands import DeletePattern, DeleteTesuji, RestorePattern
from academy.store.library_import import ImportLibraries
from academy.store.library_store import Store
from academy.store.maintenance.agreement import disagreements
from academy.store.maintenance.backup import backup, restore
from academy.store.maintenance.check import check
from academy.store.maintenance.compaction import compact
from academy.store.player_commands import MutePlayer
from academy.store.removals import RestoreRemoval
from academy.store.shared_log import connection, jetstream, messages, place, reading
from academy.store.shared_log.address import LogAddress
from academy.store.shared_log.jetstream import JetStreamLog
from academy.store.shared_log.place import FreezeLog
from academy.store.shared_log.shared_writer import SharedWriter
from academy.store.shared_log.stream import Message
from academy.store.tokens import CreateToken, Role
from academy.store.writer import Command
from academy.v1 import events_pb2, pattern_pb2
from tests.academy.service.disks import fill, small_disk
from tests.academy.store.examples import (
    contest,
    endgame_proposal,
    go_game,
    keep_notes,
    learn,
    report,
    submission,
    teach,
)
from tests.academy.store.processes import start_python
from tests.academy.store.shared_log.conftest import OpenStore
from tests.academy.store.shared_log.nats_servers import NatsServer, silent_until_the_third_sending
from tests.waiting import until

GAME = "go-9x9"


def wait_until_equal(*stores: Store) -> None:
    """Wait until all stores have folded the same messages, and check that they agree."""
    until(lambda: len({store.read(followed) for store in stores}) == 1)
    for other in stores[1:]:
        assert not [finding.what for finding in disagreements(stores[0].environment, other.environment)]
        assert stores[0].read(event_log.last_sequence) == other.read(event_log.last_sequence)


def followed(transaction: Transaction) -> int:
    now = place.read(transaction)
    assert now is not None
    return now.followed


def counted_reports(store: Store) -> list[str]:
    with store.environment.reading() as transaction:
        return sorted(
            event.contest_reported.report.contest.contest_id
            for event in event_log.scan(transaction)
            if event.WhichOneof("kind") == "contest_reported"
        )


def test_a_server_alone_learns_as_with_a_log_of_its_own(log: LogAddress, open_store: OpenStore) -> None:
    alone, sharing = open_store("alone"), open_store("sharing", log)
    for store in (alone, sharing):
        store.run(RegisterGame(go_game(), "arena"))
        learn(store, contests=6)
    records = [
        store.read(lambda transaction: list(rebuild.stored_records(transaction, GAME)))
        for store in (alone, sharing)
    ]
    assert records[0] == records[1]


def test_a_server_with_an_empty_folder_knows_all_when_it_opens(
    log: LogAddress, open_store: OpenStore
) -> None:
    first = open_store("first", log)
    first.run(RegisterGame(go_game(), "arena"))
    learn(first, contests=5)
    fresh = open_store("fresh", log)
    assert fresh.read(event_log.last_sequence) == first.read(event_log.last_sequence) > 5
    assert not list(disagreements(first.environment, fresh.environment))


def test_how_far_a_folder_lags_behind_a_server_is_a_finding(
    log: LogAddress, open_store: OpenStore, tmp_path: Path
) -> None:
    first = open_store("first", log)
    first.run(RegisterGame(go_game(), "arena"))
    with Store(tmp_path / "behind", log=log):
        pass
    learn(first, contests=3)
    with Environment(tmp_path / "behind", read_only=True) as behind:
        (finding,) = disagreements(behind, first.environment)
    assert not finding.is_fault
    assert re.match(
        r"the folder has read 1 messages of the log, the server [2-9]: libraries are", finding.what
    )


def test_folders_of_different_logs_do_not_agree(
    log: LogAddress, own_nats: NatsServer, open_store: OpenStore
) -> None:
    stores = [open_store("one", log), open_store("two", own_nats.address("other"))]
    assert [finding.what for finding in disagreements(*(store.environment for store in stores))] == [
        "the two follow different logs"
    ]


def test_two_servers_that_write_at_once_lose_nothing_and_count_nothing_twice(
    log: LogAddress, open_store: OpenStore
) -> None:
    stores = [open_store(name, log) for name in ("one", "two")]
    stores[0].run(RegisterGame(go_game(), "arena"))
    wait_until_equal(*stores)
    with ThreadPoolExecutor(4) as bots:
        # Two bots at each server; some contests are reported at both.
        taught = [
            bots.submit(teach, store, f"{place}/{number}")
            for number in range(10)
            for place, store in enumerate(stores)
        ]
        twice = [
            bots.submit(store.run, ReportContest(report(f"both/{number}", plies=20), "arena"))
            for number in range(10)
            for store in stores
        ]
        assert all(future.result(60) for future in taught)
        counted = [future.result(60).counted for future in twice]
    assert counted.count(True) == counted.count(False) == 10
    wait_until_equal(*stores)
    reports = counted_reports(stores[1])
    assert len(reports) == len(set(reports)) == 30
    for store in stores:
        with store.environment.reading() as transaction:
            assert not list(rebuild.differences(transaction, GAME))


def test_a_fork_that_another_server_was_faster_than_is_made_in_the_next_message(
    log: LogAddress, open_store: OpenStore
) -> None:
    first, second = open_store("first", log), open_store("second", log)
    first.run(RegisterGame(go_game(), "arena"))
    second.catch_up(5)
    faster: list[tuple[tokens.Token, str]] = []

    def be_faster() -> float:
        """Write at the other server once this one executes its command, and before it publishes that."""
        if not faster:
            faster.append(second.run(CreateToken("boss", Role.ADMIN)))
        return 0.0

    first.give_way(be_faster)
    assert first.run(ForkGame(GAME, "go-forked", "admin")).created and faster
    learn(first, contests=2, game_id="go-forked")
    second.catch_up(5)
    wait_until_equal(first, second)


def test_a_busy_server_lets_a_slower_one_write(log: LogAddress, open_store: OpenStore) -> None:
    busy, slow = open_store("busy", log), open_store("slow", log)
    busy.run(RegisterGame(go_game(), "arena"))
    ended = threading.Event()

    def keep_writing() -> None:
        number = 0
        while not ended.is_set():
            number += 1
            busy.submit(ReportContest(report(f"busy/{number}", plies=20), "arena")).result(60)

    with ThreadPoolExecutor(8) as bots:
        try:
            for _ in range(8):
                bots.submit(keep_writing)
            for number in range(5):
                assert teach(slow, f"slow/{number}")
        finally:
            ended.set()


def test_what_one_server_gives_holds_at_the_other(log: LogAddress, open_store: OpenStore) -> None:
    first, second = open_store("first", log), open_store("second", log)
    first.run(RegisterGame(go_game(), "arena"))
    _, token = first.run(CreateToken("ann", Role.BOT))
    _, tickets = first.run(OpenContest(contest("held", names=("ann", "bob")), "club"))
    first.run(MutePlayer("eve"))
    wait_until_equal(first, second)
    assert second.read(tokens.authenticate, token, time.time()).name == "ann"
    assert second.read(tokens.authenticate, tickets[1], time.time()).name == "bob"
    # The contest goes on, and ends, at the other server.
    request = report("held", plies=20, names=("ann", "bob"))
    second.run(submission("held", 1, [endgame_proposal(request)], "ann"))
    answer = second.run(ReportContest(request, "club", "club"))
    assert answer.counted and answer.accepted + answer.dropped == 1
    assert not first.run(ReportContest(request, "club", "club")).counted
    wait_until_equal(first, second)
    assert [arena.name for arena in first.read(arenas.list_arenas)] == ["club"]


def test_what_an_admin_deleted_at_one_server_is_restored_at_another(
    log: LogAddress, open_store: OpenStore
) -> None:
    first, second = open_store("first", log), open_store("second", log)
    first.run(RegisterGame(go_game(), "arena"))
    pattern = pattern_pb2.PatternRecord(
        cells="x",
        player=1,
        votes=[pattern_pb2.Vote(player="ann", elo_hundredths=150_000, value_millionths=500_000)],
    )
    imported = {Library.ENDGAME: [pattern]}
    first.run(ImportLibraries(GAME, imported, (), replace=False, actor="admin"))
    first.run(DeletePattern(GAME, Library.ENDGAME, 1, "admin"))
    wait_until_equal(first, second)
    restored = second.run(RestorePattern(GAME, Library.ENDGAME, 1, "admin"))
    assert restored is not None and restored.pattern_id == 1


def test_a_tesuji_deleted_at_one_server_is_restored_at_another(
    log: LogAddress, open_store: OpenStore
) -> None:
    first, second = open_store("first", log), open_store("second", log)
    game = go_game()
    game.settings.tesuji_capacity = 100
    first.run(RegisterGame(game, "arena"))
    teach(first, "taught")
    wait_until_equal(first, second)
    before = first.follow().refresh(GAME).tesujis
    code = int(before.codes[0])
    _, event = first.run(DeleteTesuji(GAME, code, "admin"))
    wait_until_equal(first, second)
    assert code not in second.follow().refresh(GAME).tesujis.codes
    assert second.run(RestoreRemoval(GAME, event, "admin")).tesujis == 1
    wait_until_equal(first, second)
    now = first.follow().refresh(GAME).tesujis
    assert code in now.codes and len(now) == len(before)


_KILLED_BEFORE_THE_COMMIT = """
    import os, signal, sys
    from pathlib import Path
    from academy.store.contest_commands import ReportContest
    from academy.store.library_store import Store
    from academy.store.shared_log.jetstream import JetStreamLog
    from tests.academy.store.examples import report

    store = Store(Path(sys.argv[1]))
    publish = JetStreamLog.publish

    def publish_and_die(*arguments):
        publish(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)

    JetStreamLog.publish = publish_and_die
    store.run(ReportContest(report("last", plies=20), "arena"))
"""


def test_a_server_killed_between_acknowledgement_and_commit_has_the_report_after_its_start(
    log: LogAddress, open_store: OpenStore, tmp_path: Path
) -> None:
    with Store(tmp_path / "killed", log=log) as store:
        store.run(RegisterGame(go_game(), "arena"))
    process = start_python(_KILLED_BEFORE_THE_COMMIT, str(tmp_path / "killed"))
    assert process.wait(60) == -9
    with Environment(tmp_path / "killed", read_only=True) as folder, folder.reading() as transaction:
        assert not contest_tables.find_contest(transaction, "last")
    again = open_store("killed")
    assert counted_reports(again) == ["last"]
    assert not again.run(ReportContest(report("last", plies=20), "arena")).counted
    assert not list(disagreements(again.environment, open_store("fresh", log).environment))


_ANOTHER_PROCESS = """
    import sys
    from pathlib import Path
    from academy.store.library_store import Store
    from tests.academy.store.examples import teach

    with Store(Path(sys.argv[1])) as store:
        print("open")
        for number in range(10):
            assert teach(store, f"there/{number}")
"""


def test_several_processes_of_one_server_write_to_its_folder_and_the_log(
    log: LogAddress, open_store: OpenStore, tmp_path: Path
) -> None:
    first = open_store("first", log)
    first.run(RegisterGame(go_game(), "arena"))
    process = start_python(_ANOTHER_PROCESS, str(tmp_path / "first"), says="open")
    number = 0
    while process.poll() is None:
        assert teach(first, f"here/{number}")
        number += 1
    assert process.returncode == 0
    assert len(counted_reports(first)) == 10 + number
    assert not list(disagreements(first.environment, open_store("fresh", log).environment))


def test_a_report_waits_for_a_nats_server_that_is_killed_and_started_again(
    own_nats: NatsServer, open_store: OpenStore
) -> None:
    log = own_nats.address("waiting")
    first, second = open_store("first", log), open_store("second", log)
    first.run(RegisterGame(go_game(), "arena"))
    assert teach(first, "before")
    own_nats.kill()
    waiting = first.submit(ReportContest(report("meanwhile", plies=20), "arena"))
    with pytest.raises(TimeoutError):
        waiting.result(0.5)
    own_nats.start()
    assert waiting.result(60).counted
    assert teach(second, "after")
    wait_until_equal(first, second)
    assert counted_reports(second) == ["after", "before", "meanwhile"]


def test_a_write_whose_acknowledgement_is_late_is_done_once(
    own_nats: NatsServer, open_store: OpenStore
) -> None:
    log = own_nats.address("late")
    first, second = open_store("first", log), open_store("second", log)
    first.run(RegisterGame(go_game(), "arena"))
    first.run(big_import(3))
    writes: list[Command[object]] = [DeletePattern(GAME, Library.ENDGAME, 1, "admin"), big_import(3, 100)]
    for event, write in enumerate(writes, 3):
        with silent_until_the_third_sending(own_nats):
            first.submit(write).result(60)
        assert first.read(event_log.last_sequence) == event
    # Others fold it once, and write on.
    assert teach(second, "after")
    wait_until_equal(first, second)


def test_a_write_is_refused_when_no_nats_server_comes_back(
    own_nats: NatsServer,
    open_store: OpenStore,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = open_store("one", own_nats.address("gone"))
    store.run(RegisterGame(go_game(), "arena"))
    own_nats.kill()
    # Only now: a server that is there may be slow.
    monkeypatch.setattr(store._writer, "_patience", 1.0)
    for _ in range(2):
        with pytest.raises(LogUnavailableError, match="may have been done: try again"):
            store.run(ReportContest(report("late", plies=20), "arena"))
    assert store.read(event_log.last_sequence) == 1
    own_nats.start()
    deadline = time.monotonic() + 60
    while "late" not in counted_reports(store):
        assert time.monotonic() < deadline
        # Done or not, the second time it is there once.
        with suppress(LogUnavailableError):
            store.run(ReportContest(report("late", plies=20), "arena"))
    assert counted_reports(store) == ["late"]
    begun, ended = (logged.getMessage() for logged in caplog.records if logged.levelno >= logging.WARNING)
    assert begun.startswith("writes are refused: nats://")
    assert ended == "writes are done again"


def test_what_waits_for_nats_when_a_server_stops_is_given_up_together(
    own_nats: NatsServer, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store("one", own_nats.address("stopping"))
    writer = store._writer
    assert isinstance(writer, SharedWriter)
    deadlines = []

    def refuse(_: object, message: object, deadline: float) -> None:
        while writer._ends == math.inf:
            time.sleep(0.01)
        deadlines.append(deadline)
        raise LogUnavailableError("no NATS")

    # A fake of more commands than a message takes, and of a NATS server that waits for the stop.
    monkeypatch.setattr(writer, "_group_size", 1)
    monkeypatch.setattr(jetstream.JetStreamLog, "publish", refuse)
    waiting = [store.submit(RegisterGame(go_game(f"go-{number}"), "arena")) for number in range(5)]
    store.close()
    assert all(isinstance(future.exception(), LogUnavailableError) for future in waiting)
    assert len(deadlines) == 5 and max(deadlines[1:]) <= writer._ends


@pytest.mark.parametrize("fault", [StoreFullError("no room left"), StoreReadOnlyError("mounted read-only")])
def test_a_server_whose_folder_took_no_writes_takes_in_what_came_meanwhile(
    fault: StoreError,
    log: LogAddress,
    open_store: OpenStore,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(reading, "_REQUEST", reading._REQUEST.replace(b"5000000000", b"1000000000"))
    first, second = open_store("first", log), open_store("second", log)
    failed = threading.Event()

    def fail(*_: object) -> None:
        failed.set()
        raise fault

    with monkeypatch.context() as full:
        full.setattr(second.environment, "write", fail)
        first.run(RegisterGame(go_game(), "arena"))
        assert failed.wait(20)
    wait_until_equal(first, second)
    # The commit shows before its line is logged.
    until(lambda: len(caplog.records) == 2)
    assert [record.getMessage() for record in caplog.records] == [
        f"writes are refused: {fault}",
        "writes are done again",
    ]


def test_a_full_disk_does_not_call_a_write_undone_that_the_log_has(
    log: LogAddress, open_store: OpenStore, tmp_path: Path
) -> None:
    first = open_store("first", log)
    with small_disk(tmp_path / "disk", 8) as disk, Store(disk / "data", log=log) as second:
        ballast = fill(disk)
        refused: list[StoreError] = []
        made = 0
        while len(refused) < 5:
            try:
                second.run(CreateToken(f"bot {made} " + "x" * 100, Role.BOT))
                made += 1
            except StoreError as error:
                refused.append(error)
        # Refused as StoreFullError: nothing was written, neither here nor to the log.
        unknown = sum(isinstance(error, LogUnavailableError) for error in refused)
        assert unknown and isinstance(refused[-1], StoreFullError)
        assert all("no room" in str(error) for error in refused)
        until(lambda: first.read(lambda now: now.count(TableName.TOKENS)) == made + unknown)
        ballast.unlink()
        second.run(CreateToken("last", Role.BOT))
        wait_until_equal(first, second)
        assert first.read(lambda now: now.count(TableName.TOKENS)) == made + unknown + 1


def test_a_folder_whose_last_messages_were_lost_by_nats_and_replaced_by_others_is_refused(
    own_nats: NatsServer, tmp_path: Path
) -> None:
    log = own_nats.address("lost")
    with Store(tmp_path / "first", log=log) as store:
        store.run(RegisterGame(go_game(), "arena"))
    shutil.copytree(tmp_path / "first", tmp_path / "second")
    own_nats.kill()
    # As after a loss of power the disk of NATS lacks what it had not written yet.
    shutil.copytree(tmp_path / "nats", tmp_path / "before")
    own_nats.start()
    with Store(tmp_path / "first") as first:
        first.run(ReportContest(report("lost", plies=20), "arena"))
        own_nats.kill()
        shutil.rmtree(tmp_path / "nats" / "streams")
        shutil.copytree(tmp_path / "before" / "streams", tmp_path / "nats" / "streams")
        own_nats.start()
        with Store(tmp_path / "second") as second:
            second.run(ReportContest(report("instead", plies=20), "arena"))
            until(lambda: not first.follows_log)
            with pytest.raises(LogDivergedError, match=r"message 2 of the stream is not .* grown again"):
                first.run(ReportContest(report("late", plies=20), "arena"))
            assert counted_reports(first) == ["lost"]
            assert counted_reports(second) == ["instead"]
    with pytest.raises(LogDivergedError, match=r"begin with an empty folder.*academy move --to own"):
        Store(tmp_path / "first")


def test_a_nats_server_that_falls_silent_is_noticed_so_that_another_is_asked(
    own_nats: NatsServer, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("academy.store.shared_log.connection._PING_SECONDS", 0.1)
    store = open_store("one", own_nats.address("silent"))

    until(lambda: store.follows_log)
    own_nats.pause()
    until(lambda: not store.follows_log)
    own_nats.resume()
    store.run(RegisterGame(go_game(), "arena"))


def big_import(count: int, first: int = 0) -> ImportLibraries:
    """Patterns of 20 votes each, which take about 400 bytes however they are compressed."""
    chance = random.Random(first)
    patterns = []
    for number in range(first, first + count):
        cells = f"{number:016b}".translate({ord("0"): "x", ord("1"): "o"})
        votes = [
            pattern_pb2.Vote(
                player=chance.randbytes(12).hex(), elo_hundredths=150_000, value_millionths=500_000
            )
            for _ in range(20)
        ]
        rows = "\n".join(cells[row : row + 4] for row in range(0, 16, 4))
        patterns.append(pattern_pb2.PatternRecord(cells=rows, player=1, votes=votes))
    return ImportLibraries(GAME, {Library.ENDGAME: patterns}, (), replace=False, actor="admin")


def test_a_write_beyond_what_nats_takes_is_refused_alone(log: LogAddress, open_store: OpenStore) -> None:
    store = open_store("one", log)
    store.run(RegisterGame(go_game(), "arena"))
    refused = store.submit(big_import(500))
    taken = store.submit(big_import(10))
    with pytest.raises(
        LogMessageTooLargeError, match=r"NATS takes 130,048: write less at once, or raise max_payload"
    ):
        refused.result(60)
    assert taken.result(60).patterns == 10
    assert not list(disagreements(store.environment, open_store("fresh", log).environment))


def test_a_fork_beyond_what_nats_takes_is_refused_before_it_is_executed(
    log: LogAddress, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store("one", log)
    store.run(RegisterGame(go_game(), "arena"))
    for part in range(4):
        store.run(big_import(100, 100 * part))
    executed, apply = [], event_effects.apply

    def note(knowledge: GameKnowledge, event: events_pb2.Event, *more: Any) -> event_effects.EventOutcome:
        executed.append(event.WhichOneof("kind"))
        return apply(knowledge, event, *more)

    monkeypatch.setattr(event_effects, "apply", note)
    with pytest.raises(LogMessageTooLargeError, match=r"a message of [\d,]+ bytes, NATS takes 130,048"):
        store.run(ForkGame(GAME, "fork", "admin"))
    # What is long to execute are the patterns.
    assert executed == ["game_forked"]
    with pytest.raises(UnknownGameError):
        store.read(game_tables.game_state, "fork")
    assert not list(disagreements(store.environment, open_store("fresh", log).environment))


def test_writes_that_fill_a_message_go_on_in_the_next(log: LogAddress, open_store: OpenStore) -> None:
    store = open_store("one", log)
    store.run(RegisterGame(go_game(), "arena"))
    waiting = [store.submit(big_import(100, 100 * part)) for part in range(4)]
    assert [future.result(60).patterns for future in waiting] == [100] * 4
    assert not list(disagreements(store.environment, open_store("fresh", log).environment))


def test_more_questions_than_a_message_takes_are_known_to_the_other_server(
    log: LogAddress, open_store: OpenStore
) -> None:
    first, second = open_store("first", log), open_store("second", log)
    first.run(RegisterGame(go_game(), "arena"))
    chance = random.Random(1)
    for number in range(3):
        first.run(OpenContest(contest(f"c/{number}")))
        for seat in (1, 2):
            for _ in range(1_500):
                claim = Claim(None, chance.randbytes(8), chance.random())
                first.note(NoteClaim(f"c/{number}", seat, claim))
    keep_notes(first)
    wait_until_equal(first, second)
    for number in range(3):
        record = second.read(contest_tables.contest_record, f"c/{number}")
        assert [seat.claims for seat in record.seats] == [1_500, 1_500]


def test_a_folder_with_a_history_does_not_follow_a_log(log: LogAddress, open_store: OpenStore) -> None:
    with open_store("own") as own:
        own.run(RegisterGame(go_game(), "arena"))
    with pytest.raises(StoreError, match=r"history of its own \(events\).*begins with an empty folder"):
        open_store("own", log)


def test_a_folder_does_not_follow_another_log_and_makes_none_by_a_wrong_name(
    nats: NatsServer, log: LogAddress, open_store: OpenStore
) -> None:
    another = nats.address("another")
    with open_store("first", log) as first:
        first.run(RegisterGame(go_game(), "arena"))
    for _ in range(2):
        with pytest.raises(LogDivergedError, match=r"no stream 'another'.*which this folder follows"):
            open_store("first", another)
    with open_store("second", another):
        pass
    with pytest.raises(LogDivergedError, match="follows another stream"):
        open_store("first", another)


def packed(note: Callable[[messages.CommandEntries], object]) -> bytes:
    """The message of a command that notes this."""
    written, draft = messages.CommandEntries(), messages.MessageDraft(1_000_000)
    note(written)
    draft.add(written)
    return draft.pack()


def with_key(key: bytes) -> bytes:
    """A message that puts a record under a key."""
    return packed(lambda written: written.note_record(TableName.USES, key, b""))


@pytest.mark.parametrize(
    ("message", "what"),
    [(b"garbage", "incorrect header"), (with_key(b""), "size of key"), (with_key(b"x" * 600), "size of key")],
    ids=["garbage", "no key", "long key"],
)
def test_a_message_that_cannot_be_read_is_named_once_and_what_came_before_it_is_kept(
    message: bytes, what: str, log: LogAddress, open_store: OpenStore, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_store("one", log)
    store.run(RegisterGame(go_game(), "arena"))
    with closing(JetStreamLog(log, None)) as program:
        before = program.state.last
        program.publish(Message(before + 1, message, "foreign"), time.monotonic() + 10)
    why = rf"message {before + 1} of the shared log cannot be read \(.*{what}.*`academy move"
    until(lambda: not store.follows_log)
    for _ in range(3):
        with pytest.raises(LogUnreadableError, match=why):
            learn(store, contests=1)
    (stopped,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert "followed no longer" in stopped.message and stopped.exc_info is None
    with pytest.raises(LogUnreadableError, match=why):
        open_store("fresh", log)
    with Environment(store.environment.folder.parent / "fresh") as fresh:
        assert not list(disagreements(store.environment, fresh))


def test_what_came_before_a_message_that_does_not_go_on_from_it_is_kept(
    log: LogAddress, open_store: OpenStore
) -> None:
    store = open_store("one", log)
    store.run(RegisterGame(go_game(), "arena"))
    learn(store, contests=2)
    leap = events_pb2.Event(sequence=99, rules=RULES_VERSION, game_deleted=events_pb2.GameDeleted())
    message = packed(lambda written: written.note_events([leap]))
    with closing(JetStreamLog(log, None)) as program:
        program.publish(Message(program.state.last + 1, message, "leap"), time.monotonic() + 10)
    until(lambda: not store.follows_log)
    why = "the shared log goes on with event 99, this folder with 4: begin again with an empty folder"
    with pytest.raises(LogDivergedError, match=why):
        learn(store, contests=1)
    # It folds all messages in one transaction.
    with pytest.raises(LogDivergedError, match=why):
        open_store("fresh", log)
    with Environment(store.environment.folder.parent / "fresh") as fresh:
        assert not list(disagreements(store.environment, fresh))


def test_a_write_that_came_while_others_waited_for_nats_does_not_wait_as_long_again(
    log: LogAddress, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store("one", log)
    begun, released = threading.Event(), threading.Event()
    deadlines: list[float] = []

    def publish(_: Message, deadline: float) -> None:
        deadlines.append(deadline)
        begun.set()
        released.wait(60)
        raise LogUnavailableError("NATS does not answer")

    monkeypatch.setattr(JetStreamLog, "publish", lambda _, message, deadline: publish(message, deadline))
    first = store.submit(RegisterGame(go_game(), "arena"))
    assert begun.wait(60)
    second = store.submit(RegisterGame(go_game(), "arena"))
    came = time.monotonic()
    released.set()
    for write in (first, second):
        with pytest.raises(LogUnavailableError):
            write.result(60)
    assert deadlines[1] <= came + connection.PATIENCE


@pytest.mark.parametrize(
    ("message", "why"),
    [(b"garbage", "incorrect header check"), (zlib.compress(bytes(1_000))[:10], "it is cut short")],
)
def test_a_message_that_is_none_of_academys_says_what_is_wrong_with_it(message: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        messages.fold(Mock(), message)


def test_an_event_of_a_kind_that_only_newer_versions_have_stops_writes_until_the_upgrade() -> None:
    # A field that no version has yet, as a newer one's kind is to this one.
    unknown = events_pb2.Event.FromString(b"\xfa\x3e\x00")
    unknown.sequence, unknown.rules = 7, RULES_VERSION
    message = packed(lambda written: written.note_events([unknown]))
    with pytest.raises(LogUpgradingError, match="goes on with event 7, of a kind that only newer versions"):
        messages.fold(Mock(), message)


def test_damage_of_a_folder_that_takes_in_a_message_is_not_called_the_messages(
    log: LogAddress, open_store: OpenStore
) -> None:
    sound, hurt = open_store("sound", log), open_store("hurt", log)
    sound.run(RegisterGame(go_game(), "arena"))
    wait_until_equal(sound, hurt)
    hurt.close()
    with Environment(hurt.environment.folder) as damaged:
        damaged.write(lambda transaction: transaction.put(TableName.GAMES, GAME.encode(), b"\xff"))
    teach(sound, "next")
    with pytest.raises(LogDivergedError, match=r"this folder is damaged and cannot take in message \d+ of"):
        open_store("hurt", log)


def test_a_message_for_which_the_map_has_to_grow_is_learnt_once(
    log: LogAddress, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = open_store("first", log), open_store("second", log)
    first.run(RegisterGame(go_game(), "arena"))
    assert teach(first, "before")
    wait_until_equal(first, second)
    assert second._writer is not None
    folding, note_event, grown = second._writer._thread, history.note_event, threading.Event()

    def grow_first(*arguments: Any) -> None:
        # By now the copy in memory has learnt from the event.
        if threading.current_thread() is folding and not grown.is_set():
            grown.set()
            raise lmdb.MapFullError("the map is full")
        note_event(*arguments)

    monkeypatch.setattr(history, "note_event", grow_first)
    assert teach(first, "next")
    assert grown.wait(60)
    wait_until_equal(first, second)
    # What was learnt in memory is stored with the next contest.
    assert teach(first, "last")
    wait_until_equal(first, second)


def test_a_new_server_begins_with_a_backup_and_the_rest_of_the_log(
    log: LogAddress, open_store: OpenStore, tmp_path: Path
) -> None:
    first = open_store("first", log)
    first.run(RegisterGame(go_game(), "arena"))
    assert teach(first, "before")
    backup(first.environment, tmp_path / "saved")
    assert teach(first, "after")
    restore(tmp_path / "saved", tmp_path / "second")
    second = open_store("second", log)
    assert counted_reports(second) == ["after", "before"]
    assert teach(second, "here")
    wait_until_equal(first, second)


def test_a_folder_that_follows_a_log_is_compacted_and_no_server_judges_what_it_removed(
    log: LogAddress, open_store: OpenStore
) -> None:
    first, second = open_store("first", log), open_store("second", log)
    first.run(RegisterGame(go_game(), "arena"))
    assert teach(first, "old")
    assert teach(second, "kept")
    wait_until_equal(first, second)
    assert compact(first, keep=1).left == 1
    wait_until_equal(first, second)
    # The second server has the report still, but no server can be sure that all have.
    proposal = endgame_proposal(report("old", plies=20), seat=2)
    (late,) = second.run(submission("old", 2, [proposal], "seki"))
    assert "no longer kept" in str(late)
    assert compact(second, keep=1).left == 1
    assert teach(second, "new")
    wait_until_equal(first, second)
    for store in (first, second):
        assert list(check(store.environment)) == []


_OF_NEWER_RULES = """
    import sys
    from pathlib import Path
    from academy.store import writer
    from academy.store.library_store import Store
    from academy.store.shared_log import messages, place
    from tests.academy.store.examples import teach

    sys.stderr = sys.stdout
    for module in (writer, messages, place):
        module.RULES_VERSION += 1
    with Store(Path(sys.argv[1])) as store:
        for lift in map("lift".__eq__, sys.argv[3:]):
            store.run(place.FreezeLog(lift))
        assert not sys.argv[2] or teach(store, sys.argv[2])
"""


def test_servers_are_upgraded_one_by_one_while_all_others_answer(
    log: LogAddress, open_store: OpenStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = open_store("first", log), open_store("second", log)
    first.run(RegisterGame(go_game(), "arena"))
    assert teach(first, "before")
    first.run(FreezeLog())
    wait_until_equal(first, second)
    for store in (first, second):
        with pytest.raises(LogUpgradingError, match="writes are frozen for an upgrade"):
            teach(store, "frozen")
    # What was frozen by mistake goes on.
    second.run(FreezeLog(lift=True))
    assert teach(second, "lifted")
    wait_until_equal(first, second)
    # Each server says once that it begins, and that it ends, a moment after the commit shows.
    warnings = [logged for logged in caplog.records if logged.levelno >= logging.WARNING]
    lines = [logged.getMessage()[:20] for logged in warnings]
    assert sorted(lines) == 2 * ["writes are done agai"] + 2 * ["writes are refused: "]
    second.run(FreezeLog())
    wait_until_equal(first, second)
    second.close()
    # A server of newer rules writes, an old one goes on with its answers.
    assert start_python(_OF_NEWER_RULES, str(tmp_path / "second"), "newer").wait(60) == 0
    until(lambda: not first.follows_log)
    with pytest.raises(LogUpgradingError, match=r"goes on with rules \d+, this server has \d+: it answers"):
        teach(first, "late")
    assert counted_reports(first) == ["before", "lifted"]
    first.close()
    # So does one that starts again, until it is upgraded.
    with Store(tmp_path / "first") as again:
        assert counted_reports(again) == ["before", "lifted"]
    assert start_python(_OF_NEWER_RULES, str(tmp_path / "first"), "upgraded").wait(60) == 0
    with Environment(tmp_path / "first", read_only=True) as folder, folder.reading() as transaction:
        assert contest_tables.find_contest(transaction, "newer")


@pytest.mark.parametrize("done", [["lift"], ["freeze", "lift"]])
def test_an_upgraded_server_that_freezes_or_lifts_has_no_earlier_one_write_again(
    log: LogAddress, open_store: OpenStore, tmp_path: Path, done: list[str]
) -> None:
    first, second = open_store("first", log), open_store("second", log)
    first.run(FreezeLog())
    wait_until_equal(first, second)
    second.close()
    assert start_python(_OF_NEWER_RULES, str(tmp_path / "second"), "", *done).wait(60) == 0
    # With all that the newer server has written.
    first.close()
    with Store(tmp_path / "first") as again, pytest.raises(LogUpgradingError, match="writes are frozen"):
        again.run(RegisterGame(go_game(), "arena"))


def test_a_second_freeze_writes_nothing_that_an_upgraded_server_could_not_read(
    log: LogAddress, open_store: OpenStore
) -> None:
    store = open_store("first", log)
    store.run(FreezeLog())
    before = store.read(followed)
    store.run(FreezeLog())
    assert store.read(followed) == before


def test_a_folder_that_lacks_what_earlier_programs_wrote_stays_one_of_theirs(
    log: LogAddress, open_store: OpenStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, earlier = open_store("first", log), SCHEMA_VERSION - 1
    with open_store("behind", log) as behind:
        behind.environment.write(lambda transaction: transaction.put_schema(earlier))
    with open_store("whole", log) as whole:
        with monkeypatch.context() as older:
            older.setattr(messages, "SCHEMA_VERSION", earlier)
            first.run(RegisterGame(go_game(), "arena"))
            wait_until_equal(first, whole)
        whole.environment.write(lambda transaction: transaction.put_schema(earlier))
    assert teach(first, "upgraded")
    with pytest.raises(LogDivergedError, match="run the earlier version until it has read what it wrote"):
        open_store("behind")
    Environment(tmp_path / "behind", version=earlier).close()
    wait_until_equal(first, open_store("whole"))


def test_an_upgraded_server_that_lacks_what_earlier_ones_wrote_says_what_to_do(
    log: LogAddress, open_store: OpenStore, tmp_path: Path
) -> None:
    first = open_store("first", log)
    with open_store("second", log):
        pass
    first.run(RegisterGame(go_game(), "arena"))
    upgraded = start_python(_OF_NEWER_RULES, str(tmp_path / "second"), "newer")
    assert "run the earlier version until it has read what it wrote" in upgraded.communicate(timeout=60)[0]
    assert upgraded.returncode
