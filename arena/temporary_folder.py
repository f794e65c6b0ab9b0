"""Folders that live as long as a block; what a process that was killed amid it left, the next one removes."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

__all__ = ["temporary_folder"]

# Nothing else of a user begins with this.
_PREFIX: Final = ".academy-arena-"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a private folder among the system's temporary ones; yields its path.

    A lock on the folder says that its process lives. Folders of this user without one are removed first.
    """
    _remove_abandoned(Path(tempfile.gettempdir()))
    descriptor, folder = _locked_folder()
    try:
        yield folder
    finally:
        # What a player writes there meanwhile stays for the next one.
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def _locked_folder() -> tuple[int, Path]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        # Another process may come between, and remove it as abandoned.
        try:
            descriptor = os.open(folder, os.O_RDONLY)
        except FileNotFoundError:
            continue
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if folder.exists():
            return descriptor, folder
        os.close(descriptor)


def _remove_abandoned(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*"):
        # Another process may remove it at the same time.
        with contextlib.suppress(OSError):
            _remove_if_abandoned(folder)


def _remove_if_abandoned(folder: Path) -> None:
    if folder.lstat().st_uid != os.getuid():
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(descriptor)
