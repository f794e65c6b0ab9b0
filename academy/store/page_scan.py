"""Damage of a data folder's file, found by a process that reads all of it.

LMDB keeps no checksums and trusts its pages: a damaged one can end the process that reads it. So a child
process opens the folder, walks every table, looks up every key, and has LMDB copy all pages to nowhere. A
child that a signal ends has met damage; memory that it shares says where.
"""

import errno
import mmap
import os
import signal
import struct
import subprocess
import sys
from pathlib import Path
from typing import Final

import lmdb

from academy.store import lock_file
from academy.store.errors import StoreError

_MOST_TABLES: Final = 256
_FAULTY: Final = 4
_UNREAD: Final = 5
# What keeps a process from a file says nothing of the file.
_NOT_OF_THE_FILE: Final = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOMEM, errno.EMFILE, errno.ENFILE}
# The record that is read now: a description, and its key.
_PLACE: Final = struct.Struct("<H509sH511s")
_DESCRIPTION: Final = struct.Struct("<H509s")
_KEY: Final = struct.Struct("<H511s")


def find_damage(folder: Path) -> list[str]:
    """Return what is wrong with a folder's file, by table and record; others may use the folder meanwhile.

    An empty list does not mean that the records' contents are right. Raises StoreError where this user may
    not read it, or the machine has no room to.
    """
    shared = os.memfd_create("academy-scan")
    try:
        os.ftruncate(shared, _PLACE.size)
        scan = subprocess.run(
            [sys.executable, "-P", "-m", __name__, str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=shared,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            check=False,
        )
        length, description, key_length, key = _PLACE.unpack(os.pread(shared, _PLACE.size, 0))
    finally:
        os.close(shared)
    if scan.returncode == 0:
        return []
    if scan.returncode == _FAULTY:
        return scan.stderr.splitlines()
    if scan.returncode == _UNREAD:
        raise StoreError(f"{folder}: {scan.stderr.strip()}; check owner, mode and this user's limits")
    if scan.returncode > 0:
        raise RuntimeError(f"the scan of {folder} failed: {scan.stderr.strip()}")
    place = description[:length].decode(errors="replace")
    record = f" at record {show_key(key[:key_length])!r}" if key_length else ""
    return [f"{place} cannot be read{record}: a page is damaged ({signal.Signals(-scan.returncode).name})"]


def missing_pages(folder: Path, environment: lmdb.Environment) -> str:
    """Say how much of its end a file lacks, empty where it lacks nothing.

    That is not damage by itself: LMDB does not write pages at the end that it has no use for.
    """
    pages, page_size = environment.info()["last_pgno"] + 1, environment.stat()["psize"]
    # Last, as others may be writing.
    there = (folder / "data.mdb").stat().st_size // page_size
    if there >= pages:
        return ""
    return f"the file ends after page {there - 1}, its data after page {pages - 1}; "


class _Scan:
    """One pass over a folder, in a process of its own whose standard output is the shared memory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._place = mmap.mmap(sys.stdout.fileno(), _PLACE.size)
        self._missing = ""

    def run(self) -> list[str]:
        if not (self._folder / "data.mdb").stat().st_size:
            return ["data.mdb is empty"]
        findings: list[str] = []
        try:
            with lmdb.open(
                str(self._folder),
                readonly=True,
                max_dbs=_MOST_TABLES,
                max_readers=lock_file.MAX_READERS,
                lock=lock_file.reserve(self._folder, read_only=True),
            ) as environment:
                self._missing = missing_pages(self._folder, environment)
                self._note("the list of tables")
                with environment.begin() as transaction, transaction.cursor() as cursor:
                    names = [bytes(name) for name in cursor.iternext(values=False)]
                for name in names:
                    findings += self._scan_table(environment, name)
                self._note("the list of free pages")
                # LMDB walks all pages in use and all free ones, and compares their number with the file's.
                with Path(os.devnull).open("wb") as nowhere:
                    environment.copyfd(nowhere.fileno(), compact=True)
        except lmdb.Error as error:
            # LMDB begins with the folder, which the caller knows.
            what = f"data.mdb cannot be read: {str(error).removeprefix(f'{self._folder}: ')}"
            if getattr(error, "code", 0) in _NOT_OF_THE_FILE:
                raise StoreError(what) from error
            findings.append(what)
        return [f"{self._missing}{finding}" for finding in findings]

    def _scan_table(self, environment: lmdb.Environment, name: bytes) -> list[str]:
        """Read each record of a table in order, and by its key."""
        title = f"table {show_key(name)!r}"
        self._note(title)
        count, previous = 0, b""
        try:
            table = environment.open_db(name, create=False)
            with environment.begin(db=table) as transaction, transaction.cursor() as cursor:
                expected = transaction.stat(table)["entries"]
                for key, value in cursor:
                    _KEY.pack_into(self._place, _DESCRIPTION.size, len(key), key)
                    if key <= previous:
                        return [f"{title}: record {show_key(key)!r} is out of order"]
                    if transaction.get(key) != value:
                        return [f"{title}: record {show_key(key)!r} is not found by its key"]
                    count, previous = count + 1, key
        except lmdb.Error as error:
            after = f" after record {show_key(previous)!r}" if count else ""
            return [f"{title} cannot be read{after}: {error}"]
        return [] if count == expected else [f"{title} has {count:,} records; it says {expected:,}"]

    def _note(self, description: str) -> None:
        content = f"{self._missing}{description}".encode()
        _PLACE.pack_into(self._place, 0, min(len(content), 509), content, 0, b"")


def show_key(key: bytes) -> str:
    """Return a record's key as text, whatever its bytes are."""
    return key.decode(errors="backslashreplace")


if __name__ == "__main__":
    try:
        damage = _Scan(Path(sys.argv[1])).run()
    except StoreError as unread:
        print(unread, file=sys.stderr)
        sys.exit(_UNREAD)
    print(*damage, sep="\n", file=sys.stderr)
    sys.exit(_FAULTY if damage else 0)
