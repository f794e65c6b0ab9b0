"""Waiting for what another thread or process brings about."""

import subprocess
import time
from collections.abc import Callable
from typing import Any


def until(
    holds: Callable[[], object], process: "subprocess.Popen[Any] | None" = None, seconds: float = 180.0
) -> None:
    """Wait for a condition, while a process runs where one is to bring it about."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, f"it did not become so within {seconds:g} s"
        time.sleep(0.02)
