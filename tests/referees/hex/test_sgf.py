"""Records of games of Hex as SGF: written, read back, and refused where they are of another game."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referees.api import GameRecord, Outcome, PlayedMove, Termination, UnreadableRecordError
from referees.hex import SWAP, Hex
from tests.referees.hex.games import played
from tests.referees.reading import names_and_moves

FIVE = Hex.from_settings({"board_size": 5, "swap": True})
OBLONG = Hex.from_settings({"board_size": 3, "columns": 4})


def record(moves: list[PlayedMove], outcome: Outcome | None = None, **more: Any) -> GameRecord:
    return GameRecord("cup 0_1", "cup", "2024-05-06", ("left]", "right\\"), moves, outcome, 1, **more)


def test_a_record_says_what_was_played_as_other_programs_read_it() -> None:
    _, moves = played(FIVE, "c2 swap-pieces a1")
    text = FIVE.record(record(moves, Outcome((2,), Termination.RESIGNATION, "W+R"), remarks=("fine",)))
    for part in (
        "FF[4]",
        "GM[11]",
        "SZ[5]",
        "CA[UTF-8]",
        "GN[cup 0_1]",
        "PB[left\\]]",
        "PW[right\\\\]",
        "DT[2024-05-06]",
        "RE[W+R]",
        "C[fine]",
        ";B[c2];W[swap-pieces];B[a1]",
    ):
        assert part in text.replace("\n", "")


def test_a_board_with_more_columns_than_rows_says_columns_first() -> None:
    _, moves = played(OBLONG, "d1 a3")
    text = OBLONG.record(record(moves))
    assert "SZ[4:3]" in text
    assert names_and_moves(OBLONG, text.encode()) == [("cup 0_1", ["d1", "a3"])]


def test_comments_hold_players_remarks_and_values_and_how_it_ended() -> None:
    moves = [
        PlayedMove(1, 0, "a1", comment="corner [first]"),
        PlayedMove(2, SWAP, "swap-pieces", values={2: 0.25, 1: 0.75}),
    ]
    text = FIVE.record(record(moves, final_remarks=("B resigned",))).replace("\n", "|")
    assert "C[corner [first\\]]" in text
    assert "C[expected: B 0.750, W 0.250||B resigned]" in text
    assert "RE[Void]" in text


@given(st.lists(st.permutations(range(12)), max_size=4))
def test_a_written_record_is_read_back(orders: list[list[int]]) -> None:
    text, expected = "", []
    for order in orders:
        position, moves = OBLONG.start(0), []
        for cell in order:
            if not OBLONG.to_move(position):
                break
            moves.append(PlayedMove(position.mover, cell, OBLONG.move_text(cell)))
            position = OBLONG.play(position, {position.mover: cell})
        text += OBLONG.record(record(moves, OBLONG.outcome(position)))
        expected.append(("cup 0_1", [move.text for move in moves]))
    if expected:
        assert names_and_moves(OBLONG, text.encode()) == expected


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("(;GM[11]SZ[5];B[a3];W[F9])", None),
        ("(;AP[HexGui:0.9]FF[4]GM[11]SZ[5];B[a3];W[swap-pieces];B[C3])", "a3 swap-pieces c3"),
        ("(;SZ[5:5];B[e5];W[swap];B[resign])", "e5 swap-pieces"),
        ("(;GM[11]SZ[5](;B[a1];W[b1])(;B[e5]))", "a1 b1"),
        ("(;GM[11]SZ[5]C[no moves])", ""),
        ("(;GM[11]SZ[5]B[a1];C[thinks];W[forfeit])", "a1"),
    ],
)
def test_records_of_other_programs(text: str, moves: str | None) -> None:
    if moves is None:
        with pytest.raises(UnreadableRecordError, match="'F9' is neither a cell"):
            names_and_moves(FIVE, text.encode())
    else:
        assert names_and_moves(FIVE, text.encode()) == [("", moves.split())]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("not SGF", "no SGF"),
        ("(;GM[11]SZ[5];B[a1]", "game 1: unexpected end of SGF data"),
        ("(;GM[1]SZ[5];B[aa])", r"game 1: it is of another game: GM\[1\]"),
        ("(;GM[11]SZ[6];B[a1])", r"its board is SZ\[6\], not 5"),
        ("(;GM[11];B[a1])", r"its board is SZ\[11\], not 5"),
        ("(;GM[11]SZ[five];B[a1])", r"its board is SZ\[five\]"),
        ("(;GM[11]SZ[5]AB[a1];W[b1])", "stones are placed that nobody played"),
        ("(;GM[11]SZ[5];W[a1])", "move 1 is not by B"),
        ("(;GM[11]SZ[5];B[a1];B[a2])", "move 2 is not by W"),
        ("(;GM[11]SZ[5];B[a1]W[a2])", "move 1 is not by B"),
        ("(;GM[11]SZ[5];B[a1];W[swap-sides])", "swap-sides"),
        ("(;GM[11]SZ[5];B[\xff])", "is neither a cell"),
        ("(;GM[11]SZ[5];B[a1])(;GM[11]SZ[7];B[a1])", "game 2: its board"),
    ],
)
def test_records_that_are_not_of_this_game_are_refused(text: str, why: str) -> None:
    with pytest.raises(UnreadableRecordError, match=why):
        names_and_moves(FIVE, text.encode("latin-1"))
