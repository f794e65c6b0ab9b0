"""Draughts over GTP: the words, and a game against an engine in a process of its own."""

import sys
from typing import Any

import pytest

from arena.jobs import GameJob, PlayerSetup
from arena.match.game import play
from referees.api import Outcome, Termination, UnreadableMoveError
from referees.dialogues import GtpGame
from referees.draughts.gtp import DraughtsDialogue
from tests.referees.draughts.placing import game, placed

LIMITS: dict[str, Any] = {"start_seconds": 60.0, "move_seconds": 60.0, "exit_seconds": 60.0}
ENGINE = (sys.executable, "-m", "tests.referees.draughts.gtp_engine")


def words(variant: str) -> DraughtsDialogue:
    dialogue = game(variant).dialogue("gtp")
    assert dialogue is not None
    return dialogue


def test_the_words_are_those_of_the_protocol() -> None:
    dialogue: GtpGame[object, object] = words("english")  # type: ignore[assignment]
    assert dialogue.handicap() is None
    assert game("english").dialogue("hub") is None


@pytest.mark.parametrize(
    ("variant", "setup", "colours"),
    [
        ("english", ("variant english", "boardsize 8", "clear_board"), "bw"),
        ("international", ("variant international", "boardsize 10", "clear_board"), "wb"),
    ],
)
def test_engine_gets_the_variant_and_the_colours(variant: str, setup: tuple[str, ...], colours: str) -> None:
    assert tuple(words(variant).setup()) == setup
    assert "".join(map(words(variant).colour, (1, 2))) == colours


def test_engine_gets_all_squares_of_a_move() -> None:
    position = placed(game("english"), "W", white="24", black="19 11")
    assert words("english").vertex(position.moves[0]) == "24x15x8"


@pytest.mark.parametrize(
    ("variant", "text", "winners"),
    [
        ("english", "1-0", (2,)),
        ("english", " 0-1 ", (1,)),
        ("international", "2-0", (1,)),
        ("international", "0-2", (2,)),
        ("russian", "1/2-1/2", (1, 2)),
        ("russian", "1-1", (1, 2)),
    ],
)
def test_results_are_read_as_pdn_has_them(variant: str, text: str, winners: tuple[int, ...]) -> None:
    score = words(variant).read_score(text)
    assert isinstance(score, Outcome)
    assert (score.winners, score.termination) == (winners, Termination.SCORE)


@pytest.mark.parametrize("text", ["", "B+3.5", "0", "3-1", "*"])
def test_a_text_that_is_not_a_result_says_nothing(text: str) -> None:
    assert words("english").read_score(text) is None


def test_there_is_no_handicap_and_nothing_to_arrange() -> None:
    dialogue, judge = words("english"), game("english")
    for call in (
        lambda: dialogue.check_handicap("1 2"),
        dialogue.ask_arrangement,
        lambda: dialogue.tell_arrangement(judge.start(0)),
    ):
        with pytest.raises(UnreadableMoveError):
            call()


@pytest.mark.parametrize("variant", ["english", "russian"])
def test_an_engine_plays_a_whole_game(variant: str) -> None:
    engine = PlayerSetup("engine", ENGINE, **LIMITS)
    chance = PlayerSetup("chance", ("arena.players.random_moves:random_moves",), protocol="python", **LIMITS)
    job = GameJob("0_1", "draughts", {"variant": variant}, (chance, engine), seed=5)
    result = play(job)
    assert result.outcome is not None, result
    assert result.outcome.termination is Termination.SCORE
    assert len(result.moves) > 20
