"""Records of games as SGF: read back by sgfmill, and by GNU Go."""

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest
from sgfmill.sgf import Sgf_game
from sgfmill.sgf_moves import get_setup_and_moves

from referees import sgf
from referees.api import GameRecord, Outcome, PlayedMove, Termination, UnreadableRecordError
from referees.go import PASS, Go
from tests.referees.go.gnugo import Gnugo, needs_gnugo
from tests.referees.reading import names_and_moves

NINE = Go.from_settings({"board_size": 9})


def moves(game: Go, *texts: str) -> tuple[PlayedMove, ...]:
    now = game.start(0)
    played = []
    for text in texts:
        move = game.read_move(now, now.mover, text)
        played.append(PlayedMove(now.mover, move, text))
        now = game.play(now, {now.mover: move})
    return tuple(played)


def record(
    played: Sequence[PlayedMove] = (),
    outcome: Outcome | None = None,
    remarks: tuple[str, ...] = (),
    final_remarks: tuple[str, ...] = (),
) -> GameRecord:
    return GameRecord(
        game_name="cup 0_1",
        event="cup",
        date="2024-05-06",
        players=("left]", "right\\"),
        moves=played,
        outcome=outcome,
        seed=1,
        remarks=remarks,
        final_remarks=final_remarks,
    )


def test_the_clock_is_in_the_root_and_what_is_left_with_every_move() -> None:
    played = (
        PlayedMove(1, 0, "A9", clock_seconds=298.5),
        PlayedMove(2, 1, "B9", clock_seconds=24.1254, clock_stones=29),
        PlayedMove(1, PASS, "pass"),
    )
    read_back = read(NINE, replace(record(played), main_seconds=300.0, overtime="30/25 Canadian"))
    root, first, second, third = read_back.get_main_sequence()
    assert (root.get("TM"), root.get("OT")) == (300.0, "30/25 Canadian")
    assert (first.get("BL"), second.get("WL"), second.get("OW")) == (298.5, 24.125, 29)
    assert not first.has_property("OB") and not third.has_property("BL")
    bare = read(NINE, record(played[2:])).get_root()
    assert not bare.has_property("TM") and not bare.has_property("OT")


def read(game: Go, written: GameRecord) -> Sgf_game:
    return Sgf_game.from_string(game.record(written))


def test_the_root_says_who_played_what_where_and_how_it_ended() -> None:
    game = Go.from_settings({"board_size": 9, "komi": 6.5})
    outcome = Outcome((2,), Termination.RESIGNATION, "W+R")
    root = read(game, record(outcome=outcome, remarks=("Black is strong", "White is 白"))).get_root()
    values = {
        name: root.get(name) for name in ("FF", "GM", "CA", "SZ", "KM", "PB", "PW", "RE", "GN", "EV", "DT")
    }
    assert values == {
        "FF": 4,
        "GM": 1,
        "CA": "UTF-8",
        "SZ": 9,
        "KM": 6.5,
        "PB": "left]",
        "PW": "right\\",
        "RE": "W+R",
        "GN": "cup 0_1",
        "EV": "cup",
        "DT": "2024-05-06",
    }
    assert root.get("AP") == ("academy-arena", version("academy-arena"))
    assert root.get("C") == "Black is strong\nWhite is 白"
    assert not root.has_property("HA") and not root.has_property("AB")


@pytest.mark.parametrize("size", [2, 9, 19, 25])
def test_moves_and_passes_are_read_back(size: int) -> None:
    game = Go.from_settings({"board_size": size})
    played = moves(game, "A1", "pass", "B1", "B2", "pass")
    nodes = read(game, record(played)).get_main_sequence()[1:]
    assert [node.get_move() for node in nodes] == [
        ("b", (0, 0)),
        ("w", None),
        ("b", (0, 1)),
        ("w", (1, 1)),
        ("b", None),
    ]


def test_handicap_stones_stand_in_the_root() -> None:
    game = Go.from_settings({"board_size": 9, "handicap": 3})
    tree = read(game, record(moves(game, "E5")))
    board, plays = get_setup_and_moves(tree)
    assert tree.get_root().get("HA") == 3
    assert sorted(board.list_occupied_points()) == [("b", (2, 2)), ("b", (6, 2)), ("b", (6, 6))]
    assert plays == [("w", (4, 4))]


def test_free_handicap_stones_stand_where_black_put_them() -> None:
    game = Go.from_settings({"board_size": 9, "handicap": 4, "handicap_style": "free"})
    tree = read(game, replace(record(), first=game.arrange("A1 J9 E5")))
    assert tree.get_root().get("HA") == 3
    assert sorted(get_setup_and_moves(tree)[0].list_occupied_points()) == [
        ("b", (0, 0)),
        ("b", (4, 4)),
        ("b", (8, 8)),
    ]


def test_comments_hold_players_comments_and_expectations() -> None:
    played = (
        PlayedMove(1, 0, "A9", comment="corner [first]"),
        PlayedMove(2, 1, "B9", values={2: 0.25, 1: 0.75}),
        PlayedMove(1, PASS, "pass", comment="done", values={1: 0.5}),
    )
    nodes = read(NINE, record(played, final_remarks=("B resigned", "late error"))).get_main_sequence()[1:]
    assert [node.get("C") for node in nodes] == [
        "corner [first]",
        "expected: B 0.750, W 0.250",
        "done\nexpected: B 0.500\n\nB resigned\nlate error",
    ]


def test_a_void_game_says_so_even_without_a_move() -> None:
    root = read(NINE, record(final_remarks=("engine did not start",))).get_root()
    assert (root.get("RE"), root.get("C")) == ("Void", "engine did not start")


def test_half_characters_from_engines_do_not_break_the_record() -> None:
    played = (PlayedMove(1, 0, "A9", comment="bad \udcff byte"),)
    assert read(NINE, record(played)).get_last_node().get("C") == "bad ? byte"


@needs_gnugo
def test_gnu_go_reads_the_record(tmp_path: Path) -> None:
    game = Go.from_settings({"board_size": 9, "handicap": 2})
    path = tmp_path / "game.sgf"
    path.write_text(game.record(record(moves(game, "E5", "E6", "pass", "D5"))))
    with Gnugo() as engine:
        assert engine.ask(f"loadsgf {path}") == "white"
        assert set(engine.ask("list_stones black").split()) == {"C3", "G7", "E6", "D5"}
        assert engine.ask("list_stones white") == "E5"


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("(;SZ[9];B[dc];W[];B[cd])", "D7 pass C6"),
        ("(;GM[1]FF[3]SZ[9]GN[cup];B[tt])", "pass"),
        ("(;GM[ 1 ]SZ[9]B[aa];C[thinks];W[bb])", "A9 B8"),
    ],
)
def test_records_of_other_programs_are_read(text: str, moves: str) -> None:
    ((_, read_moves, *_),) = NINE.read_records(text.encode())
    assert read_moves == moves.split()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("(;GM[2]SZ[9];B[dc])", r"game 1: it is of another game: GM\[2\], Go is GM\[1\]"),
        ("(;SZ[9];B[aa]W[bb])", "game 1: move 1 is not by B, whose turn it is"),
        ("(;SZ[9]W[aa];B[bb])", "game 1: move 1 is not by B, whose turn it is"),
        ("(;SZ[9];B[aa])(;SZ[9];B[aa];W[zz])", r"game 2: move 2: W\[zz\] is not a point of a board"),
        ("(;SZ[9];B[D4])", r"move 1: B\[D4\] is not a point"),
        ("(;SZ[9]AB[zz];W[aa])", "game 1: AB, AW or AE hold what is not a point of a board of 9 rows"),
        ("(;SZ[9];B[aa];AW[bb];W[cc])", "after move 1 stones are placed that nobody played"),
        ("(;SZ[13];B[aa])", "its board has 13 rows, not 9"),
    ],
)
def test_records_that_are_not_of_this_game_are_refused(text: str, why: str) -> None:
    with pytest.raises(UnreadableRecordError, match=why):
        names_and_moves(NINE, text.encode())


def test_files_of_too_many_games_are_refused_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sgf, "MAX_GAMES", 2)
    assert len(NINE.read_records(b"(;SZ[9];B[aa])" * 2)) == 2
    with pytest.raises(UnreadableRecordError, match="more than 2 games"):
        names_and_moves(NINE, b"(;SZ[9];B[aa])" * 3)


def test_a_damaged_game_of_a_collection_has_the_number_that_other_refusals_give_it() -> None:
    with pytest.raises(UnreadableRecordError, match="game 2: unexpected end of SGF data"):
        names_and_moves(NINE, b"(;SZ[9];B[ee])(;SZ[9];B[ee]")
