"""A page for a game's record, with what was kept beside it."""

import json
from pathlib import Path

import pytest

from arena.replay import page_of
from referees.api import GameRecord, UnknownGame, UnreadableRecord
from referees.warlight.rules import WarLight


def kept(folder: Path) -> Path:
    games = folder / "war.games"
    games.mkdir()
    record = games / "0_1.json"
    rules = WarLight.from_settings({"map": "double_small"})
    record.write_text(rules.record(GameRecord("0_1", "", "", ("alpha", "beta"), (), None, 1)))
    return record


def test_what_players_said_and_wrote_is_on_the_page(tmp_path: Path) -> None:
    record = kept(tmp_path)
    (tmp_path / "war.protocol").mkdir()
    (tmp_path / "war.protocol" / "0_1.log").write_text("<< alpha: Deploy 5 on 3\n")
    (tmp_path / "war.log").write_text("0_1 alpha: I am lost\n0_10 alpha: I am not\ntimestamp=now event=x\n")

    page = page_of(record)

    assert "<< alpha: Deploy 5 on 3".replace("<", "\\u003c") in page
    assert "0_1 alpha: I am lost" in page
    assert "I am not" not in page


def test_a_record_alone_is_enough(tmp_path: Path) -> None:
    record = kept(tmp_path).rename(tmp_path / "mine.json")
    assert "alpha" in page_of(record)


@pytest.mark.parametrize(
    ("content", "error", "complaint"),
    [
        ("(;GM[1])", UnreadableRecord, "mine.json: no JSON"),
        ("[]", UnreadableRecord, 'mine.json: it has no "game"'),
        (json.dumps({"game": "tag"}), UnknownGame, "no referee for the game 'tag'"),
        (json.dumps({"game": "hex"}), UnreadableRecord, "games of 'hex' have no page"),
    ],
)
def test_what_has_no_page_is_named(
    content: str, error: type[Exception], complaint: str, tmp_path: Path
) -> None:
    record = tmp_path / "mine.json"
    record.write_text(content)
    with pytest.raises(error, match=complaint):
        page_of(record)
