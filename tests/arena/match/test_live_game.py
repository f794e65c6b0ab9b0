from pathlib import Path

import pytest

from arena.jobs import JobMove
from arena.match.live_game import LiveFile, LiveFolder, LiveHeading


def move(seat: int, text: str) -> JobMove:
    return JobMove(seat, text, None, None, None, 0.25, {seat: 0.5}, "why", 9.5, 3)


def test_each_look_tells_what_is_new_even_of_a_line_half_written(tmp_path: Path) -> None:
    folder = LiveFolder(tmp_path)
    assert list(folder.news()) == []
    path = tmp_path / "0_1.1.jsonl"
    game = LiveFile(path, LiveHeading("0_1", ("ann", "bob"), 12.5))
    game.add([move(1, "A1")])
    (first,) = folder.news()
    assert first.heading == LiveHeading("0_1", ("ann", "bob"), 12.5) and first.moves_before == 0
    assert [(made.text, made.value, made.clock_seconds, made.clock_stones) for made in first.moves] == [
        ("A1", 0.5, 9.5, 3)
    ]
    assert list(folder.news()) == []

    game.add([move(2, "B2")])
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    assert [news.moves for news in folder.news()] in ([], [()])
    path.write_bytes(whole)
    (second,) = folder.news()
    assert (second.moves_before, second.moves[0].text) == (1, "B2")

    again = LiveFolder.game(tmp_path, "0_1")
    assert again is not None and [made.text for made in again.moves] == ["A1", "B2"]
    assert LiveFolder.game(tmp_path, "../0_1") is None
    assert LiveFolder.game_ids(tmp_path) == {"0_1"}
    assert LiveFolder.game_ids(tmp_path / "nothing") == set()
    path.unlink()
    (last,) = folder.news()
    assert last.over and last.moves_before == 2


def test_secrets_of_a_game_are_in_no_file_that_its_players_might_find(tmp_path: Path) -> None:
    path = tmp_path / "0_1.1.jsonl"
    game = LiveFile(path, LiveHeading("0_1", ("ann", "bob"), 0.0, hides=True))
    game.add([move(1, "secret")])
    game.close()
    assert b"secret" not in path.read_bytes() and b"why" not in path.read_bytes()
    assert path.stat().st_mode & 0o077 == 0
    (news,) = LiveFolder(tmp_path).news()
    assert len(news.moves) == 1 and news.moves[0].value is None


def test_a_full_disk_costs_the_watchers_and_not_the_game(tmp_path: Path) -> None:
    path = tmp_path / "full.jsonl"
    path.symlink_to("/dev/full")
    LiveFile(path, LiveHeading("0_1", ("ann",), 0.0)).add([move(1, "A1")])
    LiveFile(tmp_path / "none" / "x.jsonl", LiveHeading("0_1", ("ann",), 0.0)).add([move(1, "A1")])
    LiveFile(tmp_path / "0_2.1.jsonl", LiveHeading("0_2", ("ann",), 0.0)).add([move(1, "A1")])
    read = LiveFolder.game(tmp_path, "0_2")
    assert read is not None and [made.text for made in read.moves] == ["A1"]


def test_a_game_that_ends_during_a_look_ends_no_other_for_its_watchers(tmp_path: Path) -> None:
    folder = LiveFolder(tmp_path)
    LiveFile(tmp_path / "0_1.1.jsonl", LiveHeading("0_1", ("ann", "bob"), 12.5)).add([move(1, "A1")])
    assert [news.over for news in folder.news()] == [False]
    # A name without a file, as of one that is removed between the listing and the question for its size.
    (tmp_path / "0_2.1.jsonl").symlink_to(tmp_path / "gone")
    assert list(folder.news()) == []


def test_a_game_of_many_megabytes_is_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.match.live_game._MOST_READ", 400)
    game = LiveFile(tmp_path / "0_1.1.jsonl", LiveHeading("0_1", ("ann", "bob"), 12.5))
    for number in range(20):
        game.add([move(1 + number % 2, f"A{number}")])
    read = LiveFolder.game(tmp_path, "0_1")
    assert read is not None and [made.text for made in read.moves] == [f"A{number}" for number in range(20)]
