"""What a program prints about itself is written, or its user learns why not."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("option", ["--help", "--version"])
@pytest.mark.parametrize(
    ("module", "program"), [("academy", "academy"), ("arena.cli", "arena"), ("web.cli", "academy-web")]
)
def test_help_that_cannot_be_written_ends_in_one_line(module: str, program: str, option: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", module, option],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, f"{program}: cannot go on: No space left on device\n")
