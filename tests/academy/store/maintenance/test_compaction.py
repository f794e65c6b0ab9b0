"""Compaction: old events go, and nothing that anybody can see of the libraries changes."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from academy.knowledge.game import RULES_VERSION, GameKnowledge
from academy.knowledge.settings import Library
from academy.store import event_effects, event_log, game_tables, keys, rebuild
from academy.store.contest_commands import ReportContest
from academy.store.contest_tables import contest_record
from academy.store.environment import TableName, Transaction
from academy.store.errors import StoreBusyError, StoreCorruptError
from academy.store.game_registration import RegisterGame
from academy.store.library_commands import DeleteGame, DeletePattern, RestorePattern
from academy.store.library_store import Store
from academy.store.maintenance import compaction
from academy.store.maintenance.backup import backup, restore, verify
from academy.store.maintenance.check import check
from academy.store.maintenance.compaction import Compacted, compact, shrink
from academy.v1 import events_pb2, proposals_pb2
from tests.academy.store.examples import endgame_proposal, go_game, learn, opened_copy, report, submission
from tests.academy.store.processes import run_python, start_python


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two games with twenty contests in all, and a pattern deleted and restored."""
    folder = tmp_path_factory.mktemp("lived") / "data"
    with Store(folder) as store:
        store.run(RegisterGame(go_game(), "arena"))
        learn(store, contests=12)
        store.run(RegisterGame(go_game("other"), "arena"))
        learn(store, contests=8, game_id="other")
        number = next(iter(store.follow().refresh("go-9x9").libraries[Library.ENDGAME]))
        store.run(DeletePattern("go-9x9", Library.ENDGAME, number, "admin"))
        store.run(RestorePattern("go-9x9", Library.ENDGAME, number, "admin"))
    return folder


@pytest.fixture
def lived_in(lived: Path, tmp_path: Path) -> Iterator[Store]:
    """A store with a copy of it."""
    with opened_copy(lived, tmp_path / "data") as store:
        yield store


def stored(store: Store) -> dict[tuple[TableName, bytes], bytes]:
    """All that is stored but for the log."""
    log = {TableName.EVENTS, TableName.EVENTS_BY_GAME, TableName.SNAPSHOTS, TableName.META}
    with store.environment.reading() as transaction:
        return {
            (table, key): value for table in set(TableName) - log for key, value in transaction.scan(table)
        }


@pytest.mark.parametrize("keep", [1, 5, 15, 23])
def test_the_newest_events_stay_and_the_libraries_are_what_they_were(lived_in: Store, keep: int) -> None:
    before, last = stored(lived_in), lived_in.read(event_log.last_sequence)

    done = compact(lived_in, keep=keep)

    assert done == Compacted(removed=last - keep, left=keep)
    assert stored(lived_in) == before
    assert list(check(lived_in.environment)) == []
    assert [event.sequence for event in lived_in.read(event_log.read_page, 100)[0]] == [
        *range(last - keep + 1, last + 1)
    ]


def test_a_compacted_folder_learns_on(lived_in: Store) -> None:
    compact(lived_in, keep=3)
    last = lived_in.read(event_log.last_sequence)
    learn(lived_in, contests=4, first=12)
    assert lived_in.read(event_log.last_sequence) == last + 4
    assert list(check(lived_in.environment)) == []
    assert compact(lived_in, keep=1).removed == 6
    learn(lived_in, contests=2, first=16)
    assert list(check(lived_in.environment)) == []


def test_compacting_twice_does_nothing_the_second_time(lived_in: Store) -> None:
    compact(lived_in, keep=4)
    assert compact(lived_in, keep=4) == Compacted(0, 4)
    assert compact(lived_in, keep=1_000) == Compacted(0, 4)


def test_an_empty_folder_has_nothing_to_compact(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        assert compact(store) == Compacted(0, 0)


def test_a_snapshot_is_the_replay_of_what_it_replaces(lived_in: Store) -> None:
    with lived_in.environment.reading() as transaction:
        replayed, _ = rebuild.rebuild(transaction, "go-9x9")
        knowledge, generation = rebuild.unpack_snapshot(
            rebuild.pack_snapshot(*rebuild.rebuild(transaction, "go-9x9"))
        )
    made = set(game_tables.records(knowledge, generation))
    assert made == set(game_tables.records(replayed, generation))


@pytest.mark.threat("unproven_results")
def test_a_contest_that_comes_again_is_still_not_counted_twice(lived_in: Store) -> None:
    compact(lived_in, keep=1)
    before = stored(lived_in)
    for number in range(12):
        again = report(f"go-9x9/{number}", first_wins=number % 3 > 0)
        assert not lived_in.run(ReportContest(again, "arena")).counted
    assert stored(lived_in) == before


def late(number: int) -> tuple[str, list[proposals_pb2.NewProposal]]:
    contest_id = f"go-9x9/{number}"
    request = report(contest_id, first_wins=number % 3 > 0)
    return contest_id, [endgame_proposal(request, back=6)]


def test_a_proposal_for_a_contest_that_was_compacted_comes_too_late(lived_in: Store) -> None:
    compact(lived_in, keep=1)
    contest_id, proposals = late(3)
    (answer,) = lived_in.run(submission(contest_id, 1, proposals, "gnugo 1"))
    assert answer.verdict == proposals_pb2.VERDICT_DROPPED
    assert "no longer kept" in answer.reason
    assert list(check(lived_in.environment)) == []


def test_the_report_that_a_newer_judgement_refers_to_stays(lived_in: Store) -> None:
    contest_id, proposals = late(3)
    lived_in.run(submission(contest_id, 1, proposals, "gnugo 1"))
    last, reported = lived_in.read(event_log.last_sequence), lived_in.read(contest_record, contest_id).event
    assert compact(lived_in, keep=1) == Compacted(reported - 1, last - reported + 1)
    assert list(check(lived_in.environment)) == []


def test_a_log_that_does_not_make_the_libraries_is_left_alone(lived_in: Store) -> None:
    with lived_in.environment.reading() as transaction:
        key = next(transaction.scan(TableName.PATTERNS, keys.in_game("other")))[0]
    lived_in.environment.write(lambda transaction: transaction.delete(TableName.PATTERNS, key))
    last = lived_in.read(event_log.last_sequence)
    with pytest.raises(StoreCorruptError, match=r"other: .*missing; nothing was removed"):
        compact(lived_in, keep=1)
    with lived_in.environment.reading() as transaction:
        assert transaction.count(TableName.EVENTS) == last


@pytest.mark.parametrize("meanwhile", ["compacted", "deleted"])
def test_a_log_that_another_process_shortens_meanwhile_is_read_again(
    lived_in: Store, monkeypatch: pytest.MonkeyPatch, meanwhile: str
) -> None:
    lived_in.run(RegisterGame(go_game("unplayed"), "arena"))
    learn(lived_in, contests=6, first=12)
    before, waiting = stored(lived_in), [meanwhile]

    def advance(
        begun: tuple[GameKnowledge, int] | None,
        events: Iterable[events_pb2.Event],
        read_event: event_effects.EventReader,
        note_event: rebuild.NoteEvent,
        real: Callable[..., tuple[GameKnowledge, int] | None] = rebuild.advance,
    ) -> tuple[GameKnowledge, int] | None:
        made = real(begun, events, read_event, note_event)
        assert made is not None
        if waiting and waiting[0] == "compacted" and made[0].spec.game_id == "go-9x9":
            waiting.clear()
            assert compact(lived_in, keep=5).left == 5
        elif waiting and waiting[0] == "deleted" and made[0].spec.game_id == "unplayed":
            waiting.clear()
            lived_in.run(DeleteGame("unplayed", "admin"))
        return made

    monkeypatch.setattr(compaction, "_READ_AT_ONCE", 10)
    monkeypatch.setattr(rebuild, "advance", advance)
    assert compact(lived_in, keep=2 if meanwhile == "deleted" else 12).left in (3, 5)
    assert not waiting
    if meanwhile == "compacted":
        assert stored(lived_in) == before
    monkeypatch.undo()
    assert list(check(lived_in.environment)) == []


def test_libraries_that_other_rules_made_are_kept_as_they_are_stored(lived_in: Store) -> None:
    def as_by_other_rules(transaction: Transaction) -> None:
        for key, packed in list(transaction.scan(TableName.EVENTS)):
            event = event_log.unpack(packed)
            event.rules = RULES_VERSION - 1
            transaction.put(TableName.EVENTS, key, event_log.pack(event))
        # By today's rules their events make another pattern.
        pattern = next(transaction.scan(TableName.PATTERNS, keys.in_game("other")))[0]
        transaction.delete(TableName.PATTERNS, pattern)

    lived_in.environment.write(as_by_other_rules)
    before = stored(lived_in)
    assert [finding.is_fault for finding in check(lived_in.environment)] == [False]
    assert compact(lived_in, keep=5).left == 5
    assert stored(lived_in) == before
    assert list(check(lived_in.environment)) == []


def test_a_damaged_snapshot_is_found(lived_in: Store) -> None:
    compact(lived_in, keep=1)

    def damage(transaction: Transaction) -> None:
        snapshot = bytearray(transaction.get(TableName.SNAPSHOTS, b"other") or b"")
        snapshot[len(snapshot) // 2] ^= 0xFF
        transaction.put(TableName.SNAPSHOTS, b"other", bytes(snapshot))

    lived_in.environment.write(damage)
    assert [finding.game_id for finding in check(lived_in.environment)] == ["other"]


def test_process_that_lags_behind_the_cut_reads_the_libraries_again(lived_in: Store) -> None:
    # Another process writes, and compacts away what this one's working copies have not seen yet.
    run_python(
        """
        import sys
        from pathlib import Path
        from academy.store.maintenance.compaction import compact
        from academy.store.library_store import Store
        from tests.academy.store.examples import learn
        with Store(Path(sys.argv[1])) as store:
            learn(store, contests=5, first=20)
            compact(store, keep=1)
        """,
        str(lived_in.environment.folder),
    )
    learn(lived_in, contests=2, first=40)
    assert lived_in.follow().refresh("go-9x9").measures.contests == 19
    assert list(check(lived_in.environment)) == []


def test_a_compacted_folder_is_backed_up_and_restored(lived_in: Store, tmp_path: Path) -> None:
    compact(lived_in, keep=2)
    backup(lived_in.environment, tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "restored")
    with Store(tmp_path / "restored") as again:
        assert stored(again) == stored(lived_in)
        assert list(check(again.environment)) == []


def test_shrinking_gives_room_back_and_keeps_everything(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Store(data) as store:
        store.run(RegisterGame(go_game(), "arena"))
        learn(store, contests=40)
        compact(store, keep=1)
        before = stored(store)
    data.joinpath("data.mdb").chmod(0o660)
    size = data.joinpath("data.mdb").stat().st_size
    # What an attempt leaves that was killed.
    data.joinpath("shrinking").mkdir()
    data.joinpath("shrinking", "data.mdb").touch()
    assert shrink(data)[0] == size
    assert data.joinpath("data.mdb").stat().st_size < 0.8 * size
    assert {path.name for path in data.iterdir()} == {"data.mdb", "lock.mdb", "journal"}
    assert data.joinpath("data.mdb").stat().st_mode & 0o777 == 0o660
    with Store(data) as store:
        assert stored(store) == before
        learn(store, contests=1, first=40)
        assert list(check(store.environment)) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files to others")
def test_a_folder_that_root_shrinks_stays_its_owners(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.run(RegisterGame(go_game(), "arena"))
    os.chown(tmp_path / "data.mdb", 65534, 65534)
    shrink(tmp_path)
    state = (tmp_path / "data.mdb").stat()
    assert (state.st_uid, state.st_gid) == (65534, 65534)


def test_a_folder_in_use_is_not_shrunk(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.run(RegisterGame(go_game(), "arena"))
    holder = start_python(
        """
        import sys
        from pathlib import Path
        from academy.store.library_store import Store
        with Store(Path(sys.argv[1])):
            print("open")
            sys.stdin.read()
        """,
        str(tmp_path),
        says="open",
    )
    try:
        with pytest.raises(StoreBusyError, match="stop its servers"):
            shrink(tmp_path)
    finally:
        holder.kill()
        holder.communicate()
    shrink(tmp_path)


# Of LMDB's two roots the one that a commit leaves depends on whether its number is even.
@pytest.mark.parametrize("reports", [5, 6])
def test_a_server_that_starts_meanwhile_waits_and_finds_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reports: int
) -> None:
    with Store(tmp_path) as store:
        store.run(RegisterGame(go_game(), "arena"))
        for number in range(reports):
            store.run(ReportContest(report(str(number)), "arena"))
        before = stored(store)
    servers = []

    def start_a_server(draft: Path) -> None:
        verify(draft)
        server = start_python(
            """
            import sys
            from pathlib import Path
            from academy.store import game_tables
            from academy.store.game_registration import RegisterGame
            from academy.store.library_store import Store
            from tests.academy.store.examples import go_game
            print("opening")
            with Store(Path(sys.argv[1])) as store:
                store.run(RegisterGame(go_game("other"), "arena"))
                print([game.game_id for game in store.read(game_tables.list_games)])
            """,
            str(tmp_path),
            says="opening",
        )
        servers.append(server)
        with pytest.raises(subprocess.TimeoutExpired):
            server.wait(0.5)

    monkeypatch.setattr(compaction, "verify", start_a_server)
    shrink(tmp_path)
    assert servers[0].communicate(timeout=180)[0] == "['go-9x9', 'other']\n"
    with Store(tmp_path) as store:
        assert before.items() <= stored(store).items()
        assert list(check(store.environment)) == []


COMPACTOR = """
    import sys
    from pathlib import Path
    from academy.store import event_log
    from academy.store.library_store import Store
    from academy.store.maintenance import compaction
    from academy.store.maintenance.compaction import shrink

    def telling(transaction, cut, mark_compacted=event_log.mark_compacted):
        print("cutting")
        mark_compacted(transaction, cut)

    event_log.mark_compacted = telling
    event_log._REMOVED_AT_ONCE = 1
    print("beginning")
    with Store(Path(sys.argv[1])) as store:
        compaction.compact(store, keep=5)
    print("shrinking")
    shrink(Path(sys.argv[1]))
    print("done")
"""


# The program is killed soon after it has come to a stage; the seconds are about as long as that stage takes.
# Where it was faster, the next one is killed sooner.
@pytest.mark.parametrize(("stage", "seconds"), [("beginning", 0.3), ("cutting", 0.03), ("shrinking", 0.01)])
def test_killed_compaction_loses_nothing_and_can_be_repeated(
    tmp_path: Path, stage: str, seconds: float
) -> None:
    chance = random.Random(stage)
    with Store(tmp_path) as store:
        store.run(RegisterGame(go_game(), "arena"))
        store.run(RegisterGame(go_game("other"), "arena"))
    turn, halfway = 0, False
    while not halfway:
        with Store(tmp_path) as store:
            learn(store, contests=10, first=10 * turn)
            learn(store, contests=6, first=6 * turn, game_id="other")
            before = stored(store)
        process = start_python(COMPACTOR, str(tmp_path))
        while process.stdout.readline() != f"{stage}\n":
            pass
        time.sleep(chance.uniform(0.0, seconds))
        process.send_signal(signal.SIGKILL)
        output, _ = process.communicate(timeout=180)
        turn += 1
        if "done" in output:
            seconds /= 2
        else:
            halfway = True
        with Store(tmp_path) as store:
            with store.environment.reading() as transaction:
                assert transaction.count(TableName.EVENTS) >= 5
            assert stored(store) == before
            assert list(check(store.environment)) == []
    with Store(tmp_path) as store:
        assert compact(store, keep=5).left == 5
        assert list(check(store.environment)) == []
