"""A competition on a map of one's own, whose file lies beside the control file."""

import json
from pathlib import Path

import pytest

from arena.control.settings import ControlError
from arena.control.toml_file import read
from arena.results.database import ResultsError
from arena.runner.competition import RunEnd
from arena.runner.files import CompetitionFiles
from arena.runner.options import RunOptions
from arena.runner.run import run
from referees.diplomacy import shipped_map
from tests.arena.control_files import random_players

OWN = shipped_map("straits").text.replace('name = "straits"', 'name = "narrows"', 1)
CONTROL = f"""[competition]
kind = "playoff"
games = 2
[game]
name = "diplomacy"
map = "my.toml"
year_limit = 2
{random_players("one", "two")}[[matchups]]
players = ["one", "two"]
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "first"
    folder.mkdir()
    (folder / "my.toml").write_text(OWN)
    (folder / "own.toml").write_text(CONTROL)
    return folder / "own.toml"


def play(path: Path, games: int | None = None) -> RunEnd:
    return run(read(path), CompetitionFiles(path), RunOptions(quiet=True, max_games=games)).end


def test_games_are_played_on_it_and_go_on_where_the_folder_was_moved_to(path: Path) -> None:
    play(path, games=1)
    moved = path.parent.rename(path.parents[1] / "second") / path.name
    assert play(moved) is RunEnd.COMPLETED
    records = [json.loads(file.read_text()) for file in moved.parent.glob("own.games/*.json")]
    assert len(records) == 2
    assert all(record["map"].startswith("narrows-") and record["map_text"] == OWN for record in records)


def test_a_map_file_may_not_change_between_games(path: Path) -> None:
    play(path, games=1)
    (path.parent / "my.toml").write_text(OWN.replace("centres_to_win = 5", "centres_to_win = 4"))
    with pytest.raises(
        ResultsError, match=r"played with diplomacy-narrows-\w+, the control file now has dip"
    ):
        play(path)


def test_a_file_that_is_not_a_map_is_named_with_the_entry_and_the_rule(path: Path) -> None:
    file = path.parent / "my.toml"
    file.write_text(OWN.replace('"NCA NPO NMO"', '"NCA NPO XXX"'))
    with pytest.raises(ControlError) as refused:
        read(path)
    assert str(file) in str(refused.value)
    assert "borders.army, 'NCA NPO XXX': 'XXX' is not a province" in str(refused.value)


def test_a_game_may_go_on_to_its_last_year(path: Path) -> None:
    path.write_text(CONTROL.replace("year_limit = 2", "year_limit = 300"))
    assert read(path).game.move_limit == 3000
