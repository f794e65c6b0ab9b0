"""How the functions of this package are compiled, and where Numba keeps their machine code."""

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import llvmlite.binding as llvm
import numba
import numpy as np

Function = TypeVar("Function", bound=Callable[..., object])
CACHE_VARIABLE: Final = "NUMBA_CACHE_DIR"
_UNUSED_SECONDS: Final = 30 * 86_400.0
_MATCHING: Final = Path(__file__).resolve().parents[1]
# What the compiled functions take from outside their package.
_ALSO_COMPILED: Final = ("anchoring.py", "board_tables.py", "matches.py", "rows.py", "successors.py")


def cache_folder() -> Path:
    """Return the folder of this version's machine code.

    It is in NUMBA_CACHE_DIR if that is set, else in $XDG_CACHE_HOME/academy or ~/.cache/academy. Numba
    executes what is there, so a folder that others can write is not used: a new one is, for this process
    alone.
    """
    chosen = os.environ.get(CACHE_VARIABLE)
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    folder = Path(chosen) if chosen else caches / "academy"
    if not chosen and not _is_private(folder):
        folder = Path(tempfile.mkdtemp(prefix="academy-"))
    return folder / f"matching-{_version_digest()}"


def _is_private(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat(follow_symlinks=False)
    except OSError:
        return False
    return (
        status.st_uid == os.getuid() and not status.st_mode & 0o022 and os.access(folder, os.W_OK | os.X_OK)
    )


def _version_digest() -> str:
    # Numba itself looks only at the file of the function that is called, not at those called there.
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {_MATCHING}".encode())
    digest.update(f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}".encode())
    for source in (
        *sorted((_MATCHING / "compiled").glob("*.py")),
        *(_MATCHING / name for name in _ALSO_COMPILED),
    ):
        # Numba compiles a file with a new time again, even where its text is the same.
        digest.update(source.read_bytes() + str(source.stat().st_mtime_ns).encode())
    return digest.hexdigest()[:16]


FOLDER: Final = cache_folder()
_COMPLETE: Final = FOLDER / "complete"


def compiled(function: Function) -> Function:
    """Compile a function that other compiled functions call; a call from Python crashes the process.

    What Python needs to call a function, and a file for each, would take a third of all time to compile.
    Numba compiles a function for each type of its arguments, and a literal has a type of its own: so callers
    write `len(records)` of an empty array where they mean 0, or `signed(1)`. They copy arrays in loops: for
    each assignment to a slice Numba compiles the message that the shapes differ, a quarter of all time.
    """
    options = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(Function, cast(Any, numba).njit(**options)(function))


def entry(function: Function) -> Function:
    """Compile a function that Python calls, and keep it with all that it calls on disk.

    It runs without the interpreter's lock.
    """
    # The folder is chosen when a function is declared; other users of Numba keep theirs.
    folder_of_others = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(FOLDER)
    try:
        return cast(Function, cast(Any, numba).njit(nogil=True, cache=True)(function))
    finally:
        numba.config.CACHE_DIR = folder_of_others


# LLVM then computes a bank's eight words at once; the loop over all rows takes 2.4 times as long without
# (benchmarks/matching.py).
numba.config.SLP_VECTORIZE = 1


def is_complete() -> bool:
    """Whether all machine code of this version is kept."""
    return _COMPLETE.exists()


def note_complete() -> None:
    """Remember that all machine code of this version is kept; remove versions made more than 30 days ago."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    _COMPLETE.touch()
    for other in FOLDER.parent.glob("matching-*"):
        if other != FOLDER and other.stat().st_mtime < time.time() - _UNUSED_SECONDS:
            shutil.rmtree(other, ignore_errors=True)
