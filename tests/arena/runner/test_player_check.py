"""The check before a competition's first game."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.jobs import PlayerSetup
from arena.players.player import InvalidPlayerParametersError, PlayerError, PlayerTimeoutError
from arena.runner.player_check import check_player, hidden_from
from referees.api import Referee, referee
from referees.diplomacy import Diplomacy
from referees.go import Go, GoPosition
from referees.hex import Hex
from referees.warlight import WarLight
from tests.arena.cli.command import arena
from tests.arena.control.ringmaster.engines import QUICK
from tests.arena.control_files import PASSING, misbehaving, write_control
from tests.arena.engines import misbehaving as misbehaving_setup
from tests.arena.engines import noted, python_player
from tests.processes import left_running

RANDOM_MOVES = "arena.players.random_moves:random_moves"
RULES = Go.from_settings({"board_size": 5, "komi": 0.5})


def test_a_python_player_that_never_gets_ready_does_not_stick_the_check() -> None:
    player = python_player("late", "tests.arena.engines:slow_starter", start_seconds=0.2)
    with pytest.raises(PlayerTimeoutError, match=r"player late: not ready within 0\.2 s"):
        check_player(player, RULES, quiet=True)


def test_a_python_player_that_gets_ready_is_named() -> None:
    assert check_player(python_player("passer"), RULES, quiet=True) == ("always_pass", (), False)


def test_a_player_that_cannot_be_made_is_named() -> None:
    with pytest.raises(InvalidPlayerParametersError, match="player p: the command"):
        check_player(python_player("p", "no_colon"), RULES, quiet=True)


@pytest.mark.parametrize(
    ("factory", "rules", "message"),
    [
        # Their legal moves are too many to list: what players.md shows for other games crashes.
        ("tests.arena.engines:first_move", WarLight.from_settings({}), "crashed with TypeError"),
        ("tests.arena.engines:first_move", Diplomacy.from_settings({}), "crashed with TypeError"),
        ("tests.arena.engines:always_pass", Hex.from_settings({"board_size": 5}), "its first move 'pass': "),
    ],
)
def test_a_python_player_that_cannot_play_this_game_does_not_get_ready(
    factory: str, rules: Referee[Any, Any], message: str
) -> None:
    with pytest.raises(PlayerError, match=message):
        check_player(python_player("simple", factory), rules, quiet=True)


@pytest.mark.parametrize(
    ("game", "settings"),
    [
        ("go", {"board_size": 5}),
        ("draughts", {"variant": "english"}),
        ("hex", {"board_size": 5}),
        ("diplomacy", {}),
        ("openspiel", {"game": "tic_tac_toe"}),
    ],
)
def test_random_moves_play_games(game: str, settings: dict[str, object]) -> None:
    player = python_player("chance", RANDOM_MOVES)
    assert (
        check_player(player, referee(game).from_settings(settings), quiet=True).description == "random_moves"
    )


def test_a_python_player_can_be_checked_where_a_view_hides_the_opponent() -> None:
    player = python_player("quiet")
    assert check_player(player, WarLight.from_settings({}), quiet=True).description == "always_pass"


def test_where_a_referee_has_no_random_moves_the_check_says_so() -> None:
    with pytest.raises(PlayerError, match="the game 'warlight' has no random moves"):
        check_player(python_player("chance", RANDOM_MOVES), WarLight.from_settings({}), quiet=True)


def test_a_python_player_that_never_makes_its_first_move_does_not_stick_the_check() -> None:
    player = python_player("sleeper", "tests.arena.engines:hanging", move_seconds=0.2)
    with pytest.raises(PlayerTimeoutError, match=r"player sleeper: no first move within 0\.2 s"):
        check_player(player, RULES, quiet=True)


class HidesTheBoard(Go):
    def view(self, position: GoPosition, seat: int) -> GoPosition:
        return self.start(0)


@pytest.mark.parametrize(
    ("protocol", "rules", "words"),
    [
        ("gtp", HidesTheBoard, "GTP sends an engine .* nothing of its view"),
        ("grpc", HidesTheBoard, "its view as ACADEMY's board"),
        ("python", HidesTheBoard, "^$"),
        ("gtp", Go, "^$"),
    ],
)
def test_the_check_warns_of_a_protocol_that_cannot_pass_on_hidden_things(
    protocol: str, rules: type[Go], words: str
) -> None:
    setup = PlayerSetup("x", ("x",), protocol=protocol)
    assert re.search(words, hidden_from(setup, rules.from_settings({"board_size": 5, "komi": 0.5})))


def test_where_players_are_to_score_and_nobody_does_the_check_fails(tmp_path: Path) -> None:
    path = write_control(tmp_path, {"one": PASSING, "two": PASSING})
    path.write_text(path.read_text().replace("move_limit", 'scorer = "players"\nmove_limit'))
    refused = arena("check", path)
    assert refused.returncode == 1 and "none of one, two does" in refused.stderr
    assert 'write scorer = "internal"' in refused.stderr


def test_where_only_some_players_score_the_others_are_named(tmp_path: Path) -> None:
    players = {"one": PASSING, "two": PASSING, "engine": misbehaving("none")}
    path = write_control(tmp_path, players)
    path.write_text(path.read_text().replace("move_limit", 'scorer = "players"\nmove_limit'))
    checked = arena("check", path)
    assert checked.returncode == 0, checked.stderr
    assert (
        "warning: one, two do not score: among them, games that are counted have no result" in checked.stdout
    )


def test_a_players_standard_error_does_not_steer_the_operators_terminal(
    capfd: pytest.CaptureFixture[str],
) -> None:
    words = "printf '\\033[2J\\342\\200\\256 hello\\n' >&2"
    engine = misbehaving_setup("none")
    shell = ("sh", "-c", f'{words}; exec "$@"', "sh", *engine.command)
    check_player(replace(engine, name="rude", command=shell), RULES, quiet=False)
    assert "startup-check rude: \\x1b[2J\\u202e hello\n" in capfd.readouterr().err


@pytest.mark.parametrize("fault", ["exit-in-genmove", "refuses-genmove", "hang-in-genmove"])
def test_arena_check_finds_an_engine_that_cannot_move(tmp_path: Path, fault: str) -> None:
    limits = "\nmove_seconds = 0.5" if fault == "hang-in-genmove" else ""
    control = write_control(tmp_path, {"one": PASSING, "villain": misbehaving(fault) + limits})
    done = arena("check", control)
    assert done.returncode == 1 and "player villain" in done.stderr


def test_an_engine_hears_of_a_free_handicap_before_it_is_asked_for_its_first_move() -> None:
    engine = PlayerSetup("quick", command=(sys.executable, str(QUICK), "1"))
    # Eight stones on nine points: an engine that did not hear of them would play on one of them.
    rules = Go.from_settings({"board_size": 3, "komi": 0.5, "handicap": 8, "handicap_style": "free"})
    for _ in range(4):
        assert check_player(engine, rules, quiet=False).description == "Quick"


def test_nothing_that_a_player_starts_outlives_its_check(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    leaver = misbehaving_setup("leaving-the-session", environment={"MISBEHAVING_PIDS": str(pids)})
    with subprocess.Popen(["sleep", "600"]) as beside:
        try:
            check_player(leaver, RULES, quiet=True)
            # As a run's workers do.
            assert beside.poll() is None
        finally:
            beside.kill()
    assert len(noted(pids)) == 2 and not left_running(noted(pids), seconds=10)
