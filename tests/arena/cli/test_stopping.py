"""What a user sees who stops a run; tests/research/test_stopped_playoff.py counts the games."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.runner.files import CompetitionFiles
from tests.arena.cli.command import ARENA, arena
from tests.arena.control_files import PASSING, SLOW, misbehaving, write_control
from tests.terminals import Terminal
from tests.waiting import until


def finished(control: Path) -> int:
    history = control.with_suffix(".hist")
    return len(history.read_text().splitlines()) if history.exists() else 0


def log(control: Path) -> str:
    return control.with_suffix(".log").read_text()


def test_ctrl_x_is_acknowledged_in_quiet_mode_and_the_game_in_progress_played_out(tmp_path: Path) -> None:
    control = write_control(tmp_path, {"one": SLOW, "two": SLOW}, competition="")
    with Terminal([*ARENA, "run", str(control), "--quiet"]) as terminal:
        terminal.until(lambda shown: finished(control) >= 1)
        terminal.press(b"\x18")
        assert terminal.wait() == 0
        assert terminal.shown().replace("^X", "").splitlines() == [
            "Ctrl-X received; stopping when the games in progress are over"
        ]
    assert 'why="Ctrl-X received"' in log(control)
    assert "attempt interrupted" not in log(control)


@pytest.mark.parametrize(
    "interrupt",
    [
        lambda terminal: terminal.press(b"\x03"),
        lambda terminal: terminal.process.send_signal(signal.SIGHUP),
    ],
    ids=["Ctrl-C", "the terminal's end"],
)
def test_an_interrupted_run_says_so_and_leaves_the_terminal_as_it_was(
    tmp_path: Path, interrupt: Callable[[Terminal], None]
) -> None:
    players = {"one": PASSING, "engine": misbehaving("hang-in-genmove")}
    control = write_control(tmp_path, players, competition="rounds = 1\ncheck_players = false")
    with Terminal([*ARENA, "run", str(control)]) as terminal:
        terminal.until(lambda shown: "AvB_0" in shown)
        interrupt(terminal)
        assert terminal.wait() == 3
        assert "interrupted; games in progress will be played again" in terminal.shown()
        assert terminal.modes == terminal.modes_at_first
    assert "the run was interrupted" in log(control)


@pytest.mark.parametrize("options", [[], ["--quiet"]], ids=["drawn", "quiet"])
def test_a_run_whose_window_is_closed_was_interrupted(tmp_path: Path, options: list[str]) -> None:
    players = {"one": PASSING, "engine": misbehaving("hang-in-genmove")}
    control = write_control(tmp_path, players, competition="rounds = 1\ncheck_players = false")
    with Terminal([*ARENA, "run", str(control), *options]) as terminal:
        until(lambda: control.with_suffix(".log").exists() and "game started" in log(control))
        terminal.close()
        assert terminal.process.wait(60) == 3
    assert "the run was interrupted" in log(control)


def stopping(referee: object, seat: int, seed: int) -> Callable[[object], str]:
    """A player at whose start somebody asks the run to stop."""
    assert arena("stop", os.environ["ASKED_TO_STOP"]).returncode == 0
    return lambda view: "pass"


@pytest.mark.usefixtures("games_here")
def test_a_request_to_stop_during_the_checks_is_heard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = 'protocol = "python"\ncommand = "tests.arena.cli.test_stopping:stopping"'
    control = write_control(tmp_path, {"one": PASSING, "late": late})
    monkeypatch.setenv("ASKED_TO_STOP", str(control))
    done = arena("run", control)
    assert done.returncode == 0, done.stderr
    assert "it was asked to stop" in done.stdout and finished(control) == 0


@pytest.mark.usefixtures("games_here")
def test_a_request_to_stop_from_before_the_run_is_forgotten(tmp_path: Path) -> None:
    control = write_control(tmp_path, {"one": PASSING, "two": PASSING}, competition="rounds = 1")
    CompetitionFiles(control).request_stop()
    done = arena("run", control)
    assert done.returncode == 0 and "it was asked to stop" not in done.stdout and finished(control) == 1


@pytest.mark.usefixtures("games_here")
def test_the_report_of_a_run_of_no_games_says_so(tmp_path: Path) -> None:
    control = write_control(tmp_path, {"one": PASSING, "two": PASSING})
    run = arena(control, "-g", "0")
    assert (run.returncode, run.stderr) == (0, "")
    assert "the run's limit of games is reached" in run.stdout
    assert "0/2 games played" in control.with_suffix(".report").read_text()
