"""A server that falls silent in the middle of a stream: nobody waits for it for ever."""

import asyncio
import gc
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import grpc
import pytest

from academy.knowledge.boards import SquareGeometry
from academy.v1 import consultation_pb2, consultation_pb2_grpc
from clients import Academy, AcademyUnavailableError, AsyncAcademy, Connection, Seat
from clients.streams import AnswerStream, AsyncAnswerStream
from tests.clients import ways

# The first answer on a stream must come within it.
SECONDS = 3.0
LONG = 60.0
SEAT = Seat("tiny", SquareGeometry(5, 5), 1)

# Not all of its methods are here, which its types want.
_Servicer: Any = consultation_pb2_grpc.ConsultationServiceServicer


class Silent(_Servicer):  # type: ignore[misc]
    """Answers only one question of each stream."""

    def __init__(self) -> None:
        self.asked_again = threading.Event()
        self.released = threading.Event()

    def Play(self, questions: Iterator[consultation_pb2.PlayRequest], context: Any) -> Iterator[Any]:
        yield consultation_pb2.PlayResponse(request_id=next(questions).request_id)
        for _ in questions:
            self.asked_again.set()
        self.released.wait(20.0)


@contextmanager
def served(servicer: Any, timeout: float) -> Iterator[Connection]:
    server = grpc.server(futures.ThreadPoolExecutor(2))
    consultation_pb2_grpc.add_ConsultationServiceServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield Connection(f"127.0.0.1:{port}", timeout=timeout)
    server.stop(0).wait()


@pytest.fixture
def servicer() -> Silent:
    return Silent()


@pytest.fixture
def silent(servicer: Silent) -> Iterator[Connection]:
    with served(servicer, SECONDS) as connection:
        yield connection
        servicer.released.set()


def by_stream(connection: Connection) -> float:
    with Academy(connection) as academy, academy.stream() as stream:
        assert stream.opening(SEAT, [], 0) == []
        # The deadline is the answer's: pauses of the player don't count.
        time.sleep(1.2 * SECONDS)
        started = time.monotonic()
        with pytest.raises(AcademyUnavailableError, match="no answer within 3 s: the stream is") as late:
            stream.opening(SEAT, [], 0)
        wait = time.monotonic() - started
        assert late.value.code == "DEADLINE_EXCEEDED"
        with pytest.raises(AcademyUnavailableError) as again:
            stream.opening(SEAT, [], 0)
        assert again.value is late.value, "nobody waits again for a stream that was closed"
        return wait


def by_asyncio_stream(connection: Connection) -> float:
    async def duration() -> float:
        async with AsyncAcademy(connection) as academy, academy.stream() as stream:
            assert await stream.opening(SEAT, [], 0) == []
            await asyncio.sleep(1.2 * SECONDS)
            started = time.monotonic()
            with pytest.raises(AcademyUnavailableError, match="no answer within 3 s: the stream is"):
                await stream.opening(SEAT, [], 0)
            wait = time.monotonic() - started
            with pytest.raises(AcademyUnavailableError, match="ended"):
                await stream.opening(SEAT, [], 0)
            return wait

    return asyncio.run(duration())


@pytest.mark.parametrize("ask", [by_stream, by_asyncio_stream])
def test_an_answer_that_does_not_come_closes_the_stream(
    silent: Connection, ask: Callable[[Connection], float]
) -> None:
    assert ask(silent) >= SECONDS * 0.9


class Echoing(_Servicer):  # type: ignore[misc]
    """Answers a question about openings with the question's last move, after a pause.

    The answer to the move "another" has the number of another question.
    """

    def Play(self, questions: Iterator[consultation_pb2.PlayRequest], context: Any) -> Iterator[Any]:
        for question in questions:
            move = question.opening.moves[-1]
            time.sleep(0.01)
            answer = consultation_pb2.PlayResponse(request_id=question.request_id + (move == "another"))
            answer.opening.moves.add(move=move)
            yield answer


@pytest.fixture
def echoing() -> Iterator[Connection]:
    with served(Echoing(), 60.0) as connection:
        yield connection


MOVES = [f"m{number}" for number in range(40)]


def test_threads_that_share_a_stream_get_the_answers_to_their_own_questions(echoing: Connection) -> None:
    with Academy(echoing) as academy, academy.stream() as stream, futures.ThreadPoolExecutor(8) as threads:
        answers = [*threads.map(lambda move: stream.opening(SEAT, [move], 0)[0].move, MOVES)]
    assert answers == MOVES


def test_tasks_that_share_a_stream_get_the_answers_to_their_own_questions(echoing: Connection) -> None:
    async def answers() -> list[str]:
        async with AsyncAcademy(echoing) as academy, academy.stream() as stream:
            openings = await asyncio.gather(*(stream.opening(SEAT, [move], 0) for move in MOVES))
            return [opening[0].move for opening in openings]

    assert asyncio.run(answers()) == MOVES


def test_an_answer_to_another_question_is_refused_and_closes_the_stream(echoing: Connection) -> None:
    with Academy(echoing) as academy, academy.stream() as stream:
        assert stream.opening(SEAT, ["m1"], 0)[0].move == "m1"
        with pytest.raises(AcademyUnavailableError, match="answered question 3 instead of 2"):
            stream.opening(SEAT, ["another"], 0)
        with pytest.raises(AcademyUnavailableError):
            stream.opening(SEAT, ["m1"], 0)


def test_an_answer_to_another_question_closes_the_asyncio_stream(echoing: Connection) -> None:
    async def ask() -> None:
        async with AsyncAcademy(echoing) as academy, academy.stream() as stream:
            with pytest.raises(AcademyUnavailableError, match="answered question 2 instead of 1"):
                await stream.opening(SEAT, ["another"], 0)
            with pytest.raises(AcademyUnavailableError, match="ended"):
                await stream.opening(SEAT, ["m1"], 0)

    asyncio.run(ask())


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """The first SIGINT, as by Ctrl-C, interrupts this thread and sets the event; others do nothing."""
    taken = threading.Event()

    def take(*_: object) -> None:
        if not taken.is_set():
            taken.set()
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, take)
    # In a callback of the collector an interrupt is printed and lost.
    gc.disable()
    try:
        yield taken
    finally:
        gc.enable()
        signal.signal(signal.SIGINT, before)


def test_an_interrupted_question_closes_the_stream(silent: Connection, servicer: Silent) -> None:
    def interrupt() -> None:
        if not servicer.asked_again.wait(LONG):
            return
        # Python does not see a signal that comes just before it begins to wait.
        while not taken.is_set():
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            time.sleep(0.1)

    with (
        Academy(replace(silent, timeout=LONG)) as academy,
        academy.stream() as stream,
        interruptible() as taken,
    ):
        assert stream.opening(SEAT, [], 0) == []
        thread = threading.Thread(target=interrupt)
        thread.start()
        try:
            with pytest.raises(KeyboardInterrupt):
                stream.opening(SEAT, [], 0)
        finally:
            # While SIGINT does no harm, however the question ended.
            taken.set()
            servicer.asked_again.set()
            thread.join()
        with pytest.raises(AcademyUnavailableError, match="cancelled"):
            stream.opening(SEAT, [], 0)


def test_a_closed_stream_leaves_no_thread(echoing: Connection) -> None:
    with Academy(echoing) as academy, academy.stream() as stream:
        assert stream.opening(SEAT, ["m1"], 0)[0].move == "m1"
        listeners = [thread for thread in threading.enumerate() if thread.name == "answers"]
        assert listeners
    for listener in listeners:
        listener.join(60.0)
        assert not listener.is_alive()


def test_a_cancelled_task_closes_the_asyncio_stream(silent: Connection, servicer: Silent) -> None:
    async def ask() -> None:
        async with AsyncAcademy(replace(silent, timeout=LONG)) as academy, academy.stream() as stream:
            assert await stream.opening(SEAT, [], 0) == []
            question = asyncio.create_task(stream.opening(SEAT, [], 0))
            assert await asyncio.to_thread(servicer.asked_again.wait, LONG)
            question.cancel()
            with pytest.raises(asyncio.CancelledError):
                await question
            with pytest.raises(AcademyUnavailableError, match="ended"):
                await stream.opening(SEAT, [], 0)

    asyncio.run(ask())


class Refusing(_Servicer):  # type: ignore[misc]
    """Refuses the first question of a stream for a moment, and answers the others."""

    def Play(self, questions: Iterator[consultation_pb2.PlayRequest], context: Any) -> Iterator[Any]:
        refusal = consultation_pb2.Refusal(code=8, metadata={"retry_after": str(PAUSE)})
        yield consultation_pb2.PlayResponse(request_id=next(questions).request_id, refusal=refusal)
        for question in questions:
            yield consultation_pb2.PlayResponse(request_id=question.request_id)


PAUSE = 0.2


@pytest.fixture
def refusing() -> Iterator[Connection]:
    with served(Refusing(), LONG) as connection:
        yield connection


@pytest.mark.parametrize(
    ("kind", "ask"), [(AnswerStream, ways.by_stream), (AsyncAnswerStream, ways.by_asyncio_stream)]
)
def test_a_question_that_is_put_again_has_what_is_left_of_its_time(
    refusing: Connection, monkeypatch: pytest.MonkeyPatch, kind: Any, ask: ways.Way
) -> None:
    allowed = []
    put = kind.ask

    def note(stream: Any, request: Any, seconds: float) -> Any:
        allowed.append(seconds)
        return put(stream, request, seconds)

    monkeypatch.setattr(kind, "ask", note)
    ask(refusing, lambda stream: stream.opening(SEAT, [], 0))
    first, second = allowed
    assert second < first - PAUSE / 2
