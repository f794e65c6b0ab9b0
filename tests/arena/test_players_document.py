"""The examples of docs/reference/players.md do what it says."""

import re
from pathlib import Path

import pytest

from arena.match.game import play
from arena.match.openings import read_openings
from referees.go import Go
from tests.arena.engines import job, python_player

TEXT = Path(__file__).parents[2].joinpath("docs", "reference", "players.md").read_text(encoding="utf-8")


def example(language: str) -> str:
    found = re.search(f"```{language}\n(.*?)```", TEXT, re.DOTALL)
    assert found is not None
    return found[1]


def test_the_python_player_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "documented_player.py").write_text(example("python"))
    monkeypatch.syspath_prepend(tmp_path)
    player = python_player("first", "documented_player:first_move")
    result = play(job(player, python_player("passer"), move_limit=4))
    assert [move.text for move in result.moves] == ["A5", "pass", "B5", "pass"]


def test_the_list_of_openings_is_read(tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text(example("text"))
    openings = read_openings(tmp_path / "book.txt", Go.from_settings({"board_size": 9}))
    assert [opening.moves for opening in openings] == [("E5", "C3", "G7"), ("E5", "pass")]
    assert openings[1].name == "tengen"
