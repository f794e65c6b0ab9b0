"""examples/six_games: all their players start, and the script plays and shows what was learnt."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.web.conftest import BIN, ENVIRONMENT

pytest.importorskip("pyspiel")

# Far more than is needed, for machines that are busy with other things.
SECONDS = 800
pytestmark = pytest.mark.timeout(SECONDS + 100)

EXAMPLES = Path(__file__).parents[2] / "examples" / "six_games"
CONTROLS = sorted(EXAMPLES.glob("*.toml"))
# Another test plays Hex, with examples/hex.toml.
PLAYED = "connect_four"


def test_there_are_six_games_and_five_games_of_each_pair() -> None:
    read = [tomllib.loads(control.read_text()) for control in CONTROLS]
    games = {" ".join(str(value) for value in control["game"].values()) for control in read}
    assert games == {
        "go 9 7.5 250",
        "hex 7 True",
        "draughts english",
        "draughts international",
        "openspiel othello",
        "openspiel connect_four",
    }
    for control in read:
        assert control["competition"]["rounds"] == 5
        learners = [
            player for player in control["players"].values() if player["command"].endswith("--academy")
        ]
        assert learners and len(learners) < len(control["players"]) == 4


@pytest.mark.parametrize(
    "control",
    [control for control in CONTROLS if control.stem != PLAYED],
    ids=lambda control: control.stem,
)
def test_all_players_of_the_games_that_are_not_played_here_start(control: Path, tmp_path: Path) -> None:
    copied = tmp_path / control.name
    copied.write_text(control.read_text().replace("command =", "start_seconds = 200\ncommand ="))
    done = run(BIN / "arena", "check", copied)
    assert done.stdout.count(" works") == 4, done.stdout + done.stderr


def test_the_script_plays_and_shows_what_was_learnt(tmp_path: Path) -> None:
    script = EXAMPLES / "play.py"
    done = run(sys.executable, script, PLAYED, "--rounds", "1", "--to", tmp_path / "games")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("the run is over: all games have been played") == 1
    assert "openspiel-connect_four, endgame:" in done.stdout
    assert len(list((tmp_path / "games" / f"{PLAYED}.games").iterdir())) == 6
    again = run(sys.executable, script, "chess", "--to", tmp_path / "games")
    assert again.returncode == 2 and "'chess' is not one of connect_four" in again.stderr


def run(*command: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(word) for word in command],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
