"""The tournaments of examples/, one killed and run again: each game counts once and can be replayed."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from referees.warlight import WarLight
from tests.arena.cli.command import arena
from tests.end_to_end.conftest import BIN, ENVIRONMENT
from tests.waiting import until

EXAMPLES = Path(__file__).parents[2] / "examples"
A_GENEROUS_TIME = 240.0


def games_played(control: Path) -> list[str]:
    history = control.with_suffix(".hist")
    return [line.split()[0] for line in history.read_text().splitlines()] if history.exists() else []


def check_replay(record: dict[str, Any]) -> None:
    """Play a record's orders again: every standing and the result must be the record's."""
    rules = WarLight.from_settings(record["settings"])
    position = rules.start(int(record["seed"]))
    for turn in record["turns"]:
        assert turn["standing"] == {"owners": list(position.owners), "armies": list(position.armies)}
        orders = {
            seat: rules.read_move(position, seat, "; ".join(turn["orders"][seat - 1])) for seat in (1, 2)
        }
        position = rules.play(position, orders)
        assert turn["first"] == position.first
        assert len(turn["events"]) == len(position.events)
    assert record["final"] == {"owners": list(position.owners), "armies": list(position.armies)}
    outcome = rules.outcome(position)
    assert outcome is not None
    assert record["result"]["winners"] == list(outcome.winners)


def shortened(name: str, games: int, folder: Path) -> Path:
    """A control file of an example for short games, with time enough on a busy machine."""
    control = folder / f"{name}.toml"
    text = (EXAMPLES / control.name).read_text()
    for old, new in [
        (r"turn_limit = \d+", "turn_limit = 5"),
        (r"games = \d+", f"games = {games}"),
        ("move_seconds = 5", "move_seconds = 120"),
        # The bots' own test has ACADEMY.
        (r'\[academy\]\naddress = "embedded"\n', ""),
        ("parallel = 2", "parallel = 2\ncheck_players = false"),
    ]:
        assert re.search(old, text)
        text = re.sub(old, new, text)
    control.write_text(text)
    return control


def play(control: Path) -> None:
    done = arena("run", "--quiet", control)
    assert done.returncode == 0 and "warning" not in done.stdout + done.stderr, done.stdout + done.stderr


def check_games(control: Path, games: list[str]) -> None:
    """Each game was played once, and can be replayed."""
    assert sorted(games_played(control)) == games
    records = sorted((control.with_suffix(".games")).glob("*.json"))
    assert [record.stem for record in records] == games
    for record in records:
        check_replay(json.loads(record.read_text()))


def test_a_tournament_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    control = shortened("warlight", 2, tmp_path)
    run = subprocess.Popen(
        [BIN / "arena", "run", "--quiet", control],
        env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    until(lambda: games_played(control), run, A_GENEROUS_TIME)
    run.kill()
    run.communicate()
    first = tmp_path / "warlight.games" / f"{games_played(control)[0]}.json"
    before = first.read_bytes()
    play(control)
    assert first.read_bytes() == before
    check_games(control, ["0_0", "0_1", "1_0", "1_1"])


def test_the_tournament_on_the_map_of_the_earth_is_played(tmp_path: Path) -> None:
    control = shortened("warlight_earth", 1, tmp_path)
    play(control)
    check_games(control, ["0_0", "1_0"])
