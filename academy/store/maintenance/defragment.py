"""Giving room back to the disk: a data folder's file rewritten without its empty pages.

LMDB uses empty pages again but never returns them, so this needs the folder for itself.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import lmdb

from academy.store import lock_file
from academy.store.errors import StoreBusyError, StoreError
from academy.store.maintenance.backup import sync, verify

_DRAFT: Final = "shrinking"


def shrink(folder: Path) -> tuple[int, int]:
    """Rewrite a folder's file; return its bytes before and after.

    It needs room for the copy. The old file stays until the new one is whole, verified and on the disk.
    Raises StoreBusyError while another process uses the folder, StoreError where this one does or it cannot
    be written.
    """
    data = folder / "data.mdb"
    draft = folder / _DRAFT
    if not data.exists():
        raise StoreError(f"{folder}: holds no data of ACADEMY")
    with _alone(folder) as lock:
        # What an earlier attempt left when it was killed.
        shutil.rmtree(draft, ignore_errors=True)
        before = data.stat().st_size
        try:
            draft.mkdir(mode=0o700)
            # Who holds the lock may not open the folder with LMDB's locking: closing would release it.
            with lmdb.open(str(folder), readonly=True, lock=False, max_dbs=0) as environment:
                environment.copy(str(draft), compact=True)
            verify(draft)
            copy = draft / "data.mdb"
            after = copy.stat().st_size
            copy.chmod(0o600)
            sync(copy)
            # Whoever waits for the lock would take the number of the last commit, which stands in its file,
            # for one of the new data, and might find nothing under it. It is told anew before they go on.
            os.ftruncate(lock, 0)
            lock_file.allocate(lock)
            copy.replace(data)
            sync(folder)
            lmdb.open(str(folder), max_readers=lock_file.MAX_READERS, max_dbs=0, mode=0o600).close()
        except lmdb.Error as fault:
            raise StoreError(f"{folder}: cannot be copied: {fault}; nothing was changed") from fault
        except StoreError:
            raise
        except OSError as fault:
            raise StoreError(f"{folder}: {fault.strerror}; nothing was changed") from fault
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return before, after


@contextmanager
def _alone(folder: Path) -> Iterator[int]:
    """Hold the lock by which LMDB's users of a folder know of each other, so that none can open it.

    Yields a handle of its file.
    """
    lock_file.reserve(folder)
    with (folder / "lock.mdb").open("a+b") as lock:
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 0, os.SEEK_SET)
        except OSError as fault:
            raise StoreBusyError(
                f"{folder}: another process uses it; stop its servers, then shrink it"
            ) from fault
        yield lock.fileno()
