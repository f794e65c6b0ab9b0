"""One question and its answer at a time on a stream, blocking or not, each with a deadline.

gRPC has deadlines for whole calls only.
"""

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

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

    def ask(
        self, request: consultation_pb2.PlayRequest, seconds: float | None = None
    ) -> consultation_pb2.PlayResponse:
        """Send a question and wait for its answer: at most `seconds`, where these are left of its time.

        Raises AcademyUnavailableError and AcademyRefusedError.
        """
        with self._lock:
            try:
                self._questions.put(request)
                with self._deadline.within(self.seconds if seconds is None else seconds):
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

    async def ask(
        self, request: consultation_pb2.PlayRequest, seconds: float | None = None
    ) -> consultation_pb2.PlayResponse:
        """Send a question and wait for its answer: at most `seconds`, where these are left of its time.

        Raises AcademyUnavailableError and AcademyRefusedError.
        """
        async with self._lock:
            if self._call.done():
                raise AcademyUnavailableError(_ENDED)
            try:
                async with asyncio.timeout(self.seconds if seconds is None else seconds):
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

    It serves one block after another until one was late (`expired`) or it is closed. A block costs little:
    the thread wakes once in `seconds` and looks, and is woken only for a block that has less time.
    """

    def __init__(self, seconds: float, expire: Callable[[], object]) -> None:
        self.seconds = seconds
        self.expired = False
        self._expire = expire
        self._allowed = seconds
        self._until: float | None = None
        self._looks = 0.0
        self._woken = threading.Event()
        self._closed = False
        threading.Thread(target=self._watch, name="answer-deadline", daemon=True).start()

    def within(self, seconds: float) -> Self:
        """Have the next block take no more than this, where that is less than the seconds of every block."""
        self._allowed = min(seconds, self.seconds)
        return self

    def __enter__(self) -> None:
        self._until = time.monotonic() + self._allowed
        if self._until < self._looks:
            self._woken.set()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._until, self._allowed = None, self.seconds

    def close(self) -> None:
        """End the thread."""
        self._closed = True
        self._woken.set()

    def _watch(self) -> None:
        while not self._closed:
            # First when it looks again, then the block: one that begins in between sees that, and wakes it.
            self._looks = time.monotonic() + self.seconds
            until = self._until
            if until is not None:
                self._looks = until
            rest = self._looks - time.monotonic()
            if rest <= 0:
                self.expired = True
                self._expire()
                return
            self._woken.wait(rest)
            self._woken.clear()
