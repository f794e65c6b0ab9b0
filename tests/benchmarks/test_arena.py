"""The benchmark of the arena ends when the arena does."""

from pathlib import Path

import pytest

from benchmarks import arena


def test_a_benchmark_whose_arena_ended_says_so_and_waits_no_longer(tmp_path: Path) -> None:
    control = arena.control(tmp_path, Path("/no/such/engine"))
    with arena.running(control) as run, pytest.raises(RuntimeError, match=r"ended with \d+ before 1 game"):
        run.at(1)
