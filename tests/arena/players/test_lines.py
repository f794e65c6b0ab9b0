"""Bots that write plain lines: their faults cost them orders, and the game goes on."""

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.jobs import Fault, GameJob, GameResult, PlayerSetup, TimeControl
from arena.match.game import play
from arena.players.lines import LinesPlayer
from arena.players.player import PlayerDisconnectedError, Seating
from arena.runner.player_check import check_player
from referees.api import Termination
from referees.warlight import WarLight

BOT = Path(__file__).parents[1] / "warlight_bot.py"
TURNS = 6
A_GENEROUS_TIME = 180.0
# The bot's fault, and what the warnings say of it: then its orders count all the same.
DROPPED = [
    ("garbage", r"turn 1: a line was dropped: .* is neither 'Deploy ARMIES on ID' nor"),
    ("illegal", r"turn 1: order 'Deploy 5 on 99999' was not carried out: the map has no territory 99999"),
    ("truncated-lines", r"a line was dropped: 'AttackTransfer 3 from 4 to' is neither"),
    ("no-newline-megabytes", r"turn 1: a line was dropped: 'xxxx.*\(3 times, the last in turn 3\)"),
    ("many-lines", r"turn 1: of an answer the lines after the first 5000 were dropped \(3 times"),
    ("invalid-utf8", r"turn 1: a line was dropped: '\\ufffd\\ufffd Deploy \\ufffd' is neither"),
]
# On a busy machine a program's output can end well before the program does.
GONE = [
    (
        "exit-in-game",
        r'turn 3: passes for the rest: (exited with status 4|closed its channel); .*"lost my way"',
    ),
    ("crash-in-game", r"turn 3: passes for the rest: (was killed by SIGABRT|closed its channel)"),
    ("half-an-answer-and-exit", r"turn 3: passes for the rest: (exited with status 0|closed its channel)"),
    ("closes-output", r"turn 3: passes for the rest: closed its channel"),
]


def bot(fault: str = "none", dialogue: str = "", **setup: Any) -> PlayerSetup:
    """A bot with generous limits; further words are parameters or fields of the setup."""
    parameters: dict[str, Any] = {name: setup.pop(name) for name in ("crash", "late_turns") if name in setup}
    if dialogue:
        parameters["dialogue"] = dialogue
    command = (sys.executable, "-I", "-S", str(BOT), fault, *([dialogue] if dialogue else []))
    return PlayerSetup(fault, command, protocol="lines", parameters=parameters, **setup)


def game(*players: PlayerSetup, tmp_path: Path, **job: Any) -> GameResult:
    settings = {"map": "double_small", "turn_limit": TURNS}
    log = str(tmp_path / "log")
    return play(GameJob("7", "warlight", settings, players, seed=3, log_path=log, **job))


def texts(result: GameResult, seat: int) -> list[str]:
    return [move.text for move in result.moves if move.seat == seat]


def warned(result: GameResult, pattern: str) -> bool:
    return any(re.search(pattern, warning) for warning in result.warnings)


@pytest.mark.parametrize(("fault", "warning"), DROPPED)
def test_an_order_that_cannot_be_read_is_dropped_and_the_rest_counts(
    fault: str, warning: str, tmp_path: Path
) -> None:
    result = game(bot(fault), bot(), tmp_path=tmp_path)
    assert result.outcome is not None
    assert result.outcome.termination is Termination.SCORE
    assert len(result.moves) == 2 * TURNS
    assert warned(result, warning), result.warnings
    # Only the first of twenty thousand lines count, and its orders are the last.
    assert fault == "many-lines" or all("AttackTransfer" in text for text in texts(result, 1)[1:])
    assert result.usage[0].fault is Fault.NONE


def test_bot_that_ends_its_answers_too_early_gets_a_complaint(tmp_path: Path) -> None:
    transcript = tmp_path / "transcript"
    result = game(bot("early-end"), bot(), tmp_path=tmp_path, transcript=str(transcript))
    assert warned(result, r"turn 2: \d+ lines outside of a turn were skipped"), result.warnings
    assert "<< early-end: Deploy 1 on 1" in transcript.read_text()


def test_remarks_between_answers_of_one_line_cost_nothing(tmp_path: Path) -> None:
    chatty = game(bot("remarks", "ai-challenge-2"), bot(), tmp_path=tmp_path)
    silent = game(bot("none", "ai-challenge-2"), bot(), tmp_path=tmp_path)
    assert texts(chatty, 1) == texts(silent, 1)
    assert warned(chatty, r"turn 1: \d lines that do not answer what was asked were skipped"), chatty.warnings


def test_a_bot_without_fault_is_not_warned(tmp_path: Path) -> None:
    result = game(bot(), bot(), tmp_path=tmp_path)
    assert not result.warnings
    assert "AttackTransfer" in texts(result, 1)[0]


@pytest.mark.parametrize(("fault", "warning"), GONE)
def test_a_bot_that_has_ended_passes_for_the_rest(fault: str, warning: str, tmp_path: Path) -> None:
    result = game(bot(fault), bot(), tmp_path=tmp_path)
    assert result.outcome is not None
    assert result.outcome.termination is Termination.SCORE
    assert texts(result, 1)[2:] == ["pass"] * (TURNS - 2)
    assert "pass" not in texts(result, 1)[:2]
    assert "pass" not in texts(result, 2)
    assert warned(result, warning), result.warnings
    used = result.usage[0]
    assert (used.fault, used.turns) == (Fault.DISCONNECTED, 2)
    assert re.match(warning.replace("passes for the rest: ", ""), used.remark), used.remark
    assert result.usage[1].fault is Fault.NONE


@pytest.mark.parametrize(("fault", "moves"), [("exit-in-game", 4), ("exit-at-once", 0)])
def test_a_bot_that_has_ended_loses_at_once_by_setting(fault: str, moves: int, tmp_path: Path) -> None:
    result = game(bot(fault, crash="lose"), bot(), tmp_path=tmp_path)
    assert result.outcome is not None
    assert (result.outcome.winners, result.outcome.termination) == ((2,), Termination.FORFEIT)
    assert result.usage[0].fault is Fault.DISCONNECTED
    assert len(result.moves) == moves


@pytest.mark.parametrize("dialogue", ["", "ai-challenge-2"])
def test_a_bot_that_ends_before_the_game_passes_too(dialogue: str, tmp_path: Path) -> None:
    result = game(bot("exit-at-once", dialogue), bot(), tmp_path=tmp_path)
    assert result.outcome is not None
    assert texts(result, 1) == ["pass"] * TURNS
    assert warned(result, r"turn 1: passes for the rest: (exited with status 3|closed its channel)")
    assert (result.usage[0].fault, result.usage[0].turns) == (Fault.DISCONNECTED, 0)
    assert result.usage[0].remark.startswith("turn 1: ")


@pytest.mark.usefixtures("patient_obituary")
@pytest.mark.parametrize("dialogue", ["", "ai-challenge-2"])
def test_a_check_before_the_first_game_asks_for_orders(dialogue: str) -> None:
    rules = WarLight.from_settings({"map": "double_small"})
    assert not check_player(bot("none", dialogue), rules, quiet=True).warnings
    for crash in ("pass", "lose"):
        with pytest.raises(PlayerDisconnectedError, match=r"player exit-at-once: .*exited with status 3"):
            check_player(bot("exit-at-once", dialogue, crash=crash), rules, quiet=True)


def test_a_missing_program_makes_the_game_void(tmp_path: Path) -> None:
    result = game(PlayerSetup("no", ("/nowhere/bot",), protocol="lines"), bot(), tmp_path=tmp_path)
    assert "there is no such program" in result.void_reason


@pytest.mark.parametrize(
    ("fault", "dialogue"),
    # In the game's own dialogue an answer left out looks the same as a late one.
    [("late-once", ""), ("late-once", "ai-challenge-2"), ("silent-once", "ai-challenge-2")],
)
def test_a_late_turn_is_passed_and_its_answer_is_not_taken_for_the_next(fault: str, dialogue: str) -> None:
    # The bot does not answer turn 2 before it is asked for turn 3's orders, however long that takes. If it
    # does, it deploys 424242 armies.
    rules = WarLight.from_settings({"map": "double_small"})
    setup = bot(fault, dialogue, move_seconds=A_GENEROUS_TIME, start_seconds=A_GENEROUS_TIME)
    player = LinesPlayer(Seating(setup, 1, "bot", rules, "1", 1))
    player.start()
    try:
        player.set_up()
        position, orders = rules.start(3), []
        for turn in range(1, TURNS + 1):
            limit = 0.05 if turn == 2 else A_GENEROUS_TIME
            player.seating = replace(player.seating, setup=replace(setup, move_seconds=limit))
            orders.append(player.choose(rules.view(position, 1)).text)
            position = rules.play(position, {1: rules.read_move(position, 1, orders[-1]), 2: ()})
    finally:
        player.close()
    assert orders[1] == "pass"
    assert all(
        "Deploy" in order and "Attack" in order and "424242" not in order for order in orders[:1] + orders[2:]
    )
    assert player.warnings == ["player bot: turn 2: no answer within 0.05 s, the turn is passed"]
    assert player.disorder is not None
    assert (player.disorder.cause.fault, player.disorder.turns) == (Fault.LATE, 1)
    assert str(player.disorder.cause) == "turn 2: no answer within 0.05 s"


@pytest.mark.parametrize("fault", ["never-answers", "deaf"])
def test_a_bot_that_is_late_too_often_gets_no_more_requests(fault: str, tmp_path: Path) -> None:
    slow = bot(fault, move_seconds=0.1, start_seconds=0.4, exit_seconds=0.1, late_turns=2)
    result = game(slow, bot(), tmp_path=tmp_path)
    assert texts(result, 1) == ["pass"] * TURNS
    assert warned(
        result, r"turn 1: no answer within 0\.5 s, the turn is passed \(2 times, the last in turn 2\)"
    )
    assert warned(result, r"turn 2: gets no more requests after 2 late turns")
    assert not warned(result, r"turn [3-9]")
    used = result.usage[0]
    assert (used.fault, used.turns) == (Fault.LATE, 0)
    assert used.remark == "turn 2: gets no more requests after 2 late turns"


def test_bot_without_requests_still_learns_the_end_of_the_game(tmp_path: Path) -> None:
    mute = bot("mute", move_seconds=0.05, start_seconds=A_GENEROUS_TIME, exit_seconds=A_GENEROUS_TIME)
    mute = replace(mute, start_seconds=1.0, parameters={"late_turns": 1})
    result = game(mute, bot(), tmp_path=tmp_path)
    assert texts(result, 1) == ["pass"] * TURNS
    assert "so it is over" in (tmp_path / "log").read_text()


def test_a_bot_that_never_reads_passes_when_its_pipe_is_full(tmp_path: Path) -> None:
    deaf = bot("deaf", move_seconds=0.1, start_seconds=0.2, exit_seconds=0.1, late_turns=99)
    settings = {"map": "double_earth", "fog": False, "turn_limit": 20}
    result = play(GameJob("7", "warlight", settings, (deaf, bot()), seed=3, log_path=str(tmp_path / "log")))
    assert result.outcome is not None
    assert len(result.moves) == 40
    assert texts(result, 1) == ["pass"] * 20
    assert warned(result, r"passes for the rest: does not read what it is sent")


def test_a_bot_that_never_stops_writing_is_late(tmp_path: Path) -> None:
    result = game(bot("flood", move_seconds=0.2, late_turns=1, exit_seconds=0.1), bot(), tmp_path=tmp_path)
    assert result.outcome is not None
    assert texts(result, 1)[1:] == ["pass"] * (TURNS - 1)


def test_a_bot_with_nothing_in_its_bank_is_passed_over(tmp_path: Path) -> None:
    clock = TimeControl(main_seconds=0.2, increment_seconds=0.1)
    silent = bot("never-answers", time_control=clock, start_seconds=0.3, late_turns=9, exit_seconds=0.1)
    result = game(silent, bot(), tmp_path=tmp_path)
    assert texts(result, 1) == ["pass"] * TURNS
    assert result.outcome is not None
    assert result.outcome.termination is Termination.SCORE
    # The bank is used up by the first turn; then there is the increment.
    assert result.moves[-2].clock_seconds == pytest.approx(0.1)


def test_both_dialogues_meet_in_one_game(tmp_path: Path) -> None:
    transcript = tmp_path / "transcript"
    for seats in ((bot(), bot("none", "ai-challenge-2")), (bot("none", "ai-challenge-2"), bot())):
        result = game(*seats, tmp_path=tmp_path, transcript=str(transcript))
        assert result.outcome is not None
        assert not result.warnings
        assert all("Deploy" in move.text for move in result.moves)
    text = transcript.read_text()
    assert ">> none#1: settings your_bot player1" in text
    assert "<< none#1: player1 place_armies " in text
    assert ">> none#2: EndStanding" in text
    assert ">> none#2: GameOver" in text


@pytest.mark.parametrize("fault", ["invalid-utf8", "exit-in-game"])
def test_faults_cost_orders_in_the_other_dialogue_too(fault: str, tmp_path: Path) -> None:
    player = bot(fault, "ai-challenge-2")
    result = game(player, bot(), tmp_path=tmp_path)
    assert result.outcome is not None
    assert result.outcome.termination is Termination.SCORE
    assert len(result.moves) == 2 * TURNS


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"dialect": "x"}, "'dialect' is not a parameter of a player that speaks lines"),
        ({"dialogue": "klingon"}, "the game 'warlight' is not played over 'lines:klingon'"),
    ],
)
def test_a_parameter_that_is_not_accepted_says_why(
    parameters: dict[str, Any], message: str, tmp_path: Path
) -> None:
    player = PlayerSetup("bot", (sys.executable,), protocol="lines", parameters=parameters)
    assert message in game(player, bot(), tmp_path=tmp_path).void_reason


def test_a_game_without_lines_cannot_be_played_over_them() -> None:
    players = (bot(), bot())
    result = play(GameJob("1", "hex", {"board_size": 3}, players, seed=1))
    assert "the game 'hex' is not played over 'lines'" in result.void_reason
