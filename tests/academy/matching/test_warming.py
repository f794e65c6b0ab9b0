"""Programs that end while the kernel is being loaded or compiled."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from academy.matching import kernels
from tests.processes import waits_for_a_lock
from tests.waiting import until

SECONDS = 180.0
ENDS_AT_ONCE = """
from academy.matching.warming import warm_up_in_background
assert warm_up_in_background() is not None
"""
ENDS_WHILE_COMPILING = """
import time
from academy.matching import warming
started, popen = [], warming.subprocess.Popen
def noting(*arguments, **options):
    started.append(popen(*arguments, **options))
    return started[-1]
warming.subprocess.Popen = noting
assert warming.warm_up_in_background() is not None
while not started:
    time.sleep(0.01)
"""


@pytest.fixture(autouse=True)
def compiled_if_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kernels.VARIABLE, "auto")


@pytest.mark.skipif(kernels.chosen() != "numba", reason="NumPy needs no compiler")
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("program", [ENDS_AT_ONCE, ENDS_WHILE_COMPILING])
def test_a_program_ends_well_at_any_moment_and_leaves_no_compiler_behind(
    tmp_path: Path, program: str
) -> None:
    # Nothing is compiled there yet.
    nowhere = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    ended = subprocess.run([sys.executable, "-c", program], env=nowhere, timeout=SECONDS, check=False)
    assert ended.returncode == 0
    assert not left_behind(tmp_path)


@pytest.mark.skipif(kernels.chosen() != "numba", reason="NumPy needs no compiler")
@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="looks for locks in /proc")
def test_one_of_several_starting_processes_compiles(tmp_path: Path) -> None:
    # It needs Numba.
    from academy.matching.compiled import compiling

    here = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    # The same sources are compiled into a folder of the same name.
    folder = tmp_path / compiling.FOLDER.name
    folder.mkdir()
    with (folder / "compiling").open("a") as another_compiles:
        fcntl.flock(another_compiles, fcntl.LOCK_EX)
        waiting = subprocess.Popen([sys.executable, "-m", "academy.matching.warming"], env=here)
        until(lambda: waits_for_a_lock(waiting.pid), waiting)
        finishing = "from academy.matching.compiled.compiling import note_complete; note_complete()"
        subprocess.run([sys.executable, "-c", finishing], env=here, timeout=SECONDS, check=True)
    assert waiting.wait(SECONDS) == 0
    assert not list(tmp_path.glob("**/*.nb[ci]"))


def left_behind(cache: Path) -> list[int]:
    """The processes that would compile into this folder."""
    loaded = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.fsencode(cache) in (process / "environ").read_bytes():
                loaded.append(int(process.name))
        except OSError:
            # It has ended, or is somebody else's.
            continue
    return loaded
