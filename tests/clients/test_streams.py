"""A server that falls silent in the middle of a stream: nobody waits for it for ever."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any

import grpc
import pytest

from academy.knowledge.boards import SquareGeometry
from academy.v1 import consultation_pb2, consultation_pb2_grpc
from clients import Academy, AcademyUnavailableError, AsyncAcademy, Connection, Seat
from clients.streams import AnswerDeadline

SECONDS = 1.0
SEAT = Seat("tiny", SquareGeometry(5, 5), 1)

# Not all of its methods are here, which its types want.
_Servicer: Any = consultation_pb2_grpc.ConsultationServiceServicer


class Silent(_Servicer):  # type: ignore[misc]
    """Answers only one question of each stream."""

    def __init__(self) -> None:
        self.released = threading.Event()

    def Play(self, questions: Iterator[consultation_pb2.PlayRequest], context: Any) -> Iterator[Any]:
        yield consultation_pb2.PlayResponse(request_id=next(questions).request_id)
        self.released.wait(20.0)


@pytest.fixture
def silent() -> Iterator[Connection]:
    servicer = Silent()
    server = grpc.server(futures.ThreadPoolExecutor(2))
    consultation_pb2_grpc.add_ConsultationServiceServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield Connection(f"127.0.0.1:{port}", timeout=SECONDS)
    servicer.released.set()
    server.stop(0).wait()


def by_stream(connection: Connection) -> list[float]:
    waits = []
    with Academy(connection) as academy, academy.stream() as stream:
        assert stream.opening(SEAT, [], 0) == []
        # The deadline is the answer's: pauses of the player don't count.
        time.sleep(1.5 * SECONDS)
        for _ in range(2):
            started = time.monotonic()
            with pytest.raises(AcademyUnavailableError, match="stream") as late:
                stream.opening(SEAT, [], 0)
            waits.append(time.monotonic() - started)
            assert late.value.code == "DEADLINE_EXCEEDED"
    return waits


def by_asyncio_stream(connection: Connection) -> list[float]:
    async def durations() -> list[float]:
        waits = []
        async with AsyncAcademy(connection) as academy, academy.stream() as stream:
            assert await stream.opening(SEAT, [], 0) == []
            await asyncio.sleep(1.5 * SECONDS)
            for _ in range(2):
                started = time.monotonic()
                with pytest.raises(AcademyUnavailableError, match="stream"):
                    await stream.opening(SEAT, [], 0)
                waits.append(time.monotonic() - started)
        return waits

    return asyncio.run(durations())


@pytest.mark.parametrize("ask", [by_stream, by_asyncio_stream])
def test_an_answer_that_does_not_come_closes_the_stream(
    silent: Connection, ask: Callable[[Connection], list[float]]
) -> None:
    first, second = ask(silent)
    assert first >= SECONDS * 0.9
    assert second < SECONDS, "nobody waits again for a stream that was closed"


def test_only_a_block_that_takes_too_long_is_late() -> None:
    expired = threading.Event()
    deadline = AnswerDeadline(2.0, expired.set)
    for _ in range(11):
        with deadline:
            time.sleep(0.2)
    assert not deadline.expired
    with deadline:
        assert expired.wait(60.0)
    assert deadline.expired


def test_closing_ends_the_thread() -> None:
    before = threading.active_count()
    AnswerDeadline(60.0, lambda: None).close()
    deadline = time.monotonic() + 180.0
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == before
