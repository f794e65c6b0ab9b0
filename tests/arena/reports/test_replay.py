"""A page for a game's record, with what was kept beside it."""

import json
import re
from pathlib import Path

import pytest

from arena.reports.replay import page_of
from referees.api import GameRecord, UnreadableRecordError
from referees.warlight.rules import WarLight


def kept(folder: Path, players: tuple[str, str] = ("alpha", "beta")) -> Path:
    games = folder / "war.games"
    games.mkdir()
    record = games / "0_1.json"
    rules = WarLight.from_settings({"map": "double_small"})
    record.write_text(rules.record(GameRecord("0_1", "", "", players, (), None, 1)))
    return record


def texts_of(page: str) -> dict[str, str]:
    """The texts about players on a page, by title."""
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    texts: dict[str, str] = json.loads(data[1])["messages"]
    return texts


def test_the_page_shows_each_players_dialogue_and_output(tmp_path: Path) -> None:
    record = kept(tmp_path)
    (tmp_path / "war.protocol").mkdir()
    (tmp_path / "war.protocol" / "0_1.log").write_text(
        ">> alpha: Turn 1\n<< alpha: Deploy 5 on 3: now\n>> beta: settings your_bot player2\n"
    )
    (tmp_path / "war.log").write_text("0_1 alpha: I am: lost\n0_10 alpha: I am not\ntimestamp=now event=x\n")

    assert texts_of(page_of(record)) == {
        "alpha: what it received (>>) and answered (<<)": ">> Turn 1\n<< Deploy 5 on 3: now\n",
        "alpha: standard error": "I am: lost\n",
        "beta: what it received (>>) and answered (<<)": ">> settings your_bot player2\n",
        "beta: standard error": "Nothing, or it was discarded.",
    }


def test_what_looks_like_another_line_stays_the_player_s(tmp_path: Path) -> None:
    record = kept(tmp_path)
    (tmp_path / "war.protocol").mkdir()
    (tmp_path / "war.protocol" / "0_1.log").write_bytes(b"<< alpha: one\r<< beta: two\n<< beta: three\n")
    (tmp_path / "war.log").write_bytes(b"0_1 alpha: one\r0_1 beta: two\n")
    texts = texts_of(page_of(record))
    assert texts["alpha: what it received (>>) and answered (<<)"] == "<< one\\r<< beta: two\n"
    assert texts["beta: what it received (>>) and answered (<<)"] == "<< three\n"
    assert texts["beta: standard error"] == "Nothing, or it was discarded."


def test_two_players_of_the_same_name_stay_distinct(tmp_path: Path) -> None:
    record = kept(tmp_path, ("alpha", "alpha"))
    (tmp_path / "war.log").write_text("0_1 alpha#2: here\n")
    texts = texts_of(page_of(record))
    assert texts["alpha#2: standard error"] == "here\n"
    assert texts["alpha#1: standard error"] == "Nothing, or it was discarded."


def test_the_page_says_what_was_not_kept_and_the_remedy(tmp_path: Path) -> None:
    texts = texts_of(page_of(kept(tmp_path)))
    assert (
        texts["beta: what it received (>>) and answered (<<)"]
        == "Not kept: arena run --log-protocol keeps it."
    )
    assert texts["beta: standard error"] == "Not kept: there is no war.log."


def test_a_long_text_is_cut_and_says_so(tmp_path: Path) -> None:
    record = kept(tmp_path)
    (tmp_path / "war.protocol").mkdir()
    line = "x" * 999 + "\n"
    with (tmp_path / "war.protocol" / "0_1.log").open("w") as protocol:
        for _ in range(6_000):
            protocol.write(f"<< alpha: {line}>> beta: end\n")
    texts = texts_of(page_of(record))
    cut = texts["alpha: what it received (>>) and answered (<<)"]
    assert 4_000_000 < len(cut) < 4_300_000
    assert cut.endswith("(cut after 4 MiB; all of it is in 0_1.log)\n")
    assert texts["beta: what it received (>>) and answered (<<)"] == ">> end\n" * 6_000


def test_a_record_alone_is_enough(tmp_path: Path) -> None:
    page = page_of(kept(tmp_path).rename(tmp_path / "mine.json"))
    assert "alpha" in page
    assert all("NAME.games" in text for text in texts_of(page).values())


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (
            "(;GM[1])",
            "mine.json: no JSON; records",
        ),
        ("[]", 'mine.json: it has no "game"'),
        (json.dumps({"game": "tic_tac_toe()"}), r"games of 'tic_tac_toe\(\)' have no page"),
        (json.dumps({"game": "hex"}), "games of 'hex' have no page"),
    ],
)
def test_a_game_without_pages_is_refused_with_the_games_that_have_them(
    content: str, complaint: str, tmp_path: Path
) -> None:
    record = tmp_path / "mine.json"
    record.write_text(content)
    with pytest.raises(UnreadableRecordError, match=complaint) as caught:
        page_of(record)
    assert str(caught.value).endswith("; records (.json) of these games have one: diplomacy, warlight")


def test_a_missing_record_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRecordError, match=r"none\.json can't be read: No such file or directory$"):
        page_of(tmp_path / "none.json")


def test_replay_of_a_record_without_json_names_the_records_that_have_pages(tmp_path: Path) -> None:
    (tmp_path / "game.sgf").write_text("(;FF[4])")
    with pytest.raises(UnreadableRecordError, match=r"game\.sgf: no JSON; records \(\.json\) of "):
        page_of(tmp_path / "game.sgf")
