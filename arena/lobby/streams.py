"""The players' side of the lobby: one gRPC stream for each."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import grpc
from google.protobuf.message import DecodeError
from grpc import aio

from academy.wire.hanging_up import hang_up_later, reset_call
from academy.wire.rates import Bucket, Buckets
from arena.lobby.limits import LobbyLimits
from arena.lobby.lobby import Lobby, RemoteSession
from arena.lobby.refusals import InvalidRequestError, LobbyRefusalError, PlayerIdleError, TooManyError
from arena.lobby.tokens import bearer_token
from arena.v1 import players_pb2, players_pb2_grpc

# Notes an event, with what there is to say of it, in a log.
Note = Callable[..., object]
Context = aio.ServicerContext[Any, Any]


class PlayerServicer(players_pb2_grpc.PlayerServiceServicer):
    """Answers players that dial in."""

    def __init__(self, lobby: Lobby, limits: LobbyLimits, note: Note) -> None:
        self._lobby = lobby
        self._note = note
        self._limits = limits
        # Strangers are not to hide who comes and goes.
        self._lines = Buckets(limits.log_lines_per_second, limits.log_line_burst)

    async def Play(  # type: ignore[override]
        self, requests: AsyncIterator[players_pb2.PlayRequest], context: Context
    ) -> None:
        """Seat the player in games for as long as its stream lasts."""
        try:
            guest = await self._enter(requests, context)
        except LobbyRefusalError as refusal:
            self._tell_log("player refused", reason=refusal.reason, why=str(refusal), peer=context.peer())
            await self._end(refusal, context)
            return
        self._tell_log("player came", player=guest.name, peer=context.peer())
        try:
            why = await self._serve(guest, requests, context)
            if why is not None:
                await self._end(why, context)
        finally:
            self._lobby.gone(guest)

    async def _serve(
        self, guest: RemoteSession, requests: AsyncIterator[players_pb2.PlayRequest], context: Context
    ) -> LobbyRefusalError | None:
        """Let a player play, and have it leave; return why its stream is to be refused from then on."""
        hearing = asyncio.create_task(self._hear(guest, requests))
        why = "its connection ended"
        try:
            await self._tell(guest, context)
        except LobbyRefusalError as refusal:
            why = f"its stream was ended: {refusal}"
            # Frames hold the call, and what it has still to send.
            refusal.__traceback__ = refusal.__context__ = None
            return refusal
        finally:
            hearing.cancel()
            # Not when it has been told: whoever reads nothing would keep the place.
            self._lobby.leave(guest, why)
            self._tell_log("player went", player=guest.name, why=why)
        return None

    async def _end(self, refusal: LobbyRefusalError, context: Context) -> None:
        """End a stream with a status, which comes after what is not read: not for ever."""
        task = cast("asyncio.Task[Any]", asyncio.current_task())
        hang_up_later(task, self._limits.write_seconds)
        try:
            await refusal.abort(context)
        except aio.InternalError:
            # Not even the headers have gone out: there can be no status.
            reset_call(task)

    def _tell_log(self, event: str, **more: str) -> None:
        """Note an event, unless somebody fills the log with such."""
        if self._lines.of(event).use():
            self._note(event, **more)

    async def _enter(
        self, requests: AsyncIterator[players_pb2.PlayRequest], context: Context
    ) -> RemoteSession:
        seconds = self._limits.hello_seconds
        try:
            async with asyncio.timeout(seconds):
                first = await anext(requests)
        except StopAsyncIteration:
            raise InvalidRequestError("the stream ended before its hello") from None
        except TimeoutError:
            raise PlayerIdleError(f"no hello came within {seconds:g} s", seconds=seconds) from None
        except DecodeError as error:
            raise InvalidRequestError(f"a message that cannot be read: {error}") from error
        if not first.HasField("hello"):
            raise InvalidRequestError("a stream begins with hello")
        return self._lobby.enter(first.hello, bearer_token(context.invocation_metadata()))

    async def _hear(self, guest: RemoteSession, requests: AsyncIterator[players_pb2.PlayRequest]) -> None:
        limits = self._limits
        bucket = Bucket(limits.messages_per_second, limits.message_burst)
        try:
            async for request in requests:
                if not bucket.use():
                    raise TooManyError(
                        f"more than {limits.messages_per_second:g} messages a second",
                        messages_per_second=limits.messages_per_second,
                    )
                self._lobby.heard(guest, request)
        except LobbyRefusalError as refusal:
            guest.end(refusal)
        except DecodeError as error:
            guest.end(InvalidRequestError(f"a message that cannot be read: {error}"))
        except grpc.RpcError:
            # The stream is broken, which its other half finds out as well.
            guest.end()
        else:
            guest.end()

    async def _tell(self, guest: RemoteSession, context: Context) -> None:
        welcome = players_pb2.Welcome(messages_per_second=round(self._limits.messages_per_second))
        await self._write(players_pb2.PlayResponse(welcome=welcome), context)
        while (message := await guest.next_message()) is not None:
            await self._write(message, context)

    async def _write(self, message: players_pb2.PlayResponse, context: Context) -> None:
        seconds = self._limits.write_seconds
        try:
            async with asyncio.timeout(seconds):
                await context.write(message)
        except TimeoutError:
            raise PlayerIdleError(f"nothing was read for {seconds:g} s", seconds=seconds) from None
