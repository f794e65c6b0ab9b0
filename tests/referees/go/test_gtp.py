"""What engines receive of a game of Go, and how their answers are read."""

import pytest

from referees.api import Outcome, Termination, UnreadableMoveError
from referees.dialogues import GtpGame
from referees.go import BLACK, PASS, WHITE, Go, GoPosition
from referees.go.gtp import GoDialogue
from tests.referees.go.gnugo import Gnugo, needs_gnugo


def words(**settings: object) -> GtpGame[GoPosition, int]:
    dialogue = Go.from_settings({"board_size": 9, **settings}).dialogue("gtp")
    assert isinstance(dialogue, GoDialogue)
    return dialogue


def test_go_is_played_over_gtp_alone() -> None:
    assert Go.from_settings({"board_size": 9}).dialogue("warlight") is None


@pytest.mark.parametrize(
    ("komi", "text"),
    [
        (7.5, "7.5"),
        (0, "0.0"),
        (-0.0, "0.0"),
        (-3, "-3.0"),
        (1e-7, "0.0000001"),
        (6.25, "6.25"),
        (10, "10.0"),
    ],
)
def test_setup_sets_size_board_and_komi(komi: float, text: str) -> None:
    assert list(words(komi=komi).setup()) == ["boardsize 9", "clear_board", f"komi {text}"]


def test_colours_and_vertices() -> None:
    gtp = words()
    assert (gtp.colour(BLACK), gtp.colour(WHITE)) == ("b", "w")
    assert (gtp.vertex(0), gtp.vertex(80), gtp.vertex(PASS)) == ("A9", "J1", "pass")


def test_without_handicap_no_stones_are_placed() -> None:
    assert words().handicap() is None


def test_free_stones_are_asked_of_one_engine_and_sent_to_the_other() -> None:
    game = Go.from_settings({"board_size": 9, "handicap": 3, "handicap_style": "free"})
    gtp = words(handicap=3, handicap_style="free")
    assert gtp.handicap() is None
    assert gtp.ask_arrangement() == "place_free_handicap 3"
    assert gtp.tell_arrangement(game.arrange("e5 A1  c3")) == "set_free_handicap E5 C3 A1"


@pytest.mark.parametrize("answer", ["C3 G7 C7", "G7 c7  C3", "C7\nG7\nC3"])
def test_handicap_stones_may_be_named_in_any_order(answer: str) -> None:
    gtp = words(handicap=3)
    assert gtp.handicap() == "fixed_handicap 3"
    gtp.check_handicap(answer)


@pytest.mark.parametrize(
    "answer", ["", "C3 G7", "C3 G7 G3", "C3 G7 C7 G3", "C3 G7 C7 C7", "pass G7 C7", "no"]
)
def test_other_handicap_stones_are_refused(answer: str) -> None:
    with pytest.raises(UnreadableMoveError):
        words(handicap=3).check_handicap(answer)


@pytest.mark.parametrize(
    ("answer", "winners", "summary"),
    [
        ("B+3.5", (1,), "B+3.5"),
        (" w+2.0 ", (2,), "W+2"),
        ("0", (1, 2), "0"),
        ("W+", (2,), "W+"),
        ("B+Resign", (1,), "B+"),
        ("B+0", (1,), "B+"),
        ("W+-4", (2,), "W+"),
        ("W+nan", (2,), "W+"),
        ("B+inf", (1,), "B+"),
    ],
)
def test_scores_name_a_winner_and_perhaps_a_margin(
    answer: str, winners: tuple[int, ...], summary: str
) -> None:
    assert words().read_score(answer) == Outcome(winners, Termination.SCORE, summary)


@pytest.mark.parametrize("answer", ["", "?", "draw", "Black wins", "B", "0.0.0", "+B"])
def test_other_answers_say_nothing_of_the_score(answer: str) -> None:
    assert words().read_score(answer) is None


@needs_gnugo
def test_gnu_go_understands_the_words_and_is_understood() -> None:
    gtp = words(handicap=4, komi=0.5)
    with Gnugo("--chinese-rules") as engine:
        for command in gtp.setup():
            engine.ask(command)
        handicap = gtp.handicap()
        assert handicap is not None
        gtp.check_handicap(engine.ask(handicap))
        engine.ask(f"play {gtp.colour(WHITE)} {gtp.vertex(PASS)}")
        score = gtp.read_score(engine.ask("final_score"))
        assert score is not None and score.winners == (BLACK,)
