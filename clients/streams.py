"""One question and its answer at a time on a stream, blocking or not, each with a deadline.

gRPC has deadlines for whole calls only.
"""

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

import grpc

from academy.v1 import consultation_pb2
from clients.connection import AcademyUnavailableError, Connection, to_client_error

_ENDED = "the server ended the stream"


class AnswerStream:
    """A stream for blocking calls."""

    def __init__(self, play: Any, connection: Connection) -> None:
        """Open the stream by the stub's method `play`; each answer may take the connection's `timeout`."""
        self.seconds = connection.timeout
        self._questions: queue.SimpleQueue[consultation_pb2.PlayRequest | None] = queue.SimpleQueue()
        self._answers = play(iter(self._questions.get, None), metadata=connection.metadata)
        self._deadline = AnswerDeadline(connection.timeout, self._answers.cancel)
        self._lock = threading.Lock()

    def ask(self, request: consultation_pb2.PlayRequest) -> consultation_pb2.PlayResponse:
        """Send a question and wait for its answer. Raises AcademyUnavailableError, AcademyRefusedError."""
        with self._lock:
            try:
                self._questions.put(request)
                with self._deadline:
                    return _check(request, next(self._answers))
            except StopIteration:
                raise AcademyUnavailableError(_ENDED) from None
            except grpc.RpcError as error:
                raise (_late(self.seconds) if self._deadline.expired else to_client_error(error)) from None
            except BaseException:
                # The answer may still come: the next question must not take it for its own.
                self.close()
                raise

    def close(self) -> None:
        """End the stream."""
        self._deadline.close()
        self._questions.put(None)
        self._answers.cancel()


class AsyncAnswerStream:
    """A stream for asyncio."""

    def __init__(self, play: Any, connection: Connection) -> None:
        """Open the stream by the stub's method `play`; each answer may take the connection's `timeout`."""
        self.seconds = connection.timeout
        self._call = play(metadata=connection.metadata)
        self._lock = asyncio.Lock()

    async def ask(self, request: consultation_pb2.PlayRequest) -> consultation_pb2.PlayResponse:
        """Send a question and wait for its answer. Raises AcademyUnavailableError, AcademyRefusedError."""
        async with self._lock:
            if self._call.done():
                raise AcademyUnavailableError(_ENDED)
            try:
                async with asyncio.timeout(self.seconds):
                    await self._call.write(request)
                    response = await self._call.read()
                if not isinstance(response, consultation_pb2.PlayResponse):
                    raise AcademyUnavailableError(_ENDED)
                return _check(request, response)
            except TimeoutError:
                self.close()
                raise _late(self.seconds) from None
            except grpc.RpcError as error:
                raise to_client_error(error) from None
            except BaseException:
                # The answer may still come: the next question must not take it for its own.
                self.close()
                raise

    def close(self) -> None:
        """End the stream."""
        self._call.cancel()


def _check(
    request: consultation_pb2.PlayRequest, response: consultation_pb2.PlayResponse
) -> consultation_pb2.PlayResponse:
    """Return the answer to a question. Raises AcademyUnavailableError for that to another question."""
    if response.request_id != request.request_id:
        raise AcademyUnavailableError(
            f"the server answered question {response.request_id} instead of {request.request_id}"
        )
    return response


def _late(seconds: float) -> AcademyUnavailableError:
    return AcademyUnavailableError(
        f"no answer within {seconds:g} s: the stream is closed [DEADLINE_EXCEEDED]", "DEADLINE_EXCEEDED"
    )


class AnswerDeadline:
    """Calls `expire` from a thread of its own when a `with` block takes more than `seconds`.

    It serves one block after another until one was late (`expired`) or it is closed. A block costs no
    more than two assignments: the thread wakes once in `seconds` and looks.
    """

    def __init__(self, seconds: float, expire: Callable[[], object]) -> None:
        self.seconds = seconds
        self.expired = False
        self._expire = expire
        self._entered: float | None = None
        self._closed = threading.Event()
        threading.Thread(target=self._watch, name="answer-deadline", daemon=True).start()

    def __enter__(self) -> None:
        self._entered = time.monotonic()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered = None

    def close(self) -> None:
        """End the thread."""
        self._closed.set()

    def _watch(self) -> None:
        rest = self.seconds
        while not self._closed.wait(rest):
            entered = self._entered
            # A block entered while this slept is not late yet, however long the sleep was.
            rest = self.seconds if entered is None else entered + self.seconds - time.monotonic()
            if rest <= 0:
                self.expired = True
                self._expire()
                return
