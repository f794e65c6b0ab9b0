"""OpenSpiel's tree search as a GTP engine."""

import io
import random
import subprocess
import sys

import pytest

pytest.importorskip("pyspiel")

from clients.bots.openspiel_mcts import MonteCarloEngine, Search, main


def engine(game: str = "tic_tac_toe", simulations: int = 200) -> MonteCarloEngine:
    return MonteCarloEngine(Search(simulations), random.Random(3), game)


def told(bot: MonteCarloEngine, *lines: str) -> list[tuple[str, str]]:
    return [bot.answer(words[0], words[1:]) for words in map(str.split, lines)]


def test_it_takes_a_win_and_knows_it() -> None:
    bot = engine()
    told(bot, "play b x(1,1)", "play w o(0,0)", "play b x(0,1)", "play w o(0,2)")
    assert told(bot, "genmove b", "academy-expected_value") == [("=", "x(2,1)"), ("=", "1.000000")]
    assert told(bot, "genmove w") == [("?", "it is not this player's turn")]


def test_it_knows_a_draw_and_a_loss() -> None:
    bot = engine(simulations=20_000)
    assert told(bot, "play b x(1,1)", "genmove w")[1][1] in ("o(0,0)", "o(0,2)", "o(2,0)", "o(2,2)")
    assert 0.3 <= float(told(bot, "academy-expected_value")[0][1]) <= 0.55
    lost = engine("nim(pile_sizes=1;1;1)")
    assert told(lost, "genmove b", "academy-expected_value")[1] == ("=", "0.000000")


def test_without_a_search_it_moves_at_random() -> None:
    bot = engine("chess", simulations=1)
    assert [status for status, _ in told(bot, "genmove w", "genmove b")] == ["=", "="]
    assert told(bot, "academy-expected_value") == [("?", "no move generated yet")]


def test_time_ends_a_search() -> None:
    bot = MonteCarloEngine(Search(1_000_000_000, seconds=0.05), random.Random(3), "othello")
    assert bot.name == "openspiel-mcts-0.05s"
    assert told(bot, "genmove b")[0][0] == "="


def test_more_simulations_beat_fewer() -> None:
    strong, weak = engine("connect_four", 300), engine("connect_four", 5)
    won = 0
    for game in range(6):
        for bot in (strong, weak):
            told(bot, "clear_board")
        seats = {"b": strong, "w": weak} if game % 2 else {"b": weak, "w": strong}
        colour = "b"
        while True:
            status, move = told(seats[colour], f"genmove {colour}")[0]
            if status == "?":
                break
            other = "w" if colour == "b" else "b"
            assert told(seats[other], f"play {colour} {move}") == [("=", "")]
            colour = other
        # Who is asked in vain has lost, but for draws.
        won += seats[colour] is weak
    assert won >= 5


def test_the_game_can_be_changed() -> None:
    bot = engine()
    assert told(bot, "game", "game breakthrough( rows=6, columns=5 )", "game") == [
        ("=", "tic_tac_toe()"),
        ("=", "breakthrough(columns=5,rows=6)"),
        ("=", "breakthrough(columns=5,rows=6)"),
    ]
    status, why = told(bot, "game connect_four(rows=0)")[0]
    assert status == "?" and "a number from 1 to 26" in why
    assert told(bot, "play b a5a4", "undo", "play b a5a4", "undo", "undo")[-1] == ("?", "cannot undo")


def test_moves_of_several_words_and_signs_of_chess_are_understood() -> None:
    amazons = engine("amazons(board_size=6)")
    assert told(amazons, "play b X From (6, 2)") == [("=", "")]
    chess = engine("chess")
    for line in ("play w f3", "play b e5", "play w g4", "play b Qh4"):
        assert told(chess, line) == [("=", "")]


@pytest.mark.parametrize("line", ["play w x(1,1)", "play b x(9,9)", "play b"])
def test_illegal_moves_are_disputed(line: str) -> None:
    assert told(engine(), line) == [("?", "illegal move")]


@pytest.mark.parametrize("line", ["play", "genmove", "genmove x"])
def test_colours_are_needed(line: str) -> None:
    assert told(engine(), line) == [("?", "invalid color or coordinate")]


@pytest.mark.parametrize("game", ["othello", "ultimate_tic_tac_toe", "twixt", "tic_tac_toe"])
def test_boards_are_drawn_in_one_answer(game: str) -> None:
    answers = io.StringIO()
    engine(game).run(io.StringIO("showboard\nquit\n"), answers)
    board, *rest = answers.getvalue().split("\n\n")
    assert board.startswith("=") and board.count("\n") >= 3
    assert rest == ["=", ""]


def test_the_command_plays_the_same_game_from_the_same_seed() -> None:
    options = ("--game", "othello", "--seed", "5", "--simulations", "20")

    def said() -> str:
        return subprocess.run(
            [sys.executable, "-m", "clients.bots.openspiel_mcts", *options],
            input="name\ngenmove b\ngenmove w\ngenmove b\nquit\n",
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout

    assert said() == said()
    assert said().startswith("= openspiel-mcts-20\n\n= ")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--simulations", "0"], "--simulations 0: a number above 0"),
        (["--seconds", "nan"], "--seconds nan: a number above 0"),
        (["--game", "poker"], "no game 'poker'"),
    ],
)
def test_wrong_options_are_refused(
    arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        main(arguments)
    assert refused.value.code == 2
    assert why in capsys.readouterr().err
