"""Copies of a data folder: made while servers run, and put back into an empty folder."""

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from academy.store import event_log, page_scan
from academy.store.environment import SCHEMA_VERSION, Environment, TableName
from academy.store.errors import StoreCorruptError, StoreError, StoreFullError
from academy.store.maintenance.upgrade import as_written, upgrade_copy

_NOTE: Final = "last_backup"
_DRAFT: Final = ".download-"
_COPY: Final = ".academy-copy-"
# What may be left of a copy whose process was killed.
_DRAFTED: Final = {"data.mdb", "lock.mdb"}
_DRAFT_SECONDS: Final = 86_400.0
# How far clocks of this machine and of a disk elsewhere may differ.
_AHEAD_SECONDS: Final = 3_600.0


def backup(environment: Environment, target: Path) -> int:
    """Write a compact copy of one moment into a folder that is missing or empty; return its bytes.

    The folder appears complete or not at all. Raises StoreError where it is not empty or cannot be written.
    """
    size = place_copy(target, environment)
    note_backup(environment.folder)
    return size


def note_backup(folder: Path) -> None:
    """Note for those who watch over backups that there is one of now.

    One that cannot be noted, as on a full disk, is a backup nevertheless.
    """
    note = folder / _NOTE
    with suppress(OSError):
        try:
            note.touch(mode=0o600)
        except PermissionError:
            # Another user's, who may have been root.
            note.unlink()
            note.touch(mode=0o600)


def open_copy(environment: Environment) -> BinaryIO:
    """Return a verified copy of one moment as an open file, which is gone once it is closed.

    It needs room beside the data. It is not a backup before it has been sent: see `note_backup`. Raises
    StoreError.
    """
    with draft_in(environment.folder, _DRAFT, _DRAFT_SECONDS) as draft:
        target = draft / "copy"
        place_copy(target, environment)
        # On Linux an open file stays readable when its name is gone.
        return (target / "data.mdb").open("rb")


def place_received(parts: Iterable[bytes], target: Path) -> int:
    """Write a copy that came in parts into a folder that is missing or empty; return its bytes.

    The folder appears complete and verified, or not at all. Raises StoreError, StoreCorruptError.
    """
    with _draft_of(target) as draft:
        data = draft / "data.mdb"
        data.touch(mode=0o600)
        with data.open("wb") as file:
            file.writelines(parts)
    return (target / data.name).stat().st_size


def last_backup(folder: Path) -> float | None:
    """When a folder was backed up last, in seconds since 1970; None where that is not known.

    So it is where a clock was wrong then: an age from a date that is to come would be 0 until that day.
    """
    try:
        noted = (folder / _NOTE).stat().st_mtime
    except OSError:
        return None
    return noted if noted < time.time() + _AHEAD_SECONDS else None


def restore(source: Path, target: Path) -> int:
    """Put a backup into a folder that is missing or empty; return its bytes.

    The copy is brought up to this program's schema version, and verified before it appears. This user may
    write it, and others may not read it, whatever the backup's permissions are. Raises StoreError,
    StoreCorruptError, SchemaMismatchError.
    """
    if (source / "data.mdb").exists():
        _check_pages(source)
    with as_written(source) as environment:
        return place_copy(target, environment, for_others=False)


def verify(folder: Path) -> None:
    """Check that a copy opens and its log has no gaps. Raises StoreCorruptError, SchemaMismatchError."""
    _check_pages(folder)
    with Environment(folder, read_only=True) as environment, environment.reading() as transaction:
        first, last = event_log.first_sequence(transaction), event_log.last_sequence(transaction)
        expected = last - first + 1 if last else 0
        logged = transaction.count(TableName.EVENTS)
        whole = first <= event_log.last_compacted(transaction) + 1
        if not (whole and expected == logged == transaction.count(TableName.EVENTS_BY_GAME)):
            raise StoreCorruptError(
                f"{folder}: {logged:,} events are stored, the first is number {first:,}, "
                f"the last is number {last:,}"
            )


def _check_pages(folder: Path) -> None:
    for what in page_scan.find_damage(folder):
        raise StoreCorruptError(f"{folder}: {what}; take another backup, and keep this one for inspection")


def place_copy(target: Path, environment: Environment, *, for_others: bool = True) -> int:
    """Do as `backup` does, for a copy that is none for those who watch over backups.

    It gets the permissions of the data, `for_others` those of others too.
    """
    is_new = not target.exists()
    with _draft_of(target) as draft:
        environment.copy(draft)
        if environment.schema != SCHEMA_VERSION:
            upgrade_copy(draft)
        data = draft / "data.mdb"
        _let_in(environment.folder / data.name, data, for_others)
    if is_new:
        _let_in(environment.folder, target, for_others)
    return (target / data.name).stat().st_size


def _let_in(source: Path, copy: Path, for_others: bool) -> None:
    """Give a copy the permissions of its source."""
    mode = stat.S_IMODE(source.stat().st_mode)
    if not for_others:
        mode = mode & 0o770 | (0o700 if copy.is_dir() else 0o600)
    copy.chmod(mode)


@contextmanager
def draft_in(folder: Path, prefix: str, left_seconds: float) -> Iterator[Path]:
    """Give a new folder in a folder, and remove what killed processes left there `left_seconds` ago."""
    for left in folder.glob(f"{prefix}*"):
        # Another process's may be in use; and it may remove it meanwhile.
        with suppress(FileNotFoundError):
            # Its date is one to come where a clock was wrong then.
            if abs(time.time() - left.stat().st_mtime) > left_seconds:
                shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=folder) as draft:
        yield Path(draft)


@contextmanager
def _draft_of(target: Path) -> Iterator[Path]:
    """Give a folder beside the target for a copy; then verify it, make it durable, and move it into place."""
    _check_empty(target)
    # One that is there stays: something may be mounted on it, or it is somebody's working folder.
    place = target if target.exists() else target.parent
    try:
        place.mkdir(parents=True, exist_ok=True)
        for left in filter(_is_left, place.glob(f"{_COPY}*")):
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=_COPY, dir=place) as name:
            draft = Path(name)
            yield draft
            verify(draft)
            (draft / "lock.mdb").unlink(missing_ok=True)
            sync(draft / "data.mdb")
            sync(draft)
            if place == target:
                # What came meanwhile is not replaced.
                _check_empty(target)
                (draft / "data.mdb").rename(target / "data.mdb")
            else:
                draft.rename(target)
            sync(place)
    except StoreFullError as error:
        # Only the copy is written, also where LMDB names the other folder.
        raise StoreFullError(
            f"{target}: no room left on the disk or in the quota; make room; nothing was written"
        ) from error
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(f"{target}: {error.strerror}; nothing was written") from error


def _is_left(draft: Path) -> bool:
    """Whether a copy was killed long ago while it was made; people's own folders hold other things."""
    try:
        names = {file.name for file in draft.iterdir()}
        return names <= _DRAFTED and abs(time.time() - draft.stat().st_mtime) > _DRAFT_SECONDS
    except OSError:
        # It is gone, or no folder.
        return False


def _check_empty(target: Path) -> None:
    """Raise StoreError for a target that holds something besides copies that were killed."""
    if not target.exists():
        return
    if not target.is_dir() or not all(map(_is_nobodys, target.iterdir())):
        raise StoreError(f"{target}: must be an empty folder, or none; nothing was written")


def _is_nobodys(file: Path) -> bool:
    # The second is made with a file system, which may be mounted here.
    return file.is_dir() and (file.name.startswith(_COPY) or file.name == "lost+found")


def sync(path: Path) -> None:
    """Write a file or folder to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
