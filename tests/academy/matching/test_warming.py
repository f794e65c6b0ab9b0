"""Programs that end while the kernel is being loaded or compiled."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from academy.matching import kernels

SECONDS = 60.0
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


def left_behind(cache: Path) -> list[int]:
    """The processes that would compile into this folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.fsencode(cache) in (process / "environ").read_bytes():
                found.append(int(process.name))
        except OSError:
            # It has ended, or is somebody else's.
            continue
    return found


def test_numba_is_imported_without_scipys_linear_algebra() -> None:
    pytest.importorskip("scipy")
    program = (
        "import sys; from academy.matching.warming import leave_scipy_out; leave_scipy_out(); "
        "import numba.np.arraymath, numba.np.linalg; found = 'scipy.linalg' in sys.modules; "
        "numba.np.linalg.ensure_blas(); print(found, 'scipy.linalg' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True)
    # What asks for it by itself afterwards has it.
    assert told.stdout.split() == ["False", "True"]
