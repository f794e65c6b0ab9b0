"""Which moves there are, variant by variant."""

import pytest

from referees.draughts import Draughts, DraughtsPosition
from tests.referees.draughts.placing import after, game, pieces, placed, texts

# The number of lines of play of each length from the first position. English: Aart Bik, "perft for 8x8
# checkers" (talkchess.com, 2009); the others: Rein Halbersma, "Perft for all recognized draughts
# variants" (damforum.nl, 2010).
LINES = {
    "english": (7, 49, 302, 1469, 7361, 36768),
    "international": (9, 81, 658, 4265, 27117),
    "brazilian": (7, 49, 302, 1469, 7473, 37628),
    "russian": (7, 49, 302, 1469, 7482, 37986),
}


def lines(judge: Draughts, position: DraughtsPosition, plies: int) -> int:
    if plies == 1:
        return len(position.moves)
    (seat,) = judge.to_move(position)
    return sum(lines(judge, judge.play(position, {seat: move}), plies - 1) for move in position.moves)


@pytest.mark.parametrize("variant", LINES)
def test_there_are_as_many_lines_of_play_as_others_have_counted(variant: str) -> None:
    judge = game(variant)
    counted = tuple(lines(judge, judge.start(0), plies) for plies in range(1, len(LINES[variant]) + 1))
    assert counted == LINES[variant]


@pytest.mark.parametrize(
    ("variant", "to_move", "white", "black", "moves"),
    [
        pytest.param("english", "B", "32", "18", ["18-22", "18-23"], id="Black's men go down the board"),
        pytest.param("english", "W", "18", "1", ["18-14", "18-15"], id="White's men go up the board"),
        pytest.param("english", "W", "12", "1", ["12-8"], id="a man at the edge has one way"),
        pytest.param("english", "W", "K18", "1", ["18-14", "18-15", "18-22", "18-23"], id="a short king"),
        pytest.param(
            "international",
            "W",
            "K46",
            "28 5",
            ["46x23", "46x19", "46x14", "46x10"],
            id="a flying king lands anywhere beyond",
        ),
        pytest.param(
            "international",
            "W",
            "K49",
            "1",
            ["49-38", "49-40", "49-27", "49-32", "49-35", "49-43", "49-44", "49-21", "49-16"],
            id="a flying king moves over any distance",
        ),
        pytest.param("english", "W", "K10", "7 8", ["10x3x12"], id="a king goes on from the far row"),
        pytest.param("english", "W", "22 32", "18", ["22x15"], id="a capture must be made"),
        pytest.param("english", "W", "22", "25 26", ["22-17", "22-18"], id="men do not capture backwards"),
        pytest.param("international", "W", "22", "27 28", ["22x31", "22x33"], id="men capture backwards"),
        pytest.param("english", "W", "26", "22 23 15", ["26x17", "26x19x10"], id="any capture, to its end"),
        pytest.param(
            "international", "W", "37", "31 32 22", ["37x28x17"], id="the capture that takes the most pieces"
        ),
        pytest.param("russian", "W", "e3", "d4 f4 b6", ["e3xc5xa7", "e3xg5"], id="Russian: any capture"),
        pytest.param("brazilian", "W", "e3", "d4 f4 b6", ["e3xc5xa7"], id="Brazilian: the most pieces"),
        pytest.param(
            "russian",
            "W",
            "h6",
            "g7 c5",
            ["h6xf8xb4", "h6xf8xa3"],
            id="Russian: a crowned man goes on as king",
        ),
        pytest.param(
            "russian",
            "W",
            "Kh6",
            "g5 c5 g7",
            ["h6xe3xb6", "h6xe3xa7", "h6xf8xb4", "h6xf8xa3"],
            id="Russian: a king lands where it can go on",
        ),
        pytest.param("english", "W", "11", "8 7", ["11x4", "11x2"], id="English: crowning ends the move"),
    ],
)
def test_the_moves_of_a_position(
    variant: str, to_move: str, white: str, black: str, moves: list[str]
) -> None:
    judge = game(variant)
    position = placed(judge, to_move, white, black)
    assert sorted(texts(judge, position)) == sorted(moves)
    assert list(position.moves) == sorted(position.moves)


def test_a_man_that_passes_the_far_row_of_the_international_board_stays_a_man() -> None:
    judge = game("international")
    position = after(judge, placed(judge, "W", "12", "8 9 50"), "12x3x14")
    assert pieces(judge, position) == ("14", "50")
    position = after(judge, placed(judge, "W", "12", "8 50"), "12x3")
    assert pieces(judge, position) == ("K3", "50")


def test_a_man_that_comes_to_where_a_king_was_taken_stays_a_man() -> None:
    judge = game("english")
    position = placed(judge, "W", white="22 23", black="K18 1")
    assert pieces(judge, after(judge, position, "22x15", "1-5", "23-18")) == ("15 18", "5")


def test_a_piece_taken_is_in_the_way_until_the_move_ends() -> None:
    judge = game("international")
    position = placed(judge, "W", "K19", "10 23 31 32")
    # 19x5x28x37x26 would take all four, but passes 10 a second time.
    assert texts(judge, position) == ["19x28x37x26"]
    assert pieces(judge, after(judge, position, "19x26")) == ("K26", "10")


def test_ways_round_that_take_the_same_pieces_are_one_move() -> None:
    judge = game("english")
    position = placed(judge, "B", white="7 8 15 16", black="K3")
    assert texts(judge, position) == ["3x10x19x12x3"]
    for text in ("3x12x19x10x3", "3x10x19x12x3"):
        assert judge.read_move(position, 1, text) == position.moves[0]
    assert pieces(judge, after(judge, position, "3x12x19x10x3")) == ("", "K3")
    # 11 is not on a diagonal of 3, so this says neither a way round nor a move.
    assert judge.read_move(position, 1, "3x11x3").captured == ()
