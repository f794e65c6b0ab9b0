"""The programs as a user has them: those beside this Python come first on the PATH.

Servers match with the kernel that needs no second to load, as `tests/conftest.py` has it.
"""

import os
import sys
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent
_OWN = {name: value for name, value in os.environ.items() if not name.startswith(("ACADEMY_", "ARENA_"))}
ENVIRONMENT = {**_OWN, "PATH": f"{BIN}:{os.environ['PATH']}", "ACADEMY_MATCHING_KERNEL": "numpy"}


@pytest.fixture(autouse=True)
def programs_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that run in the tests' own process start players by their names, too."""
    monkeypatch.setenv("PATH", ENVIRONMENT["PATH"])
