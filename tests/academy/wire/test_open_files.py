"""A process's limit of open files is raised as far as it is wanted and may be, and never lowered."""

import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys
from academy.wire.open_files import allow_open_files
soft, hard, wanted = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
allowed = allow_open_files(wanted)
assert resource.getrlimit(resource.RLIMIT_NOFILE) == (allowed, hard)
print(allowed)
"""


@pytest.mark.parametrize(("wanted", "allowed"), [(100, 100), (500, 200), (50, 60)])
def test_the_limit_is_raised_up_to_the_hard_one(wanted: int, allowed: int) -> None:
    program = [sys.executable, "-c", PROGRAM, "60", "200", str(wanted)]
    done = subprocess.run(program, capture_output=True, text=True, check=True, timeout=60)
    assert int(done.stdout) == allowed
