"""The compiled kernel is used where it can be; what it compiles is kept where only the user writes."""

import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

from academy.knowledge.boards import Board, SquareGeometry
from academy.knowledge.spec import GameSpec
from academy.knowledge.text import read_cells
from academy.matching import kernels
from academy.matching.compiled import compiling
from academy.matching.index import PatternIndex
from tests.academy.matching.both_kernels import as_tuples


@pytest.fixture(autouse=True)
def chosen_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(kernels.VARIABLE, raising=False)
    monkeypatch.setattr(kernels, "chosen", cache(kernels.chosen.__wrapped__))


@pytest.mark.parametrize(
    ("wish", "installed", "expected"),
    [
        (None, True, "numba"),
        (None, False, "numpy"),
        ("auto", True, "numba"),
        ("auto", False, "numpy"),
        ("numpy", True, "numpy"),
        ("numba", True, "numba"),
    ],
)
def test_the_choice(
    monkeypatch: pytest.MonkeyPatch, wish: str | None, installed: bool, expected: str
) -> None:
    if wish is not None:
        monkeypatch.setenv(kernels.VARIABLE, wish)
    monkeypatch.setattr(kernels, "find_spec", lambda name: object() if installed else None)
    assert kernels.chosen() == expected


@pytest.mark.parametrize(
    ("wish", "complaint"),
    [("cython", "'cython': it must be auto, numba or numpy"), ("numba", r"install academy-arena\[fast\]")],
)
def test_a_wish_that_cannot_be_met(monkeypatch: pytest.MonkeyPatch, wish: str, complaint: str) -> None:
    monkeypatch.setenv(kernels.VARIABLE, wish)
    monkeypatch.setattr(kernels, "find_spec", lambda name: None)
    with pytest.raises(kernels.UnknownKernelError, match=complaint):
        kernels.chosen()


def test_without_numba_nothing_of_it_is_imported() -> None:
    program = (
        "import sys; sys.modules['numba'] = sys.modules['llvmlite'] = None\n"
        "from academy.knowledge.boards import Board, SquareGeometry\n"
        "from academy.knowledge.spec import GameSpec\n"
        "from academy.knowledge.text import read_cells\n"
        "from academy.matching.index import PatternIndex\n"
        "index = PatternIndex(GameSpec('line', SquareGeometry(1, 2)))\n"
        "index.put(1, read_cells('x', SquareGeometry(1, 2)))\n"
        "print(index.match(Board.from_letters(SquareGeometry(1, 2), 'xx')).listed)"
    )
    environment = {kernels.VARIABLE: "numpy"}
    ran = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=Path.cwd(), capture_output=True, text=True
    )
    assert (ran.stdout.strip(), ran.stderr) == ("2", "")


def test_numpy_answers_while_the_compiled_kernel_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kernels.VARIABLE, "numba")
    spec = GameSpec("line", SquareGeometry(1, 3))
    index = PatternIndex(spec)
    index.put(1, read_cells("x -", spec.geometry))
    board = Board.from_letters(spec.geometry, "-x-")
    kernels.not_ready.set()
    try:
        assert index.snapshot()._kernel() is kernels.kernel("numpy")
        during = as_tuples(index.match(board))
    finally:
        kernels.not_ready.clear()
    assert index.snapshot()._kernel() is kernels.kernel("numba")
    assert as_tuples(index.match(board)) == during == [(1, 0, 0, 1)]


# Where machine code is kept


@pytest.fixture
def no_folder_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(compiling.CACHE_VARIABLE, raising=False)


def test_the_users_own_choice_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(compiling.CACHE_VARIABLE, str(tmp_path))
    assert compiling.cache_folder().parent == tmp_path


@pytest.mark.usefixtures("no_folder_chosen")
def test_compiled_kernels_are_cached_where_only_the_user_can_write(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert compiling.cache_folder().parent == tmp_path / "cache" / "academy"
    assert (tmp_path / "cache" / "academy").stat().st_mode & 0o777 == 0o700


@pytest.mark.usefixtures("no_folder_chosen")
@pytest.mark.parametrize("trap", ["no folder", "writable by all", "a link"])
def test_a_folder_that_others_may_have_prepared_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, trap: str
) -> None:
    caches, temporary = tmp_path / "caches", tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(caches))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    if trap == "no folder":
        caches.touch()
    else:
        caches.mkdir()
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        if trap == "a link":
            (caches / "academy").symlink_to(tmp_path / "elsewhere")
        else:
            (caches / "academy").mkdir()
            (caches / "academy").chmod(0o777)
    folder = compiling.cache_folder()
    assert folder.is_relative_to(temporary)
    assert folder.parent.stat().st_mode & 0o077 == 0


def test_versions_made_long_ago_are_removed(tmp_path: Path) -> None:
    environment = os.environ | {compiling.CACHE_VARIABLE: str(tmp_path)}
    old, recent = tmp_path / "matching-0", tmp_path / "matching-1"
    for folder in (old, recent):
        folder.mkdir()
    os.utime(old, (0, 0))
    program = "from academy.matching.compiled.compiling import note_complete; note_complete()"
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    assert not old.exists() and recent.exists()
    assert len(list(tmp_path.iterdir())) == 2
