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


@pytest.mark.parametrize(
    ("processes", "shared_port"),
    [(1, False), (2, False), (2, True)],
    ids=["one", "two", "one port, compacted"],
)
@pytest.mark.threat("faults")
def test_servers_killed_at_random_moments_lose_nothing(
    tmp_path: Path, processes: int, shared_port: bool
) -> None:
    outcome = crash_loop(
        tmp_path, rounds=2, processes=processes, callers=3, shared_port=shared_port, compact=shared_port
    )
    # A loop in which something was not tried has a fault.
    assert outcome.faults == []


def test_a_loop_in_which_nothing_was_killed_is_not_sound(tmp_path: Path) -> None:
    outcome = crash_loop(tmp_path, rounds=0, processes=1, callers=1)
    (fault,) = outcome.faults
    assert fault.startswith("not everything was tried: no ") and fault.endswith("no server killed")


def test_a_loop_that_is_stopped_ends_its_servers() -> None:
    options = ("--shared-port", "--compact", "--rounds", "9999")
    command = [sys.executable, "-m", "research.crash_loop", *options]
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
