"""Servers that are killed under load lose nothing that they acknowledged."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from research.crash_loop import crash_loop
from tests.waiting import until

# Far longer than it takes, also on a machine with other work.
SECONDS = 300


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.threat("faults")
def test_servers_killed_at_random_moments_lose_nothing(tmp_path: Path, processes: int) -> None:
    outcome = crash_loop(tmp_path, rounds=2, processes=processes, callers=3)

    assert outcome.faults == []
    acknowledged = outcome.acknowledged
    assert acknowledged.reports and acknowledged.proposals and acknowledged.admin_changes
    assert acknowledged.interrupted, "calls must have been cut off, or nothing was tried"


@pytest.mark.threat("faults")
def test_processes_of_one_port_lose_nothing_while_the_log_is_compacted(tmp_path: Path) -> None:
    outcome = crash_loop(tmp_path, rounds=2, processes=2, callers=3, shared_port=True, compact=True)

    assert outcome.faults == []
    acknowledged = outcome.acknowledged
    assert (
        acknowledged.reports
        and acknowledged.proposals
        and acknowledged.admin_changes
        and acknowledged.interrupted
    )
    assert outcome.killed["child"] and outcome.killed["parent"]
    assert outcome.compacted


def test_a_loop_in_which_nothing_was_killed_is_not_sound(tmp_path: Path) -> None:
    outcome = crash_loop(tmp_path, rounds=0, processes=1, callers=1)
    (fault,) = outcome.faults
    assert fault.startswith("not everything was tried: no ") and fault.endswith("no server killed")


def test_a_loop_that_is_stopped_ends_its_servers() -> None:
    command = [
        sys.executable,
        "-m",
        "research.crash_loop",
        "--shared-port",
        "--compact",
        "--rounds",
        "9999",
    ]
    # A session of its own tells what it started from all else.
    loop = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        until(lambda: len(_in_session(loop.pid)) > 3, seconds=SECONDS)
        loop.terminate()
        printed, _ = loop.communicate(timeout=SECONDS)
        assert loop.returncode == 0
        assert printed.splitlines()[-1].startswith("SOUND: ")
        until(lambda: not _in_session(loop.pid), seconds=SECONDS)
    finally:
        loop.kill()
        loop.wait()
        for left in _in_session(loop.pid):
            os.kill(left, signal.SIGKILL)


def _in_session(session: int) -> list[int]:
    """The processes of a session that have not ended."""
    processes = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # After the name, which may hold spaces: state, parent, group, session.
            state, _, _, its_session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(its_session) == session and state not in "ZX":
            processes.append(int(folder.name))
    return processes
