"""A competition stopped in every way there is goes on each time, and counts every game once."""

import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from research.stopped_playoff import CONTROL
from tests.arena.cli.command import ARENA, arena, until
from tests.arena.control_files import PASSING, SLOW, misbehaving, write_control
from tests.arena.engines import GNUGO, left_running, needs_gnugo
from tests.arena.terminals import Terminal

GAMES = 16
PLAYOFF = CONTROL.format(games=GAMES, parallel=2, gnugo=GNUGO, levels=(0, 1))


def finished(control: Path) -> int:
    history = control.with_suffix(".hist")
    return len(history.read_text().splitlines()) if history.exists() else 0


def log(control: Path) -> str:
    return control.with_suffix(".log").read_text()


def started(control: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*ARENA, "run", str(control), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def descendants(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [process for child in map(int, children) for process in (child, *descendants(child))]


@needs_gnugo
@pytest.mark.slow
def test_a_playoff_stopped_in_every_way_ends_with_every_game_counted_once(tmp_path: Path) -> None:
    control = tmp_path / "cup.toml"
    control.write_text(PLAYOFF)

    with Terminal([*ARENA, "run", str(control)]) as terminal:
        terminal.until(lambda shown: finished(control) >= 2)
        terminal.press(b"\x18")
        assert terminal.wait(120) == 0
        assert "Ctrl-X received; stopping when the games in progress are over" in terminal.shown()
        assert terminal.modes == terminal.modes_at_first
    after_key = finished(control)
    assert 2 <= after_key < GAMES and "attempt interrupted" not in log(control)

    run = started(control)
    until(lambda: finished(control) >= after_key + 1, run)
    assert arena("stop", control).returncode == 0
    assert run.wait(120) == 0
    after_stop = finished(control)
    assert after_stop < GAMES and "attempt interrupted" not in log(control)

    run = started(control)
    until(lambda: finished(control) >= after_stop + 1, run)
    everything = [run.pid, *descendants(run.pid)]
    for pid in everything:
        os.kill(pid, signal.SIGKILL)
    run.wait()
    assert left_running(everything) == []
    after_kill = finished(control)

    with Terminal([*ARENA, "run", str(control), "--quiet"]) as terminal:
        terminal.until(lambda shown: finished(control) >= after_kill + 1)
        terminal.press(b"\x03")
        assert terminal.wait(120) == 3
        assert "interrupted; games in progress will be played again" in terminal.shown()
    assert after_kill < finished(control) < GAMES
    assert "attempt interrupted" in log(control)

    last = subprocess.run([*ARENA, str(control)], capture_output=True, text=True, timeout=200)
    assert last.returncode == 0, last.stderr
    assert f"cup: {GAMES}/{GAMES} games" in last.stdout or "all games have been played" in last.stdout
    wanted = [f"0_{number:02}" for number in range(GAMES)]
    with sqlite3.connect(control.with_suffix(".results.sqlite")) as database:
        stored = sorted(name for (name,) in database.execute('SELECT "Name" FROM "ARENA_Game"'))
        (results,) = database.execute('SELECT count(*) FROM "SAGA_Game"').fetchone()
    assert stored == wanted and results == GAMES
    assert sorted(line.split()[0] for line in control.with_suffix(".hist").read_text().splitlines()) == wanted
    assert sorted(path.stem for path in (tmp_path / "cup.games").iterdir()) == wanted


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


def test_the_terminals_end_interrupts_the_run(tmp_path: Path) -> None:
    players = {"one": PASSING, "engine": misbehaving("hang-in-genmove")}
    control = write_control(tmp_path, players, competition="rounds = 1\ncheck_players = false")
    with Terminal([*ARENA, "run", str(control)]) as terminal:
        terminal.until(lambda shown: "AvB_0" in shown)
        terminal.process.send_signal(signal.SIGHUP)
        assert terminal.wait() == 3
    assert "the run was interrupted" in log(control)


def patient(referee: object, seat: int, seed: int) -> Callable[[object], str]:
    """A player that reports its start, and is ready when the test lets it."""
    folder = Path(os.environ["PATIENT"])
    (folder / "making").touch()
    while not (folder / "ready").exists():
        time.sleep(0.01)
    return lambda view: "pass"


def test_a_request_to_stop_during_the_checks_is_heard(tmp_path: Path) -> None:
    slow = 'protocol = "python"\ncommand = "tests.arena.cli.test_stopping:patient"\nstart_seconds = 100'
    control = write_control(tmp_path, {"one": PASSING, "slow": slow})
    run = subprocess.Popen(
        [*ARENA, "run", str(control)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PATIENT": str(tmp_path)},
    )
    until((tmp_path / "making").exists, run)
    assert arena("stop", control).returncode == 0
    (tmp_path / "ready").touch()
    stdout, stderr = run.communicate(timeout=180)
    assert run.returncode == 0, stderr
    assert "it was asked to stop" in stdout and finished(control) == 0


def test_the_report_of_a_run_of_no_games_says_so(tmp_path: Path) -> None:
    control = write_control(tmp_path, {"one": PASSING, "two": PASSING})
    run = subprocess.run([*ARENA, str(control), "-g", "0"], capture_output=True, text=True, timeout=180)
    assert (run.returncode, run.stderr) == (0, "")
    assert "the run's limit of games is reached" in run.stdout
    assert "0/2 games played" in control.with_suffix(".report").read_text()
