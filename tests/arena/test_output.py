"""Text on its way to people."""

import subprocess
import sys


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
