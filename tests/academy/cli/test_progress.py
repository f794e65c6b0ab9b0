"""A command that takes events in again shows on a terminal how far it is."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from academy.store.game_registration import RegisterGame
from academy.store.library_store import Store
from tests.academy.cli.conftest import run
from tests.academy.store.examples import go_game, learn
from tests.terminals import Terminal

EVENTS = 31


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a game that has learnt from 30 contests."""
    folder = tmp_path_factory.mktemp("data")
    with Store(folder) as store:
        store.run(RegisterGame(go_game(), "arena"))
        learn(store, contests=EVENTS - 1)
    return folder


@pytest.mark.parametrize(
    ("command", "outcome"),
    [
        (("check",), f"{EVENTS} events, sound"),
        (("players", "forget", "seki"), "nothing was changed; do it with --really"),
        (("compact", "--keep", "1"), f"{EVENTS - 1} events replaced by snapshots, 1 left"),
    ],
)
def test_a_terminal_shows_how_many_events_are_taken_in(
    data: Path, command: Sequence[str], outcome: str, tmp_path: Path
) -> None:
    copy = shutil.copytree(data, tmp_path / "copy")
    terminal = Terminal([sys.executable, "-m", "academy", *command, "--data", str(copy)])
    shown = terminal.until(lambda shown: outcome in shown, 180)
    assert f"{EVENTS}/{EVENTS}" in shown
    assert terminal.process.wait(180) == 0


def test_a_pipe_gets_the_outcome_alone(data: Path) -> None:
    checked = run("check", "--data", data)
    assert checked.err == "" and len(checked.out.splitlines()) == 1
