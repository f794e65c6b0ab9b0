"""Programs that let engines dial in refuse what cannot work before they dial."""

import re
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.lobby.lobby import LobbyLimits
from clients.bots import gtp_connector, lines_connector
from clients.bots.connector import Connector, environment
from clients.bots.gtp_connector import EngineError, SeatedEngine
from clients.bots.lines_connector import BotGoneError, BotProcess, SeatedBot
from clients.connection import Connection
from clients.remote_game import Answer, Game, GameDeclinedError, GameEnd, GameTurn, TimeControl
from referees.warlight import WarLight
from tests.waiting import until

# Nothing listens there: who dials all the same says so, with status 1.
NOWHERE = "unix:/nonexistent/arena"
BOT = ("--", sys.executable, "bot.py")

Refusal = Callable[..., tuple[Any, str]]


@pytest.fixture
def refusal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Refusal:
    """Runs a connector with these arguments, and returns what it refuses with its exit status."""
    monkeypatch.delenv("ARENA_ADDRESS", raising=False)
    monkeypatch.delenv("ARENA_TOKEN", raising=False)

    def refused(main: Callable[[], None], *arguments: str) -> tuple[Any, str]:
        monkeypatch.setattr(sys, "argv", ["connect", "--player", "ann", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, capsys.readouterr().err.replace("\n", " ")

    return refused


@pytest.mark.parametrize("main", [gtp_connector.main, lines_connector.main], ids=["gtp", "lines"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--address", NOWHERE, "--", "no-such-engine"), "no program 'no-such-engine' .* install it"),
        (("--address", NOWHERE, "--games", "0", *BOT), "'0' is not a number from 1 to"),
        (("--address", NOWHERE, "--games", "²", *BOT), "'²' is not a number from 1 to"),
        (
            ("--address", NOWHERE, "--games", f"{LobbyLimits.games_at_once + 1}", *BOT),
            f"is not a number from 1 to {LobbyLimits.games_at_once} *$",
        ),
        (("--address", NOWHERE, "--token-file", "gone.token", *BOT), "no file 'gone.token': keep the token"),
        (("--address", "nonsense", *BOT), "'nonsense': write host:port"),
        (("--address", "127.0.0.1:0", *BOT), "nothing listens at port 0"),
        (("--address", NOWHERE), "COMMAND"),
        (
            ("--address", NOWHERE, sys.executable, "--mode", "gtp"),
            "arguments: --mode gtp; write -- before the",
        ),
    ],
)
def test_what_cannot_work_is_refused_before_dialling(
    refusal: Refusal, main: Callable[[], None], arguments: tuple[str, ...], message: str
) -> None:
    status, words = refusal(main, *arguments)
    assert status == 2 and re.search(message, words), words


def test_a_missing_file_of_the_environment_is_called_the_tokens(
    refusal: Refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_TOKEN_FILE", "/nonexistent/ann.token")
    status, _ = refusal(gtp_connector.main, "--address", NOWHERE, *BOT)
    assert "its token can't be read: " in status and "/nonexistent/ann.token" in status
    assert "ARENA_TOKEN_FILE" in status


def test_token_file_without_a_token_is_named(refusal: Refusal, tmp_path: Path) -> None:
    empty = tmp_path / "ann.token"
    empty.touch()
    status, _ = refusal(gtp_connector.main, "--address", NOWHERE, "--token-file", str(empty), *BOT)
    # Python prints a status that is a text, and ends with 1.
    assert f"{empty}: holds no token" in status


@pytest.mark.parametrize("main", [gtp_connector.main, lines_connector.main])
def test_address_of_the_environment_is_checked_too(
    main: Callable[[], None], refusal: Refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_ADDRESS", "nonsense")
    status, words = refusal(main, *BOT)
    assert status == 2 and "'nonsense': write host:port" in words


def game(**more: Any) -> Game:
    known: dict[str, Any] = {
        "game_id": "r1_0",
        "name": "go",
        "settings": {"board_size": 9},
        "seat": 2,
        "players": ("bob", "ann"),
        "seed": 1,
        "move_seconds": 10.0,
        "resumed": False,
    }
    return Game(**(known | more))


class Seated:
    """A program that notes its end."""

    def __init__(self, game: Game) -> None:
        self.ends: list[str] = []

    def choose(self, turn: GameTurn) -> Answer:
        return Answer("pass")

    def end(self) -> None:
        self.ends.append("end")

    def abandon(self) -> None:
        self.ends.append("abandon")


def seating() -> tuple[Connector, list[Seated]]:
    """A connector, and the programs that it has seated, the first first."""
    seated: list[Seated] = []

    def seat(game: Game) -> Seated:
        seated.append(Seated(game))
        return seated[-1]

    return Connector(seat), seated


def test_games_of_two_competitions_with_the_same_id_have_a_program_each() -> None:
    connector, seated = seating()
    connector.new_game(game(seat_id=7, competition="war"))
    connector.new_game(game(seat_id=8, competition="go"))
    assert [program.ends for program in seated] == [[], []]
    # A stream broke: the game is taken up by another program, for which the clock runs.
    connector.new_game(game(seat_id=7, competition="war", resumed=True))
    assert [program.ends for program in seated] == [["abandon"], [], []]
    connector.game_over(game(seat_id=8, competition="go"), GameEnd())
    assert [program.ends for program in seated] == [["abandon"], ["end"], []]
    connector.close()
    assert seated[2].ends == ["end"]


def test_a_program_whose_game_no_stream_brings_again_is_ended_when_the_next_game_begins() -> None:
    connector, seated = seating()
    # A game's thread ends with its stream, as when its arena was killed: another counts seats from 1.
    lost = threading.Thread(target=connector.new_game, args=[game(seat_id=7)])
    lost.start()
    lost.join()
    connector.new_game(game(seat_id=1))
    assert [program.ends for program in seated] == [["abandon"], []]
    connector.close()
    assert [program.ends for program in seated] == [["abandon"], ["end"]]


@pytest.mark.parametrize("later", ["taken up", "closed"])
def test_a_program_that_starts_after_its_game_was_left_is_ended(later: str) -> None:
    seated: list[Seated] = []
    goes_on = threading.Event()

    def seat(game: Game) -> Seated:
        program = Seated(game)
        seated.append(program)
        if len(seated) == 1:
            goes_on.wait()
        return program

    connector = Connector(seat)
    with ThreadPoolExecutor() as threads:
        first = threads.submit(connector.new_game, game(seat_id=7))
        until(lambda: seated)
        if later == "taken up":
            connector.new_game(game(seat_id=7, resumed=True))
        else:
            connector.close()
        goes_on.set()
        with pytest.raises(GameDeclinedError, match="left"):
            first.result()
    connector.close()
    assert [program.ends for program in seated] == [["abandon"], ["end"]][: len(seated)]


def test_what_an_arena_says_of_a_games_end_commands_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    connector = Connector(Seated)
    connector.game_over(game(), GameEnd(void_reason="\x1b[31mevil"))
    connector.game_over(game(game_id="startup-check"), GameEnd())
    connector.game_over(game(), GameEnd())
    ends = [line.rpartition(": ")[2] for line in capsys.readouterr().out.splitlines()]
    assert ends == ["\\x1b[31mevil", "ready", "interrupted"]


def test_a_program_has_the_variables_of_its_own_game_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ACADEMY_TOKEN", "ACADEMY_CONTEST", "ARENA_TOKEN"):
        monkeypatch.setenv(name, "the user's own")
    academy = Connection("academy:1", "ticket", ca="/tls/authority.pem")
    seated = game(academy=academy, contest_id="cup/1", academy_game="go-9x9-fork")
    variables = environment(seated)
    assert {name: variables[name] for name in variables if name.startswith(("ACADEMY_", "ARENA_"))} == {
        "ACADEMY_ADDRESS": "academy:1",
        "ACADEMY_CONTEST": "cup/1",
        "ACADEMY_GAME": "go-9x9-fork",
        "ACADEMY_PLAYER": "2",
        "ACADEMY_TLS_CA": "/tls/authority.pem",
        "ACADEMY_TOKEN": "ticket",
    }
    assert not [name for name in environment(game()) if name.startswith(("ACADEMY_", "ARENA_"))]


ENGINE = """
    import sys
    for line in sys.stdin:
        words = line.split()
        with open(sys.argv[1], "a") as noted:
            noted.write(line)
        answer = {
            "known_command": "true", "genmove": "C3", "academy-expected_value": sys.argv[2]
        }.get(words[0], "")
        print(f"= {answer}\\n", flush=True)
"""


@pytest.fixture
def seated_engine(tmp_path: Path) -> Callable[..., tuple[SeatedEngine, Path]]:
    """Seats an engine that knows all commands, and notes those it gets."""

    def seat(values: str = "", **more: Any) -> tuple[SeatedEngine, Path]:
        program, noted = tmp_path / "engine.py", tmp_path / "noted"
        program.write_text(textwrap.dedent(ENGINE))
        return SeatedEngine(game(**more), (sys.executable, str(program), str(noted), values)), noted

    return seat


TURN = GameTurn(board="-" * 81, moves=((1, "E5"),), legal_moves=(), seconds_left=9.0, stones_left=0)


@pytest.mark.parametrize(
    ("values", "answer"),
    [
        ("0.25", Answer("C3", 0.25)),
        ("0.5 0.25", Answer("C3", 0.25, value_before=0.5)),
        ("1.25", Answer("C3")),
        ("high", Answer("C3")),
    ],
)
def test_what_an_engine_expects_goes_to_the_arena(
    seated_engine: Callable[..., tuple[SeatedEngine, Path]], values: str, answer: Answer
) -> None:
    engine, _ = seated_engine(values)
    try:
        assert engine.choose(TURN) == answer
    finally:
        engine.end()


@pytest.mark.parametrize(
    ("times", "settings"),
    [
        ({"move_seconds": 10.0}, "time_settings 0 9 1"),
        ({"move_seconds": 1.0}, "time_settings 0 1 1"),
        ({"move_seconds": 0.5}, None),
        ({"move_seconds": None, "time_control": TimeControl(60.0)}, "time_settings 60 0 0"),
        ({"move_seconds": None, "time_control": TimeControl(60.0, 0.0, 15.0, 5)}, "time_settings 60 15 5"),
    ],
)
def test_an_engine_gets_its_clock(
    seated_engine: Callable[..., tuple[SeatedEngine, Path]], times: dict[str, Any], settings: str | None
) -> None:
    engine, noted = seated_engine(**times)
    engine.choose(TURN)
    engine.end()
    lines = noted.read_text().splitlines()
    assert [line for line in lines if line.startswith("time_settings")] == ([settings] if settings else [])
    assert any(line.startswith("time_left") for line in lines) == (times["move_seconds"] is None)


def test_an_engine_whose_game_another_takes_up_ends_at_once(
    seated_engine: Callable[..., tuple[SeatedEngine, Path]], capsys: pytest.CaptureFixture[str]
) -> None:
    engine, _ = seated_engine()
    engine.abandon()
    assert engine.choose(TURN).text is None
    engine.end()
    assert capsys.readouterr().err == ""


THINKER = """
    import pathlib, sys, time
    for line in sys.stdin:
        if line.startswith(sys.argv[2]):
            pathlib.Path(sys.argv[1]).touch()
            time.sleep(600)
        print("=\\n", flush=True)
"""


@pytest.mark.parametrize("seat", ["engine", "bot"])
def test_a_program_whose_game_ends_while_it_thinks_does_not_resign_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], seat: str
) -> None:
    monkeypatch.setattr(gtp_connector, "END_SECONDS", 0.1)
    monkeypatch.setattr(lines_connector, "END_SECONDS", 0.1)
    program, thinks = tmp_path / "thinker.py", tmp_path / "thinks"
    program.write_text(textwrap.dedent(THINKER))
    command = (sys.executable, str(program), str(thinks), "genmove" if seat == "engine" else "")
    if seat == "engine":
        seated: SeatedEngine | SeatedBot = SeatedEngine(game(), command)
        turn = replace(TURN, seconds_left=600.0)
    else:
        seated = SeatedBot(game(name="warlight", settings={"map": "double_earth"}), command, "")
        rules = WarLight.from_settings({"map": "double_earth"})
        turn = GameTurn("", (), (), 600.0, 0, rules.view_text(rules.view(rules.start(1), 2)))
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(seated.choose, turn)
        until(thinks.exists)
        seated.end()
        assert answer.result(60.0).text is None
    assert capsys.readouterr().err == ""


def test_who_waits_for_a_bot_that_writes_without_end_learns_that_it_was_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lines_connector, "MAX_LINES_WAITING", 10)
    program = "while True: print('chatter', flush=True)"
    bot = BotProcess((sys.executable, "-c", program), environment(game()), lambda line: None)
    until(bot._arrived.full)
    bot.end(())
    with pytest.raises(BotGoneError):
        while True:
            bot._read(time.monotonic() + 600.0)


BAD_ENGINE = """
    import sys, time
    for line in sys.stdin:
        if line.startswith("genmove") and sys.argv[1] == "silent":
            time.sleep(600)
        while line.startswith("genmove") and sys.argv[1] == "endless":
            print("= " + "a" * 100_000, flush=True)
        print("=\\n", flush=True)
"""


@pytest.mark.parametrize(
    ("kind", "why"),
    [("silent", "did not answer within 1.1 s"), ("endless", "answers with more than 1,000,000 characters")],
)
def test_an_engine_that_never_ends_its_answer_is_ended_and_resigns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, why: str
) -> None:
    monkeypatch.setattr(gtp_connector, "LATE_SECONDS", 0.1 if kind == "silent" else 60.0)
    program = tmp_path / "engine.py"
    program.write_text(textwrap.dedent(BAD_ENGINE))
    engine = SeatedEngine(game(), (sys.executable, str(program), kind))
    answer = engine.choose(replace(TURN, seconds_left=1.0))
    assert answer.text is None and why in answer.comment
    # It has gone before its game's end is known.
    with pytest.raises(EngineError, match=why):
        engine.engine.ask("name")
    engine.end()


def test_an_engine_that_hangs_at_its_start_plays_no_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gtp_connector, "START_SECONDS", 1.0)
    program = tmp_path / "engine.py"
    program.write_text("import time\ntime.sleep(600)\n")
    with pytest.raises(GameDeclinedError, match="did not answer within 1 s"):
        SeatedEngine(game(), (sys.executable, str(program)))
