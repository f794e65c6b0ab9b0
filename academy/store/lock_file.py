"""The file by which LMDB's users of a folder know of each other, given its room on the disk beforehand.

LMDB makes it without any, maps it into memory and writes there. Where the disk is full then, the first write
ends the process with a bus error and no word.
"""

import fcntl
import os
from pathlib import Path
from typing import Final

from academy.store.errors import NO_ROOM, StoreFullError

MAX_READERS: Final = 1_024
_NAME: Final = "lock.mdb"
# LMDB takes 64 bytes for each reader and less than a page before them.
_SIZE: Final = 64 * MAX_READERS + 4_096
_BYTES_A_BLOCK: Final = 512


def reserve(folder: Path, *, read_only: bool = False) -> bool:
    """Give the file its room before LMDB opens the folder; return whether LMDB can use it.

    It cannot where there is no room on the disk and the file was never used: no process has the folder open
    then, and it can be read without locking (`read_only`). Raises StoreFullError where it cannot be written.
    This process must not have the folder open.
    """
    file = folder / _NAME
    try:
        status = file.stat()
        # A process that closes any handle of it loses LMDB's locks, so it is not opened without need.
        if status.st_size and status.st_blocks * _BYTES_A_BLOCK >= status.st_size:
            return True
    except OSError:
        # The next step repairs or reports it.
        pass
    try:
        handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        if error.errno in NO_ROOM:
            return _go_without(folder, read_only, error)
        # LMDB reports other hindrances, and reads where nothing can be written.
        return True
    try:
        allocate(handle)
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        # LMDB begins a file that it uses with a number: its first part has its room already.
        in_use = any(os.pread(handle, 4, 0))
        return (in_use and read_only) or _go_without(folder, read_only, error)
    finally:
        os.close(handle)
    return True


def allocate(handle: int) -> None:
    """Give an open lock file room for all that may be written to it. Raises OSError."""
    # One in use keeps its length, as others have mapped so much of it.
    os.posix_fallocate(handle, 0, os.fstat(handle).st_size or _SIZE)


def try_alone(handle: int) -> bool:
    """Keep other processes out of the folder while a lock file is open; False where one is in it."""
    try:
        # LMDB's users hold the first byte together.
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 0, os.SEEK_SET)
    except OSError:
        return False
    return True


def _go_without(folder: Path, read_only: bool, error: OSError) -> bool:
    if read_only:
        return False
    raise StoreFullError(
        f"{folder}: no room left on the disk or in the quota; make room, try again"
    ) from error
