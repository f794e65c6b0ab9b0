"""One question and its answer at a time on a stream, blocking or not, each with a deadline.

gRPC has deadlines for whole calls only.
"""

import asyncio
import queue
import threading
from typing import Any

import grpc

from academy.v1 import consultation_pb2
from clients.connection import AcademyRefusedError, AcademyUnavailableError, Connection, to_client_error

_ENDED = "the server ended the stream"


class AnswerStream:
    """A stream for blocking calls. A thread of its own hears the answers, until the stream ends."""

    def __init__(self, play: Any, connection: Connection) -> None:
        """Open the stream by the stub's method `play`; each answer may take the connection's `timeout`."""
        self.seconds = connection.timeout
        self._questions: queue.SimpleQueue[consultation_pb2.PlayRequest | None] = queue.SimpleQueue()
        self._heard: queue.SimpleQueue[consultation_pb2.PlayResponse | Exception] = queue.SimpleQueue()
        self._answers = play(iter(self._questions.get, None), metadata=connection.metadata)
        self._lock = threading.Lock()
        # Why no more can be asked.
        self._ended: Exception | None = None
        threading.Thread(target=self._listen, name="answers", daemon=True).start()

    def _listen(self) -> None:
        try:
            for response in self._answers:
                self._heard.put(response)
            self._heard.put(AcademyUnavailableError(_ENDED))
        except grpc.RpcError as error:
            self._heard.put(to_client_error(error))

    def ask(self, request: consultation_pb2.PlayRequest, seconds: float) -> consultation_pb2.PlayResponse:
        """Send a question and wait for its answer, at most what is left of its time.

        Raises AcademyUnavailableError and AcademyRefusedError.
        """
        with self._lock:
            if self._ended is not None:
                # Its earlier frames would add up.
                raise self._ended.with_traceback(None)
            try:
                self._questions.put(request)
                heard = self._heard.get(timeout=max(0.0, seconds))
                if isinstance(heard, Exception):
                    raise heard
                return _check(request, heard)
            except queue.Empty:
                self._ended = _late(self.seconds)
            except (AcademyUnavailableError, AcademyRefusedError) as error:
                self._ended = error
            except BaseException:
                # The answer may still come: the next question must not take it for its own.
                self.close()
                raise
            self.close()
            raise self._ended

    def close(self) -> None:
        """End the stream."""
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
        self, request: consultation_pb2.PlayRequest, seconds: float
    ) -> consultation_pb2.PlayResponse:
        """Send a question and wait for its answer, at most what is left of its time.

        Raises AcademyUnavailableError and AcademyRefusedError.
        """
        async with self._lock:
            if self._call.done():
                raise AcademyUnavailableError(_ENDED)
            try:
                async with asyncio.timeout(seconds):
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
