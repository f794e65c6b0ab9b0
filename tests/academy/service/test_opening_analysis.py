"""Analysts tell ACADEMY what they searched; it is kept and shown apart, and can be taken out again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grpc
import pytest

from academy.store.maintenance.check import check
from academy.store.tokens import Role
from academy.v1 import consultation_pb2, libraries_pb2, pattern_pb2
from tests.academy.service import examples
from tests.academy.service.examples import contest, report
from tests.academy.service.running import Client, Running, refusal, serving


def played(academy: Running, game_id: str) -> None:
    """A game with two first moves, of which the first won more."""
    academy.register(examples.tiny_go(game_id))
    lines = [(["c3", "a1"], "WIN")] * 8 + [(["d2", "a1"], "WIN")] * 5 + [(["d2", "a1"], "LOSS")] * 2
    for number, (moves, first) in enumerate(lines):
        academy.report(report(contest(f"{game_id}/{number}", game_id), moves, first=first))


def tell(client: Client, game_id: str, *lines: tuple[str, float, int]) -> int:
    return client.libraries.AnalyseOpenings(
        libraries_pb2.AnalyseOpeningsRequest(
            game_id=game_id,
            lines=[
                libraries_pb2.LineAnalysis(moves=moves.split(), value=value, budget=budget)
                for moves, value, budget in lines
            ],
        )
    ).counted


def look_up(
    client: Client, game_id: str, moves: Sequence[str] = (), player: int = 1
) -> consultation_pb2.LookUpOpeningResponse:
    return client.consultation.LookUpOpening(
        consultation_pb2.LookUpOpeningRequest(game_id=game_id, player=player, moves=moves)
    )


def analyst(academy: Running, name: str = "deep thought") -> Client:
    return academy.client(academy.token(name, Role.ANALYST))


def test_a_search_changes_the_recommended_move_and_no_other_figure(academy: Running) -> None:
    played(academy, "searched")
    before = look_up(academy.bot("ann"), "searched")
    assert before.recommendation.move == "c3"
    assert tell(analyst(academy), "searched", ("c3", 0.05, 2_000), ("a1 e5", 0.5, 2_000)) == 1

    after = look_up(academy.bot("ann"), "searched")
    assert after.recommendation.move == "b2"
    assert not after.recommendation.HasField("analysis")
    # Any image of the line is the same node.
    centre = next(move for move in after.moves if move.move == "c3")
    assert (centre.statistics.analysis.analyst, centre.statistics.analysis.budget) == ("deep thought", 2_000)
    assert centre.statistics.analysis.value == 0.05
    # Kept apart: without it everything is as before, and the second player sees its own side.
    for move in after.moves:
        move.statistics.ClearField("analysis")
    assert list(after.moves) == list(before.moves)
    of_second = look_up(academy.bot("ann"), "searched", player=2).moves
    assert [move.statistics.analysis.value for move in of_second if move.move == "c3"] == [0.95]
    statistics = academy.bot("ann").libraries.GetStatistics(
        libraries_pb2.GetStatisticsRequest(game_id="searched")
    )
    assert statistics.analysed_nodes == 1


def test_the_same_analysis_again_and_shorter_searches_change_nothing(academy: Running) -> None:
    played(academy, "again")
    assert tell(analyst(academy), "again", ("c3", 0.4, 1_000), ("c3", 0.6, 1_000)) == 1
    kept = look_up(academy.bot("ann"), "again")
    for name in ("deep thought", "other"):
        assert tell(analyst(academy, name), "again", ("c3", 0.4, 1_000), ("c3", 0.9, 999)) == 0
    assert look_up(academy.bot("ann"), "again") == kept
    assert tell(analyst(academy, "other"), "again", ("c3", 0.9, 1_001)) == 1
    forget = academy.admin().libraries.ForgetAnalyses
    request = libraries_pb2.ForgetAnalysesRequest(game_id="again", analyst="deep thought")
    assert forget(request).forgotten == 0
    request.analyst = "other"
    assert (forget(request).forgotten, forget(request).forgotten) == (1, 0)


def test_searches_of_different_kinds_are_not_compared(academy: Running) -> None:
    played(academy, "kinds")
    plies = libraries_pb2.LineAnalysis(moves=["c3"], value=0.4, budget=5, kind=pattern_pb2.SEARCH_KIND_PLIES)
    request = libraries_pb2.AnalyseOpeningsRequest(game_id="kinds", lines=[plies])
    client = analyst(academy)
    assert client.libraries.AnalyseOpenings(request).counted == 1
    # More random games than plies say nothing about which of the two is better.
    assert tell(client, "kinds", ("c3", 0.9, 1_000_000)) == 0
    plies.budget = 6
    request = libraries_pb2.AnalyseOpeningsRequest(game_id="kinds", lines=[plies])
    assert client.libraries.AnalyseOpenings(request).counted == 1
    kept = next(move for move in look_up(client, "kinds").moves if move.move == "c3").statistics.analysis
    assert (kept.budget, kept.kind, kept.value) == (6, pattern_pb2.SEARCH_KIND_PLIES, 0.4)


PLIES = pattern_pb2.SEARCH_KIND_PLIES


@pytest.mark.parametrize(
    ("wrong", "field", "words"),
    [
        ({"moves": []}, "moves", "name at least one move"),
        ({"moves": ["x" * 2_000]}, "moves[0]", "2,000"),
        ({"value": 1.5}, "value", "1.5 must be"),
        ({"value": float("nan")}, "value", "nan must be"),
        ({"budget": 0}, "budget", "0 must be from 200 to 1,000,000,000 random games: less says too little"),
        ({"budget": 199}, "budget", "199 must be from 200 to 1,000,000,000 random games"),
        ({"budget": 4, "kind": PLIES}, "budget", "4 must be from 5 to 1,000,000,000 plies of alpha-beta"),
        ({"budget": 2**31}, "budget", "2,147,483,648 must be from 200 to 1,000,000,000"),
    ],
)
def test_a_bad_analysis_is_refused_by_its_field(
    academy: Running, wrong: dict[str, Any], field: str, words: str
) -> None:
    right: dict[str, Any] = {"moves": ["c3"], "value": 0.5, "budget": 200}
    line = libraries_pb2.LineAnalysis(**right | wrong)
    request = libraries_pb2.AnalyseOpeningsRequest(game_id="never", lines=[line])
    refused = refusal(lambda: analyst(academy).libraries.AnalyseOpenings(request))
    assert (refused.code, refused.fields) == (grpc.StatusCode.INVALID_ARGUMENT, [f"lines[0].{field}"])
    assert words in refused.message


def test_an_analyst_may_send_a_hundred_lines_at_once(academy: Running) -> None:
    many = [("c3", 0.5, 1)] * 101
    refused = refusal(lambda: tell(analyst(academy), "never", *many))
    assert (refused.fields, refused.metadata["limit"]) == (["lines"], "100")


def test_only_analysts_and_admins_may_report(academy: Running) -> None:
    for client in (academy.bot("ann"), academy.arena()):
        refused = refusal(lambda client=client: tell(client, "never", ("c3", 0.5, 1)))  # type: ignore[misc]
        assert (refused.code, refused.metadata["needed"]) == (
            grpc.StatusCode.PERMISSION_DENIED,
            "admin, analyst",
        )
    ring = examples.ring("three")
    academy.register(ring)
    refused = refusal(lambda: tell(academy.admin(), "three", ("A", 0.5, 200)))
    assert "only games of two players" in refused.message
    refused = refusal(lambda: analyst(academy).libraries.DeleteOpening(libraries_pb2.DeleteOpeningRequest()))
    assert refused.code is grpc.StatusCode.PERMISSION_DENIED


def test_an_analysis_outlives_a_restart_and_a_replay_searches_nothing(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as academy:
        played(academy, "kept")
        tell(analyst(academy), "kept", ("c3", 0.25, 700), ("d2", 0.75, 700))
        tell(analyst(academy, "other"), "kept", ("c3 a1", 0.5, 700))
        academy.admin().libraries.ForgetAnalyses(
            libraries_pb2.ForgetAnalysesRequest(game_id="kept", analyst="other")
        )
        before = look_up(academy.bot("ann"), "kept")
    with serving(tmp_path / "data") as academy:
        assert look_up(academy.bot("ann"), "kept") == before
        exported = [
            message.node
            for message in academy.admin().libraries.ExportLibrary(
                libraries_pb2.ExportLibraryRequest(game_id="kept")
            )
            if message.HasField("node")
        ]
        assert [node.analysis.value_millionths for node in exported if node.HasField("analysis")] == [
            250_000,
            750_000,
        ]
        assert list(check(academy.store.environment, replay=True)) == []


def test_a_fork_begins_without_searches_by_the_old_rules_and_takes_its_own(academy: Running) -> None:
    played(academy, "old-rules")
    tell(analyst(academy), "old-rules", ("c3", 0.05, 2_000))
    request = libraries_pb2.ForkGameRequest(game_id="old-rules", new_game_id="new-rules")
    academy.admin().libraries.ForkGame(request)
    ann = academy.bot("ann")
    for name, recommended in (("old-rules", "b2"), ("new-rules", "c3")):
        assert look_up(ann, name).recommendation.move == recommended
    assert tell(analyst(academy), "new-rules", ("c3", 0.9, 1_000)) == 1
