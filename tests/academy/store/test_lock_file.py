"""The lock file: it has its room on the disk before LMDB writes to it through a map."""

import errno
import os
import stat
from pathlib import Path

import pytest

from academy.store import lock_file
from academy.store.environment import Environment, TableName
from academy.store.errors import StoreFullError
from academy.store.page_scan import find_damage


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that was written, copied without its lock file."""
    data = tmp_path / "data"
    with Environment(data) as environment:
        environment.write(lambda transaction: transaction.put(TableName.META, b"key", b"value"))
    (data / "lock.mdb").unlink()
    return data


def fill_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave no room for more, which not every user can really do."""

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", fail)


@pytest.mark.parametrize("hollow", [False, True], ids=["missing", "with holes"])
@pytest.mark.parametrize("read_only", [False, True], ids=["written", "read"])
def test_new_lock_file_has_its_full_size_on_disk(folder: Path, hollow: bool, read_only: bool) -> None:
    file = folder / "lock.mdb"
    if hollow:
        file.touch(0o600)
        os.truncate(file, 100_000)
    with Environment(folder, read_only=read_only):
        status = file.stat()
    full = folder.parent / "full"
    full.write_bytes(b"x" * status.st_size)
    assert status.st_blocks >= full.stat().st_blocks
    assert stat.S_IMODE(status.st_mode) == 0o600


def test_a_scan_for_damage_makes_a_lock_file_for_its_owner_only(folder: Path) -> None:
    assert find_damage(folder) == []
    assert stat.S_IMODE((folder / "lock.mdb").stat().st_mode) == 0o600


def test_a_lock_file_in_use_keeps_its_length(folder: Path) -> None:
    with Environment(folder):
        size = (folder / "lock.mdb").stat().st_size
    with (folder / "lock.mdb").open("r+b") as file:
        lock_file.allocate(file.fileno())
    assert (folder / "lock.mdb").stat().st_size == size


def test_without_room_a_folder_is_not_opened_for_writing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_the_disk(monkeypatch)
    with pytest.raises(StoreFullError, match="no room left on the disk"):
        Environment(folder)


def test_unused_folder_is_read_without_lock_on_a_full_disk(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    fill_the_disk(monkeypatch)
    with Environment(folder, read_only=True) as environment, environment.reading() as transaction:
        assert transaction.get(TableName.META, b"key") == b"value"
    assert "start no server meanwhile" in caplog.text


def test_without_room_a_folder_in_use_is_read_with_its_lock(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    Environment(folder).close()
    # As programs before this one left it: its end is a hole.
    os.truncate(folder / "lock.mdb", 1 << 20)
    fill_the_disk(monkeypatch)
    with Environment(folder, read_only=True) as environment, environment.reading() as transaction:
        assert transaction.get(TableName.META, b"key") == b"value"
    assert caplog.text == ""
    with pytest.raises(StoreFullError):
        Environment(folder)
