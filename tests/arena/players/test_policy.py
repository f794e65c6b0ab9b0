"""Policies of DeepMind's shape as players, each in the environment of its own Python."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.jobs import Fault
from arena.players.policy import PolicyProcess
from arena.players.program import KeptPrograms
from referees.diplomacy import Diplomacy
from referees.diplomacy.deepmind import DiplomacyState, Season, action_of
from tests.arena.players.policies import RANDOM, diary, game, policy


def test_a_policy_runs_in_its_own_environment_without_anything_of_ours(
    interpreter: str, tmp_path: Path
) -> None:
    notes = tmp_path / "diary"
    result = game([policy(interpreter, diary=str(notes)), *[RANDOM] * 6], tmp_path)
    assert result.outcome is not None
    assert not result.warnings
    first = diary(notes)[0]
    assert Path(first["python"]) == Path(interpreter).parents[1]
    assert first["shape"] == [81, 35]
    assert first["lists"] == ["list"] * 7
    assert first["games"] == 1
    assert "a policy may print what it likes" in (tmp_path / "log").read_text()
    assert result.usage[0].cpu_seconds is not None


def test_a_policy_is_shown_every_phase_in_order_as_the_environment_would(
    interpreter: str, tmp_path: Path
) -> None:
    notes = tmp_path / "diary"
    result = game(
        [policy(interpreter, diary=str(notes), seed="{seed}"), *[RANDOM] * 6], tmp_path, year_limit=15
    )
    rules = Diplomacy.from_settings({"year_limit": 15, "edition": "deepmind"})
    played, state = rules.start(5), DiplomacyState()
    texts, alone = [move.text for move in result.moves], 0
    for note in diary(notes):
        seen = state.observation()
        assert note["season"] == seen.season.name
        assert note["board"] == seen.board.tolist()
        assert note["builds"] == seen.build_numbers.tolist()
        assert sorted(note["last"]) == sorted(seen.last_actions)
        assert note["legal"] == state.legal_actions()
        moves = {seat: rules.read_move(played, seat, texts.pop(0)) for seat in rules.to_move(played)}
        actions = [[action_of(o) for o in moves[s].orders] if s in moves else [] for s in range(1, 8)]
        state.step(actions)
        played = rules.play(played, moves)
        alone += len(moves) == 1
    assert not texts
    # The match does not announce its own move to a player that moves alone.
    assert alone
    assert {Season.SPRING_RETREATS.name, Season.BUILDS.name} <= {note["season"] for note in diary(notes)}


def test_seats_of_one_policy_share_a_process_and_a_call(interpreter: str, tmp_path: Path) -> None:
    notes = tmp_path / "diary"
    foreign = policy(interpreter, diary=str(notes))
    result = game([foreign, RANDOM, RANDOM, foreign, foreign, RANDOM, RANDOM], tmp_path)
    assert result.outcome is not None
    assert not result.warnings
    notes_taken = diary(notes)
    assert len({note["process"] for note in notes_taken}) == 1
    assert all(note["slots"] == [0, 3, 4] for note in notes_taken)
    boards = [json.dumps([note["season"], note["board"], note["last"]]) for note in notes_taken]
    assert len(set(boards)) == len(boards)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"module": "no_such_policy"}, "no_such_policy:seeded: start failed: ModuleNotFoundError: No module"),
        ({"factory": "genius"}, "start failed: AttributeError: .*has no attribute 'genius'"),
        ({"factory": "broken"}, "start failed: ValueError: no parameters at params.npz"),
        ({"factory": "nothing"}, r"the factory made a object, which has no actions\(\)"),
        ({"nonsense": 1}, "TypeError: .*unexpected keyword argument 'nonsense'"),
        ({"interpreter": "/nowhere/python"}, "cannot run '/nowhere/python': there is no such program"),
    ],
)
def test_a_policy_that_cannot_be_made_says_why(
    settings: dict[str, Any], why: str, interpreter: str, tmp_path: Path
) -> None:
    player = policy(settings.pop("interpreter", interpreter), **settings)
    result = game([player, *[RANDOM] * 6], tmp_path)
    assert result.outcome is None
    assert re.match(f"player foreign: .*{why}", result.void_reason), result.void_reason


FAULTS = [
    ("raises", "actions failed: RuntimeError: lost the thread"),
    ("no pair", r"actions\(\) returned .*: a pair, of which the first are actions, is needed"),
    ("no numbers", r"actions\(\) returned .*PAR - BUR.*: for each slot numbers are needed"),
    ("a slot too few", r"actions\(\) returned actions of 0 slots: asked were \[2\]"),
    ("illegal", "the action .* is not among the legal ones"),
    ("twice", "the power has nothing to order there, or has ordered it already"),
]


@pytest.mark.parametrize(("fault", "why"), FAULTS)
def test_a_fault_loses_and_the_power_falls_into_disorder(
    fault: str, why: str, interpreter: str, tmp_path: Path
) -> None:
    result = game([RANDOM, RANDOM, policy(interpreter, fault=fault, at=0), *[RANDOM] * 4], tmp_path)
    assert result.outcome is not None
    assert result.usage[2].fault is Fault.PROTOCOL
    assert any(re.search(why, warning) for warning in result.warnings), result.warnings
    assert all(move.stand_in for move in result.moves if move.seat == 3)


@pytest.mark.parametrize(("fault", "why"), FAULTS)
def test_where_faults_pass_the_phase_is_passed_or_the_action_left_out(
    fault: str, why: str, interpreter: str, tmp_path: Path
) -> None:
    foreign = policy(interpreter, fault=fault, at=0, faults="pass")
    result = game([RANDOM, RANDOM, foreign, *[RANDOM] * 4], tmp_path)
    assert result.outcome is not None
    assert result.usage[2].fault is Fault.NONE
    assert any(re.search(why, warning) for warning in result.warnings), result.warnings
    own = [move for move in result.moves if move.seat == 3]
    assert not any(move.stand_in for move in own)
    assert (own[0].text == "NONE") is (fault not in ("illegal", "twice"))
    assert own[1].text != "NONE"


@pytest.mark.parametrize(("faults", "fault"), [("lose", Fault.DISCONNECTED), ("pass", Fault.NONE)])
def test_a_policy_that_exits_loses_or_passes_for_the_rest(
    faults: str, fault: Fault, interpreter: str, tmp_path: Path
) -> None:
    result = game([policy(interpreter, fault="exits", at=1, faults=faults), *[RANDOM] * 6], tmp_path)
    assert result.outcome is not None
    assert result.usage[0].fault is fault
    assert any(re.search("exited with status 7|closed its channel", warning) for warning in result.warnings)
    own = [move.text for move in result.moves if move.seat == 1]
    assert own[0] != "NONE"
    assert all(text.startswith("NONE") for text in own[1:])


def test_a_policy_that_is_late_loses(interpreter: str, tmp_path: Path) -> None:
    foreign = policy(interpreter, fault="sleeps", at=1, move_seconds=5.0)
    result = game([foreign, *[RANDOM] * 6], tmp_path)
    assert result.outcome is not None
    assert result.usage[0].fault is Fault.LATE


def test_a_policy_that_is_late_too_often_gets_no_more_requests_where_faults_pass(
    interpreter: str, tmp_path: Path
) -> None:
    foreign = policy(interpreter, fault="sleeps", at=1, move_seconds=5.0, faults="pass", late_turns=1)
    result = game([foreign, *[RANDOM] * 6], tmp_path)
    assert result.outcome is not None
    assert result.usage[0].fault is Fault.NONE
    assert any(
        "no answer within 5 s, the phase is passed (1 of 1 times)" in warning for warning in result.warnings
    )
    own = [move.text for move in result.moves if move.seat == 1]
    assert own[0] != "NONE"
    assert set(own[1:]) == {"NONE"}


def test_without_restart_a_policy_is_kept_for_its_next_games(
    interpreter: str, tmp_path: Path, kept_policies: KeptPrograms[PolicyProcess]
) -> None:
    notes = tmp_path / "diary"
    kept = replace(policy(interpreter, diary=str(notes)), restart=False)
    costs = []
    for _ in range(2):
        result = game([kept, *[RANDOM] * 6], tmp_path)
        assert result.outcome is not None
        assert not result.warnings
        costs.append(result.usage[0].cpu_seconds)
    assert kept_policies.process_ids == {note["process"] for note in diary(notes)}
    assert [note["games"] for note in diary(notes) if note["season"] == "SPRING_MOVES"][::3] == [1, 2]
    assert all(cost is not None and cost >= 0 for cost in costs)


@pytest.mark.parametrize("fault", ["raises", "exits"])
def test_a_policy_that_failed_is_not_kept(
    fault: str, interpreter: str, tmp_path: Path, kept_policies: KeptPrograms[PolicyProcess]
) -> None:
    failing = replace(policy(interpreter, fault=fault, at=1), restart=False)
    game([failing, *[RANDOM] * 6], tmp_path)
    assert not kept_policies.process_ids


def test_other_maps_are_not_a_game_for_policies(interpreter: str, tmp_path: Path) -> None:
    rules = Diplomacy.from_settings({"map": "straits"})
    players = [policy(interpreter)] * rules.seats
    result = game(players, tmp_path, map="straits", edition="2023")
    assert "the game 'diplomacy' is not played by policies under these settings" in result.void_reason
