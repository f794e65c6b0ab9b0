"""The check before a competition's first game."""

import time

import pytest

from arena.player_check import check_player
from arena.players.failures import Late
from referees.go import Go
from tests.arena.engines import python_player

RULES = Go.from_settings({"board_size": 5, "komi": 0.5})


def test_a_python_player_that_never_gets_ready_does_not_stick_the_check() -> None:
    player = python_player("late", "tests.arena.engines:slow_starter", start_seconds=0.2)
    began = time.monotonic()
    with pytest.raises(Late, match=r"player late: not ready within 0\.2 s"):
        check_player(player, RULES, quiet=True)
    assert time.monotonic() - began < 60


def test_a_python_player_that_gets_ready_is_named() -> None:
    assert check_player(python_player("passer"), RULES, quiet=True) == ("always_pass", ())
