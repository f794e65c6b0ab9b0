"""What every call passes: authentication, permission, limits on calls at once and on waiting, statuses,
metrics and the log.

`CallInterceptor` is the gRPC interceptor. `ConcurrencyLimiter` counts calls under way, for each caller and in
all; `TimeoutQueue` ends calls whose caller keeps them waiting, `StreamTimeout` streams that are idle.
"""

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any, Final, TypeAlias, cast

import grpc
import structlog
from google.protobuf.message import DecodeError
from grpc import aio

from academy.service import logs, permissions
from academy.service.cost import cost_of_reading
from academy.service.errors import StatusDetails, to_status
from academy.service.limits import Limits
from academy.service.metrics import Metrics
from academy.service.permissions import OPEN_METHODS, bearer_token, check_permission
from academy.service.refusals import (
    AnswerNotReadError,
    MalformedMessageError,
    MessageOverdueError,
    RateExceededError,
    ServerDrainingError,
    StreamIdleError,
    TooManyCallsError,
)
from academy.store.tokens import Caller, Role
from academy.wire.hanging_up import hang_up_later, reset_call
from academy.wire.rates import Bucket, Buckets

_RETRY_SECONDS: Final = 0.5


class ConcurrencyLimiter:
    """So many places for each holder, and so many in all; `what` names those who take them."""

    def __init__(self, what: str, each: int, in_all: int) -> None:
        self._what = what
        self._each = each
        self._in_all = in_all
        self._taken: dict[str, int] = {}
        self._sum = 0

    def check(self, holder: str) -> None:
        """Let one pass for whom there is a place. Raises TooManyCallsError."""
        if self._taken.get(holder, 0) >= self._each:
            raise TooManyCallsError(f"{self._what} of {holder}", self._each, _RETRY_SECONDS)
        if self._sum >= self._in_all:
            raise TooManyCallsError(f"{self._what} of all callers", self._in_all, _RETRY_SECONDS)

    def take(self, holder: str) -> None:
        """Take a place. Raises TooManyCallsError where none is free."""
        self.check(holder)
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


_WaitingTask = asyncio.Task[Any]


class TimeoutQueue:
    """Tells of each task that has waited for so many seconds, once. For one event loop."""

    def __init__(self, seconds: float, tell: Callable[[_WaitingTask], None]) -> None:
        self._seconds = seconds
        self._tell = tell
        # In the order in which their time is up.
        self._until: dict[_WaitingTask, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, task: _WaitingTask) -> None:
        """From now on a task waits."""
        self._until[task] = time.monotonic() + self._seconds
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._look)

    def over(self, task: _WaitingTask) -> None:
        """What it waited for has come; nothing for one that does not wait."""
        self._until.pop(task, None)

    def __iter__(self) -> Iterator[_WaitingTask]:
        return iter(list(self._until))

    def _look(self) -> None:
        self._timer = None
        now = time.monotonic()
        for task, until in list(self._until.items()):
            if until > now:
                # Looked at no more often than it can matter.
                self._timer = asyncio.get_running_loop().call_later(until - now, self._look)
                return
            del self._until[task]
            self._tell(task)


class StreamTimeout:
    """Ends the task it is made in when that waits for its caller for too long. Close it with the stream."""

    def __init__(self) -> None:
        task = asyncio.current_task()
        assert task is not None, "a stream is answered by a task"
        self._task = task
        self._loop = asyncio.get_running_loop()
        self._asked = False
        self._seconds = 0.0
        self._until = inf
        self._timer: asyncio.TimerHandle | None = None
        self._ended: ServerDrainingError | StreamIdleError | AnswerNotReadError | None = None

    def for_question(self, seconds: float) -> None:
        """From now on a question is awaited; after so many seconds of that the task is cancelled."""
        self._asked = True
        self._wait(seconds)

    def for_reader(self, seconds: float) -> None:
        """From now on an answer is to be read; after so many seconds of that the task is cancelled."""
        self._asked = False
        self._wait(seconds)

    def _wait(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = until = self._loop.time() + seconds
        timer = self._timer
        if timer is None or timer.when() > until:
            if timer is not None:
                timer.cancel()
            self._timer = self._loop.call_at(until, self._look)

    def over(self) -> None:
        """What was waited for has come."""
        self._until = inf

    def close(self) -> None:
        """Wait no more."""
        self._until = inf
        if self._timer is not None:
            self._timer.cancel()

    def drain(self) -> asyncio.Task[Any]:
        """Cancel the task now if it waits for a question; return it.

        One whose answer is on its way is left alone: with that cut short, no status could be sent either.
        """
        if self._asked and self._until < inf and self._ended is None:
            self._end(ServerDrainingError())
        return self._task

    def why(self) -> Exception | None:
        """Why the task was cancelled from here, which it then is not any more; None if it was not."""
        if self._ended is not None:
            self._task.uncancel()
        return self._ended

    def _look(self) -> None:
        self._timer = None
        if self._until <= self._loop.time():
            seconds = self._seconds
            self._end(
                StreamIdleError("nothing was asked", seconds) if self._asked else AnswerNotReadError(seconds)
            )
        elif self._until < inf:
            self._timer = self._loop.call_at(self._until, self._look)

    def _end(self, why: ServerDrainingError | StreamIdleError | AnswerNotReadError) -> None:
        self._ended = why
        self._task.cancel()


Context = aio.ServicerContext[Any, Any]
_Task = asyncio.Task[Any]
_Reader = Callable[[bytes], Any] | None
_Behaviour = Callable[[Any, Context], Any]
_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
_Continuation: TypeAlias = "Callable[[grpc.HandlerCallDetails], Awaitable[_Handler | None]]"

# They take 2 kB each, and every contest brings new tokens.
_GUARDS_REMEMBERED: Final = 1_024
_REFUSALS_LOGGED_PER_SECOND: Final = 10.0
_REFUSALS_LOGGED_AT_ONCE: Final = 100.0
_log = structlog.get_logger()


@dataclass(frozen=True)
class _Room:
    """For how many calls there is room: those being answered, and those whose answers are on their way.

    Apart, so that whoever takes an answer and asks again at once is not refused for the one before.
    """

    calls: ConcurrencyLimiter
    answers: ConcurrencyLimiter


class CallInterceptor(aio.ServerInterceptor):
    """Stands before every method of a server."""

    def __init__(self, authenticate: Callable[[str], Caller], limits: Limits, metrics: Metrics) -> None:
        self._authenticate = authenticate
        self._limits = limits
        self._metrics = metrics
        self._buckets = Buckets(limits.questions_per_second, limits.question_burst)
        self._methods: dict[str, _Handler] = {}
        # Made once for each token, as a call would else pay for it.
        self._guards: dict[tuple[str, str], tuple[Caller, _Handler]] = {}
        own, in_all = limits.concurrent_calls_per_caller, limits.concurrent_calls
        self._room = _Room(
            ConcurrencyLimiter("calls", own, in_all), ConcurrencyLimiter("answers not yet read", own, in_all)
        )
        own, in_all = limits.health_calls_per_peer, limits.health_calls
        what = "calls about health"
        self._room_for_health = _Room(
            ConcurrencyLimiter(what, own, in_all), ConcurrencyLimiter(what, own, in_all)
        )
        self._streams: set[StreamTimeout] = set()
        self._reading = TimeoutQueue(limits.message_seconds, self._end_reading)
        self._unheard: dict[asyncio.Task[Any], Exception] = {}
        self._sending = TimeoutQueue(limits.write_seconds, self._give_up)
        self._draining = False
        self._lines = Bucket(_REFUSALS_LOGGED_PER_SECOND, _REFUSALS_LOGGED_AT_ONCE)
        self._own_lines = Buckets(_REFUSALS_LOGGED_PER_SECOND, _REFUSALS_LOGGED_AT_ONCE)

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
            return self._guarded(method, handler, None, "")
        name = ""
        try:
            token = bearer_token(handler_call_details.invocation_metadata)
            caller = self._authenticate(token)
            name = caller.name
            check_permission(caller, method)
            if self._draining:
                raise ServerDrainingError
            self.ask(caller, 1)
        except Exception as error:
            # Whatever it was: nobody is let in by a fault of ours, and the table knows what to say of it.
            return self._refusing(method, name, to_status(error))
        known = self._guards.get((method, token))
        if known is None or known[0] != caller:
            if len(self._guards) >= _GUARDS_REMEMBERED:
                del self._guards[next(iter(self._guards))]
            known = self._guards[method, token] = caller, self._guarded(method, handler, caller, token)
        return known[1]

    def ask(self, caller: Caller, questions: int) -> None:
        """Count questions against the caller's rate. Raises RateExceededError."""
        wait = self._buckets.of(caller.name).take(questions)
        if wait:
            raise RateExceededError(self._limits.questions_per_second, self._limits.question_burst, wait)

    def _refusing(self, method: str, name: str, why: StatusDetails) -> _Handler:
        async def refuse(_: AsyncIterator[Any], context: Context) -> None:
            self._metrics.method(method).ended_by_code[why.status_code.name] += 1
            self._metrics.refusals[method, why.reason] += 1
            # All of them are counted.
            if self._lines.use():
                _log.warning("refused", method=method, reason=why.reason, caller=name, peer=context.peer())
            await why.abort(context)

        # As a stream of requests, so that nothing is awaited from a caller who is not let in.
        return _handler(True, True, refuse, None, None)

    def _guarded(self, method: str, handler: _Handler, caller: Caller | None, token: str) -> _Handler:
        """Return a method's handler for one caller, or for those who need no token."""
        behaviour = cast(
            _Behaviour,
            handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream,
        )
        read, streaming = handler.request_deserializer, handler.request_streaming
        single = not handler.response_streaming
        meter = self._metrics.method(method)
        room = self._room_for_health if caller is None else self._room

        async def work(context: Context, task: _Task) -> Any:
            request = None if streaming else await self._message(context, read, task, caller)
            if single and not streaming:
                return await behaviour(request, context)
            patience = StreamTimeout()
            self._streams.add(patience)
            try:
                asked = self._questions(context, read, token, patience) if streaming else request
                answers = behaviour(asked, context)
                return await (answers if single else self._sent(answers, context, patience))
            except asyncio.CancelledError:
                why = patience.why()
                if why is None:
                    raise
                raise why from None
            finally:
                self._streams.remove(patience)
                patience.close()

        async def answer(_: Any, context: Context) -> Any:
            task = cast(_Task, asyncio.current_task())
            if caller is None:
                name = _host(context.peer())
            else:
                permissions.enter(caller)
                name = caller.name
            began = time.perf_counter()
            meter.began()
            code, reason = "OK", ""
            try:
                room.answers.check(name)
                room.calls.take(name)
                try:
                    answered = await work(context, task)
                finally:
                    room.calls.give_back(name)
                # From here on gRPC has it, and ends the task once all of it has been sent.
                room.answers.put(name)
                task.add_done_callback(partial(self._read, room, name))
                self._sending.begin(task)
                return answered
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
                # The last stop of every call: what is no refusal is logged and told as an incident.
                why = to_status(error)
                code, reason = why.status_code.name, why.reason
                self._metrics.refusals[method, reason] += 1
                if isinstance(error, AnswerNotReadError):
                    # The status comes after what is not read, if it comes at all.
                    hang_up_later(task, self._limits.write_seconds)
                    _forget_frames(error)
            finally:
                seconds = time.perf_counter() - began
                meter.ended(code, seconds)
                level = "debug" if code == "OK" else "info"
                if logs.tells(level) and (code == "OK" or self._may_fill_a_line(caller)):
                    told = {"code": code, "reason": reason, "caller": name}
                    getattr(_log, level)("call", method=method, **told, seconds=round(seconds, 6))
            try:
                await why.abort(context)
            except aio.AbortError as aborted:
                # gRPC keeps it with the call; with its frames it would keep the call.
                _forget_frames(aborted)
                del _, context
                raise
            except aio.InternalError:
                # Not even the headers have gone out: there can be no status.
                reset_call(task)

        # Messages are awaited and read in here: so each call has its place before, is not waited for without
        # end, and is refused like for any other fault where its message cannot be read.
        return _handler(True, handler.response_streaming, answer, None, handler.response_serializer)

    def _may_fill_a_line(self, caller: Caller | None) -> bool:
        """Whether one more refusal is logged: nobody may fill the disk, or hide what others do."""
        return (self._lines if caller is None else self._own_lines.of(caller.name)).use()

    def _read(self, room: _Room, name: str, task: _Task) -> None:
        """An answer was sent, or will never be."""
        self._sending.over(task)
        room.answers.give_back(name)

    def _give_up(self, task: _Task) -> None:
        """An answer was on its way for too long."""
        if self._may_fill_a_line(None):
            _log.info("answer not read", seconds=self._limits.write_seconds)
        reset_call(task)

    async def _message(self, context: Context, read: _Reader, task: _Task, caller: Caller | None) -> Any:
        """Return the one message of a call.

        Raises MessageOverdueError, ServerDrainingError, MalformedMessageError and RateExceededError.
        """
        self._reading.begin(task)
        try:
            message = await context.read()
        except asyncio.CancelledError:
            why = self._unheard.get(task)
            if why is None:
                raise
            task.uncancel()
            raise why from None
        finally:
            self._reading.over(task)
            self._unheard.pop(task, None)
        if message is aio.EOF:
            raise MalformedMessageError("the call ended without a message")
        self._weigh(message, caller)
        return _read(message, read)

    def _weigh(self, message: bytes, caller: Caller | None) -> None:
        """Count a bot's large message before it is read. Raises RateExceededError."""
        if caller is not None and caller.role is Role.BOT:
            questions = cost_of_reading(len(message))
            if questions:
                self.ask(caller, questions)

    def _end_reading(self, task: _Task, why: Exception | None = None) -> None:
        self._unheard[task] = why or MessageOverdueError(self._limits.message_seconds)
        task.cancel()

    async def _sent(self, responses: Any, context: Context, patience: StreamTimeout) -> None:
        if inspect.isawaitable(responses):
            await responses
            return
        seconds = self._limits.write_seconds
        async for response in responses:
            patience.for_reader(seconds)
            await context.write(response)
            patience.over()

    async def _questions(
        self, context: Context, read: _Reader, token: str, patience: StreamTimeout
    ) -> AsyncIterator[Any]:
        seconds = self._limits.idle_stream_seconds
        while True:
            if self._draining:
                raise ServerDrainingError
            patience.for_question(seconds)
            try:
                # gRPC's iterators over requests hold the call and themselves, until cycles are looked for.
                request = await context.read()
            finally:
                patience.over()
            if request is aio.EOF:
                return
            # A token that was revoked meanwhile is good for nothing more.
            caller = self._authenticate(token)
            self._weigh(request, caller)
            yield _read(request, read)

    async def drain(self, seconds: float) -> None:
        """Refuse new calls, and end those that wait for their callers; other streams at their next question.

        Returns when all of them were told why, or after so many seconds.
        """
        self._draining = True
        ending = {patience.drain() for patience in self._streams}
        for task in self._reading:
            self._reading.over(task)
            self._end_reading(task, ServerDrainingError())
            ending.add(task)
        if ending:
            await asyncio.wait(ending, timeout=seconds)


def _read(message: Any, read: _Reader) -> Any:
    if read is None:
        return message
    try:
        return read(message)
    except DecodeError as error:
        raise MalformedMessageError(str(error)) from error


def _host(peer: str) -> str:
    """A peer without its port, as gRPC writes it: `ipv4:1.2.3.4:5678`, `ipv6:[::1]:5678` or `unix:`."""
    return peer if peer.startswith("unix") else peer.rpartition(":")[0]


def _forget_frames(error: BaseException) -> None:
    """Drop what an exception knows of where it was raised: frames hold the call, and what it has to send."""
    error.__traceback__ = error.__context__ = None


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
