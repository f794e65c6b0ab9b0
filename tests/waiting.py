"""Waiting for what another thread or process does."""

import subprocess
import time
from collections.abc import Callable
from typing import Any


def until(
    holds: Callable[[], object], process: "subprocess.Popen[Any] | None" = None, seconds: float = 180
) -> None:
    """Wait until something holds; fails when the process that brings it about ends, or after the seconds."""
    deadline = time.monotonic() + seconds
    while True:
        began = time.monotonic()
        # Looked at first: what holds at the process's end has been brought about.
        ended = process is not None and process.poll() is not None
        if holds():
            return
        assert not ended, f"the process ended before: {_output(process)}"
        now = time.monotonic()
        assert now < deadline, f"it did not hold within {seconds:g} s"
        # A look that takes long would take the processor from what it waits for.
        time.sleep(min(max(0.01, 4 * (now - began)), 0.1))


def _output(process: "subprocess.Popen[Any] | None") -> object:
    """What a process that has ended wrote to its pipes, for the message."""
    assert process is not None
    return process.returncode, *process.communicate()
