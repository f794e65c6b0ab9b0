"""What was kept of the players of a game."""

from pathlib import Path

from arena.reports.kept_texts import KeptTexts, read_texts


def texts_of(
    folder: Path, players: tuple[str, str] = ("alpha", "beta"), most: int = 4 << 20
) -> dict[str, KeptTexts]:
    texts = read_texts(folder / "war.protocol", folder / "war.log", "0_1", players, most)
    return {kept.label: kept for kept in texts}


def test_each_player_has_its_own_dialogue_and_output(tmp_path: Path) -> None:
    (tmp_path / "war.protocol").mkdir()
    (tmp_path / "war.protocol" / "0_1.log").write_text(
        ">> alpha: Turn 1\n<< alpha: Deploy 5 on 3: now\n>> beta: settings your_bot player2\n"
    )
    (tmp_path / "war.log").write_text("0_1 alpha: I am: lost\n0_10 alpha: I am not\ntimestamp=now event=x\n")

    assert texts_of(tmp_path) == {
        "alpha": KeptTexts(1, "alpha", ">> Turn 1\n<< Deploy 5 on 3: now\n", "I am: lost\n"),
        "beta": KeptTexts(2, "beta", ">> settings your_bot player2\n", ""),
    }


def test_a_text_that_looks_like_another_players_line_stays_the_players(tmp_path: Path) -> None:
    (tmp_path / "war.protocol").mkdir()
    (tmp_path / "war.protocol" / "0_1.log").write_bytes(b"<< alpha: one\r<< beta: two\n<< beta: three\n")
    (tmp_path / "war.log").write_bytes(b"0_1 alpha: one\r0_1 beta: two\n")
    texts = texts_of(tmp_path)
    assert texts["alpha"].protocol == "<< one\\r<< beta: two\n"
    assert texts["beta"].protocol == "<< three\n"
    assert texts["beta"].errors == ""


def test_two_players_of_the_same_name_stay_distinct(tmp_path: Path) -> None:
    (tmp_path / "war.log").write_text("0_1 alpha#2: here\n")
    texts = texts_of(tmp_path, ("alpha", "alpha"))
    assert texts["alpha#2"].errors == "here\n"
    assert texts["alpha#1"].errors == ""


def test_a_text_that_was_not_kept_differs_from_an_empty_one(tmp_path: Path) -> None:
    assert texts_of(tmp_path)["beta"] == KeptTexts(2, "beta", None, None)


def test_a_long_text_is_cut_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "war.protocol").mkdir()
    line = "x" * 999 + "\n"
    with (tmp_path / "war.protocol" / "0_1.log").open("w") as protocol:
        for _ in range(60):
            protocol.write(f"<< alpha: {line}>> beta: end\n")
    texts = texts_of(tmp_path, most=40_000)
    cut = texts["alpha"].protocol
    assert cut is not None and 39_000 < len(cut) < 41_000
    assert cut.endswith("(cut here; all of it is in 0_1.log)\n")
    assert texts["beta"].protocol == ">> end\n" * 60
