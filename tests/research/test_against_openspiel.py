"""The comparison with OpenSpiel finds what differs, and says where."""

import random
import subprocess
import sys

import pytest

pytest.importorskip("pyspiel")


from referees.go import Go
from research.against_openspiel import DisagreementError, go


def test_other_rules_are_found_out() -> None:
    # OpenSpiel forbids self-capture.
    judge = Go.from_settings({"board_size": 3, "komi": 0.5, "self_capture": True})
    with pytest.raises(DisagreementError, match=r"moves: ours \[.*\], OpenSpiel's \[.*\], in the position"):
        for seed in range(50):
            go.play(judge, random.Random(seed))


def test_the_command_plays_the_given_games() -> None:
    command = (sys.executable, "-m", "research.against_openspiel", "hex", "draughts", "--games", "5")
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split(" agree")[0] for line in done.stdout.splitlines()] == [
        "hex: 5 games",
        "draughts: 5 games",
    ]
