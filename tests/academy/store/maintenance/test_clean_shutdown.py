"""Which servers of a data folder ended well, also where several start at once."""

import fcntl
import multiprocessing
import os
import random
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import IO

import pytest

from academy.store.maintenance import clean_shutdown

SECONDS = 60.0
TURNS = 15


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders whose pages were looked through."""
    folders: list[Path] = []
    monkeypatch.setattr(clean_shutdown, "check_pages", folders.append)
    return folders


def test_a_marker_is_there_as_long_as_the_server(tmp_path: Path, looked: list[Path]) -> None:
    with clean_shutdown.serving(tmp_path):
        assert len(clean_shutdown.markers(tmp_path)) == 1
    assert clean_shutdown.markers(tmp_path) == []
    with clean_shutdown.serving(tmp_path):
        pass
    assert looked == []


def test_after_a_failure_the_next_start_looks(tmp_path: Path, looked: list[Path]) -> None:
    with pytest.raises(RuntimeError), clean_shutdown.serving(tmp_path):
        raise RuntimeError
    assert len(clean_shutdown.markers(tmp_path)) == 1
    with clean_shutdown.serving(tmp_path):
        assert looked == [tmp_path]
        assert len(clean_shutdown.markers(tmp_path)) == 1


def test_harmless_failure_leaves_no_marker(tmp_path: Path, looked: list[Path]) -> None:
    with pytest.raises(ConnectionError), clean_shutdown.serving(tmp_path, harmless=(ConnectionError,)):
        raise ConnectionError
    assert clean_shutdown.markers(tmp_path) == []
    with pytest.raises(OSError), clean_shutdown.serving(tmp_path, harmless=(ConnectionError,)):
        raise OSError
    assert len(clean_shutdown.markers(tmp_path)) == 1


def test_servers_of_one_process_id_share_a_folder(
    tmp_path: Path, looked: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    # As the first processes of two containers.
    monkeypatch.setattr(os, "getpid", lambda: 1)
    with clean_shutdown.serving(tmp_path), clean_shutdown.serving(tmp_path):
        assert len(clean_shutdown.markers(tmp_path)) == 2
    assert (clean_shutdown.markers(tmp_path), looked) == ([], [])


def _start_and_end(data: Path, begins: Barrier) -> None:
    clean_shutdown.check_pages = _looked
    lock = fcntl.flock

    def lock_slowly(file: IO[bytes] | int, how: int) -> None:
        time.sleep(random.uniform(0.0, 0.01))
        lock(file, how)

    # So that others come between a marker's making and its locking, were they not kept from it.
    fcntl.flock = lock_slowly  # type: ignore[assignment]
    for _ in range(TURNS):
        begins.wait(SECONDS)
        with clean_shutdown.serving(data):
            pass


def _looked(data: Path) -> None:
    raise AssertionError("a living server was taken for one that ended badly")


def test_servers_that_start_at_once_do_not_take_each_other_for_dead(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    begins = context.Barrier(3)
    starting = [context.Process(target=_start_and_end, args=(tmp_path, begins)) for _ in range(3)]
    for process in starting:
        process.start()
    for process in starting:
        process.join(3 * SECONDS)
    assert [process.exitcode for process in starting] == [0, 0, 0]
    assert clean_shutdown.markers(tmp_path) == []
