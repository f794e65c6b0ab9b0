"""The ringmaster's example control files run as they are, with quick engines in the place of theirs."""

import re
import shutil
from pathlib import Path

import pytest

from arena.control.control_file import read_control
from arena.selection.kinds import selector_for
from tests.arena.cli.command import arena
from tests.arena.control.ringmaster import engines

EXAMPLES = Path(__file__).parents[4] / "examples" / "ringmaster"


@pytest.fixture
def quick_engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`gnugo` and `fuego` are quick engines."""
    engines.install(tmp_path / "programs", ("gnugo", "fuego"), "1", "W+4.5")
    engines.first_on_path(tmp_path / "programs", monkeypatch)


@pytest.mark.parametrize(
    ("name", "games", "expected"),
    [
        ("playoff", 5, ["gnugo-l1 v gnugo-l2 (5/5 games)", "board size: 9   komi: 7.5"]),
        (
            "handicaps",
            12,
            [
                "2 stones (2/2 games)",
                "handicap: 4 (fixed)",
                "handicap: 2 (free)",
                "gnugo-l8#2",
                "board size: 13",
            ],
        ),
        ("allplayall", 6, ["6/12 games played", "gnugo-l10"]),
        ("mc_tuner", 6, ["most visited at depth 1:", "Best parameters: I: "]),
        ("ce_tuner", 7, ["generation 1 of 5: 1/6 games", "F: "]),
    ],
)
@pytest.mark.usefixtures("quick_engines", "games_here")
def test_an_example_runs(tmp_path: Path, name: str, games: int, expected: list[str]) -> None:
    path = tmp_path / f"{name}.ctl"
    shutil.copy(EXAMPLES / path.name, path)
    done = arena("run", path, "--quiet", "--max-games", str(games))
    assert (done.returncode, done.stderr) == (0, "")
    report = arena("show", path).stdout
    assert [text for text in expected if text not in report] == []
    history = (tmp_path / f"{name}.hist").read_text().splitlines()
    played = [line for line in history if " beat " in line]
    assert len(played) == games
    # Each line of a tuner names the candidate's parameters.
    assert all(" I: " in line and "; F: " in line for line in played) is name.endswith("tuner")
    assert all(line.endswith(")]") for line in played) is (name == "mc_tuner")
    assert len(list((tmp_path / f"{name}.games").iterdir())) == games


def test_all_examples_are_run() -> None:
    names = {path.stem for path in EXAMPLES.iterdir()}
    assert names == {"playoff", "handicaps", "allplayall", "mc_tuner", "ce_tuner"}


@pytest.mark.parametrize("path", sorted(EXAMPLES.parent.glob("*.toml")), ids=lambda path: path.stem)
def test_our_own_examples_are_read(path: Path) -> None:
    assert selector_for(read_control(path)).next_game() is not None


@pytest.mark.parametrize(("parallel", "slots"), [("1", {"none"}), ("2", {"0", "1"})])
def test_an_engine_has_a_slot_only_where_games_are_simultaneous(
    tmp_path: Path, parallel: str, slots: set[str]
) -> None:
    engines.install(tmp_path, ["quick"], "1")
    script = tmp_path / "engine"
    script.write_text('#!/bin/sh\necho "slot ${GOMILL_SLOT-none}" >&2\nsleep 0.3\nexec ./quick\n')
    script.chmod(0o755)
    path = tmp_path / "slots.ctl"
    path.write_text(
        "competition_type = 'playoff'\n"
        "players = {name: Player('./engine', cwd='.') for name in 'ab'}\n"
        "skip_player_checks = True\n"
        "matchups = [Matchup('a', 'b', board_size=5, komi=0.5, number_of_games=2)]\n"
    )
    assert arena("run", path, "--quiet", "--parallel", parallel).returncode == 0
    assert set(re.findall(r"slot (\w+)$", path.with_suffix(".log").read_text(), re.MULTILINE)) == slots
