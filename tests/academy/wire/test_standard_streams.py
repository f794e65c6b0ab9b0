"""A program whose standard streams are closed writes to nowhere, and into no file of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

_WRITING = """
import os, subprocess, sys
from academy.wire.standard_streams import open_closed
open_closed()
with open(sys.argv[1], "w") as file:
    print("to the output", flush=True)
    print("to the error", file=sys.stderr, flush=True)
    sys.stdin.read()
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
