"""Whether the servers of a data folder ended well: if not, its pages are looked through.

A server holds a locked file in the folder as long as it serves, and takes it away at its end. One that is
there and not locked was left behind.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from academy.store import pages
from academy.store.errors import StoreCorrupt, StoreReadOnly

FOLDER: Final = "serving"
_FINDINGS_TOLD: Final = 3


@contextmanager
def serving(data: Path) -> Iterator[None]:
    """Serve a folder; this process must not have it open yet.

    Raises StoreCorrupt where a server before did not end well and pages are damaged, StoreReadOnly where the
    folder takes no files.
    """
    folder = data / FOLDER
    with _writing(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        left_behind = [each for each in folder.iterdir() if _is_left_behind(each)]
    if left_behind:
        check_pages(data)
    with _writing(folder):
        for each in left_behind:
            each.unlink(missing_ok=True)
        own = folder / f"{os.getpid()}"
        handle = os.open(own, os.O_WRONLY | os.O_CREAT, 0o600)
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        yield
        # Not after a failure: the next start is to look.
        own.unlink(missing_ok=True)
    finally:
        os.close(handle)


def check_pages(data: Path) -> None:
    """Raise StoreCorrupt where pages are damaged. This process must not have the folder open."""
    if not (data / "data.mdb").exists():
        return
    found = list(pages.damage(data))
    if found:
        more = f" and {len(found) - _FINDINGS_TOLD} more" if len(found) > _FINDINGS_TOLD else ""
        raise StoreCorrupt(
            f"{data}: {'; '.join(found[:_FINDINGS_TOLD])}{more}; stop its servers, keep it for inspection, "
            "restore a backup into another folder, and check the disk"
        )


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        raise StoreReadOnly(
            f"{folder}: cannot be written ({fault.strerror}); check owner and mode"
        ) from fault


def _is_left_behind(marker: Path) -> bool:
    try:
        with marker.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, FileNotFoundError):
        return False
    return True


if __name__ == "__main__":
    import sys

    try:
        check_pages(Path(sys.argv[1]))
    except StoreCorrupt as fault:
        sys.exit(str(fault))
