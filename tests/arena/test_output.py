"""Text on its way to people."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest


def test_a_reader_may_leave_early() -> None:
    talkative = (
        "from arena.output import say\n"
        "for number in range(100_000): say(str(number))\n"
        "import sys; print('done', file=sys.stderr)"
    )
    done = subprocess.run(
        f'"{sys.executable}" -c "$TALKATIVE" | head -n 1; echo "${{PIPESTATUS[0]}}"',
        shell=True,
        executable="/bin/bash",
        env={"TALKATIVE": talkative, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert (done.stdout, done.stderr) == ("0\n0\n", "done\n")


def test_what_is_shown_on_a_closed_terminal_goes_nowhere() -> None:
    ours, theirs = pty.openpty()
    os.close(ours)
    program = "from arena.output import say; say('first'); say('second')"
    done = subprocess.run([sys.executable, "-c", program], stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["init", "swiss"], "standard output"),
        (["describe", "go", "--set", "board_size=9"], "standard output"),
        (["--version"], "cannot go on"),
        (["--help"], "cannot go on"),
        (["stop", "--help"], "cannot go on"),
    ],
)
def test_an_output_without_room_is_named_in_one_line(words: list[str], what: str) -> None:
    with Path("/dev/full").open("w") as full:
        program = [sys.executable, "-m", "arena.cli", *words]
        done = subprocess.run(program, stdout=full, stderr=subprocess.PIPE, text=True, timeout=180)
    assert (done.returncode, done.stderr) == (1, f"arena: {what}: No space left on device\n")
