"""How the functions of this package are compiled, and where the machine code is kept."""

import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar, cast

import llvmlite.binding as llvm
import numba

Function = TypeVar("Function", bound=Callable[..., object])
CACHE_VARIABLE: Final = "NUMBA_CACHE_DIR"
_ALL_VERSIONS: Final = "compiled"
_OTHER_VERSIONS_KEPT: Final = 4
_DAY: Final = 86_400.0
_KEPT_DAYS: Final = 30
# What the compiled functions take from outside their package.
_ALSO_COMPILED: Final = ("changes.py", "ground.py", "matches.py", "order.py", "placement_lists.py", "rows.py")

_PACKAGE: Final = Path(__file__).resolve().parent
_SOURCES: Final = (*sorted(_PACKAGE.glob("*.py")), *(_PACKAGE.parent / name for name in _ALSO_COMPILED))


def compiled(function: Function) -> Function:
    """Compile a function for machine types, kept on disk, running without the interpreter's lock."""
    return cast(Function, _njit(function))


def cache_folder() -> Path:
    """Return a folder, made if need be, that this user alone can write.

    NUMBA_CACHE_DIR if that is set, else one under $XDG_CACHE_HOME or ~/.cache, else, where neither can be
    written, one in the folder for temporary files. What is kept there is executed, so a folder of somebody
    else's is never used.
    """
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen)
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    temporary = Path(tempfile.gettempdir()) / f"academy-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    for folder in (caches / "academy", temporary):
        if _private(folder):
            return folder / _ALL_VERSIONS / _sources_digest()
    return Path(tempfile.mkdtemp(prefix="academy-"))


def _private(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        known = folder.stat(follow_symlinks=False)
    except OSError:
        return False
    if not stat.S_ISDIR(known.st_mode) or not os.access(folder, os.W_OK | os.X_OK):
        return False
    if not hasattr(os, "getuid"):
        return True
    return known.st_uid == os.getuid() and not known.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _sources_digest() -> str:
    # Numba looks only at the file of the function that is called, not of those that it calls. What it keeps
    # for one place of the sources is not used for another.
    digest = hashlib.sha256(str(_PACKAGE).encode())
    for source in _SOURCES:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


_FOLDER: Final = cache_folder()


def _compiler() -> Callable[[Callable[..., object]], object]:
    def compile_cached(function: Callable[..., object]) -> object:
        # The folder is chosen when a function is declared; other users of Numba keep theirs.
        others = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(_FOLDER)
        try:
            return numba.njit(nogil=True, cache=True)(function)
        finally:
            numba.config.CACHE_DIR = others

    return compile_cached


_njit: Final = _compiler()


def is_complete() -> bool:
    """Whether all machine code for this processor is kept already."""
    try:
        kept = _mark().read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    return bool(kept) and all((_FOLDER / name).exists() for name in kept)


def note_complete() -> None:
    """Remember that all machine code for this processor is kept; forget what other versions left."""
    kept = sorted(str(file.relative_to(_FOLDER)) for file in _FOLDER.glob(f"{_PACKAGE.name}_*/*.nb[ci]"))
    _FOLDER.mkdir(parents=True, exist_ok=True)
    whole = _FOLDER / f"{_mark().name}.{os.getpid()}"
    whole.write_text("\n".join(kept), encoding="utf-8")
    whole.replace(_mark())
    if _FOLDER.parent.name == _ALL_VERSIONS:
        forget_unused(_FOLDER, time.time())


def forget_unused(current: Path, now: float) -> None:
    """Remove the machine code of other versions of this package beside the current one's folder.

    Kept are those used in the last day, and of the others the four used last, for thirty days. `now` is in
    seconds since 1970. A version is used when a process begins with it.
    """
    others = [(_last_use(folder), folder) for folder in current.parent.iterdir() if folder != current]
    others.sort(reverse=True)
    for number, (used, folder) in enumerate(others):
        days = (now - used) / _DAY
        if days > (1 if number >= _OTHER_VERSIONS_KEPT else _KEPT_DAYS):
            # Another process may be removing it too.
            shutil.rmtree(folder, ignore_errors=True)


def _last_use(folder: Path) -> float:
    try:
        return max(entry.stat().st_mtime for entry in (folder, *folder.iterdir()))
    except OSError:
        return 0.0


def _mark() -> Path:
    machine = f"{numba.__version__} {llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
    # Numba takes sources of another time for others, whatever they say.
    times = [source.stat().st_mtime_ns for source in _SOURCES]
    return _FOLDER / f"complete-{hashlib.sha256(f'{machine} {times}'.encode()).hexdigest()[:16]}"
