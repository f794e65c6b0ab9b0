"""Servers that share a log, hurt for a moment: the long run is `make log-faults`."""

import subprocess
import sys

import pytest


@pytest.mark.slow
def test_of_six_servers_that_are_killed_and_paused_none_loses_what_was_acknowledged() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "research.shared_log_faults", "--rounds", "2", "--seed", "4"],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("round") == 2
    assert ", 0 faults" in done.stdout
