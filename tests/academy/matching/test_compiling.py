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
CODE = Path("compiled_0123", "matches.nbc")


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
    """A copy of the package, for which the cache is said to be complete."""
    shutil.copytree(ACADEMY, tmp_path / "sources" / "academy")
    (tmp_path / "cache" / CODE).parent.mkdir(parents=True)
    (tmp_path / "cache" / CODE).touch()
    ask("compiling.note_complete()", tmp_path / "sources", NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    return tmp_path / "sources"


def complete(sources: Path) -> bool:
    cache = str(sources.parent / "cache")
    return ask("print(compiling.is_complete())", sources, NUMBA_CACHE_DIR=cache) == "True"


def test_what_was_compiled_is_taken(sources: Path) -> None:
    assert complete(sources)


def test_machine_code_that_somebody_removed_is_not_taken_to_be_there(sources: Path) -> None:
    (sources.parent / "cache" / CODE).unlink()
    assert not complete(sources)


def test_sources_written_again_are_compiled_again(sources: Path) -> None:
    # Numba looks at the time of a file, even if it says the same.
    os.utime(sources / "academy" / "matching" / "compiled" / "sieve.py", (1, 1))
    assert not complete(sources)


def test_sources_elsewhere_have_machine_code_of_their_own(tmp_path: Path, sources: Path) -> None:
    elsewhere = shutil.copytree(sources, tmp_path / "elsewhere")
    home = str(tmp_path / "home")
    places = [
        ask("print(compiling.cache_folder())", path, XDG_CACHE_HOME=home) for path in (sources, elsewhere)
    ]
    assert places[0] != places[1]
