"""The sample Go bots, as engines and as thinkers."""

import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clients.bots.go import GoEngine
from clients.bots.go_thinking import MonteCarloGoThinker, RandomGoThinker, is_eye, playout, sensible_moves
from referees.go import BLACK, PASS, Board, Go


@pytest.fixture
def engine() -> GoEngine:
    return GoEngine("bot", MonteCarloGoThinker(10, random.Random(1)), academy=None, contest_id="")


def stones(diagram: str) -> bytes:
    return bytes(".xo".index(letter) for letter in diagram if letter in ".xo")


@pytest.mark.parametrize(
    ("diagram", "point", "eye"),
    [
        (".x. x.x .x.", 4, True),  # all corners empty
        (".xo x.x .x.", 4, True),  # one foreign corner inside the board
        (".xo x.x .xo", 4, False),
        (".x. x.o .x.", 4, False),
        (".x. xx. ...", 0, True),  # in the corner of the board
        (".x. xo. ...", 0, False),
    ],
)
def test_an_eye_is_not_filled(diagram: str, point: int, eye: bool) -> None:
    assert is_eye(Board(3, stones(diagram)), BLACK, point) == eye


def test_a_playout_ends_with_a_winner_and_tells_the_movers_points() -> None:
    chance = random.Random(5)
    for _ in range(20):
        won, (own, foreign) = playout(Board(5), BLACK, 12, 0.5, chance)
        assert isinstance(won, bool)
        assert 12 in own
        assert all(0 <= point < 25 for point in own | foreign)


def test_more_playouts_beat_fewer_and_both_beat_chance() -> None:
    referee = Go.from_settings({"board_size": 5, "komi": 0.5})
    chance = random.Random(3)
    strong, weak = MonteCarloGoThinker(60, chance), RandomGoThinker(chance)
    wins = 0
    for game in range(8):
        sides = (strong, weak) if game % 2 == 0 else (weak, strong)
        position = referee.start(0)
        for _ in range(120):
            if not referee.to_move(position):
                break
            thinker = sides[position.mover - 1]
            move = thinker.think(referee, position).candidates[0].move
            position = referee.play(position, {position.mover: move})
        wins += sides[referee.adjudicate(position).winners[0] - 1] is strong
    assert wins >= 7


def test_where_nothing_is_sensible_the_thinkers_pass() -> None:
    referee = Go.from_settings({"board_size": 3, "komi": 0.5})
    position = referee.start(0)
    for move in ("A2", "pass", "B2", "pass", "C2", "pass", "B1", "pass", "B3", "pass"):
        position = referee.play(position, {position.mover: referee.read_move(position, 0, move)})
    assert position.mover == BLACK
    assert sensible_moves(referee, position) == []
    for thinker in (RandomGoThinker(random.Random(1)), MonteCarloGoThinker(5, random.Random(1))):
        assert thinker.think(referee, position).candidates[0].move == PASS


@pytest.mark.parametrize(
    ("commands", "answer"),
    [
        (["boardsize 1"], ("?", "unacceptable size")),
        (["boardsize x"], ("?", "a number is needed, not 'x'")),
        (["boardsize nan"], ("?", "a number is needed, not 'nan'")),
        (["boardsize inf"], ("?", "a number is needed, not 'inf'")),
        (["boardsize"], ("?", "a number is needed, not ''")),
        (["fixed_handicap nan"], ("?", "a number is needed, not 'nan'")),
        (["fixed_handicap"], ("?", "a number is needed, not ''")),
        (["komi"], ("?", "a number is needed, not ''")),
        (["komi nan"], ("?", "'komi': ")),
        (["boardsize 5", "play b A1", "play w A1"], ("?", "illegal move")),
        (["play green A1"], ("?", "invalid color or coordinate")),
        (["play b Z99"], ("?", "invalid color or coordinate")),
        (["play b A1", "play b A2"], ("=", "")),
        (["boardsize 5", "play b C3", "komi 3.5", "final_score"], ("=", "B+21.5")),
        (["boardsize 5", "play b C3", "komi 3.5", "undo", "final_score"], ("=", "W+3.5")),
        (["academy-expected_value"], ("?", "no move generated yet")),
        (["boardsize 9", "fixed_handicap 2"], ("=", "G7 C3")),
        (["boardsize 9", "fixed_handicap 99"], ("?", "")),
    ],
)
def test_commands(engine: GoEngine, commands: list[str], answer: tuple[str, str]) -> None:
    for command in commands:
        name, *arguments = command.split()
        last = engine.answer(name, arguments)
    assert last[0] == answer[0]
    assert last[1].startswith(answer[1]) or sorted(last[1].split()) == sorted(answer[1].split())


WORDS = st.one_of(
    st.sampled_from(
        ["b", "white", "A1", "T19", "pass", "resign", "nan", "-inf", "1e999", "0", "2", "5", "9", "-1", "6.5"]
    ),
    st.text(max_size=5),
    st.integers().map(str),
)
COMMANDS = st.sampled_from(
    GoEngine("", RandomGoThinker(random.Random(1)), None, "").answer("list_commands", [])[1].split()
)
LINES = st.lists(st.tuples(st.one_of(COMMANDS, st.text(max_size=5)), st.lists(WORDS, max_size=3)), max_size=8)


@settings(max_examples=150, deadline=None)
@given(LINES)
def test_whatever_is_said_each_line_is_answered(lines: list[tuple[str, list[str]]]) -> None:
    engine = GoEngine("bot", RandomGoThinker(random.Random(1)), academy=None, contest_id="")
    for command, arguments in lines:
        status, answer = engine.answer(command, arguments)
        assert status in "=?"
        assert "\n\n" not in answer


def test_bytes_that_are_no_text_are_answered_too() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "clients.bots.go", "random"],
        input=b"\xff\xfe\nboardsize \xe9\nname\nquit\n",
        capture_output=True,
        timeout=180,
        check=True,
    )
    assert done.stdout.count(b"\n\n") == 4
    assert (done.stdout.count(b"?"), done.stderr) == (2, b"")


def test_a_move_comes_with_an_expected_value(engine: GoEngine) -> None:
    engine.answer("boardsize", ["5"])
    status, _ = engine.answer("genmove", ["b"])
    assert status == "="
    status, value = engine.answer("academy-expected_value", [])
    assert status == "="
    assert all(0.0 <= float(each) <= 1.0 for each in value.split())


def test_who_is_ahead_answers_a_pass_with_a_pass(engine: GoEngine) -> None:
    for command in ("boardsize 5", "komi 0.5", "play b C3", "play w pass"):
        name, *arguments = command.split()
        engine.answer(name, arguments)
    assert engine.answer("genmove", ["b"]) == ("=", "pass")


def test_the_program_plays_without_academy_and_says_so_when_it_cannot_be_reached() -> None:
    commands = "boardsize 5\nclear_board\nkomi 0.5\ngenmove b\ngenmove w\nquit\n"
    command = [sys.executable, "-m", "clients.bots.go", "monte-carlo", "--playouts", "3", "--seed", "1"]
    plain = subprocess.run(command, input=commands, capture_output=True, text=True, timeout=180, check=True)
    assert plain.stdout.count("=") == 6
    assert plain.stderr == ""
    unreachable = subprocess.run(
        [*command, "--academy", "unix:/nonexistent/socket"],
        input=commands,
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )
    assert unreachable.stdout.count("=") == 6
    assert "going on without ACADEMY" in unreachable.stderr


def test_seeds_repeat_games() -> None:
    def game() -> list[str]:
        engine = GoEngine("bot", MonteCarloGoThinker(5, random.Random(7)), academy=None, contest_id="")
        engine.answer("boardsize", ["5"])
        return [engine.answer("genmove", ["bw"[number % 2]])[1] for number in range(10)]

    assert game() == game()
