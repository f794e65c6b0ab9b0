"""Faults of the disk and of the server itself, as callers see them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest

from academy.service import consultation, errors
from academy.store import game_tables
from academy.store.errors import StoreBusyError, StoreCorruptError, StoreError
from academy.v1 import consultation_pb2, contests_pb2
from academy.wire import logs
from academy.wire.rates import Bucket
from tests.academy.service import examples
from tests.academy.service.examples import EMPTY, position
from tests.academy.service.running import Client, Running, limited, refusal

EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED
GAME = "faulty"


@pytest.mark.parametrize(
    ("fault", "code", "reason", "retry"),
    [
        (StoreBusyError("4096 writes are waiting"), EXHAUSTED, "STORE_BUSY", 0.25),
        (StoreCorruptError("a page is not sound"), grpc.StatusCode.DATA_LOSS, "STORE_CORRUPT", None),
        (StoreError("the disk failed"), grpc.StatusCode.UNAVAILABLE, "STORE_FAILED", None),
    ],
)
def test_a_caller_learns_what_failed_at_the_disk_and_when_to_come_again(
    fresh: Running,
    monkeypatch: pytest.MonkeyPatch,
    fault: Exception,
    code: grpc.StatusCode,
    reason: str,
    retry: float,
) -> None:
    def failing(command: object) -> None:
        raise fault

    contests = fresh.arena().contests
    # A disk cannot be made to fail this way on demand.
    monkeypatch.setattr(fresh.store, "submit", failing)

    refused = refusal(
        lambda: contests.RegisterGame(contests_pb2.RegisterGameRequest(game=examples.tiny_go(GAME)))
    )

    assert (refused.code, refused.reason, refused.retry_after) == (code, reason, retry)


@pytest.mark.threat("access")
def test_an_unexpected_error_is_an_incident_with_its_traceback_in_the_log_alone(
    fresh: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("of the server's own")

    monkeypatch.setattr(game_tables, "list_games", broken)
    logs.configure("error", "json")

    refused = refusal(lambda: fresh.admin().contests.ListGames(contests_pb2.ListGamesRequest()))

    assert (refused.code, refused.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")
    assert "ZeroDivisionError" not in refused.message and "Traceback" not in refused.message
    logged = "".join(capsys.readouterr())
    assert refused.metadata["incident"] in logged and "ZeroDivisionError" in logged


def test_a_fault_of_the_servers_own_ends_a_stream_as_it_does_a_call(
    fresh: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    fresh.register(examples.tiny_go(GAME))
    monkeypatch.setattr(consultation, "answer_opening", broken)
    opening = consultation_pb2.LookUpOpeningRequest(game_id=GAME, player=1)
    question = consultation_pb2.PlayRequest(opening=opening)
    bot = fresh.bot("reader")
    refused = refusal(lambda: list(bot.consultation.Play(iter([question, question]))))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")


@pytest.mark.parametrize("fault", [ZeroDivisionError("of the server's own"), StoreError("on the disk")])
@pytest.mark.threat("flood")
def test_faults_cannot_fill_the_log(
    fresh: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fault: Exception
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr(game_tables, "list_games", broken)
    monkeypatch.setattr(errors, "fault_lines", Bucket(0.0001, 3.0))
    logs.configure("error", "json")
    admin = fresh.admin()
    refused = [refusal(lambda: admin.contests.ListGames(contests_pb2.ListGamesRequest())) for _ in range(8)]
    assert len({error.code for error in refused}) == 1
    assert sum("incident" in error.metadata for error in refused) in (0, 3)
    assert len([line for line in "".join(capsys.readouterr()).splitlines() if '"error"' in line]) == 3


TOO_LARGE: dict[str, tuple[int, Callable[[Client], object]]] = {
    "cells of patterns": (20_000, lambda bot: match(bot, 400, include_cells=True)),
    "many matches": (20_000, lambda bot: match(bot, 500, max_matches_each=25)),
    "candidate moves": (
        400,
        lambda bot: bot.consultation.MatchSuccessors(
            consultation_pb2.MatchSuccessorsRequest(
                game_id=GAME,
                position=position(EMPTY),
                moves=[consultation_pb2.CandidateMove(cells=[cell], letters="x") for cell in range(20)],
            )
        ),
    ),
}


def match(bot: Client, positions: int, **more: Any) -> object:
    request = consultation_pb2.MatchPatternsRequest(
        game_id=GAME, positions=[position(EMPTY)] * positions, **more
    )
    return bot.consultation.MatchPatterns(request)


@pytest.mark.parametrize(("most", "ask"), TOO_LARGE.values(), ids=TOO_LARGE)
@pytest.mark.threat("faults")
def test_an_answer_that_no_message_holds_is_refused(
    tmp_path: Path, most: int, ask: Callable[[Client], object]
) -> None:
    with limited(tmp_path, message_bytes=most) as academy:
        academy.register(examples.tiny_go(GAME))
        examples.teach(academy, GAME, "large", [("ann", "-", 0.9)])

        refused = refusal(lambda: ask(academy.bot("reader")))

    assert (refused.code, refused.reason) == (EXHAUSTED, "ANSWER_TOO_LARGE")
    assert int(refused.metadata["size"]) > int(refused.metadata["limit"]) == most
