"""Competitions of every kind from their sample files: run, interrupted, run on, reported."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from arena.control.sample import sample
from arena.control.schema import KINDS
from tests.arena.cli.command import arena
from tests.arena.control_files import RANDOM

pytestmark = pytest.mark.usefixtures("games_here")


def quick(kind: str) -> str:
    """The sample file of a kind, for random players on a tiny board and few games."""
    text = re.sub(r'command = "gnugo .* --level \d+"', RANDOM, sample(kind))
    text = re.sub(
        r'command = "gnugo .* --level \{level\}"', f'{RANDOM}\nenvironment = {{ LEVEL = "{{level}}" }}', text
    )
    assert '"gnugo' not in text
    for old, new in (
        ("board_size = 9", "board_size = 3"),
        ("board_size = 13", "board_size = 4"),
        ("handicap = 2, ", ""),
        ("move_limit = 500", "move_limit = 30"),
        ('scorer = "players"', 'scorer = "internal"'),
        ("komi = 6.5", "komi = 0.5"),
        ('memory = "1 GB"', ""),
        ("games = 2000", "games = 8"),
        ("games = 200\n", "games = 8\n"),
        ("games = 100", "games = 4"),
        ("rounds = 20", "rounds = 4"),
        ("generations = 5", "generations = 2"),
        ("samples = 20", "samples = 2"),
        ("batch = 4", "batch = 2"),
    ):
        text = text.replace(old, new)
    return text


# A standing arena has no end.
@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"standing"}))
def test_a_competition_is_interrupted_run_on_and_completed(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "cup.toml"
    path.write_text(quick(kind), encoding="utf-8")
    first = arena("run", path, "--quiet", "--max-games", "3")
    assert (first.returncode, first.stderr) == (0, "")
    second = arena("run", path, "--quiet")
    assert (second.returncode, second.stderr) == (0, "")
    history = (tmp_path / "cup.hist").read_text().splitlines()
    ids = [line.split()[0] for line in history if re.search(r" [BW]\+| drew | vs ", line)]
    report = arena("show", path).stdout
    played, total = re.findall(r"(\d+)/(\d+) games", report)[0]
    assert int(played) == int(total) > 3 or kind == "playoff"
    assert len(ids) == len(set(ids)) == len(list((tmp_path / "cup.games").iterdir()))
    assert "missing from control file" not in report


def test_the_results_have_the_weight_of_each_setting_that_a_mission_played(tmp_path: Path) -> None:
    path = tmp_path / "cup.toml"
    path.write_text(quick("mars").replace("games = 4", "games = 12"), encoding="utf-8")
    assert arena("run", path, "-q").returncode == 0
    query = (
        "SELECT json_extract(SAGA_Setting.Notes, '$.settings.board_size'), Weight"
        " FROM SAGA_SeriesSetting JOIN SAGA_Setting USING (SettingId)"
        " WHERE SettingId IN (SELECT SettingId FROM SAGA_Game)"
    )
    with closing(sqlite3.connect(tmp_path / "cup.results.sqlite")) as results:
        assert dict(results.execute(query).fetchall()) == {3: 2.0, 4: 1.0}
