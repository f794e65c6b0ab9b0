"""Loads or compiles the chosen kernel without delaying any query.

Loading the compiled kernel takes some tenths of a second. Compiling it, once for each version on a machine,
takes about a minute and would stop every other thread again and again: a process of its own does it.
"""

import atexit
import fcntl
import os
import subprocess
import sys
import threading
from typing import Final

import structlog

from academy.knowledge.boards import Board, GraphGeometry, SquareGeometry
from academy.knowledge.cells import Code, State
from academy.knowledge.patterns import Pattern, graph_pattern, grid_pattern
from academy.knowledge.spec import GameSpec
from academy.matching import kernels
from academy.matching.index import PatternIndex
from academy.matching.matches import MatchQuery

_NICENESS: Final = 10
_EXIT_SECONDS: Final = 60.0
_log = structlog.get_logger()
_once = threading.Lock()


def warm_up(kernel: str | None = None) -> None:
    """Ask a kernel (None: the chosen one) everything once, so that it is loaded, or compiled and kept.

    Raises kernels.UnknownKernelError.
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
    index.snapshot().match_successors(MatchQuery(board), [[(0, State.FIRST_SOLDIER)]])


def begin_with_numpy() -> None:
    """Have NumPy answer queries until `warm_up_in_background` has done its work.

    Raises kernels.UnknownKernelError.
    """
    if kernels.chosen() == "numba" and not _once.locked():
        kernels.not_ready.set()


def warm_up_in_background() -> threading.Thread | None:
    """Warm up in a thread, once in a process; until it ends, queries are answered by NumPy.

    Returns None where there is nothing to do.
    """
    if kernels.chosen() == "numpy" or not _once.acquire(blocking=False):
        return None
    kernels.not_ready.set()
    compiler = Compiler()
    thread = threading.Thread(target=_load, args=(compiler,), name="matching warm-up", daemon=True)
    thread.start()
    # LLVM crashes in a process that exits under it. Functions registered last are called first.
    atexit.register(thread.join, _EXIT_SECONDS)
    atexit.register(compiler.end)
    return thread


def _load(compiler: "Compiler") -> None:
    from academy.matching.compiled.compiling import is_complete

    if (is_complete() or compiler.run()) and not compiler.ended:
        warm_up()
        kernels.not_ready.clear()


class Compiler:
    """The process that compiles. It ends with this one."""

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
        _, errors = process.communicate()
        # A process killed from outside does not mean that the kernel cannot be compiled.
        if process.returncode > 0:
            reason = errors.decode(errors="replace").strip().splitlines()[-1:]
            _log.warning("the matching kernel cannot be compiled; NumPy's stays", reason=reason)
        return process.returncode == 0

    def end(self) -> None:
        """Kill the process, or do not start it."""
        with self._starting:
            self.ended = True
            if self._process is not None:
                self._process.kill()


def compile_once() -> None:
    """Compile the kernel, unless another process does or did: several that start together wait for one."""
    from academy.matching.compiled.compiling import FOLDER, is_complete

    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "compiling").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_complete():
            warm_up()


if __name__ == "__main__":
    os.nice(_NICENESS)
    compile_once()
