"""Servers that are killed under load lose nothing that they acknowledged."""

from pathlib import Path

import pytest

from benchmarks.crash_loop import crash_loop


@pytest.mark.parametrize("processes", [1, 2])
def test_servers_killed_at_random_moments_lose_nothing(tmp_path: Path, processes: int) -> None:
    faults, told = crash_loop(tmp_path, rounds=4, processes=processes, callers=3)

    assert faults == []
    assert told.reports and told.proposals and told.admin_changes
    assert told.interrupted, "calls must have been cut off, or nothing was tried"
