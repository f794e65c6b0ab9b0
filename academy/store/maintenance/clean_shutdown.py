"""Record whether the servers of a data folder ended well; if not, check its pages.

A server holds a locked file, its marker, in the folder as long as it serves, and takes it away at its end.
One that is there and not locked was left behind. Servers look and make their markers one after the other.
"""

import errno
import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from academy.store import page_scan
from academy.store.errors import NO_ROOM, StoreCorruptError, StoreError, StoreFullError, StoreReadOnlyError

FOLDER: Final = "serving"
_TURN: Final = ".lock"
_FINDINGS_LISTED: Final = 3


@contextmanager
def serving(data: Path, harmless: tuple[type[Exception], ...] = ()) -> Iterator[Path]:
    """Serve a folder; this process must not have it open yet. Yields the marker.

    A server may `note` in its marker what must be undone should it be killed; who takes its place finds
    that in his own.

    A failure ends a server badly, and the next start looks through the pages, unless it is one of `harmless`.
    Raises StoreCorruptError where a server before did not end well and pages are damaged, StoreReadOnlyError
    or StoreFullError where the folder takes no files, StoreError where its file system cannot lock them.
    """
    folder = data / FOLDER
    with _turn(folder):
        left_behind = [marker for marker in markers(data) if _is_left_behind(marker)]
        if left_behind:
            check_pages(data)
        with _writing(folder):
            # Servers in two containers may have the same process id.
            own = folder / f"{os.getpid()}-{secrets.token_hex(8)}"
            handle = os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            for marker in left_behind:
                for what in read_notes(marker):
                    note(own, what)
                marker.unlink(missing_ok=True)
        _lock(handle, own)
    try:
        yield own
    except harmless:
        own.unlink(missing_ok=True)
        raise
    else:
        own.unlink(missing_ok=True)
    finally:
        os.close(handle)


def note(marker: Path, what: str) -> None:
    """Add a line to a marker."""
    with marker.open("a", encoding="utf-8") as file:
        file.write(f"{what}\n")


def read_notes(marker: Path) -> list[str]:
    """The lines of a marker; one that was being written when its server was killed may be cut."""
    return marker.read_text(encoding="utf-8", errors="replace").splitlines()


def markers(data: Path) -> list[Path]:
    """The files of the servers that serve a folder or did not end well."""
    return [path for path in (data / FOLDER).iterdir() if path.name != _TURN]


def check_pages(data: Path) -> None:
    """Raise StoreCorruptError where a folder's file is damaged."""
    findings = page_scan.find_damage(data) if (data / "data.mdb").exists() else []
    if findings:
        more = f" and {len(findings) - _FINDINGS_LISTED} more" if len(findings) > _FINDINGS_LISTED else ""
        raise StoreCorruptError(
            f"{data}: {'; '.join(findings[:_FINDINGS_LISTED])}{more}; stop its servers, keep it for "
            "inspection, restore a backup into another folder, and check the disk"
        )


@contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """Wait until no other server of this folder is starting, and keep others from it meanwhile."""
    with _writing(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(folder / _TURN, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _lock(handle, folder / _TURN)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, file: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError as error:
        raise StoreError(
            f"{file}: cannot be locked ({error.strerror}); keep the data folder on a local disk, "
            "or on a file system that knows flock"
        ) from error


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise StoreFullError(f"{folder}: no room left on the disk or in the quota; make room") from error
        remedy = "mount it for writing" if error.errno == errno.EROFS else "check owner and mode"
        raise StoreReadOnlyError(f"{folder}: cannot be written ({error.strerror}); {remedy}") from error


def _is_left_behind(marker: Path) -> bool:
    try:
        with marker.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Its server may have ended well since it was seen.
            return marker.exists()
    except (BlockingIOError, FileNotFoundError):
        return False
