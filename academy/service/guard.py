"""What every call passes: authentication, permission, limits, statuses, metrics and the log.

A call that may not be made is refused before its message is read.
"""

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias, cast

import grpc
import structlog
from google.protobuf.message import DecodeError
from grpc import aio

from academy.service import identity, logs
from academy.service.costs import cost_of_reading
from academy.service.errors import Refused, refused
from academy.service.identity import bearer_token
from academy.service.limits import Limits
from academy.service.metrics import Metrics
from academy.service.patience import Patience
from academy.service.permissions import OPEN_METHODS, check_permission
from academy.service.places import Places
from academy.service.refusals import AnswerNotRead, Draining, MalformedMessage, MessageOverdue, RateExceeded
from academy.service.waits import Waits
from academy.store.tokens import Caller, Role
from academy.wire.hanging_up import hang_up, hang_up_later
from academy.wire.rates import Bucket, Buckets

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

    calls: Places
    answers: Places


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
        own, in_all = limits.concurrent_calls_per_caller, limits.concurrent_calls
        self._room = _Room(Places("calls", own, in_all), Places("answers not yet read", own, in_all))
        own, in_all = limits.health_calls_per_peer, limits.health_calls
        what = "calls about health"
        self._room_for_health = _Room(Places(what, own, in_all), Places(what, own, in_all))
        self._streams: set[Patience] = set()
        self._reading = Waits(limits.message_seconds, self._end_reading)
        self._unheard: dict[asyncio.Task[Any], Exception] = {}
        self._sending = Waits(limits.write_seconds, self._give_up)
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
                raise Draining
            self.ask(caller, 1)
        except Exception as error:
            # Whatever it was: nobody is let in by a fault of ours, and the table knows what to say of it.
            return self._refusing(method, name, refused(error))
        known = self._guards.get((method, token))
        if known is None or known[0] != caller:
            if len(self._guards) >= _GUARDS_REMEMBERED:
                del self._guards[next(iter(self._guards))]
            known = self._guards[method, token] = caller, self._guarded(method, handler, caller, token)
        return known[1]

    def ask(self, caller: Caller, questions: int) -> None:
        """Count questions against the caller's rate. Raises RateExceeded."""
        wait = self._buckets.of(caller.name).take(questions)
        if wait:
            raise RateExceeded(self._limits.questions_per_second, self._limits.question_burst, wait)

    def _refusing(self, method: str, name: str, why: Refused) -> _Handler:
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
            patience = Patience()
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
                identity.enter(caller)
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
                why = refused(error)
                code, reason = why.status_code.name, why.reason
                self._metrics.refusals[method, reason] += 1
                if isinstance(error, AnswerNotRead):
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
                hang_up(task)

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
        hang_up(task)

    async def _message(self, context: Context, read: _Reader, task: _Task, caller: Caller | None) -> Any:
        """Return the one message of a call.

        Raises MessageOverdue, Draining, MalformedMessage and RateExceeded.
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
            raise MalformedMessage("the call ended without a message")
        self._weigh(message, caller)
        return _read(message, read)

    def _weigh(self, message: bytes, caller: Caller | None) -> None:
        """Count a bot's large message before it is read. Raises RateExceeded."""
        if caller is not None and caller.role is Role.BOT:
            questions = cost_of_reading(len(message))
            if questions:
                self.ask(caller, questions)

    def _end_reading(self, task: _Task, why: Exception | None = None) -> None:
        self._unheard[task] = why or MessageOverdue(self._limits.message_seconds)
        task.cancel()

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
        self, context: Context, read: _Reader, token: str, patience: Patience
    ) -> AsyncIterator[Any]:
        seconds = self._limits.idle_stream_seconds
        while True:
            if self._draining:
                raise Draining
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
            self._end_reading(task, Draining())
            ending.add(task)
        if ending:
            await asyncio.wait(ending, timeout=seconds)


def _read(message: Any, read: _Reader) -> Any:
    if read is None:
        return message
    try:
        return read(message)
    except DecodeError as error:
        raise MalformedMessage(str(error)) from error


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
