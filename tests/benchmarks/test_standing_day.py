"""A standing arena's day, in a few seconds; the long one is by hand."""

import re
import subprocess
import sys

import pytest


@pytest.mark.slow
def test_an_arena_that_is_killed_amid_its_day_neither_loses_nor_doubles_a_game() -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "benchmarks.standing_day"),
            *("--bots", "6", "--seconds", "6", "--kills", "1"),
        ],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "lost by a kill: 0; double: 0" in done.stdout
    in_league = re.search(r"in the league: (\d+), double 0", done.stdout)
    assert in_league and int(in_league[1]) > 0
