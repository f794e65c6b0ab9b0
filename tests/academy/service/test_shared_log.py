"""Who calls a server that shares a log: its tokens and tickets may be another server's."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import grpc
import pytest

from academy.store.library_store import Store
from academy.store.shared_log.address import LogAddress
from academy.store.shared_log.jetstream import JetStreamLog
from academy.store.shared_log.stream import Message
from academy.v1 import contests_pb2
from tests.academy.service import examples
from tests.academy.service.running import Running, refusal, serving
from tests.academy.store.holding import held
from tests.academy.store.shared_log.nats_servers import NatsServer
from tests.waiting import until

GAMES = contests_pb2.ListGamesRequest()
UNKNOWN = f"acd_{'0' * 16}_{'A' * 43}"


@pytest.fixture
def log(own_nats: NatsServer) -> LogAddress:
    return own_nats.address("club")


@pytest.fixture
def patient_catch_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a server that reads on in the log wait for NATS however long a busy machine takes."""
    monkeypatch.setattr("academy.service.log_catch_up._CATCH_UP_SECONDS", 60.0)


@contextmanager
def lagging(store: Store) -> Iterator[None]:
    """Have a store take in nothing of what others write."""
    hold, written = held(store)
    try:
        yield
    finally:
        hold.may_end.set()
        written.result()


def open_contest(academy: Running) -> str:
    """Open a contest, and return the first player's ticket."""
    academy.register(examples.tiny_go("go"))
    return academy.open(examples.contest("shared", "go"))[0].token


@pytest.mark.usefixtures("patient_catch_up")
def test_a_ticket_of_another_server_is_good_at_one_that_has_not_read_so_far(
    log: LogAddress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = threading.Event()
    catch_up = Store.catch_up

    def note(store: Store, seconds: float) -> None:
        looked.set()
        catch_up(store, seconds)

    monkeypatch.setattr(Store, "catch_up", note)
    with (
        serving(tmp_path / "one", log=log) as first,
        serving(tmp_path / "two", log=log) as second,
        ThreadPoolExecutor() as calls,
    ):
        with lagging(second.store):
            ticket = open_contest(first)
            answer = calls.submit(second.client(ticket).contests.ListGames, GAMES)
            assert looked.wait(60)
        assert [game.game_id for game in answer.result().games] == ["go"]


def test_a_server_that_cannot_read_on_in_the_log_says_to_ask_again_not_that_the_token_is_unknown(
    own_nats: NatsServer, log: LogAddress, tmp_path: Path
) -> None:
    with serving(tmp_path / "one", log=log) as first, serving(tmp_path / "two", log=log) as second:
        known = second.bot("known")
        with lagging(second.store):
            ticket = open_contest(first)
            late = refusal(lambda: second.client(ticket).contests.ListGames(GAMES))
            own_nats.pause()
            silent = refusal(lambda: second.client(ticket).contests.ListGames(GAMES))
            known.contests.ListGames(GAMES)
            own_nats.resume()
        unavailable = (grpc.StatusCode.UNAVAILABLE, "TOKEN_UNCHECKED")
        assert [(refused.code, refused.reason) for refused in (late, silent)] == [unavailable] * 2


@pytest.mark.usefixtures("patient_catch_up")
def test_many_bad_tokens_have_nats_asked_a_few_times_alone(
    log: LogAddress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []
    catch_up = Store.catch_up

    def count(store: Store, seconds: float) -> None:
        looks.append(seconds)
        catch_up(store, seconds)

    monkeypatch.setattr(Store, "catch_up", count)
    with serving(tmp_path / "one", log=log) as academy, ThreadPoolExecutor(20) as calls:
        guess = academy.client(UNKNOWN)
        begun = time.monotonic()
        refused = list(
            calls.map(lambda _: refusal(lambda: guess.contests.ListGames(GAMES)).reason, range(200))
        )
        seconds = time.monotonic() - begun
    assert refused == ["TOKEN_UNKNOWN"] * 200
    assert 0 < len(looks) <= 2 + seconds / 0.05


def test_a_report_may_come_again_where_the_log_cannot_be_followed(log: LogAddress, tmp_path: Path) -> None:
    with serving(tmp_path / "one", log=log) as academy:
        academy.register(examples.tiny_go("go"))
        with closing(JetStreamLog(log)) as program:
            message = Message(program.state.last + 1, b"of another program", "foreign")
            program.publish(message, time.monotonic() + 30)
        until(lambda: not academy.store.follows_log)
        played = examples.report(examples.contest("late", "go"), ["A1"])
        refused = refusal(lambda: academy.report(played))
        assert (refused.reason, refused.retry_after) == ("LOG_DIVERGED", 30.0)
