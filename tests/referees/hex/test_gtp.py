"""What engines receive of a game of Hex in HTP, and how their answers are read."""

import pytest

from referees.api import Outcome, Termination, UnreadableMoveError
from referees.dialogues import GtpGame
from referees.hex import BLACK, SWAP, WHITE, Hex, HexPosition
from referees.hex.gtp import HexDialogue


def words(**settings: object) -> GtpGame[HexPosition, int]:
    dialogue = Hex.from_settings({"board_size": 11, **settings}).dialogue("gtp")
    assert isinstance(dialogue, HexDialogue)
    return dialogue


def test_hex_is_played_over_gtp_alone() -> None:
    assert Hex.from_settings({"board_size": 9}).dialogue("warlight") is None


@pytest.mark.parametrize(
    ("settings", "boardsize"),
    [({}, "boardsize 11"), ({"swap": True}, "boardsize 11"), ({"columns": 9}, "boardsize 9 11")],
)
def test_setup_tells_the_columns_first(settings: dict[str, object], boardsize: str) -> None:
    assert list(words(**settings).setup()) == [boardsize, "clear_board"]


def test_colours_and_cells() -> None:
    gtp = words()
    assert (gtp.colour(BLACK), gtp.colour(WHITE)) == ("b", "w")
    assert [gtp.vertex(move) for move in (0, 10, 110, 120, SWAP)] == ["a1", "k1", "a11", "k11", "swap-pieces"]


@pytest.mark.parametrize(
    ("answer", "winner"), [("B+", 1), ("W+", 2), (" w+R", 2), ("cannot score", None), ("", None), ("0", None)]
)
def test_scores_are_read(answer: str, winner: int | None) -> None:
    expected = winner and Outcome((winner,), Termination.SCORE, f"{'BW'[winner - 1]}+")
    assert words().read_score(answer) == expected


def test_there_is_no_handicap_and_nothing_to_arrange() -> None:
    gtp, start = words(), Hex.from_settings({"board_size": 11}).start(0)
    assert gtp.handicap() is None
    with pytest.raises(UnreadableMoveError, match="no handicap"):
        gtp.check_handicap("a1")
    with pytest.raises(UnreadableMoveError, match="no player arranges"):
        gtp.ask_arrangement()
    with pytest.raises(UnreadableMoveError, match="no player arranges"):
        gtp.tell_arrangement(start)
