"""Backups: whole, of one moment, and put back only where nothing is lost."""

import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from academy.store import event_log
from academy.store.contest_commands import ReportContest
from academy.store.environment import TableName
from academy.store.errors import StoreCorruptError, StoreError
from academy.store.library_store import Store
from academy.store.maintenance import backup as backup_module
from academy.store.maintenance.backup import backup, last_backup, open_copy, restore, verify
from academy.store.maintenance.check import check
from tests.academy.store.examples import learn, report

TO_COME = 4_000_000_000.0


def test_a_backup_restored_is_the_same_store(store: Store, tmp_path: Path) -> None:
    learn(store, contests=5)
    size = backup(store.environment, tmp_path / "backups" / "monday")
    learn(store, contests=1, first=5)
    restored = restore(tmp_path / "backups" / "monday", tmp_path / "restored")
    assert size == restored == (tmp_path / "backups" / "monday" / "data.mdb").stat().st_size
    with Store(tmp_path / "restored") as again:
        assert (
            again.read(event_log.read_page, 100)[0]
            == store.read(event_log.read_page, again.read(event_log.last_sequence))[0]
        )
        assert not list(check(again.environment))
        # Life goes on in it.
        learn(again, contests=1, first=5)
        assert again.read(event_log.last_sequence) == store.read(event_log.last_sequence)
        assert not list(check(again.environment))


def test_a_backup_while_writing_is_of_one_moment(store: Store, tmp_path: Path) -> None:
    enough = threading.Event()

    def write() -> None:
        number = 0
        while not enough.is_set():
            store.run(ReportContest(report(f"c{number}", plies=20), "arena"))
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(3):
            backup(store.environment, tmp_path / f"{number}")
    finally:
        enough.set()
        writer.join(10)
    for number in range(3):
        with Store(tmp_path / f"{number}") as copy:
            assert not list(check(copy.environment))


def test_a_copy_to_send_is_not_a_backup_yet(store: Store, tmp_path: Path) -> None:
    learn(store, contests=1)
    with open_copy(store.environment) as copy:
        assert copy.read(1)
    assert last_backup(store.environment.folder) is None
    backup(store.environment, tmp_path / "backup")
    assert last_backup(store.environment.folder) is not None
    # The clock was years ahead then.
    os.utime(store.environment.folder / "last_backup", (TO_COME, TO_COME))
    assert last_backup(store.environment.folder) is None


def test_a_copy_to_send_removes_what_a_server_killed_long_ago_left(store: Store) -> None:
    long_ago, to_come, just_now = (store.environment.folder / f".download-{number}" for number in range(3))
    for draft in (long_ago, to_come, just_now):
        draft.mkdir()
    os.utime(long_ago, (0, 0))
    os.utime(to_come, (TO_COME, TO_COME))
    open_copy(store.environment).close()
    # Another server's may be in use.
    assert [draft.exists() for draft in (long_ago, to_come, just_now)] == [False, False, True]


@pytest.mark.parametrize("act", ["backup", "restore"])
def test_a_backup_or_restore_into_a_folder_with_files_is_refused(
    store: Store, tmp_path: Path, act: str
) -> None:
    backup(store.environment, tmp_path / "source")
    target = tmp_path / "target"
    target.mkdir()
    (target / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match="must be an empty folder"):
        if act == "backup":
            backup(store.environment, target)
        else:
            restore(tmp_path / "source", target)
    assert [path.name for path in target.iterdir()] == ["notes.txt"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "source", "target"]


@pytest.mark.parametrize(("folder", "file"), [(0o700, 0o600), (0o750, 0o640)])
def test_a_copy_is_readable_for_those_that_may_read_the_data(
    store: Store, tmp_path: Path, folder: int, file: int
) -> None:
    store.environment.folder.chmod(folder)
    (store.environment.folder / "data.mdb").chmod(file)
    backup(store.environment, tmp_path / "copy")
    restore(tmp_path / "copy", tmp_path / "restored")
    for copy in ("copy", "restored"):
        modes = [(tmp_path / copy).stat().st_mode, (tmp_path / copy / "data.mdb").stat().st_mode]
        assert [stat.S_IMODE(mode) for mode in modes] == [folder, file]


@pytest.mark.parametrize(("folder", "file"), [(0o755, 0o644), (0o555, 0o444)])
def test_a_restored_folder_can_be_written_and_others_cannot_read_it(
    store: Store, tmp_path: Path, folder: int, file: int
) -> None:
    backup(store.environment, tmp_path / "copy")
    (tmp_path / "copy" / "data.mdb").chmod(file)
    (tmp_path / "copy").chmod(folder)
    restore(tmp_path / "copy", tmp_path / "restored")
    for restored in (tmp_path / "restored", tmp_path / "restored" / "data.mdb"):
        assert restored.stat().st_mode & 0o607 == 0o600


def test_a_note_of_a_backup_that_another_user_made_is_made_by_this_one(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = store.environment.folder / "last_backup"
    note.touch()
    os.utime(note, (0, 0))
    touch = Path.touch

    def refused(path: Path, *more: Any, **others: Any) -> None:
        if path == note and path.exists():
            raise PermissionError
        touch(path, *more, **others)

    monkeypatch.setattr(Path, "touch", refused)
    backup(store.environment, tmp_path / "copy")
    assert (last_backup(store.environment.folder) or 0.0) > 1.0


@pytest.mark.parametrize("how", ["here", "link"])
def test_an_empty_target_folder_is_filled_and_keeps_its_mode(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    target = tmp_path / "target"
    target.mkdir()
    # What a copy left that was killed while it was made.
    (target / ".academy-copy-left").mkdir()
    # Every new file system has one.
    (target / "lost+found").mkdir()
    target.chmod(0o2770)
    (tmp_path / "link").symlink_to(target)
    before = target.stat().st_ino
    monkeypatch.chdir(target)
    backup(store.environment, Path() if how == "here" else tmp_path / "link")
    verify(target)
    assert target.stat().st_ino == before and stat.S_IMODE(target.stat().st_mode) == 0o2770


def test_what_killed_copies_left_long_ago_is_removed_and_nothing_else(store: Store, tmp_path: Path) -> None:
    left, own, just_now = (tmp_path / f".academy-copy-{name}" for name in ("left", "own", "new"))
    for folder in (left, own, just_now):
        folder.mkdir()
        (folder / "data.mdb").touch()
    (own / "thesis.txt").touch()
    for folder in (left, own):
        os.utime(folder, (0, 0))
    backup(store.environment, tmp_path / "copy")
    assert [folder.exists() for folder in (left, own, just_now)] == [False, True, True]


def test_what_came_into_a_folder_meanwhile_is_not_replaced(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "target"
    target.mkdir()
    monkeypatch.setattr(backup_module, "verify", lambda draft: (target / "data.mdb").write_text("mine"))
    with pytest.raises(StoreError, match="must be an empty folder"):
        backup(store.environment, target)
    assert (target / "data.mdb").read_text() == "mine"


def test_a_backup_into_a_folder_with_a_file_named_like_a_copy_is_refused(
    store: Store, tmp_path: Path
) -> None:
    (tmp_path / ".academy-copy-notes.txt").touch()
    with pytest.raises(StoreError, match="must be an empty folder"):
        backup(store.environment, tmp_path)


def test_what_is_not_a_backup_is_not_restored(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    with pytest.raises(StoreError, match="holds no data of ACADEMY"):
        restore(tmp_path / "source", tmp_path / "target")
    (tmp_path / "source" / "data.mdb").write_bytes(b"x" * 100_000)
    with pytest.raises(StoreCorruptError):
        restore(tmp_path / "source", tmp_path / "target")
    assert not (tmp_path / "target").exists()


def test_a_backup_with_a_hole_in_its_log_is_not_restored(store: Store, tmp_path: Path) -> None:
    learn(store)
    backup(store.environment, tmp_path / "source")
    with Store(tmp_path / "source") as spoilt:
        spoilt.environment.write(lambda transaction: transaction.delete(TableName.EVENTS, (2).to_bytes(8)))
    with pytest.raises(StoreCorruptError, match="the last is number"):
        restore(tmp_path / "source", tmp_path / "target")
    assert not (tmp_path / "target").exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
