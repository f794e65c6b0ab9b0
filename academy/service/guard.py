"""What every call passes: authentication, permission, limits, statuses, metrics and the log.

A call that may not be made is refused before its message is read.
"""

import asyncio
import inspect
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, TypeAlias, cast

import grpc
import structlog
from google.protobuf.message import DecodeError
from grpc import aio

from academy.service import identity, logs
from academy.service.errors import Refused, refused
from academy.service.identity import bearer_token
from academy.service.limits import Limits
from academy.service.metrics import Metrics
from academy.service.patience import Patience
from academy.service.permissions import OPEN_METHODS, check_permission
from academy.service.rates import Bucket, Buckets, RateExceeded
from academy.service.refusals import Draining, MalformedMessage, TooManyCalls
from academy.store.tokens import Caller

Context = aio.ServicerContext[Any, Any]
_Reader = Callable[[bytes], Any] | None
_Behaviour = Callable[[Any, Context], Any]
_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
_Continuation: TypeAlias = "Callable[[grpc.HandlerCallDetails], Awaitable[_Handler | None]]"

_WATCH: Final = "/grpc.health.v1.Health/Watch"
_GUARDS_REMEMBERED: Final = 4_096
_RETRY_SECONDS: Final = 0.5
_REFUSALS_LOGGED_PER_SECOND: Final = 10.0
_log = structlog.get_logger()


class _Places:
    """A limited number of places for each of several holders."""

    def __init__(self, what: str, limit: int) -> None:
        self._what = what
        self._limit = limit
        self._taken: Counter[str] = Counter()

    def take(self, holder: str = "") -> None:
        """Take a place. Raises TooManyCalls where none is free."""
        if self._taken[holder] >= self._limit:
            raise TooManyCalls(f"{self._what} {holder}".rstrip(), self._limit, _RETRY_SECONDS)
        self._taken[holder] += 1

    def give_back(self, holder: str = "") -> None:
        """Give a place back."""
        self._taken[holder] -= 1
        if not self._taken[holder]:
            del self._taken[holder]


class Guard(aio.ServerInterceptor):
    """Stands before every method of a server."""

    def __init__(self, authenticate: Callable[[str], Caller], limits: Limits, metrics: Metrics) -> None:
        self._authenticate = authenticate
        self._limits = limits
        self._metrics = metrics
        self._buckets = Buckets(limits.questions_per_second, limits.question_burst)
        self._methods: dict[str, _Handler] = {}
        # Made once for each token, as a call would else pay for it.
        self._guards: dict[tuple[str, str], tuple[Caller, _Handler]] = {}
        self._own_calls = _Places("calls of", limits.concurrent_calls_per_caller)
        self._all_calls = _Places("calls of all callers", limits.concurrent_calls)
        self._watches = _Places("watches of health", limits.health_watchers)
        self._streams: set[Patience] = set()
        self._draining = False
        self._lines = Bucket(_REFUSALS_LOGGED_PER_SECOND, 10 * _REFUSALS_LOGGED_PER_SECOND)

    async def intercept_service(
        self, continuation: _Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> "_Handler | None":
        """Return the method's handler within its guard, or one that refuses."""
        method = handler_call_details.method
        handler = self._methods.get(method)
        if handler is None:
            handler = await continuation(handler_call_details)
            if handler is None:
                return None
            self._methods[method] = handler
        if method in OPEN_METHODS:
            return self._counted(handler) if method == _WATCH else handler
        name = ""
        try:
            token = bearer_token(handler_call_details.invocation_metadata)
            caller = self._authenticate(token)
            name = caller.name
            check_permission(caller, method)
            if self._draining:
                raise Draining
            self.ask(caller, 1)
        except Exception as error:
            # Whatever it was: nobody is let in by a fault of ours, and the table knows what to say of it.
            return self._refusing(method, name, refused(error))
        known = self._guards.get((method, token))
        if known is None or known[0] != caller:
            if len(self._guards) >= _GUARDS_REMEMBERED:
                self._guards.clear()
            known = self._guards[method, token] = caller, self._guarded(method, handler, caller, token)
        return known[1]

    def ask(self, caller: Caller, questions: int) -> None:
        """Count questions against the caller's rate. Raises RateExceeded."""
        self._buckets.take(caller.name, questions)

    def _refusing(self, method: str, name: str, why: Refused) -> _Handler:
        async def refuse(_: AsyncIterator[Any], context: Context) -> None:
            self._metrics.method(method).ended_by_code[why.status_code.name] += 1
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
                self._watches.take()
            except TooManyCalls as error:
                await refused(error).abort(context)
            try:
                await watch(request, context)
            finally:
                self._watches.give_back()

        return _handler(False, True, answer, handler.request_deserializer, handler.response_serializer)

    def _guarded(self, method: str, handler: _Handler, caller: Caller, token: str) -> _Handler:
        behaviour = cast(
            _Behaviour,
            handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream,
        )
        read, streaming = handler.request_deserializer, handler.request_streaming
        meter = self._metrics.method(method)

        async def work(request: Any, context: Context) -> Any:
            if not streaming and not handler.response_streaming:
                return await behaviour(_read(request, read), context)
            patience = Patience()
            self._streams.add(patience)
            try:
                asked = self._questions(request, read, token, patience) if streaming else _read(request, read)
                answers = behaviour(asked, context)
                return await (
                    self._sent(answers, context, patience) if handler.response_streaming else answers
                )
            except asyncio.CancelledError:
                why = patience.why()
                if why is None:
                    raise
                raise why from None
            finally:
                self._streams.remove(patience)
                patience.close()

        async def answer(request: Any, context: Context) -> Any:
            identity.enter(caller)
            began = time.perf_counter()
            meter.began()
            code, reason = "OK", ""
            try:
                self._own_calls.take(caller.name)
                try:
                    self._all_calls.take()
                    try:
                        return await work(request, context)
                    finally:
                        self._all_calls.give_back()
                finally:
                    self._own_calls.give_back(caller.name)
            except asyncio.CancelledError:
                code = "CANCELLED"
                raise
            except aio.AbortError:
                code = "ABORTED"
                raise
            except Exception as error:
                # The last stop of every call: what is no refusal is logged and told as an incident.
                why = refused(error)
                code, reason = why.status_code.name, why.reason
            finally:
                seconds = time.perf_counter() - began
                meter.ended(code, seconds)
                level = "debug" if code == "OK" else "info"
                if logs.tells(level):
                    told = {"code": code, "reason": reason, "caller": caller.name}
                    getattr(_log, level)("call", method=method, **told, seconds=round(seconds, 6))
            await why.abort(context)
            return None

        # Messages are read in here, so that one that cannot be read is refused like any other fault.
        return _handler(streaming, handler.response_streaming, answer, None, handler.response_serializer)

    async def _sent(self, responses: Any, context: Context, patience: Patience) -> None:
        if inspect.isawaitable(responses):
            await responses
            return
        seconds = self._limits.write_seconds
        async for response in responses:
            patience.for_reader(seconds)
            await context.write(response)
            patience.over()

    async def _questions(
        self, requests: AsyncIterator[Any], read: _Reader, token: str, patience: Patience
    ) -> AsyncIterator[Any]:
        seconds = self._limits.idle_stream_seconds
        while True:
            if self._draining:
                raise Draining
            patience.for_question(seconds)
            try:
                request = await anext(requests)
            except StopAsyncIteration:
                return
            finally:
                patience.over()
            # A token that was revoked meanwhile is good for nothing more.
            self._authenticate(token)
            yield _read(request, read)

    async def drain(self, seconds: float) -> None:
        """Refuse new calls and end the streams: those that wait at once, others at their next question.

        Returns when all of them were told why, or after so many seconds.
        """
        self._draining = True
        ending = {patience.drain() for patience in self._streams}
        if ending:
            await asyncio.wait(ending, timeout=seconds)


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
