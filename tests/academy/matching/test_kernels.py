"""The compiled kernel is used where it can be; what it compiles is kept where only the user writes."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
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
def chosen_afresh() -> Iterator[None]:
    kernels.chosen.cache_clear()
    yield
    kernels.chosen.cache_clear()


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
    if wish is None:
        monkeypatch.delenv(kernels.VARIABLE, raising=False)
    else:
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
        "print(len(index.match(Board.from_letters(SquareGeometry(1, 2), 'xx'))))"
    )
    environment = {kernels.VARIABLE: "numpy"}
    ran = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=Path.cwd(), capture_output=True, text=True
    )
    assert (ran.stdout.strip(), ran.stderr) == ("2", "")


def test_while_the_compiled_kernel_loads_the_other_one_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kernels.VARIABLE, "numba")
    spec = GameSpec("line", SquareGeometry(1, 3))
    index = PatternIndex(spec)
    index.put(1, read_cells("x -", spec.geometry))
    board = Board.from_letters(spec.geometry, "-x-")
    kernels.still_loading.set()
    try:
        assert kernels.current() is kernels.kernel("numpy")
        during = as_tuples(index.match(board))
    finally:
        kernels.still_loading.clear()
    assert kernels.current() is kernels.kernel("numba")
    assert as_tuples(index.match(board)) == during == [(1, 0, 0, 1)]


# Where machine code is kept


@pytest.fixture
def no_folder_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(compiling.CACHE_VARIABLE, raising=False)


def test_the_users_own_choice_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(compiling.CACHE_VARIABLE, str(tmp_path))
    assert compiling.cache_folder() == tmp_path


@pytest.mark.usefixtures("no_folder_chosen")
def test_it_lies_in_the_users_cache_and_is_the_users_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = compiling.cache_folder()
    assert folder.is_relative_to(tmp_path / "cache" / "academy")
    assert (tmp_path / "cache" / "academy").stat().st_mode & 0o777 == 0o700


@pytest.mark.usefixtures("no_folder_chosen")
def test_without_a_home_it_lies_among_the_temporary_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    assert compiling.cache_folder().is_relative_to(temporary)


@pytest.mark.usefixtures("no_folder_chosen")
@pytest.mark.parametrize("trap", ["writable by all", "a link"])
def test_a_folder_that_others_may_have_prepared_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, trap: str
) -> None:
    blocked, elsewhere, temporary = tmp_path / "file", tmp_path / "elsewhere", tmp_path / "temporary"
    blocked.touch()
    elsewhere.mkdir(mode=0o700)
    temporary.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    expected = compiling.cache_folder()
    prepared = next(temporary.iterdir())
    prepared.rmdir()
    if trap == "a link":
        prepared.symlink_to(elsewhere)
    else:
        prepared.mkdir()
        prepared.chmod(0o777)
    found = compiling.cache_folder()
    assert found != expected
    assert not found.is_relative_to(prepared)
    assert found.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("days_unused", "kept"),
    [
        pytest.param([31], [], id="a version unused for a month is forgotten"),
        pytest.param([29], [29], id="one used this month is kept"),
        pytest.param([9, 8, 7, 6, 5, 4], [7, 6, 5, 4], id="no more than four are kept"),
        pytest.param([0.9, 0.8, 0.7, 0.6, 0.5, 0.4], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4], id="but all of today"),
    ],
)
def test_machine_code_of_other_versions_does_not_pile_up(
    tmp_path: Path, days_unused: list[float], kept: list[float]
) -> None:
    now, current = 1e9, tmp_path / "current"
    folders = {days: tmp_path / f"unused for {days} days" for days in days_unused}
    for folder, days in [(current, 400.0), *((folder, days) for days, folder in folders.items())]:
        (folder / "package").mkdir(parents=True)
        (folder / "complete").touch()
        for path in (folder / "package", folder / "complete", folder):
            os.utime(path, (now - 400 * 86_400, now - 400 * 86_400))
        os.utime(folder / "complete", (now - days * 86_400, now - days * 86_400))
    compiling.forget_unused(current, now)
    assert current.exists()
    assert [days for days, folder in folders.items() if folder.exists()] == kept


def test_what_was_just_compiled_forgets_what_is_old(tmp_path: Path) -> None:
    old = tmp_path / "academy" / "compiled" / "0123456789abcdef"
    old.mkdir(parents=True)
    os.utime(old, (0, 0))
    (tmp_path / "academy").chmod(0o700)
    environment = {name: value for name, value in os.environ.items() if name != compiling.CACHE_VARIABLE}
    subprocess.run(
        [sys.executable, "-c", "from academy.matching.compiled.compiling import note_complete as n; n()"],
        env=environment | {"XDG_CACHE_HOME": str(tmp_path)},
        check=True,
    )
    assert not old.exists()
    assert len(list((tmp_path / "academy" / "compiled").iterdir())) == 1
