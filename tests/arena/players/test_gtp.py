"""The dialogue of a GTP player: which commands are sent, in which order, and what they are for."""

import sys
from pathlib import Path
from typing import Any

import pytest

from arena.jobs import Fault, PlayerSetup, TimeControl
from arena.match.game import play
from arena.players.gtp import GtpEngine, GtpParameters, GtpPlayer
from arena.players.player import InvalidPlayerParametersError, Seating
from arena.players.program import KeptPrograms
from referees.api import Referee, Termination
from referees.warlight import WarLight
from tests.arena.engines import job, misbehaving, python_player
from tests.arena.players.card_game import CardGame


def sent(transcript: Path) -> list[str]:
    return [
        line.removeprefix(">> villain: ") for line in transcript.read_text().splitlines() if line[0] == ">"
    ]


def test_a_game_takes_these_commands(tmp_path: Path) -> None:
    transcript = tmp_path / "t"
    parameters = {
        "startup_commands": ["time_settings 0 5 1", "level 3"],
        "aliases": {"final_score": "score"},
    }
    play(
        job(
            misbehaving("none", parameters=parameters),
            python_player("passer"),
            scorer="players",
            transcript=str(transcript),
        )
    )
    assert sent(transcript) == [
        *("protocol_version", "name", "version", "known_command gomill-describe_engine"),
        *("time_settings 0 5 1", "level 3"),
        *("boardsize 5", "clear_board", "komi 0.5"),
        *("genmove b", "known_command academy-expected_value", "academy-expected_value"),
        *("known_command gomill-explain_last_move", "gomill-explain_last_move", "play w pass"),
        *("genmove b", "academy-expected_value", "gomill-explain_last_move", "play w pass"),
        *("genmove b", "academy-expected_value", "gomill-explain_last_move"),
        *("known_command score", "known_command gomill-cpu_time", "gomill-cpu_time", "quit"),
    ]


class CardGameWithoutDialogue(CardGame):
    """A game for players in Python alone, as a newcomer writes it first."""

    def dialogue(self, protocol: str) -> object | None:
        return None


@pytest.mark.parametrize(
    ("rules", "remedy"),
    [
        (WarLight.from_settings({"map": "double_small"}), 'protocol = "python", or "lines" for a program'),
        (CardGameWithoutDialogue(), 'once its referee has dialogue("gtp")'),
    ],
)
def test_a_game_without_gtp_names_a_protocol_that_it_has(rules: Referee[Any, Any], remedy: str) -> None:
    with pytest.raises(InvalidPlayerParametersError, match="is not played over GTP") as refused:
        GtpPlayer(Seating(PlayerSetup("gnugo", ("gnugo",)), 1, "gnugo", rules, "0_1", seed=1))
    assert remedy in str(refused.value)
    assert ('"lines"' in str(refused.value)) == (rules.dialogue("lines") is not None)


def test_second_player_gets_the_move_before_it_is_asked(tmp_path: Path) -> None:
    transcript = tmp_path / "t"
    play(job(python_player("passer"), misbehaving("none"), transcript=str(transcript), move_limit=2))
    moves = [line for line in sent(transcript) if line.startswith(("play", "genmove"))]
    assert moves == ["play b pass", "genmove w"]


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"startup_command": []}, "'startup_command' is not a parameter of a GTP player"),
        ({"startup_commands": [""]}, "a command is empty"),
        ({"startup_commands": ["level 3\x7f"]}, "cannot be a word"),
        ({"aliases": {"genmove": "kgs genmove"}}, "'kgs genmove' cannot be a word"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidPlayerParametersError, match=says):
        GtpParameters.read(parameters)


def test_commands_are_lines_of_words() -> None:
    read = GtpParameters.read({"startup_commands": ("level 3", "komi 7"), "aliases": {"a": "b"}})
    assert read == GtpParameters((("level", "3"), ("komi", "7")), {"a": "b"}, True)


# Thinks in the command that its argument names, and plays at once.
THINKER = """
import sys, time
moves = iter(("A1", "C3", "E5"))
answers = {"protocol_version": "2", "known_command": "true"}
for line in sys.stdin:
    command = line.split()[0]
    if command == sys.argv[1]:
        time.sleep(0.6)
    answer = next(moves, "pass") if command == "genmove" else answers.get(command, "0.5")
    print("=", answer, end="\\n\\n", flush=True)
"""


@pytest.mark.parametrize(
    "command", ["genmove", "time_left", "play", "gomill-explain_last_move", "academy-expected_value"]
)
def test_thinking_costs_a_clocks_time_in_whatever_command_it_is_done(command: str) -> None:
    thinker = PlayerSetup(
        "thinker", (sys.executable, "-IS", "-c", THINKER, command), time_control=TimeControl(0.5)
    )
    result = play(job(thinker, python_player("passer")))
    assert result.outcome is not None and result.outcome.summary == "W+F"
    assert "lost on time: 0." in result.outcome.detail
    assert result.usage[0].fault is Fault.LATE


def test_the_moves_of_an_opening_cost_no_time(tmp_path: Path) -> None:
    # It thinks 1.2 s about the opening.
    thinker = PlayerSetup(
        "thinker", (sys.executable, "-IS", "-c", THINKER, "play"), time_control=TimeControl(60)
    )
    transcript = str(tmp_path / "t")
    result = play(
        job(thinker, python_player("passer"), opening=("B2", "D4"), move_limit=3, transcript=transcript)
    )
    assert result.outcome is not None and result.outcome.termination is Termination.MOVE_LIMIT
    assert ">> thinker: time_left b 60 0" in (tmp_path / "t").read_text().splitlines()


def test_start_up_commands_that_take_too_long_together_make_the_game_void() -> None:
    # Each takes 0.6 s.
    parameters = {"startup_commands": ["level 3"] * 5}
    command = (sys.executable, "-IS", "-c", THINKER, "level")
    thinker = PlayerSetup("thinker", command, parameters=parameters, start_seconds=2.5)
    result = play(job(thinker, python_player("passer")))
    assert result.outcome is None
    assert "(all of the start-up may take 2.5 s)" in result.void_reason
    assert result.usage[0].fault is Fault.LATE


BOASTER = """
import sys
cells = iter([f"{column}{row}" for row in range(1, 10) for column in "ABCDEFGHJ"])
answers = {"protocol_version": "2", "known_command": "true", "academy-expected_value": "7"}
for line in sys.stdin:
    command = line.split()[0]
    print("=", next(cells) if command == "genmove" else answers.get(command, ""), end="\\n\\n", flush=True)
    if command == "quit":
        break
"""


def test_values_that_are_none_make_a_limited_number_of_warnings() -> None:
    boaster = PlayerSetup("boaster", (sys.executable, "-IS", "-c", BOASTER))
    settings = {"board_size": 9, "komi": 0.5}
    result = play(job(boaster, python_player("passer"), settings=settings, move_limit=120))
    assert len(result.moves) == 120
    assert len(result.warnings) == 51 and result.warnings[-1] == "player boaster: 10 more such warnings"


REFUSER = """
import sys
for line in sys.stdin:
    command, *words = line.split()
    if command == "gomill-cpu_time":
        print("? not now", end="\\n\\n", flush=True)
        continue
    known = str("gomill-cpu_time" in words).lower()
    answers = {"protocol_version": "2", "known_command": known, "genmove": "pass"}
    print("=", answers.get(command, ""), end="\\n\\n", flush=True)
    if command == "quit":
        break
"""


@pytest.mark.parametrize("restart", [True, False])
def test_an_engine_that_refuses_its_cpu_time_ends_as_others_do(
    restart: bool, tmp_path: Path, kept_engines: KeptPrograms[GtpEngine]
) -> None:
    refuser = PlayerSetup("villain", (sys.executable, "-IS", "-c", REFUSER), restart=restart)
    result = play(job(refuser, python_player("passer"), transcript=str(tmp_path / "t")))
    assert result.warnings == () and result.usage[0].cpu_seconds is None
    assert bool(kept_engines.process_ids) is not restart
    assert (sent(tmp_path / "t")[-1] == "quit") is restart


FOR_ONE_GAME = f"""#!{sys.executable} -IS
import sys
games = 0
for line in sys.stdin:
    games += line.startswith("boardsize")
    if games > 1:
        sys.exit(3)
    print("= resign" if line.startswith("genmove") else "=", end="\\n\\n", flush=True)
"""


def test_a_kept_engine_that_breaks_and_cannot_be_launched_again_makes_its_game_void(
    tmp_path: Path, kept_engines: KeptPrograms[GtpEngine]
) -> None:
    program = tmp_path / "engine"
    program.write_text(FOR_ONE_GAME)
    program.chmod(0o755)
    setup = PlayerSetup("kept", (str(program),), restart=False)
    assert play(job(setup, python_player("other"))).void_reason == ""
    assert kept_engines.process_ids
    program.unlink()
    assert "there is no such program" in play(job(setup, python_player("other"))).void_reason
