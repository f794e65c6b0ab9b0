"""A program whose standard streams are closed writes to nowhere, and into no file of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

_WRITING = """
import os, subprocess, sys
from academy.wire.standard_streams import open_closed
open_closed()
with open(sys.argv[-1], "w") as file:
    print("to the output", flush=True)
    print("to the error", file=sys.stderr, flush=True)
    sys.stdin.read()
    if len(sys.argv) == 2:
        subprocess.run(["sh", "-c", "echo of a child >&2; echo of a child"], check=True)
    os.write(2, b"of a library")
    file.write("of its own")
"""


@pytest.mark.parametrize(
    ("closed", "to_output", "to_error"),
    [
        ("", True, True),
        ("2>&-", True, False),
        (">&-", False, True),
        ("<&-", True, True),
        ("<&- >&- 2>&-", False, False),
    ],
)
def test_what_is_written_to_a_closed_stream_comes_into_no_file(
    closed: str, to_output: bool, to_error: bool, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-c", _WRITING, file],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=True,
    )
    assert file.read_text() == "of its own"
    assert done.stdout == (b"to the output\nof a child\n" if to_output else b"")
    assert done.stderr == (b"to the error\nof a child\nof a library" if to_error else b"")


def test_a_file_that_has_the_number_of_a_closed_stream_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "file"
    program = f"import os, sys; taken = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT){_WRITING}"
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-c", program, file, tmp_path / "other"],
        capture_output=True,
        check=True,
    )
    assert (file.read_bytes(), done.stdout) == (b"", b"")


def test_a_command_without_an_output_says_what_it_is_refused(tmp_path: Path) -> None:
    command = f'exec "$1" -m academy check --data "{tmp_path}" >&-'
    done = subprocess.run(
        ["sh", "-c", command, "sh", sys.executable], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"academy: {tmp_path}: holds no data of ACADEMY; ")


def test_a_text_that_utf8_cannot_hold_goes_nowhere_too(tmp_path: Path) -> None:
    command = 'exec "$1" -m academy check --data "$2" 2>&-'
    folder = bytes(tmp_path) + b"/\xff"
    done = subprocess.run(
        [b"sh", b"-c", command.encode(), b"sh", sys.executable.encode(), folder], check=False
    )
    assert done.returncode == 2
