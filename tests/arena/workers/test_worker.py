"""A worker whose run was killed ends quietly."""

from collections.abc import Sequence
from multiprocessing import Pipe
from typing import NoReturn

import pytest

from arena.jobs import PlayerSetup
from arena.players.program import KeptPrograms
from arena.workers import worker
from tests.arena.engines import job, python_player

PASSES = python_player("a"), python_player("b")
FAILS = python_player("a", "tests.arena.engines:unknown"), python_player("b")


@pytest.fixture(autouse=True)
def end_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker ends all its children after each game: here those would be servers of other tests."""
    monkeypatch.setattr(worker, "end_children", lambda _: None)


@pytest.mark.parametrize("players", [PASSES, FAILS], ids=["in a game", "after a failure"])
def test_a_worker_whose_run_was_killed_leaves_no_traceback_on_the_terminal(
    players: Sequence[PlayerSetup], capfd: pytest.CaptureFixture[str]
) -> None:
    run, own = Pipe()
    run.send(job(*players))
    run.close()
    worker.serve(own, worker.NO_SLOT, KeptPrograms(), KeptPrograms())
    assert "ConnectionError" not in (complaints := capfd.readouterr().err)
    assert "BrokenPipe" not in complaints


def test_a_worker_that_waits_while_its_run_is_killed_ends(capfd: pytest.CaptureFixture[str]) -> None:
    run, own = Pipe()
    # What the run has not read resets the connection.
    own.send("a result")
    run.close()
    worker.serve(own, worker.NO_SLOT, KeptPrograms(), KeptPrograms())
    assert capfd.readouterr().err == ""


def test_a_referees_traceback_commands_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def play(*_: object) -> NoReturn:
        raise ZeroDivisionError("\x1b[31m a bug")

    monkeypatch.setattr(worker, "play", play)
    run, own = Pipe()
    run.send(job(*PASSES))
    run.close()
    worker.serve(own, worker.NO_SLOT, KeptPrograms(), KeptPrograms())
    assert capfd.readouterr().err.endswith("ZeroDivisionError: \\x1b[31m a bug\n")
