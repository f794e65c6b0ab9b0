"""Text on its way to people."""

import subprocess
import sys

import pytest

from arena.output import harmless


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a beat b B+3.5", "a beat b B+3.5"),
        ("two\n\tlines", "two\n\tlines"),
        ("naïve 囲碁", "naïve 囲碁"),
        ("\x1b[2J\x07", "\\x1b[2J\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("a\rb\x7f", "a\\rb\\x7f"),
        ("turned \u202e round", "turned \\u202e round"),
        ("half \ud800", "half \\ud800"),
    ],
)
def test_nothing_in_a_text_commands_the_terminal(text: str, shown: str) -> None:
    assert harmless(text) == shown


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
