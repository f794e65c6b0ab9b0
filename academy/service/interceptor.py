"""The way of every call: authentication, permission, limits, timeouts, statuses, metrics and the log.

gRPC asks `CallInterceptor` for the handler of each call. It authenticates the caller and returns a
`_GuardedMethod`, which reads the messages, lets the method answer, and turns errors into statuses.
"""

import asyncio
import inspect
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any, Final, TypeAlias, cast

import grpc
import structlog
from google.protobuf.message import DecodeError
from grpc import aio

from academy.service.access import current_caller
from academy.service.call_timeout import CallTimeout, Task
from academy.service.cost import FREE_BYTES, cost_of_reading
from academy.service.errors import (
    AnswerNotReadError,
    MalformedMessageError,
    RateExceededError,
    ServerDrainingError,
    StreamIdleError,
    TooManyCallsError,
    to_status,
)
from academy.service.limits import Limits
from academy.service.metrics import Metrics
from academy.service.permissions import OPEN_METHODS, check_permission
from academy.store.tokens import Caller, Role, UnknownTokenError
from academy.wire import logs
from academy.wire._compat import reset_call, reset_call_later
from academy.wire.errors import MessageOverdueError, NotAuthenticatedError, StatusDetails
from academy.wire.peers import holder_of
from academy.wire.rates import Bucket, Buckets
from academy.wire.tokens import bearer_token

Context = aio.ServicerContext[Any, Any]
_Reader = Callable[[bytes], Any] | None
_Behaviour = Callable[[Any, Context], Any]
_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
_Continuation: TypeAlias = "Callable[[grpc.HandlerCallDetails], Awaitable[_Handler | None]]"

_REFUSALS_LOGGED_PER_SECOND: Final = 10.0
_REFUSALS_LOGGED_AT_ONCE: Final = 100.0
# Every eighth place is kept for arenas and admins.
_KEPT_PART: Final = 8
_log = structlog.get_logger()


class CallInterceptor(aio.ServerInterceptor):
    """Stands before every method of a server."""

    def __init__(
        self,
        authenticate: Callable[[str], Caller],
        limits: Limits,
        metrics: Metrics,
        catch_up: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Authenticate callers; where a token is not known, once more after `catch_up`."""
        self.authenticate = authenticate
        self._catch_up = catch_up
        self.limits = limits
        self.metrics = metrics
        self.draining = False
        self.waiting: set[CallTimeout] = set()
        per_holder, total = limits.concurrent_calls_per_caller, limits.concurrent_calls
        # Counted apart, so that a caller may ask again before its last answer is sent.
        self.calls = ConcurrencyLimiter("calls", per_holder, total)
        self.answers = ConcurrencyLimiter("answers not yet read", per_holder, total)
        per_holder, total = limits.health_calls_per_peer, limits.health_calls
        self.health_calls = ConcurrencyLimiter("calls about health", per_holder, total)
        self.health_answers = ConcurrencyLimiter("calls about health", per_holder, total)
        self._rates = Buckets(limits.questions_per_second, limits.question_burst)
        self._methods: dict[str, _Handler] = {}
        self._lines = Bucket(_REFUSALS_LOGGED_PER_SECOND, _REFUSALS_LOGGED_AT_ONCE)
        self._own_lines = Buckets(_REFUSALS_LOGGED_PER_SECOND, _REFUSALS_LOGGED_AT_ONCE)

    async def intercept_service(
        self, continuation: _Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> "_Handler | None":
        """Return the method's handler behind its guard, or one that refuses."""
        method = handler_call_details.method
        handler = self._methods.get(method)
        if handler is None:
            handler = await continuation(handler_call_details)
            if handler is None:
                return None
            self._methods[method] = handler
        if method in OPEN_METHODS:
            return _GuardedMethod(self, method, handler, None, "").handler()
        name = ""
        try:
            token = bearer_token(handler_call_details.invocation_metadata)
            if not token:
                raise NotAuthenticatedError("the call has no token", "TOKEN_MISSING")
            caller = await self._find_caller(token)
            name = caller.name
            check_permission(caller, method)
            if self.draining:
                raise ServerDrainingError
            self.charge(caller, 1)
        except Exception as error:
            # Any exception: a fault of ours must not let a caller in, and the table knows its status.
            return self._make_refusal(method, name, to_status(error))
        return _GuardedMethod(self, method, handler, caller, token).handler()

    async def _find_caller(self, token: str) -> Caller:
        try:
            return self.authenticate(token)
        except UnknownTokenError:
            if self._catch_up is None:
                raise
            await self._catch_up()
        return self.authenticate(token)

    def charge(self, caller: Caller, questions: int) -> None:
        """Charge questions to the caller's rate. Raises RateExceededError."""
        wait = self._rates.of(caller.name).take(questions)
        if wait:
            raise RateExceededError(self.limits.questions_per_second, self.limits.question_burst, wait)

    def charge_rest(self, caller: Caller, questions: int) -> None:
        """Charge a call that counts as more than one question. Raises RateExceededError."""
        # The call itself was charged as one.
        if questions > 1:
            self.charge(caller, questions - 1)

    def charge_message(self, message: bytes, caller: Caller | None) -> None:
        """Charge for a bot's large message before it is parsed. Raises RateExceededError."""
        if caller is not None and caller.role is Role.BOT and len(message) > FREE_BYTES:
            self.charge(caller, cost_of_reading(len(message)))

    def may_log_refusal(self, caller: Caller | None) -> bool:
        """Whether one more refusal is logged: no caller may fill the disk or crowd out the others' lines."""
        return (self._lines if caller is None else self._own_lines.of(caller.name)).use()

    async def drain(self, seconds: float) -> None:
        """Refuse new calls, end those that wait for their callers, and other streams at their next question.

        Returns when all of them have their status, or after `seconds`.
        """
        self.draining = True
        ending = {call.drain() for call in self.waiting}
        if ending:
            await asyncio.wait(ending, timeout=seconds)

    def _make_refusal(self, method: str, name: str, status: StatusDetails) -> _Handler:
        async def refuse(_: AsyncIterator[Any], context: Context) -> None:
            self.metrics.method(method).ended_by_code[status.code.name] += 1
            self.metrics.refusals[method, status.reason] += 1
            # Only some are logged, all are counted.
            if self._lines.use():
                _log.warning("refused", method=method, reason=status.reason, caller=name, peer=context.peer())
            await status.abort(context)

        # As a stream of requests, so that the server awaits no message from a refused caller.
        return _handler(True, refuse, None)

    def give_up(self, task: Task) -> None:
        """End a call whose answer is not read."""
        if self.may_log_refusal(None):
            _log.info("answer not read", seconds=self.limits.write_seconds)
        reset_call(task)


class _GuardedMethod:
    """A method for one caller, or for callers without a token."""

    def __init__(
        self, guard: CallInterceptor, method: str, handler: _Handler, caller: Caller | None, token: str
    ) -> None:
        self._guard = guard
        self._method = method
        self._caller = caller
        self._token = token
        self._behaviour = cast(
            _Behaviour,
            handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream,
        )
        self._read: _Reader = handler.request_deserializer
        self._serialize = handler.response_serializer
        self._streams_requests = handler.request_streaming
        self._streams_responses = handler.response_streaming
        self._meter = guard.metrics.method(method)
        health = caller is None
        # No number of bots keeps out those who look after them.
        keeps = caller is not None and caller.role not in (Role.ARENA, Role.ADMIN)
        self._kept = guard.limits.concurrent_calls // _KEPT_PART if keeps else 0
        self._calls = guard.health_calls if health else guard.calls
        self._answers = guard.health_answers if health else guard.answers

    def handler(self) -> _Handler:
        """Return the handler for gRPC.

        Messages are awaited and read here, not by gRPC: so each call has its place first, waits for a limited
        time, and is refused with a status of ours if its message cannot be read.
        """
        return _handler(self._streams_responses, self._answer, self._serialize)

    async def _answer(self, _: Any, context: Context) -> Any:
        task = cast(Task, asyncio.current_task())
        if self._caller is None:
            name = holder_of(context.peer())
        else:
            current_caller.set(self._caller)
            name = self._caller.name
        began = time.perf_counter()
        self._meter.running += 1
        code, reason = "OK", ""
        try:
            return await self._take_place(context, task, name)
        except asyncio.CancelledError:
            code = "CANCELLED"
            raise
        except aio.AbortError:
            code = "ABORTED"
            raise
        except aio.InternalError:
            # The caller went while it was written to.
            code = "CANCELLED"
            raise asyncio.CancelledError from None
        except Exception as error:
            # The last stop of every call: an unexpected error is logged and becomes an incident.
            status = to_status(error)
            code, reason = status.code.name, status.reason
            self._guard.metrics.refusals[self._method, reason] += 1
            if isinstance(error, AnswerNotReadError):
                # The status would follow the unread answer, so it may never arrive.
                reset_call_later(self._guard.limits.write_seconds)
                _forget_frames(error)
        finally:
            self._note_end(name, code, reason, time.perf_counter() - began)
        try:
            await status.abort(context)
        except aio.AbortError as aborted:
            # gRPC keeps it with the call; with its frames it would keep the call.
            _forget_frames(aborted)
            del _, context
            raise
        except aio.InternalError:
            # Not even the headers have gone out: there can be no status.
            reset_call(task)

    async def _take_place(self, context: Context, task: Task, name: str) -> Any:
        """Answer while the call has a place among those that run, and then one among unread answers."""
        self._answers.check(name, self._kept)
        self._calls.take(name, self._kept)
        try:
            answer = await self._work(context)
        finally:
            self._calls.give_back(name)
        # gRPC ends the task once all of the answer is sent.
        self._answers.put(name)
        seconds = self._guard.limits.write_seconds
        late = asyncio.get_running_loop().call_later(seconds, self._guard.give_up, task)
        task.add_done_callback(partial(self._note_sent, name, late))
        return answer

    async def _work(self, context: Context) -> Any:
        timeout = CallTimeout()
        self._guard.waiting.add(timeout)
        try:
            if self._streams_requests:
                request = self._read_questions(context, timeout)
            else:
                request = await self._read_message(context, timeout)
                if not self._streams_responses:
                    # It is answered, also by a server that ends.
                    self._guard.waiting.discard(timeout)
            answer = self._behaviour(request, context)
            return await (self._write(answer, context, timeout) if self._streams_responses else answer)
        except asyncio.CancelledError:
            error = timeout.take_error()
            if error is None:
                raise
            raise error from None
        finally:
            self._guard.waiting.discard(timeout)
            timeout.stop()

    async def _read_message(self, context: Context, timeout: CallTimeout) -> Any:
        """Return the one message of a call. Raises MalformedMessageError and RateExceededError."""
        timeout.wait(self._guard.limits.message_seconds, MessageOverdueError)
        message = await context.read()
        timeout.stop()
        if message is aio.EOF:
            raise MalformedMessageError("the call ended without a message")
        self._guard.charge_message(message, self._caller)
        return self._parse(message)

    async def _read_questions(self, context: Context, timeout: CallTimeout) -> AsyncIterator[Any]:
        while True:
            if self._guard.draining:
                raise ServerDrainingError
            timeout.wait(self._guard.limits.idle_stream_seconds, StreamIdleError)
            try:
                # gRPC's iterators over requests hold the call and themselves, until cycles are looked for.
                message = await context.read()
            finally:
                timeout.stop()
            if message is aio.EOF:
                return
            # The token may have been revoked meanwhile.
            self._guard.charge_message(message, self._guard.authenticate(self._token))
            yield self._parse(message)

    async def _write(self, answers: Any, context: Context, timeout: CallTimeout) -> None:
        if inspect.isawaitable(answers):
            await answers
            return
        seconds = self._guard.limits.write_seconds
        async for answer in answers:
            timeout.wait(seconds, AnswerNotReadError)
            await context.write(answer)
            timeout.stop()

    def _parse(self, message: Any) -> Any:
        if self._read is None:
            return message
        try:
            return self._read(message)
        except DecodeError as error:
            raise MalformedMessageError(str(error)) from error

    def _note_end(self, name: str, code: str, reason: str, seconds: float) -> None:
        self._meter.ended(code, seconds)
        level = logging.DEBUG if code == "OK" else logging.INFO
        if logs.level <= level and (code == "OK" or self._guard.may_log_refusal(self._caller)):
            fields = {"code": code, "reason": reason, "caller": name, "seconds": round(seconds, 6)}
            _log.log(level, "call", method=self._method, **fields)

    def _note_sent(self, name: str, late: asyncio.TimerHandle, _: Task) -> None:
        """Free the place of an answer that was sent, or will never be."""
        late.cancel()
        self._answers.give_back(name)


class ConcurrencyLimiter:
    """A number of places for each holder and in all; `what` names them in errors."""

    def __init__(self, what: str, per_holder: int, total: int) -> None:
        self._what = what
        self._per_holder = per_holder
        self._total = total
        self._taken: dict[str, int] = {}
        self._sum = 0

    def check(self, holder: str, kept: int = 0) -> None:
        """Raise TooManyCallsError if there is no place but those that are `kept` for others."""
        if self._taken.get(holder, 0) >= self._per_holder:
            raise TooManyCallsError(f"{self._what} of {holder}", self._per_holder)
        if self._sum >= self._total - kept:
            raise TooManyCallsError(f"{self._what} of all callers", self._total - kept)

    def take(self, holder: str, kept: int = 0) -> None:
        """Take a place. Raises TooManyCallsError like `check`."""
        self.check(holder, kept)
        self.put(holder)

    def put(self, holder: str) -> None:
        """Take a place, though there may be none free."""
        self._taken[holder] = self._taken.get(holder, 0) + 1
        self._sum += 1

    def give_back(self, holder: str) -> None:
        """Give a place back."""
        self._sum -= 1
        left = self._taken[holder] - 1
        if left:
            self._taken[holder] = left
        else:
            del self._taken[holder]


def _forget_frames(error: BaseException) -> None:
    """Drop the frames of an exception: they would keep the call and its answer in memory."""
    error.__traceback__ = error.__context__ = None


def _handler(response_streaming: bool, behaviour: _Behaviour, serializer: Any) -> _Handler:
    """Make a handler of a stream of requests, whose messages gRPC does not parse."""
    if response_streaming:
        return grpc.stream_stream_rpc_method_handler(behaviour, None, serializer)
    return grpc.stream_unary_rpc_method_handler(behaviour, None, serializer)
