"""Players for the tests of the arena, and what is left of them."""

import contextlib
import ctypes
import itertools
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from arena.jobs import GameJob, PlayerSetup
from arena.players.player import Choice
from referees.api import Referee

ENGINE = Path(__file__).with_name("misbehaving_engine.py")
# Debian keeps games where not everybody's PATH leads.
GNUGO = shutil.which("gnugo", path=f"{os.environ.get('PATH', os.defpath)}:/usr/games")
needs_gnugo = pytest.mark.skipif(GNUGO is None, reason="gnugo is not installed")


def misbehaving(fault: str, name: str = "villain", **setup: Any) -> PlayerSetup:
    command = (sys.executable, "-I", "-S", str(ENGINE), fault)
    limits = {"start_seconds": 20.0, "move_seconds": 20.0, "exit_seconds": 20.0}
    return PlayerSetup(name, command, **(limits | setup))


def gnugo(name: str, level: int = 1, **setup: Any) -> PlayerSetup:
    assert GNUGO is not None
    return PlayerSetup(name, (GNUGO, "--mode", "gtp", "--level", str(level)), **setup)


def python_player(name: str, factory: str = "tests.arena.engines:always_pass", **setup: Any) -> PlayerSetup:
    return PlayerSetup(name, (factory,), protocol="python", **setup)


def job(
    *players: PlayerSetup, game_id: str = "0_1", settings: Mapping[str, Any] | None = None, **more: Any
) -> GameJob:
    settings = {"board_size": 5, "komi": 0.5} if settings is None else settings
    return GameJob(game_id, "go", settings, players, **({"seed": 1} | more))


def always_pass(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], str]:
    return lambda view: "pass"


def late_at_once(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], str]:
    def choose(view: Any) -> str:
        time.sleep(0.3)
        return "pass"

    return choose


def late_when_it_has_moved(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], str]:
    answers = itertools.chain(["A1" if seat == 1 else "B1"], itertools.repeat(""))

    def choose(view: Any) -> str:
        if answer := next(answers):
            return answer
        time.sleep(3600)
        return "pass"

    return choose


def first_move(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], str]:
    """As docs/reference/players.md shows it; only for games whose legal moves are listed."""

    def choose(view: Any) -> str:
        moves = referee.legal_moves(view, seat)
        return referee.move_text(moves[0])  # type: ignore[index]

    return choose


def resigning(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], None]:
    return lambda view: None


def sleepy(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], str]:
    def choose(view: Any) -> str:
        time.sleep(0.2)
        return "pass"

    return choose


def unhurried(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], str]:
    """Passes so slowly that a test can look at the game between two moves, on a busy machine too."""

    def choose(view: Any) -> str:
        time.sleep(1.5)
        return "pass"

    return choose


def awaiting_the_test(
    referee: Referee[Any, Any], seat: int, seed: int, environment: Mapping[str, str]
) -> Callable[[Any], str]:
    """As the second, passes when a file with the game's name is in the folder that GO_ON names."""
    go_on = Path(os.environ["GO_ON"], environment["GOMILL_GAME_ID"])

    def choose(view: Any) -> str:
        while seat == 2 and not go_on.exists():
            time.sleep(0.01)
        return "pass"

    return choose


def confused(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], str]:
    def choose(view: Any) -> str:
        raise ZeroDivisionError("a bug")

    return choose


def hopeful(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], Choice]:
    return lambda view: Choice("pass", value=0.625, comment="surely won")


def talkative(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], Choice]:
    """Writes more about two moves than an answer of a service has room for."""
    return lambda view: Choice("pass", comment="é" * 1_200_000)


def noted(pids: Path) -> list[int]:
    return [int(line) for line in pids.read_text().split()] if pids.exists() else []


def hanging(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], str]:
    def choose(view: Any) -> str:
        time.sleep(3600)
        return "pass"

    return choose


def stubborn(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], str]:
    """Catches everything that is raised to interrupt it."""

    def choose(view: Any) -> str:
        while True:
            with contextlib.suppress(BaseException):
                time.sleep(3600)

    return choose


def stuck(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], str]:
    """Never comes back from C code, which looks for no signals: it waits for what it holds itself."""

    def choose(view: Any) -> str:
        library, mutex = ctypes.PyDLL(None), ctypes.create_string_buffer(128)
        for _ in range(2):
            library.pthread_mutex_lock(mutex)
        return "pass"

    return choose


def slow_starter(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], str]:
    time.sleep(3600)
    return always_pass(referee, seat, seed)


def stuck_at_start(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], str]:
    stuck(referee, seat, seed)(None)
    return always_pass(referee, seat, seed)


def stuck_in_the_end(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], str]:
    """Makes two moves before it is stuck."""
    moves = iter(("A1", "B1"))

    def choose(view: Any) -> str:
        return next(moves, None) or stuck(referee, seat, seed)(view)

    return choose
