"""Getting the chosen kernel ready without making anybody wait.

Loading the compiled kernel takes some tenths of a second. Compiling it, once for each version on a machine,
takes half a minute, and would stop every other thread again and again: a process of its own does it.
"""

import atexit
import fcntl
import os
import subprocess
import sys
import threading
from typing import Final

import numpy as np
import structlog

from academy.knowledge.boards import Board, GraphGeometry, SquareGeometry
from academy.knowledge.cells import Code, State
from academy.knowledge.patterns import Pattern, graph_pattern, grid_pattern
from academy.knowledge.spec import GameSpec
from academy.matching import kernels
from academy.matching.index import PatternIndex
from academy.matching.placement_lists import Fields, Lost, PlacementLists, Records
from academy.matching.snapshot import MatchQuery

_POLITENESS: Final = 10
# In seconds: what is read from the cache takes a hundredth of it, on a machine that has nothing else to do.
_MOMENT: Final = 60.0
_NO_NUMBERS: Final = np.zeros(0, dtype=np.int32)
_NO_SHORTS: Final = np.zeros(0, dtype=np.int16)
_NO_FLAGS: Final = np.zeros(0, dtype=np.bool_)
_NO_LISTS: Final = PlacementLists(
    *(_NO_NUMBERS, _NO_SHORTS, _NO_SHORTS, _NO_SHORTS, _NO_FLAGS),
    *(np.zeros(1, dtype=np.int32), np.zeros(0, dtype=np.int64), _NO_FLAGS),
)
_NOTHING_TOLD: Final = (
    Lost(_NO_NUMBERS, _NO_NUMBERS),
    Records(np.zeros((1, 1), dtype=np.uint8), np.array([0, 1], dtype=np.int32), np.ones(1, dtype=np.int32)),
    Fields(*range(1, 13)),
)
_log = structlog.get_logger()
_once = threading.Lock()


def warm_up(kernel: str | None = None) -> None:
    """Ask a kernel (None: the chosen one) everything once, so that it is loaded, or compiled and kept.

    Raises kernels.UnknownKernel.
    """
    name = kernels.chosen() if kernel is None else kernel
    _ask(GameSpec("grid", SquareGeometry(1, 1)), grid_pattern([(0, 0, Code.FIRST_PIECE)]), name)
    _ask(GameSpec("graph", GraphGeometry(("node",))), graph_pattern([(0, Code.EMPTY)]), name)
    if name == "numba":
        from academy.matching.compiled.compiling import note_complete

        note_complete()


def _ask(spec: GameSpec, pattern: Pattern, kernel: str) -> None:
    index = PatternIndex(spec, kernel)
    index.put(1, pattern)
    board = Board(spec.geometry, bytes([State.EMPTY]))
    index.match(board)
    index.snapshot().match_each([MatchQuery(board)])
    index.snapshot().match_successors(board, [[(0, State.FIRST_SOLDIER)]])
    kernels.kernel(kernel).write(_NO_LISTS, *_NOTHING_TOLD)
    kernels.kernel(kernel).write_each(_NO_LISTS, np.zeros(1, dtype=np.int32), *_NOTHING_TOLD)


def warm_up_in_background() -> threading.Thread | None:
    """Warm up in a thread, once in a process; until it ends, queries are answered by NumPy.

    Returns None where there is nothing to do.
    """
    if kernels.chosen() == "numpy" or not _once.acquire(blocking=False):
        return None
    kernels.still_loading.set()
    compiler = _Compiler()
    thread = threading.Thread(target=_load, args=(compiler,), name="matching warm-up", daemon=True)
    thread.start()
    # The compiler's library does not bear a process that ends under it. Last registered is called first.
    atexit.register(thread.join, _MOMENT)
    atexit.register(compiler.end)
    return thread


def leave_scipy_out() -> None:
    """Have Numba not import SciPy, where it is installed, to see whether it could multiply matrices.

    No kernel does, and the import would be a quarter of the time until the kernels are loaded.
    """
    from numba.np import linalg

    def without() -> None:
        raise ImportError("matrices are not multiplied here")

    found, linalg.ensure_blas = linalg.ensure_blas, without
    try:
        # It asks once, when it is imported.
        import numba.np.arraymath  # noqa: F401
    finally:
        linalg.ensure_blas = found


def _load(compiler: "_Compiler") -> None:
    leave_scipy_out()
    from academy.matching.compiled.compiling import is_complete

    if (is_complete() or compiler.run()) and not compiler.ended:
        warm_up()
        kernels.still_loading.clear()


class _Compiler:
    """The process that compiles. It ends with this one, or is not started any more."""

    def __init__(self) -> None:
        self.ended = False
        self._starting = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def run(self) -> bool:
        """Compile; return whether that went well."""
        with self._starting:
            if self.ended:
                return False
            _log.info("compiling the matching kernel; until then NumPy's is used")
            command = [sys.executable, "-P", "-m", "academy.matching.warming"]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            self._process = process
        _, complaint = process.communicate()
        # One that was ended from outside says nothing of the kernel.
        if process.returncode > 0:
            reason = complaint.decode(errors="replace").strip().splitlines()[-1:]
            _log.warning("the matching kernel cannot be compiled; NumPy's stays", reason=reason)
        return process.returncode == 0

    def end(self) -> None:
        """Compile no more."""
        with self._starting:
            self.ended = True
            if self._process is not None:
                self._process.kill()


def compile_once() -> None:
    """Compile the kernel, unless another process does or did: many that start together wait for one."""
    from academy.matching.compiled.compiling import cache_folder, is_complete

    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "compiling").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_complete():
            warm_up()


if __name__ == "__main__":
    os.nice(_POLITENESS)
    compile_once()
