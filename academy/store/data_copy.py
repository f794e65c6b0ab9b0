"""A compact copy of a data folder's file, written by a process of its own.

The process that asks goes on with a map that it may make larger meanwhile: LMDB's own map must stay as it is
while LMDB copies from it.
"""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import lmdb

from academy.store import lock_file
from academy.store.errors import StoreError

_COMMAND: Final = (sys.executable, "-P", "-m", "academy.store.data_copy")
_REFUSED: Final = 4


def copy_data(folder: Path, target: Path) -> None:
    """Write a compact copy of one moment of a folder into another one. Raises lmdb.Error and StoreError."""
    try:
        copier = subprocess.run(
            [*_COMMAND, str(folder), str(target)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise StoreError(f"{folder}: the process that copies it cannot be started: {error}") from error
    if copier.returncode == _REFUSED:
        # Below what the interpreter may have to say.
        kind, code, what = copier.stderr.strip().splitlines()[-1].split(maxsplit=2)
        refused = getattr(lmdb, kind)(what)
        refused.code = int(code)
        raise refused
    if copier.returncode < 0:
        name = signal.Signals(-copier.returncode).name
        raise StoreError(f"{folder}: the process that copied it was ended by {name}; try again")
    if copier.returncode:
        raise StoreError(f"{folder}: cannot be copied: {copier.stderr.strip()}")


def _copy(folder: Path, target: Path) -> None:
    with lmdb.open(
        str(folder),
        readonly=True,
        max_dbs=0,
        max_readers=lock_file.MAX_READERS,
        lock=lock_file.reserve(folder, read_only=True),
    ) as environment:
        while True:
            try:
                environment.copy(str(target), compact=True)
                return
            except lmdb.MapResizedError:
                # Another process made it larger since it was opened here.
                environment.set_mapsize(0)
                (target / "data.mdb").unlink(missing_ok=True)


if __name__ == "__main__":
    try:
        _copy(Path(sys.argv[1]), Path(sys.argv[2]))
    except lmdb.Error as refused:
        what = str(refused).replace("\n", " ")
        print(type(refused).__name__, getattr(refused, "code", 0), what, file=sys.stderr)
        sys.exit(_REFUSED)
    except (StoreError, OSError) as failed:
        sys.exit(str(failed))
