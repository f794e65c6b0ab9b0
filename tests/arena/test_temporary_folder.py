"""A temporary folder goes with its block, and what a killed process left goes with the next one's."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena import temporary_folder as module
from arena.temporary_folder import temporary_folder

WRITES_AND_WAITS = """
import tempfile, time
tempfile.tempdir = {place!r}
from arena.temporary_folder import temporary_folder
with temporary_folder() as folder:
    (folder / "record").write_text("half a game")
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the system's temporary files are."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def other(place: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process amid its block."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITES_AND_WAITS.format(place=str(place))], stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


def folder_of(process: "subprocess.Popen[str]") -> Path:
    assert process.stdout is not None
    return Path(process.stdout.readline().strip())


def test_a_folder_is_private_and_ends_with_its_block(place: Path) -> None:
    with temporary_folder() as folder:
        (folder / "record").touch()
        assert folder.stat().st_mode & 0o777 == 0o700
        with temporary_folder() as second:
            assert second != folder
        assert (folder / "record").exists()
    assert list(place.iterdir()) == []


def test_the_folder_of_a_process_that_lives_stays_and_of_a_killed_one_goes(
    place: Path, other: "subprocess.Popen[str]"
) -> None:
    theirs = folder_of(other)
    with temporary_folder():
        assert (theirs / "record").exists()
    other.kill()
    other.wait()
    assert theirs.exists()
    with temporary_folder() as own:
        assert list(place.iterdir()) == [own]


def test_others_temporary_files_stay(place: Path) -> None:
    with temporary_folder() as folder:
        prefix = folder.name.rpartition("-")[0]
    (place / "arena-konane").mkdir()
    (place / f"{prefix}-file").touch()
    (place / f"{prefix}-link").symlink_to(place / "arena-konane")
    with temporary_folder():
        pass
    assert {path.name for path in place.iterdir()} == {"arena-konane", f"{prefix}-file", f"{prefix}-link"}


def test_a_folder_that_another_process_removes_before_it_is_locked_is_made_again(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, made = tempfile.mkdtemp, list[str]()

    def make_amid_others(prefix: str) -> str:
        folder = make(prefix=prefix)
        made.append(folder)
        if len(made) == 1:
            # As each process does that begins: this folder has no lock yet.
            module._remove_abandoned(place)
        return folder

    monkeypatch.setattr(tempfile, "mkdtemp", make_amid_others)
    with temporary_folder() as folder:
        assert folder.is_dir() and [str(folder)] == made[1:]
