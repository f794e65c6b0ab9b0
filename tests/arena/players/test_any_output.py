"""Whatever bots write, and wherever they stop, the game goes on to its end by its own rules."""

import sys
from pathlib import Path

import pytest

from arena.jobs import GameJob, PlayerSetup
from arena.match.game import play
from referees.api import Termination

TESTS = Path(__file__).parents[1]
TURNS = 12
A_GENEROUS_TIME = 180.0
DIALOGUES = ["", "ai-challenge-2"]


def bot(script: str, argument: str, dialogue: str) -> PlayerSetup:
    command = (sys.executable, "-I", "-S", str(TESTS / script), argument, *([dialogue] if dialogue else []))
    return PlayerSetup(
        script,
        command,
        protocol="lines",
        parameters={"dialogue": dialogue},
        move_seconds=A_GENEROUS_TIME,
        start_seconds=A_GENEROUS_TIME,
        exit_seconds=A_GENEROUS_TIME,
    )


@pytest.mark.parametrize("dialogue", DIALOGUES)
@pytest.mark.parametrize("seed", range(8))
def test_noise_costs_orders_and_nothing_else(seed: int, dialogue: str, tmp_path: Path) -> None:
    players = (
        bot("fuzzing_bot.py", str(seed), dialogue),
        bot("warlight_bot.py", "none", DIALOGUES[seed % 2]),
    )
    settings = {"map": "double_small", "turn_limit": TURNS}
    result = play(GameJob("7", "warlight", settings, players, seed, log_path=str(tmp_path / "log")))
    assert result.outcome is not None, result.void_reason
    assert result.outcome.termination is Termination.SCORE
    assert [move.seat for move in result.moves] == [1, 2] * TURNS
    own = [move.text for move in result.moves if move.seat == 1]
    ended = any("passes for the rest: exited with status 0" in warning for warning in result.warnings)
    if not dialogue:
        # All that can be carried out of an answer up to "end" counts.
        played = sum("Deploy 1 on " in text for text in own)
        assert own[played:] == ["pass"] * (TURNS - played)
        assert ended == (played < TURNS)
    # The other player is heard in every turn.
    assert all("Deploy" in move.text for move in result.moves if move.seat == 2)
    assert not any("warlight_bot.py" in warning for warning in result.warnings)
    assert all(warning.isascii() and warning.isprintable() for warning in result.warnings)
    assert not any("late" in warning or "no answer" in warning for warning in result.warnings)
