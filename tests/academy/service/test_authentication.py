"""Who calls: tokens and tickets, over a real channel."""

import io
import json
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path

import grpc
import pytest

from academy.service import interceptor
from academy.v1 import contests_pb2, proposals_pb2
from academy.wire import logs
from tests.academy.service import examples
from tests.academy.service.raw_calls import RawCalls
from tests.academy.service.running import Refused, Running, as_refused, refusal, serving
from tests.waiting import until

GAMES = contests_pb2.ListGamesRequest()


def asked_with(academy: Running, *metadata: tuple[str, str]) -> Refused:
    with pytest.raises(grpc.RpcError) as caught:
        academy.client().contests.ListGames(GAMES, metadata=metadata)
    return as_refused(caught.value)


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ((), "TOKEN_MISSING"),
        ((("authorization", ""),), "TOKEN_MALFORMED"),
        ((("authorization", "Bearer"),), "TOKEN_MALFORMED"),
        ((("authorization", "Bearer "),), "TOKEN_MALFORMED"),
        ((("authorization", "Basic YTpi"),), "TOKEN_MALFORMED"),
        ((("authorization", "Bearer " + "x" * 513),), "TOKEN_MALFORMED"),
        ((("authorization", "Bearer a"), ("authorization", "Bearer b")), "TOKEN_MALFORMED"),
        ((("authorization", "Bearer guess"),), "TOKEN_UNKNOWN"),
        ((("authorization", f"Bearer acd_{'0' * 16}_{'A' * 43}"),), "TOKEN_UNKNOWN"),
        ((("authorization", f"Bearer acdt_YWJj.1.{'A' * 43}"),), "TOKEN_UNKNOWN"),
        ((("authorization", f"Bearer acdt_!!.1.{'A' * 43}"),), "TOKEN_UNKNOWN"),
    ],
)
def test_call_without_valid_token_is_rejected(
    academy: Running, metadata: tuple[tuple[str, str], ...], reason: str
) -> None:
    refused = asked_with(academy, *metadata)

    assert (refused.code, refused.reason) == (grpc.StatusCode.UNAUTHENTICATED, reason)
    assert refused.metadata == {}


def test_a_secret_of_another_token_does_not_fit(academy: Running) -> None:
    first, second = academy.token("first"), academy.token("second")
    mixed = "_".join((*first.split("_")[:2], second.split("_", 2)[2]))

    assert asked_with(academy, ("authorization", f"Bearer {mixed}")).reason == "TOKEN_UNKNOWN"


def test_the_scheme_is_read_in_any_case(academy: Running) -> None:
    metadata = (("authorization", f"bearer {academy.token('lower')}"),)

    academy.client().contests.ListGames(GAMES, metadata=metadata)


def test_a_ticket_is_good_until_its_contest_is_reported(academy: Running) -> None:
    arena = academy.arena()
    academy.register(examples.tiny_go("tickets"))
    played = examples.contest("tickets/1", "tickets")
    tickets = arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=played)).tickets
    ann = academy.client(tickets[0])

    assert (
        ann.contests.GetContest(contests_pb2.GetContestRequest(contest_id="tickets/1")).contest.players
        == played.players
    )
    academy.report(examples.report(played, ["c3"]))

    assert list(ann.proposals.ListProposals(proposals_pb2.ListProposalsRequest()).proposals) == []
    refused = refusal(lambda: ann.contests.ListGames(GAMES))
    assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "CONTEST_OVER")
    assert refused.metadata["contest_id"] == "tickets/1"


def test_logs_name_callers_and_hold_no_secret(academy: Running) -> None:
    token = academy.token("quiet one")
    stderr = io.StringIO()
    with redirect_stderr(stderr):
        logs.configure("debug", "json")
        client = academy.client(token)
        client.contests.ListGames(GAMES)
        refusal(lambda: client.contests.GetGame(contests_pb2.GetGameRequest(game_id="x")))
        asked_with(academy, ("authorization", f"Bearer {token[:-1]}"))
    logs.configure("error", "json")

    events = [json.loads(line) for line in stderr.getvalue().splitlines()]
    assert [event["code"] for event in events if event.get("caller") == "quiet one"] == ["OK", "NOT_FOUND"]
    assert any(event.get("reason") == "TOKEN_UNKNOWN" for event in events)
    assert token.split("_", 2)[2][:20] not in stderr.getvalue()


@pytest.fixture
def ten_refusals_are_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without more as time goes by, so that it does not matter how long a test takes."""
    monkeypatch.setattr(interceptor, "_REFUSALS_LOGGED_PER_SECOND", 1e-6)
    monkeypatch.setattr(interceptor, "_REFUSALS_LOGGED_AT_ONCE", 10.0)


LIST_GAMES = "/academy.v1.ContestService/ListGames"
CHECK = "/grpc.health.v1.Health/Check"


def asks_without_a_token(academy: Running) -> None:
    asked_with(academy)


def announces_more_than_may_be_sent(academy: Running, method: str = CHECK, token: str = "") -> None:
    with RawCalls(academy.address, token) as raw:
        call = raw.begin(method)
        raw.announce(call, 2**31 - 1)
        raw.until(lambda: call in raw.ended)


def says_what_is_not_a_message(academy: Running) -> None:
    with RawCalls(academy.address) as raw:
        call = raw.begin(CHECK, b"\xff")
        raw.until(lambda: call in raw.ended)


def announces_too_much_with_a_token(academy: Running) -> None:
    announces_more_than_may_be_sent(academy, LIST_GAMES, academy.token("large"))


def calls_ended(academy: Running, method: str) -> float:
    ended: float = sum(
        sample.value
        for metric in academy.server.metrics.registry.collect()
        for sample in metric.samples
        if sample.name == "academy_calls_total" and sample.labels["method"] == method
    )
    return ended


@pytest.mark.usefixtures("ten_refusals_are_logged")
@pytest.mark.parametrize(
    ("call", "method"),
    [
        (asks_without_a_token, LIST_GAMES),
        (announces_more_than_may_be_sent, CHECK),
        (says_what_is_not_a_message, CHECK),
        (announces_too_much_with_a_token, LIST_GAMES),
    ],
)
@pytest.mark.threat("flood")
def test_strangers_cannot_fill_the_log_and_are_all_counted(
    tmp_path: Path, call: Callable[[Running], None], method: str
) -> None:
    stderr = io.StringIO()
    # To the server's end, as gRPC may have something to say after a call.
    with redirect_stderr(stderr), serving(tmp_path) as fresh:
        logs.configure("info", "json")
        for _ in range(30):
            call(fresh)
        until(lambda: calls_ended(fresh, method) == 30)
    logs.configure("error", "json")

    events = [json.loads(line) for line in stderr.getvalue().splitlines()]
    # The kernel may be compiled beside, which is logged once.
    assert [event["method"] for event in events if event["event"] in {"refused", "call"}] == [method] * 10
    assert len(events) <= 12


@pytest.mark.usefixtures("ten_refusals_are_logged")
@pytest.mark.threat("flood")
def test_a_caller_cannot_fill_the_log_with_refusals_and_hides_nobodys(tmp_path: Path) -> None:
    with serving(tmp_path) as fresh:
        loud, quiet = fresh.bot("loud"), fresh.bot("quiet")
        unknown = contests_pb2.GetGameRequest(game_id="none")
        stderr = io.StringIO()
        with redirect_stderr(stderr):
            logs.configure("info", "json")
            for _ in range(40):
                refusal(lambda: loud.contests.GetGame(unknown))
            refusal(lambda: quiet.contests.GetGame(unknown))
        logs.configure("error", "json")

        callers = [json.loads(line).get("caller") for line in stderr.getvalue().splitlines()]
        assert callers.count("loud") == 10
        assert callers.count("quiet") == 1
        method = "/academy.v1.ContestService/GetGame"
        assert fresh.figure("academy_calls_total", method=method, code="NOT_FOUND") == 41
