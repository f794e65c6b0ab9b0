"""When a server may take the machine code that is kept for its own, and need not have it compiled."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from academy.matching import kernels

pytestmark = pytest.mark.skipif(kernels.chosen() != "numba", reason="NumPy needs no compiler")
ACADEMY = Path(kernels.__file__).parents[1]


def ask(statement: str, sources: Path, **environment: str) -> str:
    """What a statement about the module prints in a process of its own, with those sources."""
    others = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-c", f"from academy.matching.compiled import compiling; {statement}"],
        cwd=sources,
        env=others | {"PYTHONPATH": str(sources)} | environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout.strip()


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A copy of the package."""
    shutil.copytree(ACADEMY, tmp_path / "sources" / "academy")
    return tmp_path / "sources"


def test_compiled_machine_code_is_used_and_changed_sources_are_compiled_again(sources: Path) -> None:
    cache, complete = str(sources.parent / "cache"), "print(compiling.is_complete())"
    assert ask(f"compiling.note_complete(); {complete}", sources, NUMBA_CACHE_DIR=cache) == "True"
    # The kernel is compiled from this module too.
    with (sources / "academy" / "matching" / "rows.py").open("a") as module:
        module.write("# changed\n")
    assert ask(complete, sources, NUMBA_CACHE_DIR=cache) == "False"


def test_other_sources_get_their_own_machine_code(sources: Path) -> None:
    # It needs Numba.
    from academy.matching.compiled import compiling

    own = str(compiling.FOLDER.parent)
    assert ask("print(compiling.FOLDER.name)", sources, NUMBA_CACHE_DIR=own) != compiling.FOLDER.name
