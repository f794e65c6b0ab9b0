"""The comparison with OpenSpiel finds what differs, and says where."""

import random
import subprocess
import sys
from typing import NoReturn

import pytest

pytest.importorskip("pyspiel")


from referees.api import IllegalMoveError
from referees.go import Go
from research.against_openspiel import DisagreementError, go
from research.against_openspiel import __main__ as command


def test_other_rules_are_found_out() -> None:
    # OpenSpiel forbids self-capture.
    judge = Go.from_settings({"board_size": 3, "komi": 0.5, "self_capture": True})
    with pytest.raises(DisagreementError, match=r"moves: ours \[.*\], OpenSpiel's \[.*\], in the position"):
        for seed in range(50):
            go.play(judge, random.Random(seed))


def test_a_referee_that_does_not_see_the_end_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Go, "outcome", lambda _self, _position: None)
    judge = go.judge(5)
    with pytest.raises(DisagreementError, match=r"over by two passes: ours False, OpenSpiel's True"):
        for seed in range(60):
            go.play(judge, random.Random(seed))


def test_a_referee_that_fails_is_reported_with_the_seed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(_judge: Go, _position: object, _moves: object) -> NoReturn:
        raise IllegalMoveError("nothing is legal")

    monkeypatch.setattr(Go, "play", fails)
    monkeypatch.setattr(sys, "argv", ["against_openspiel", "go", "--seed", "17"])
    with pytest.raises(IllegalMoveError):
        command.main()
    assert "go, seed 17:" in capsys.readouterr().err


def test_no_games_are_no_agreement(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["against_openspiel", "go", "--games", "-5"])
    with pytest.raises(SystemExit):
        command.main()
    assert "'-5': it must be a whole number from 1" in capsys.readouterr().err


def test_the_command_plays_the_given_games() -> None:
    command = (sys.executable, "-m", "research.against_openspiel", "hex", "draughts", "--games", "5")
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split(" agree")[0] for line in done.stdout.splitlines()] == [
        "hex: 5 games",
        "draughts: 5 games",
    ]
