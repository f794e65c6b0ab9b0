"""Which cores workers take, of several runs on a machine."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arena.workers import cores
from arena.workers.cores import Core

ALLOWED = sorted(os.sched_getaffinity(0))
TAKE = """
import time
from arena.workers import cores

cores._PREFIX = "{}"
core = cores.Core()
print(core.number, flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests on this machine take cores, too."""
    monkeypatch.setattr(cores, "_PREFIX", f"test-{os.getpid()}/core")


@pytest.mark.parametrize("sockets", [cores._SOCKETS, Path("/proc/hidden")])
def test_workers_of_several_runs_share_the_cores_evenly_also_after_some_have_ended(
    sockets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cores, "_SOCKETS", sockets)
    taken = [Core() for _ in range(3 * len(ALLOWED))]
    assert sorted(core.number for core in taken) == sorted(3 * ALLOWED)
    left = [core for core in taken if core.number == ALLOWED[-1]]
    for core in left:
        core.close()
    again = [Core() for _ in left]
    assert {core.number for core in again} == {ALLOWED[-1]}
    for core in taken + again:
        core.close()


def test_runs_that_take_cores_at_the_same_moment_share_them_evenly() -> None:
    command = [sys.executable, "-c", TAKE.format(cores._PREFIX)]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2 * len(ALLOWED))]
    try:
        numbers = [int(run.stdout.readline()) for run in runs if run.stdout]
        assert sorted(numbers) == sorted(2 * ALLOWED)
    finally:
        for run in runs:
            run.send_signal(signal.SIGKILL)
            run.communicate()
    # What a killed run had is free again.
    core = Core()
    assert core.number == ALLOWED[0]
    core.close()
