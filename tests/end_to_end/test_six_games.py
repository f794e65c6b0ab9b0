"""examples/six_games: all their players start, and the script plays and shows what was learnt."""

import io
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, cast

import pytest

from clients.bots import any_game
from clients.bots.gtp import GtpProgram
from referees.api import referee
from referees.dialogues import GtpGame
from tests.end_to_end.conftest import ENVIRONMENT

pytest.importorskip("pyspiel")

# Far more than is needed, for machines that are busy with other things.
SECONDS = 800
pytestmark = pytest.mark.timeout(SECONDS + 100)

EXAMPLES = Path(__file__).parents[2] / "examples" / "six_games"
CONTROLS = sorted(EXAMPLES.glob("*.toml"))
# Another test plays Hex, with examples/hex.toml.
PLAYED = "connect_four"


def learners(control: dict[str, Any]) -> list[str]:
    return [name for name, player in control["players"].items() if player["command"].endswith("--academy")]


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
        assert 0 < len(learners(control)) < len(control["players"]) == 4


@pytest.mark.parametrize(
    "control",
    [control for control in CONTROLS if control.stem != PLAYED],
    ids=lambda control: control.stem,
)
def test_the_bots_of_the_games_that_are_not_played_here_start_and_take_what_the_arena_sets_up(
    control: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = tomllib.loads(control.read_text())
    settings = {name: value for name, value in read["game"].items() if name not in ("name", "move_limit")}
    dialogue = referee(read["game"]["name"]).from_settings(settings).dialogue("gtp")
    lines = [*cast("GtpGame[Any, Any]", dialogue).setup(), "quit"]
    players = [shlex.split(player["command"]) for player in read["players"].values()]
    bots = [words for program, *words in players if program == "academy-bot"]
    assert len(bots) == 3
    monkeypatch.delenv("ACADEMY_ADDRESS", raising=False)
    for words in bots:
        commands, answers = io.StringIO("".join(f"{line}\n" for line in lines)), io.StringIO()
        monkeypatch.setattr(GtpProgram.run, "__defaults__", (commands, answers))
        any_game.main(words)
        assert answers.getvalue() == "=\n\n" * len(lines), words


def test_the_script_plays_and_shows_what_was_learnt(tmp_path: Path) -> None:
    # Without the one that does not learn, and with quicker ones.
    examples = Path(shutil.copytree(EXAMPLES, tmp_path / "six_games", ignore=lambda *_: {"__pycache__"}))
    control = examples / f"{PLAYED}.toml"
    text = control.read_text()
    few = 'rounds = 5\ncompetitors = ["scholar", "sample", "chance"]\ncheck_players = false\n'
    shorter = text.replace("rounds = 5\n", few).replace("playouts 100", "playouts 20")
    assert few in shorter and "playouts 100" not in shorter
    control.write_text(shorter)
    script = examples / "play.py"
    done = run(sys.executable, script, PLAYED, "--rounds", "1", "--to", tmp_path / "games")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("the run is over: all games have been played") == 1
    assert "openspiel-connect_four, endgame:" in done.stdout
    assert len(list((tmp_path / "games" / f"{PLAYED}.games").iterdir())) == 3
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
