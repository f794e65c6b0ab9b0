"""What every call passes: authentication, permission, limits, statuses, metrics and the log.

A call that may not be made is refused before its message is read.
"""

import asyncio
import inspect
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeAlias, cast

import grpc
import structlog
from google.protobuf.message import DecodeError
from grpc import aio

from academy.service import identity
from academy.service.errors import Refused, refused
from academy.service.identity import bearer_token
from academy.service.limits import Limits
from academy.service.metrics import Metrics
from academy.service.permissions import OPEN_METHODS, check_permission
from academy.service.rates import Bucket, RateExceeded
from academy.service.refusals import Draining, MalformedMessage, StreamIdle, TooManyCalls
from academy.store.tokens import Caller

Context = aio.ServicerContext[Any, Any]
_Reader = Callable[[bytes], Any] | None
_Behaviour = Callable[[Any, Context], Any]
_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
_Continuation: TypeAlias = "Callable[[grpc.HandlerCallDetails], Awaitable[_Handler | None]]"

_WATCH: Final = "/grpc.health.v1.Health/Watch"
_RETRY_SECONDS: Final = 0.5
_REFUSALS_LOGGED_PER_SECOND: Final = 10.0
_log = structlog.get_logger()


class Guard(aio.ServerInterceptor):
    """Stands before every method of a server."""

    def __init__(self, authenticate: Callable[[str], Caller], limits: Limits, metrics: Metrics) -> None:
        self._authenticate = authenticate
        self._limits = limits
        self._metrics = metrics
        self._buckets: dict[str, Bucket] = {}
        self._running: Counter[tuple[str, str]] = Counter()
        self._waits: set[asyncio.Timeout] = set()
        self._draining = False
        self._lines = Bucket(_REFUSALS_LOGGED_PER_SECOND, 10 * _REFUSALS_LOGGED_PER_SECOND)

    async def intercept_service(
        self, continuation: _Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> "_Handler | None":
        """Return the method's handler within its guard, or one that refuses."""
        method = handler_call_details.method
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        if method in OPEN_METHODS:
            return self._counted(handler) if method == _WATCH else handler
        name = ""
        try:
            token = bearer_token(handler_call_details.invocation_metadata)
            caller = self._authenticate(token)
            name = caller.name
            check_permission(caller, method)
            self.ask(caller, 1)
        except Exception as error:
            return self._refusing(method, name, refused(error))
        return self._guarded(method, handler, caller, token)

    def ask(self, caller: Caller, questions: int) -> None:
        """Count questions against the caller's rate. Raises RateExceeded."""
        bucket = self._buckets.get(caller.name)
        if bucket is None:
            bucket = Bucket(self._limits.questions_per_second, self._limits.question_burst)
            self._buckets[caller.name] = bucket
        bucket.take(questions)

    def _refusing(self, method: str, name: str, why: Refused) -> _Handler:
        async def refuse(_: AsyncIterator[Any], context: Context) -> None:
            self._metrics.calls.labels(method, why.status_code.name).inc()
            # Strangers must not fill the disk with lines; all of them are counted.
            with suppress(RateExceeded):
                self._lines.take(1)
                _log.warning("refused", method=method, reason=why.reason, caller=name, peer=context.peer())
            await why.abort(context)

        # As a stream of requests, so that nothing is awaited from a caller who is not let in.
        return _handler(True, True, refuse, None, None)

    def _counted(self, handler: _Handler) -> _Handler:
        watch: _Behaviour = cast(_Behaviour, handler.unary_stream)

        async def answer(request: Any, context: Context) -> None:
            try:
                with self._place("watches of health", "", self._limits.health_watchers):
                    await watch(request, context)
            except TooManyCalls as error:
                await refused(error).abort(context)

        return _handler(False, True, answer, handler.request_deserializer, handler.response_serializer)

    def _guarded(self, method: str, handler: _Handler, caller: Caller, token: str) -> _Handler:
        behaviour = cast(
            _Behaviour,
            handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream,
        )

        async def answer(request: Any, context: Context) -> Any:
            identity.enter(caller)
            return await self._observed(method, caller, context, work(request, context))

        async def work(request: Any, context: Context) -> Any:
            read = handler.request_deserializer
            if handler.request_streaming:
                asked = self._until_idle(request, read, token)
            else:
                asked = _read(request, read)
            answers = behaviour(asked, context)
            return await (self._sent(answers, context) if handler.response_streaming else answers)

        # Messages are read in here, so that one that cannot be read is refused like any other fault.
        return _handler(
            handler.request_streaming, handler.response_streaming, answer, None, handler.response_serializer
        )

    async def _sent(self, responses: Any, context: Context) -> None:
        if inspect.isawaitable(responses):
            await responses
            return
        async for response in responses:
            try:
                async with asyncio.timeout(self._limits.write_seconds):
                    await context.write(response)
            except TimeoutError as error:
                raise StreamIdle("nothing was read", self._limits.write_seconds) from error

    async def _until_idle(
        self, requests: AsyncIterator[Any], read: _Reader, token: str
    ) -> AsyncIterator[Any]:
        seconds = self._limits.idle_stream_seconds
        while True:
            if self._draining:
                raise Draining
            try:
                async with asyncio.timeout(seconds) as wait:
                    self._waits.add(wait)
                    try:
                        request = await anext(requests)
                    finally:
                        self._waits.remove(wait)
            except StopAsyncIteration:
                return
            except TimeoutError as error:
                raise Draining() if self._draining else StreamIdle("nothing was asked", seconds) from error
            # A token that was revoked meanwhile is good for nothing more.
            self._authenticate(token)
            yield _read(request, read)

    def drain(self) -> None:
        """End the streams that wait for a request, and all others at their next one."""
        self._draining = True
        now = asyncio.get_running_loop().time()
        for wait in self._waits:
            wait.reschedule(now)

    async def _observed(self, method: str, caller: Caller, context: Context, work: Awaitable[Any]) -> Any:
        began = time.perf_counter()
        running = self._metrics.running.labels(method)
        running.inc()
        code, reason = "OK", ""
        why: Refused | None = None
        try:
            with (
                self._place("calls of", caller.name, self._limits.concurrent_calls_per_caller),
                self._place("calls of all callers", "", self._limits.concurrent_calls),
            ):
                return await work
        except asyncio.CancelledError:
            code = "CANCELLED"
            raise
        except aio.AbortError:
            code = "ABORTED"
            raise
        except Exception as error:
            why = refused(error)
            code, reason = why.status_code.name, why.reason
        finally:
            if inspect.iscoroutine(work):
                work.close()
            seconds = time.perf_counter() - began
            running.dec()
            self._metrics.calls.labels(method, code).inc()
            self._metrics.seconds.labels(method).observe(seconds)
            tell = _log.debug if code == "OK" else _log.info
            tell(
                "call", method=method, code=code, reason=reason, caller=caller.name, seconds=round(seconds, 6)
            )
        await why.abort(context)
        return None

    @contextmanager
    def _place(self, what: str, name: str, limit: int) -> Iterator[None]:
        """Hold one of a limited number of places for the length of a block."""
        key = (what, name)
        if self._running[key] >= limit:
            raise TooManyCalls(f"{what} {name}".rstrip(), limit, _RETRY_SECONDS)
        self._running[key] += 1
        try:
            yield
        finally:
            self._running[key] -= 1
            if not self._running[key]:
                del self._running[key]


def _read(message: Any, read: _Reader) -> Any:
    if read is None:
        return message
    try:
        return read(message)
    except DecodeError as error:
        raise MalformedMessage(str(error)) from error


def _handler(
    request_streaming: bool,
    response_streaming: bool,
    behaviour: _Behaviour,
    deserializer: Any,
    serializer: Any,
) -> _Handler:
    make = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, False): grpc.stream_unary_rpc_method_handler,
        (True, True): grpc.stream_stream_rpc_method_handler,
    }[request_streaming, response_streaming]
    return make(behaviour, deserializer, serializer)
