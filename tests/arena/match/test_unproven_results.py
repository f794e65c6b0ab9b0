"""A player's word against the referee's: it wins nothing, and ACADEMY learns nothing where it counts."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from academy.v1 import contests_pb2
from arena.academy.client import contest_report
from arena.jobs import Fault, GameResult
from arena.match.game import play
from arena.players.player import Choice
from referees.api import Referee, Termination
from tests.arena.cli.command import arena
from tests.arena.engines import ENGINE, GNUGO, job, misbehaving, needs_gnugo, python_player

JUDGE = misbehaving("rejects-moves", "judge")
CONTEST = contests_pb2.Contest(
    contest_id="c/0_1",
    game_id="go-5x5",
    players=[contests_pb2.ContestPlayer(name="a"), contests_pb2.ContestPlayer(name="b")],
)


def is_lesson(result: GameResult) -> bool:
    return not contest_report(CONTEST, result).void


@pytest.mark.threat("unproven_results")
def test_player_that_refuses_an_accepted_move_forfeits() -> None:
    result = play(job(python_player("mover"), JUDGE))
    assert result.outcome is not None
    assert (result.outcome.summary, result.outcome.termination) == ("B+F", Termination.FORFEIT)
    assert result.outcome.detail == (
        'forfeit by judge: player judge refuses the move pass of mover: "illegal move", '
        "but the referee has accepted it"
    )
    assert [usage.fault for usage in result.usage] == [Fault.NONE, Fault.DISPUTED_MOVE]
    assert result.usage[1].remark in result.outcome.detail
    assert [move.text for move in result.moves] == ["pass"]
    assert is_lesson(result)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [("rejects-moves-with-reason", Fault.DISPUTED_MOVE), ("refuses-moves", Fault.REFUSED)],
)
def test_no_failure_in_answer_to_a_move_wins(fault: str, kind: Fault) -> None:
    result = play(job(python_player("mover"), misbehaving(fault, "judge")))
    assert result.outcome is not None and result.outcome.winners == (1,)
    assert result.usage[1].fault is kind


def test_an_engine_that_refuses_a_move_of_the_opening_forfeits() -> None:
    result = play(replace(job(python_player("mover"), JUDGE), opening=("C3", "D3"), opening_name="two moves"))
    assert result.outcome is not None
    assert (result.outcome.summary, result.outcome.termination) == ("B+F", Termination.FORFEIT)
    assert "refuses the move C3 of mover" in result.outcome.detail
    assert [usage.fault for usage in result.usage] == [Fault.NONE, Fault.DISPUTED_MOVE]
    assert [move.text for move in result.moves] == ["C3"]
    assert is_lesson(result)


def test_by_the_ringmasters_rule_a_refused_move_of_the_opening_makes_the_game_void() -> None:
    believing = job(python_player("mover"), JUDGE, ringmaster_rules=True)
    result = play(replace(believing, opening=("C3",), opening_name="one move"))
    assert result.outcome is None and "refuses the move C3" in result.void_reason


@pytest.mark.threat("unproven_results")
def test_by_the_ringmasters_rule_the_mover_forfeits_and_academy_learns_nothing() -> None:
    result = play(job(python_player("mover"), JUDGE, ringmaster_rules=True, failures="void"))
    assert result.outcome is not None
    assert result.outcome.summary == "W+F"
    assert result.outcome.detail == (
        'forfeit by mover: player judge refuses the move pass of mover: "illegal move"; '
        "it is believed, as Gomill's ringmaster does"
    )
    assert [usage.fault for usage in result.usage] == [Fault.ILLEGAL_MOVE, Fault.NONE]
    assert result.moves == ()
    assert not is_lesson(result)
    assert contest_report(CONTEST, result).termination == "disputed move"


@pytest.mark.threat("unproven_results")
def test_a_claim_is_not_a_lesson() -> None:
    result = play(job(misbehaving("claims", parameters={"allow_claim": True}), python_player("p")))
    assert result.outcome is not None and result.outcome.winners == (1,)
    assert not is_lesson(result)


def claiming(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], Choice]:
    return lambda view: Choice("pass", claims=True)


@pytest.mark.threat("unproven_results")
def test_a_python_player_cannot_claim_a_game() -> None:
    claims = "tests.arena.match.test_unproven_results:claiming"
    result = play(job(python_player("claimer", claims), python_player("p")))
    assert result.outcome is not None and result.outcome.winners == (2,)
    assert "a Python player may not claim the game" in result.outcome.detail


@pytest.mark.parametrize(
    ("black", "white", "winners", "lesson"),
    [
        # B+1.5 is what the engine counts; the referee agrees with the player that has stones on the board.
        (misbehaving("none", "a"), python_player("b"), (1,), True),
        (misbehaving("none", "a"), misbehaving("none", "b"), (1,), True),
        # An empty board is White's by komi: Black's own word is all that makes it the winner.
        (misbehaving("passes", "a"), python_player("b"), (1,), False),
        (python_player("a"), misbehaving("passes", "b"), (1,), True),
    ],
)
@pytest.mark.threat("unproven_results")
def test_a_score_that_only_its_winner_tells_is_not_a_lesson(
    black: Any, white: Any, winners: tuple[int, ...], lesson: bool
) -> None:
    result = play(job(black, white, scorer="players"))
    assert result.outcome is not None and result.outcome.winners == winners
    assert is_lesson(result) is lesson


@needs_gnugo
@pytest.mark.usefixtures("games_here")
@pytest.mark.threat("unproven_results")
def test_an_engine_that_disputes_every_move_loses_all_games_against_gnu_go(tmp_path: Path) -> None:
    control = tmp_path / "cup.toml"
    control.write_text(
        f"""
        [competition]
        kind = "all-play-all"
        rounds = 2

        [game]
        name = "go"
        board_size = 9
        komi = 6.5

        [players.judge]
        command = ["{sys.executable}", "-I", "-S", "{ENGINE}", "rejects-moves"]

        [players.gnugo]
        command = "{GNUGO} --mode gtp --level 1"

        [academy]
        address = "embedded"
        """
    )
    run = arena("run", control, "--quiet")
    assert run.returncode == 0, run.stderr
    results = json.loads(arena("show", control, "--json").stdout)
    first, last = results["players"]
    assert (first["name"], first["wins"], first["losses"]) == ("gnugo", 2, 0)
    assert (last["name"], last["wins"], last["forfeits"], last["faults"]) == ("judge", 0, 2, 2)
    assert results["reports"]["acknowledged"] == 2


@pytest.mark.usefixtures("games_here")
def test_a_ringmasters_file_says_that_disputes_are_believed(tmp_path: Path) -> None:
    control = tmp_path / "cup.ctl"
    engine = f"{sys.executable} -I -S {ENGINE}"
    control.write_text(
        "competition_type = 'playoff'\n"
        f"players = {{'judge': Player('{engine} rejects-moves'), 'mover': Player('{engine} none')}}\n"
        "matchups = [Matchup('mover', 'judge', board_size=5, komi=0.5, number_of_games=1)]\n"
    )
    for action in ("check", "run"):
        done = arena(action, control)
        output = done.stdout
        assert done.returncode == 0, done.stderr
        assert "is believed, and its opponent forfeits: that is the rule of Gomill's ringmaster" in output
    assert "judge beat mover W+F" in output
