"""The engine for every game, as the arena speaks with it."""

import random
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from clients import Academy
from clients.bots.alpha_beta import AlphaBetaThinker
from clients.bots.any_game import AnyGameEngine, main, read_settings
from clients.bots.search_game import UnsuitableGameError
from clients.bots.strength import Strength
from clients.bots.tree_search import TreeSearchThinker
from clients.connection import AcademyUnavailableError
from clients.seat import Seat
from referees.api import Referee, referee
from referees.dialogues import GtpGame

pytest.importorskip("pyspiel")

GAMES: dict[str, tuple[str, dict[str, object]]] = {
    "go": ("go", {"board_size": 4, "komi": 0.5}),
    "hex with swap": ("hex", {"board_size": 4, "swap": True}),
    "english draughts": ("draughts", {"variant": "english"}),
    "international draughts": ("draughts", {"variant": "international"}),
    "breakthrough": ("openspiel", {"game": "breakthrough(rows=5,columns=4)"}),
    "othello": ("openspiel", {"game": "othello"}),
}


def engine(name: str, settings: dict[str, object], seed: int = 1) -> AnyGameEngine:
    rules = referee(name).from_settings(settings)
    thinker = Strength(playouts=4, depth=1).thinker(rules, random.Random(seed))
    return AnyGameEngine("bot", rules, thinker)


@pytest.mark.parametrize(("name", "settings"), GAMES.values(), ids=GAMES.keys())
def test_bot_plays_a_game_as_the_arena_sets_it_up(name: str, settings: dict[str, object]) -> None:
    rules: Referee[Any, Any] = referee(name).from_settings(settings)
    words = cast("GtpGame[Any, Any]", rules.dialogue("gtp"))
    seats = {seat: engine(name, settings, seed=seat) for seat in (1, 2)}
    for line in words.setup():
        for player in seats.values():
            assert player.answer(line.split()[0], line.split()[1:]) == ("=", "")
    position = rules.start(0)
    for _ in range(60):
        if not (to_move := rules.to_move(position)):
            break
        seat = to_move[0]
        status, text = seats[seat].answer("genmove", [words.colour(seat)])
        assert status == "="
        move = rules.read_move(position, seat, text)
        rules.check(position, seat, move)
        status, value = seats[seat].answer("academy-expected_value", [])
        assert status == "="
        assert all(0.0 <= float(number) <= 1.0 for number in value.split())
        command = ["play", words.colour(seat), *words.vertex(move).split()]
        assert seats[3 - seat].answer(command[0], command[1:]) == ("=", "")
        position = rules.play(position, {seat: move})


@pytest.mark.parametrize(
    ("name", "commands", "answer"),
    [
        ("go", ["boardsize 9"], ("?", "this engine was started for a game of 'boardsize 4'")),
        ("go", ["komi 0.50"], ("=", "")),
        ("go", ["komi x"], ("?", "this engine was started for a game of 'komi 0.5'")),
        ("go", ["known_command komi"], ("=", "true")),
        ("go", ["known_command variant"], ("=", "false")),
        ("go", ["play b A1", "play b A2"], ("?", "illegal move")),
        ("go", ["play b A1", "undo", "play b A1"], ("=", "")),
        ("go", ["play b A1", "boardsize 4", "play b A1"], ("=", "")),
        ("go", ["genmove w"], ("?", "illegal move")),
        ("go", ["play b C3", "play w pass", "genmove b"], ("=", "pass")),
        ("go", ["play b pass", "play w pass", "genmove b"], ("=", "resign")),
        ("go", ["academy-expected_value"], ("?", "no move generated yet")),
        ("go", ["genmove b", "undo", "academy-expected_value"], ("?", "no move generated yet")),
        ("go", ["undo"], ("?", "cannot undo")),
        ("go", ["known_command final_score"], ("=", "true")),
        ("go", ["play b b2", "play w pass", "play b pass", "final_score"], ("=", "B+15.5")),
        ("go", ["play b b2", "final_score"], ("=", "B+15.5")),
        ("hex with swap", ["play b c1", "final_score"], ("?", "cannot score")),
        ("hex with swap", ["play b c1", "play w swap-pieces", "play b c1"], ("=", "")),
        ("hex with swap", ["play b c1", "play w swap-pieces", "undo", "play w swap-pieces"], ("=", "")),
        ("go", ["genmove"], ("?", "invalid color or coordinate")),
        ("english draughts", ["variant russian"], ("?", "this engine was started for a game of 'variant")),
        ("english draughts", ["play black 11-15", "play white 24-19"], ("=", "")),
        ("international draughts", ["play w 31-27", "play b 20-25"], ("=", "")),
    ],
)
def test_commands(name: str, commands: list[str], answer: tuple[str, str]) -> None:
    bot = engine(*GAMES[name])
    for command in commands:
        word, *arguments = command.split()
        last = bot.answer(word, arguments)
    assert last[0] == answer[0]
    assert last[1].startswith(answer[1])


@pytest.mark.parametrize(
    ("texts", "settings"),
    [
        (["board_size=9", "komi=7.5"], {"board_size": 9, "komi": 7.5}),
        (["swap=true", "variant=english"], {"swap": True, "variant": "english"}),
        (
            ["game=breakthrough(rows=6,columns=6)"],
            {"game": "breakthrough(rows=6,columns=6)"},
        ),
    ],
)
def test_settings_are_read_as_in_control_files(texts: list[str], settings: dict[str, object]) -> None:
    assert read_settings(texts) == settings


DRAUGHTS = ["draughts", "--set", "variant=english"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chess"], "no referee for the game 'chess'"),
        (["go"], "board_size"),
        (["go", "--set", "board_size"], "name=value is needed"),
        (["go", "--set", "board_size=5", "--set", "board_size=7"], "board_size is given twice, as 5 and 7"),
        (["go", "--set", "board_size=9", "--playouts", "0"], "playouts 0: it must be from 1"),
        (["go", "--set", "board_size=9", "--set", "handicap=2"], "plays no handicap games"),
        (["hex", "--set", "board_size=5", "--seconds", "-1"], "seconds -1.0: it must be above 0"),
        (["hex", "--set", "board_size=5", "--academy", "a:b:c"], "'a:b:c': write host:port"),
        ([*DRAUGHTS, "--weights", "a,b"], "--weights 'a,b': 5 finite numbers are needed, such as 0,0,0.1"),
        ([*DRAUGHTS, "--weights", "1,2"], "weights 1.0, 2.0: they must be 5 finite numbers"),
        ([*DRAUGHTS, "--search", "random", "--weights", "1,2,3,4,5"], "search random: it has no use for"),
        ([*DRAUGHTS, "--search", "random", "--seconds", "1"], "search random: it has no use for"),
        ([*DRAUGHTS, "--search", "random", "--depth", "4"], "--depth 4: it is for --search alpha-beta, not"),
        (["hex"], "hex needs board_size: add --set board_size=7 (a size from 2 to 26)"),
        ([*DRAUGHTS, "--depth", "4", "--playouts", "9"], "--playouts 9: it is for --search monte-carlo, not"),
        ([*DRAUGHTS, "--search", "alpha-beta", "--playouts", "9"], "--playouts 9: it is for --search monte"),
        ([*DRAUGHTS, "--depth", "4", "--seconds", "1"], "--depth 4: with --seconds a move takes these"),
    ],
)
def test_a_bot_says_what_cannot_be_played(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ((*DRAUGHTS, "--playouts", "9"), TreeSearchThinker),
        (("hex", "--set", "board_size=5", "--depth", "2"), AlphaBetaThinker),
    ],
)
def test_a_depth_or_a_number_of_playouts_says_which_search(
    words: Sequence[str], kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines: list[AnyGameEngine] = []
    monkeypatch.setattr(AnyGameEngine, "run", lambda engine: engines.append(engine))
    main(words)
    assert type(engines[0]._thinker) is kind


@pytest.mark.parametrize("game", ["checkers", "pentago"])
def test_a_bot_plays_where_several_moves_go_to_one_cell(game: str) -> None:
    words = ("openspiel", "--set", f"game={game}", "--playouts", "400")
    bot = subprocess.run(
        [sys.executable, "-m", "clients.bots.any_game", *words],
        input="genmove b\nquit\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert bot.stdout.startswith("= ")


class Listening:
    """An ACADEMY that answers no question, and notes the plies of what is proposed."""

    def __init__(self) -> None:
        self.proposed: dict[int, set[int]] = {}

    def propose(self, seat: Seat, plies: int) -> None:
        request = seat.build_proposals(plies, 9.0)
        self.proposed[seat.player] = {proposal.ply for proposal in request.proposals} if request else set()

    def __getattr__(self, name: str) -> Any:
        raise AcademyUnavailableError("away")


def test_a_bot_proposes_nothing_of_moves_that_were_taken_back() -> None:
    rules, academy = referee("hex").from_settings({"board_size": 4}), Listening()
    thinker = Strength("monte-carlo", playouts=30).thinker(rules, random.Random(1))
    bot = AnyGameEngine("bot", rules, thinker, cast(Academy, academy), "contest")
    for command in ("genmove b", "play w a1", "genmove b", "undo", "undo", "play w a4", "play b d1", "quit"):
        word, *arguments = command.split()
        assert bot.answer(word, arguments)[0] == "="
    assert academy.proposed == {1: set()}


def test_a_free_handicap_is_refused() -> None:
    settings: dict[str, object] = {"board_size": 9, "komi": 0.5, "handicap": 3, "handicap_style": "free"}
    with pytest.raises(UnsuitableGameError, match="no handicap games"):
        engine("go", settings)


def test_a_game_that_no_program_can_play_says_what_its_referee_lacks() -> None:
    thinker = Strength().thinker(referee("hex").from_settings({"board_size": 4}), random.Random(1))
    rules = referee("warlight").from_settings({"map": "double_small"})
    with pytest.raises(UnsuitableGameError, match=r'once its referee has dialogue\("gtp"\)'):
        AnyGameEngine("bot", rules, thinker)


def test_the_program_plays_with_a_seed() -> None:
    command = [sys.executable, "-m", "clients.bots.any_game", "hex", "--set", "board_size=4"]
    command += ["--playouts", "5", "--seed", "3"]
    games = [
        subprocess.run(
            command, input="genmove b\ngenmove w\nquit\n", capture_output=True, text=True, check=True
        )
        for _ in range(2)
    ]
    assert games[0].stdout == games[1].stdout
    assert games[0].stdout.count("=") == 3
    assert games[0].stderr == ""


WORDS = st.one_of(
    st.sampled_from(["b", "white", "A1", "T19", "pass", "resign", "nan", "-inf", "1e999", "4", "0.5", "-1"]),
    st.text(max_size=5),
)
COMMANDS = st.sampled_from(engine(*GAMES["go"]).answer("list_commands", [])[1].split())


@hypothesis_settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.one_of(COMMANDS, st.text(max_size=5)), st.lists(WORDS, max_size=3)), max_size=8))
def test_every_line_gets_an_answer(lines: list[tuple[str, list[str]]]) -> None:
    bot = engine(*GAMES["go"])
    for command, arguments in lines:
        status, answer = bot.answer(command, arguments)
        assert status in "=?"
        assert "\n\n" not in answer


GO = [sys.executable, "-m", "clients.bots.any_game", "go", "--set", "board_size=5", "--set", "komi=0.5"]


def test_bytes_that_are_not_text_get_an_answer() -> None:
    done = subprocess.run(
        [*GO, "--search", "random"],
        input=b"\xff\xfe\nboardsize \xe9\nname\nquit\n",
        capture_output=True,
        timeout=180,
        check=True,
    )
    assert done.stdout.count(b"\n\n") == 4
    assert (done.stdout.count(b"?"), done.stderr) == (2, b"")


def test_the_program_plays_on_when_academy_cannot_be_reached() -> None:
    done = subprocess.run(
        [*GO, "--playouts", "3", "--academy", "unix:/nonexistent/socket"],
        input="boardsize 5\nclear_board\nkomi 0.5\ngenmove b\ngenmove w\nquit\n",
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )
    assert done.stdout.count("=") == 6
    assert "going on without ACADEMY's answers" in done.stderr
