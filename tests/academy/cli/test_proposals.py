"""`academy proposals`: what became of proposals, and why."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from academy.cli import contests
from academy.knowledge.contests import Verdict
from academy.v1 import proposals_pb2
from tests.academy.cli.conftest import Academy


@pytest.fixture
def proposer(academy: Academy) -> str:
    """Who voted for the first pattern, as ACADEMY calls it."""
    player: str = academy("patterns", "show", "go", 1, "--library", "endgame", "--json").json()["votes"][0][
        "player"
    ]
    return player


def listed(academy: Academy, *options: object) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = academy("proposals", *options, "--json").json()["proposals"]
    return listed


def test_proposals_are_listed_with_player_contest_verdict_and_reason(academy: Academy, proposer: str) -> None:
    (first, *_) = listed(academy, "--player", proposer)
    assert first["player"] == proposer and first["verdict"] == "VERDICT_INSERTED" and first["reason"]
    table = academy("proposals", "--player", proposer).out
    assert "inserted" in table and first["contest_id"][:8] in table


def test_proposals_are_filtered_by_contest_and_verdict(academy: Academy, proposer: str) -> None:
    (first, *_) = everything = listed(academy, "--player", proposer)
    assert listed(academy, "--player", proposer, "--contest", first["contest_id"])
    assert (
        listed(academy, "--player", proposer, "--verdict", "inserted", "--verdict", "matched") == everything
    )
    assert listed(academy, "--player", proposer, "--verdict", "dropped") == []
    wrong = academy("proposals", "--verdict", "lost")
    assert wrong.exit_code == 2 and "lost" in wrong.err


def test_proposals_of_one_game_are_listed_and_each_says_of_which_it_is(
    academy: Academy, proposer: str
) -> None:
    everything = listed(academy, "--player", proposer)
    assert listed(academy, "go", "--player", proposer) == everything
    shown = academy("proposals", "go").out
    assert " game " in shown and " go " in shown
    wrong = academy("proposals", "goo")
    assert wrong.exit_code != 0 and "'goo'" in wrong.err


def test_proposals_are_listed_in_pages(academy: Academy, proposer: str) -> None:
    everything = listed(academy, "--player", proposer)
    page = academy("proposals", "--player", proposer, "--limit", 1, "--json").json()
    pages = [page]
    while page["next_page_token"]:
        more = ("--page", page["next_page_token"])
        page = academy("proposals", "--player", proposer, "--limit", 1, *more, "--json").json()
        pages.append(page)
    assert [proposal for page in pages for proposal in page["proposals"]] == everything


def test_the_server_looks_for_the_verdicts(capsys: pytest.CaptureFixture[str]) -> None:
    requests: list[proposals_pb2.ListProposalsRequest] = []

    def list_proposals(request: proposals_pb2.ListProposalsRequest) -> proposals_pb2.ListProposalsResponse:
        requests.append(proposals_pb2.ListProposalsRequest())
        requests[-1].CopyFrom(request)
        dropped = proposals_pb2.Proposal(contest_id="1", verdict=proposals_pb2.VERDICT_DROPPED)
        return proposals_pb2.ListProposalsResponse(
            proposals=[dropped], next_page_token="" if request.page_token else "more"
        )

    server: Any = SimpleNamespace(proposals=SimpleNamespace(ListProposals=list_proposals))
    verdicts = [Verdict.DROPPED, Verdict.HELD, Verdict.DROPPED]
    contests.proposals(server, verdict=verdicts, limit=50, json=True)

    assert len(json.loads(capsys.readouterr().out)["proposals"]) == 2
    assert [(request.page_size, request.page_token) for request in requests] == [(50, ""), (49, "more")]
    for request in requests:
        assert list(request.verdicts) == [proposals_pb2.VERDICT_HELD, proposals_pb2.VERDICT_DROPPED]
