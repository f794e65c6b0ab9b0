"""Calls that are held: whose messages never come, whose answers are never read; and watches of health."""

import gc
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2

from academy.service.pattern_cache import PatternCacheFiles
from academy.store.tokens import Role
from academy.v1 import consultation_pb2, contests_pb2, libraries_pb2
from tests.academy.service import examples
from tests.academy.service.examples import EMPTY, position, teach
from tests.academy.service.raw_calls import RawCalls
from tests.academy.service.running import Client, Refused, Running, as_refused, limited, refusal, serving
from tests.asking_health import health_of
from tests.waiting import until

GAMES = contests_pb2.ListGamesRequest()
LIST_GAMES = "/academy.v1.ContestService/ListGames"
EXPORT = "/academy.v1.LibraryService/ExportLibrary"
PLAY = "/academy.v1.ConsultationService/Play"
CHECK = "/grpc.health.v1.Health/Check"
WATCH = "/grpc.health.v1.Health/Watch"
# As its trailers are written.
RESOURCE_EXHAUSTED = b"grpc-status\x018"
EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED
# Waits that end only by what is tested.
FOR_EVER = 3_600.0


@pytest.fixture
def without_search_for_cycles() -> Iterator[None]:
    """What is freed is freed because nothing refers to it."""
    gc.disable()
    yield
    gc.enable()


@contextmanager
def without_message(client: Client, method: str) -> Iterator[grpc.Call]:
    """A call of which only the headers have come."""
    done = threading.Event()

    def nothing() -> Iterator[bytes]:
        done.wait(60)
        yield from ()

    dial: Any = client.channel.stream_unary(method)
    call = dial.future(nothing(), timeout=180)
    try:
        yield call
    finally:
        call.cancel()
        done.set()


def ended(call: Any) -> Refused:
    return refusal(call.result)


def health(academy: Running) -> Any:
    return health_of(academy.client().channel)


def is_serving(academy: Running) -> bool:
    answer = health(academy).Check(health_pb2.HealthCheckRequest(), timeout=180)
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


@pytest.mark.parametrize("method", [LIST_GAMES, EXPORT, CHECK, WATCH])
@pytest.mark.threat("held_places")
def test_a_message_that_does_not_come_is_not_waited_for_without_end(tmp_path: Path, method: str) -> None:
    with limited(tmp_path, message_seconds=0.2) as academy:
        with without_message(academy.admin(), method) as call:
            refused = ended(call)

        assert (refused.code, refused.reason) == (grpc.StatusCode.DEADLINE_EXCEEDED, "MESSAGE_OVERDUE")
        until(lambda: academy.running(method) == 0)


def test_a_call_that_ends_without_a_message_is_refused(academy: Running) -> None:
    call: Any = academy.bot("says nothing").channel.stream_unary(LIST_GAMES)

    refused = refusal(lambda: call(iter(())))

    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED_MESSAGE")


@pytest.mark.threat("held_places")
def test_a_call_without_message_has_a_place_like_any_other(tmp_path: Path) -> None:
    limits = {"concurrent_calls": 3, "concurrent_calls_per_caller": 2, "message_seconds": FOR_EVER}
    with limited(tmp_path, **limits) as academy, ExitStack() as held:
        for number in range(2):
            held.enter_context(without_message(academy.bot("greedy"), LIST_GAMES))
            until(lambda number=number: academy.running(LIST_GAMES) == number + 1)  # type: ignore[misc]

        refused = refusal(lambda: academy.bot("greedy").contests.ListGames(GAMES))
        assert (refused.code, refused.reason, refused.metadata) == (
            EXHAUSTED,
            "TOO_MANY_CALLS",
            {"limit": "2"},
        )
        assert refused.retry_after is not None

        held.enter_context(without_message(academy.bot("other"), LIST_GAMES))
        until(lambda: academy.running(LIST_GAMES) == 3)
        refused = refusal(lambda: academy.bot("late").contests.ListGames(GAMES))
        assert (refused.reason, refused.metadata) == ("TOO_MANY_CALLS", {"limit": "3"})
        assert is_serving(academy)

        held.close()
        until(lambda: academy.running(LIST_GAMES) == 0)
        academy.bot("late").contests.ListGames(GAMES)


def test_held_checks_of_health_take_nothing_from_callers(tmp_path: Path) -> None:
    limits = {"concurrent_calls": 2, "health_calls_per_peer": 10, "message_seconds": FOR_EVER}
    with limited(tmp_path, **limits) as academy, ExitStack() as held:
        # Far more than all callers together may make.
        for _ in range(10):
            held.enter_context(without_message(academy.client(), CHECK))
        until(lambda: academy.running(CHECK) == 10)

        refused = refusal(lambda: is_serving(academy))
        assert (refused.code, refused.reason) == (EXHAUSTED, "TOO_MANY_CALLS")
        assert refused.retry_after is not None
        academy.bot("anybody").contests.ListGames(GAMES)

        held.close()
        until(lambda: academy.running(CHECK) == 0)
        assert is_serving(academy)


@pytest.mark.threat("held_places")
def test_calls_about_health_are_limited_for_each_address(tmp_path: Path) -> None:
    with limited(tmp_path, health_calls_per_peer=2, message_seconds=FOR_EVER) as academy, ExitStack() as held:
        # All of 127.0.0.0/8 is this machine.
        elsewhere = held.enter_context(RawCalls(academy.address, source="127.0.0.2"))
        for _ in range(2):
            elsewhere.begin(CHECK)
        until(lambda: academy.running(CHECK) == 2)
        refused = elsewhere.begin(CHECK, b"")
        elsewhere.until(lambda: refused in elsewhere.ended)

        assert RESOURCE_EXHAUSTED in elsewhere.headers[refused]
        assert is_serving(academy)


@pytest.mark.usefixtures("without_search_for_cycles")
@pytest.mark.threat("held_places")
def test_an_answer_that_is_not_read_is_given_up(tmp_path: Path) -> None:
    with (
        limited(tmp_path, write_seconds=1.0) as academy,
        RawCalls(academy.address, academy.token("deaf")) as deaf,
    ):
        _, *others, _ = [deaf.begin(LIST_GAMES, GAMES.SerializeToString()) for _ in range(4)]
        # The first and the last one stay with gRPC, the last until another comes.
        deaf.until(lambda: deaf.reset >= set(others))


@pytest.mark.threat("held_places")
def test_answers_that_are_not_read_have_places(tmp_path: Path) -> None:
    limits = {"concurrent_calls": 3, "concurrent_calls_per_caller": 2, "write_seconds": FOR_EVER}
    with limited(tmp_path, **limits) as academy, RawCalls(academy.address, academy.token("deaf")) as deaf:
        first, second = (deaf.begin(LIST_GAMES, GAMES.SerializeToString()) for _ in range(2))
        until(lambda: answered(academy) == 2)
        assert refused_for(academy, "deaf") == "2"

        with RawCalls(academy.address, academy.token("other")) as other:
            other.begin(LIST_GAMES, GAMES.SerializeToString())
            until(lambda: answered(academy) == 3)
            assert refused_for(academy, "late") == "3"
            assert is_serving(academy)

        for call in (first, second):
            deaf.read(call, 1_000_000)
        deaf.until(lambda: {first, second} <= deaf.ended)
        until(lambda: not refused_for(academy, "deaf"))
        academy.bot("late").contests.ListGames(GAMES)


def answered(academy: Running) -> float:
    return academy.figure("academy_calls_total", method=LIST_GAMES, code="OK")


def refused_for(academy: Running, name: str) -> str:
    """The limit a caller is refused for; empty for one who is answered."""
    try:
        academy.bot(name).contests.ListGames(GAMES)
    except grpc.RpcError as error:
        refused = as_refused(error)
        assert refused.reason == "TOO_MANY_CALLS"
        assert refused.retry_after is not None
        return refused.metadata["limit"]
    return ""


@pytest.mark.usefixtures("without_search_for_cycles")
def test_a_stream_whose_answers_are_not_read_is_reset(tmp_path: Path) -> None:
    with limited(tmp_path, write_seconds=1.0) as academy:
        academy.register(examples.tiny_go("go"))
        teach(academy, "go", "taught", [("ann", "--\n--", 0.8)])
        with RawCalls(academy.address, academy.token("admin", Role.ADMIN)) as deaf:
            request = libraries_pb2.ExportLibraryRequest(game_id="go").SerializeToString()
            _, *others, _ = [deaf.begin(EXPORT, request) for _ in range(4)]
            deaf.until(lambda: deaf.reset >= set(others))
        until(lambda: academy.running(EXPORT) == 0)


@pytest.mark.usefixtures("without_search_for_cycles")
@pytest.mark.threat("held_places")
def test_a_stream_is_reset_that_is_no_longer_read(tmp_path: Path) -> None:
    question = consultation_pb2.PlayRequest(request_id=1).SerializeToString()
    with (
        limited(tmp_path, write_seconds=1.0) as academy,
        RawCalls(academy.address, academy.token("ann")) as ann,
    ):
        _, *others, _ = calls = [ann.begin(PLAY, question, more=True) for _ in range(4)]
        for call in calls:
            ann.read(call, 1_000)
            for _ in range(100):
                ann.say(call, question)
        ann.until(lambda: ann.reset >= set(others))
        assert all(call in ann.headers for call in calls)


@pytest.mark.threat("flood")
def test_a_caller_that_goes_while_it_is_written_to_makes_no_incident(academy: Running) -> None:
    def cancelled() -> float:
        return academy.figure("academy_calls_total", method=WATCH, code="CANCELLED")

    before = cancelled()
    with RawCalls(academy.address) as deaf:
        call = deaf.begin(WATCH, b"")
        deaf.until(lambda: call in deaf.headers)
        deaf.abandon(call)
        until(lambda: academy.running(WATCH) == 0)

    assert cancelled() == before + 1


@pytest.mark.threat("held_places")
def test_a_watch_of_health_ends_in_time(tmp_path: Path) -> None:
    with limited(tmp_path, health_watch_seconds=0.2) as academy:
        watch = health(academy).Watch(health_pb2.HealthCheckRequest(), timeout=180)
        assert next(watch).status == health_pb2.HealthCheckResponse.SERVING

        refused = refusal(lambda: next(watch))

    assert (refused.code, refused.reason) == (grpc.StatusCode.DEADLINE_EXCEEDED, "STREAM_IDLE")


def test_unknown_services_have_no_health(academy: Running) -> None:
    unknown = health_pb2.HealthCheckRequest(service="academy.v1.Nonsense")

    refused = refusal(lambda: health(academy).Check(unknown, timeout=180))
    watch = health(academy).Watch(unknown, timeout=180)

    assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "UNKNOWN_SERVICE")
    assert next(watch).status == health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
    watch.cancel()


@pytest.mark.threat("held_places")
def test_one_watcher_who_reads_nothing_holds_up_nobody(tmp_path: Path) -> None:
    with serving(tmp_path) as academy, RawCalls(academy.address) as deaf:
        deaf.begin(WATCH, b"")
        until(lambda: academy.running(WATCH) == 1)
        watch = health(academy).Watch(health_pb2.HealthCheckRequest(), timeout=180)
        assert next(watch).status == health_pb2.HealthCheckResponse.SERVING

        stop = threading.Thread(target=lambda: academy.within(academy.server.stop(5.0)))
        stop.start()

        assert next(watch).status == health_pb2.HealthCheckResponse.NOT_SERVING
        assert list(watch) == []
        stop.join()


@pytest.mark.threat("held_places")
def test_held_calls_do_not_hold_up_a_stop(tmp_path: Path) -> None:
    with (
        limited(tmp_path, message_seconds=FOR_EVER, health_watch_seconds=FOR_EVER) as academy,
        ExitStack() as held,
    ):
        calls = [
            held.enter_context(without_message(client, method))
            for client, method in (
                (academy.client(), CHECK),
                (academy.bot("ann"), LIST_GAMES),
                (academy.client(), WATCH),
            )
        ]
        watch = health(academy).Watch(health_pb2.HealthCheckRequest(), timeout=180)
        assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
        until(lambda: academy.running(CHECK) + academy.running(LIST_GAMES) + academy.running(WATCH) == 4)

        # Raises TimeoutError long before the grace is over.
        academy.within(academy.server.stop(FOR_EVER))

        reasons = [ended(call).reason for call in calls]
    assert reasons == ["DRAINING", "DRAINING", "DRAINING"]


@pytest.mark.threat("held_places")
def test_a_stop_keeps_shelves_though_calls_last_until_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With this, the caches get half of the stop's seconds; else they get two at most.
    monkeypatch.setattr("academy.service.server._SAVING_SECONDS", 60.0)
    with (
        limited(tmp_path, write_seconds=FOR_EVER) as academy,
        RawCalls(academy.address, academy.token("a")) as deaf,
    ):
        academy.register(examples.tiny_go("go"))
        teach(academy, "go", "taught", [("ann", "--\n--", 0.8)])
        query = consultation_pb2.MatchPatternsRequest(game_id="go", positions=[position(EMPTY)])
        academy.bot("ann").consultation.MatchPatterns(query)
        teach(academy, "go", "more", [("ann", "x-\n--", 0.8)])
        academy.bot("ann").consultation.MatchPatterns(query)
        kept = PatternCacheFiles(tmp_path)
        newest = academy.within(academy.server.games.game("go")).view.generation
        assert kept.generation("go") < newest
        deaf.begin(LIST_GAMES, GAMES.SerializeToString())
        until(lambda: answered(academy) == 1)

        academy.within(academy.server.stop(8.0))

        assert kept.generation("go") == newest
