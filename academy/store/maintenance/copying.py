"""A compact copy of a data folder's file, written by a process of its own.

The process that asks goes on with a map that it may make larger meanwhile: LMDB's own map must stay as it is
while LMDB copies from it.
"""

import subprocess
import sys
from pathlib import Path
from typing import Final

import lmdb

from academy.store import lock_file
from academy.store.errors import StoreError

_COMMAND: Final = (sys.executable, "-P", "-m", "academy.store.maintenance.copying")
_REFUSED: Final = 4


def copy_data(folder: Path, target: Path) -> None:
    """Write a compact copy of one moment of a folder into another one. Raises lmdb.Error and StoreError."""
    copier = subprocess.run(
        [*_COMMAND, str(folder), str(target)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    if copier.returncode == _REFUSED:
        kind, code, what = copier.stderr.split(maxsplit=2)
        error = getattr(lmdb, kind)(what.strip())
        error.code = int(code)
        raise error
    if copier.returncode:
        raise StoreError(f"{folder}: its copy ended early ({copier.returncode}): {copier.stderr.strip()}")


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
        print(type(refused).__name__, getattr(refused, "code", 0), refused, file=sys.stderr)
        sys.exit(_REFUSED)
