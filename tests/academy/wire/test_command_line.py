"""What a program prints about itself is written, or its user learns why not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("option", ["--help", "--version"])
@pytest.mark.parametrize(
    ("module", "program"), [("academy", "academy"), ("arena.cli", "arena"), ("web.cli", "academy-web")]
)
def test_help_that_cannot_be_written_ends_in_one_line(
    module: str, program: str, option: str, unbuffered: str
) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", module, option],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )
    assert (done.returncode, done.stderr) == (1, f"{program}: cannot go on: No space left on device\n")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("academy", "--help"),
        ("academy", "patterns --help"),
        ("arena.cli", "--help"),
        ("arena.cli", "run --help"),
        ("arena.cli", "pool add --help"),
        ("web.cli", "--version"),
    ],
)
def test_a_program_whose_reader_has_left_ends_quietly(module: str, arguments: str, unbuffered: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments.split()],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")
