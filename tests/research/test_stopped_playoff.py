"""A playoff stopped in every way: with each game counted once, and without a process left."""

import sys
from pathlib import Path

import pytest

from research import stopped_playoff
from research.stopped_playoff import CONTROL, WAYS, Run, Way, played_out, results, stopped

ENGINE = Path(__file__).with_name("gated_engine.py")
GAMES = 21
# Games that may still be played out when a run was asked to stop: it waits for those in progress.
MORE = 3


class Playoff:
    """A playoff of engines that wait for each other game to be allowed."""

    def __init__(self, folder: Path) -> None:
        self.control = folder / "cup.toml"
        self._allowed = folder / "allowed"
        self.allow(0)
        engine = f"{sys.executable} -I -S {ENGINE} {self._allowed}"
        text = CONTROL.format(games=GAMES, parallel=2, levels=(0, 1), gnugo=engine)
        # However loaded the machine is.
        limits = "start_seconds = 200\nmove_seconds = 200\n"
        for before, after in (
            ("\n[game]", "check_players = false\n\n[game]"),
            ("[players.weak]\n", f"[players.weak]\n{limits}"),
            ("[players.strong]\n", f"[players.strong]\n{limits}"),
        ):
            assert before in text
            text = text.replace(before, after)
        self.control.write_text(text)

    def allow(self, games: int) -> None:
        """Let this many games in all be played out."""
        draft = self._allowed.with_suffix(".new")
        draft.write_text(str(games))
        draft.replace(self._allowed)

    def stop(self, way: Way) -> list[str]:
        """Play two more games, stop, and let those in progress be played out where they are waited for."""
        played = len(results(self.control))
        self.allow(played + 2)

        def stop(run: Run, control: Path) -> None:
            way.stop(run, control)
            self.allow(played + 2 + MORE)

        return stopped(self.control, Way(way.name, stop, way.status), 2)


@pytest.fixture
def playoff(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Playoff:
    monkeypatch.setattr(stopped_playoff, "LEFT_OVER_SECONDS", 60.0)
    return Playoff(tmp_path)


def test_however_it_is_stopped_each_game_counts_once_and_another_exit_status_is_a_fault(
    playoff: Playoff,
) -> None:
    first, *others = WAYS
    assert playoff.stop(Way(first.name, first.stop, 77)) == [f"{first.name}: exit status 0, not 77"]
    faults = [fault for way in others for fault in playoff.stop(way)]
    assert 2 * len(WAYS) <= len(results(playoff.control)) < GAMES
    playoff.allow(GAMES)
    assert faults + played_out(playoff.control, GAMES) == []
