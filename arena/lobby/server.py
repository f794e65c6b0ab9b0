"""The lobby's gRPC server, in a thread of its own: a stream for each player, health and reflection."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

import grpc
from google.protobuf.message import DecodeError
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from academy.wire._compat import remember_makers, reset_call, reset_call_later
from academy.wire.errors import RefusedCallError
from academy.wire.health import HealthServicer
from academy.wire.open_files import allow_open_files
from academy.wire.rates import Bucket, Buckets
from academy.wire.tls import Endpoint
from academy.wire.tokens import bearer_token
from arena.lobby.errors import DOMAIN, InvalidRequestError, PlayerIdleError, TooManyError
from arena.lobby.game_socket import open_game_socket
from arena.lobby.lobby import Authenticator, Lobby, LobbyLimits, RemoteSession
from arena.lobby.one_message import OneMessageInterceptor
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
            session = await self._enter(requests, context)
        except RefusedCallError as refusal:
            self._log_event("player refused", reason=refusal.reason, why=str(refusal), peer=context.peer())
            await self._end(refusal, context)
            return
        self._log_event("player came", player=session.name, peer=context.peer())
        try:
            why = await self._serve(session, requests, context)
            if why is not None:
                await self._end(why, context)
        finally:
            self._lobby.forget(session)

    async def _serve(
        self, session: RemoteSession, requests: AsyncIterator[players_pb2.PlayRequest], context: Context
    ) -> RefusedCallError | None:
        """Let a player play, and have it leave; return why its stream is refused from then on."""
        hearing = asyncio.create_task(self._receive(session, requests))
        why = "its connection ended"
        try:
            await self._send(session, context)
        except RefusedCallError as refusal:
            why = f"its stream was ended: {refusal}"
            # Frames hold the call, and what it has still to send.
            refusal.__traceback__ = refusal.__context__ = None
            return refusal
        finally:
            hearing.cancel()
            # Not only after the status is sent: a caller that reads nothing would keep the place.
            self._lobby.leave(session, why)
            self._log_event("player went", player=session.name, why=why)
        return None

    async def _end(self, refusal: RefusedCallError, context: Context) -> None:
        """End a stream with a status, which comes after what is not read: not for ever."""
        task = cast("asyncio.Task[Any]", asyncio.current_task())
        reset_call_later(self._limits.write_seconds)
        try:
            await refusal.status(DOMAIN).abort(context)
        except aio.InternalError:
            # Not even the headers have gone out: there can be no status.
            reset_call(task)

    def _log_event(self, event: str, **more: str) -> None:
        """Note an event, unless a caller fills the log with them."""
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

    async def _receive(
        self, session: RemoteSession, requests: AsyncIterator[players_pb2.PlayRequest]
    ) -> None:
        limits = self._limits
        bucket = Bucket(limits.messages_per_second, limits.message_burst)
        try:
            async for request in requests:
                if not bucket.use():
                    raise TooManyError(
                        f"more than {limits.messages_per_second:g} messages a second",
                        messages_per_second=limits.messages_per_second,
                    )
                self._lobby.receive(session, request)
        except RefusedCallError as refusal:
            session.end(refusal)
        except DecodeError as error:
            session.end(InvalidRequestError(f"a message that cannot be read: {error}"))
        except grpc.RpcError:
            # The stream is broken, which its other half finds out as well.
            session.end()
        else:
            session.end()

    async def _send(self, session: RemoteSession, context: Context) -> None:
        welcome = players_pb2.Welcome(messages_per_second=round(self._limits.messages_per_second))
        await self._write(players_pb2.PlayResponse(welcome=welcome), context)
        while (message := await session.next_message()) is not None:
            await self._write(message, context)

    async def _write(self, message: players_pb2.PlayResponse, context: Context) -> None:
        seconds = self._limits.write_seconds
        try:
            async with asyncio.timeout(seconds):
                await context.write(message)
        except TimeoutError:
            raise PlayerIdleError(f"nothing was read for {seconds:g} s", seconds=seconds) from None


_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"


class ShortCallInterceptor(aio.ServerInterceptor):
    """Limits the time of calls of some services, and answers their errors with statuses."""

    def __init__(self, services: Iterable[str], seconds: float) -> None:
        self._services = frozenset(services)
        self._seconds = seconds

    async def intercept_service(
        self,
        continuation: "Callable[[grpc.HandlerCallDetails], Awaitable[_Handler | None]]",
        handler_call_details: grpc.HandlerCallDetails,
    ) -> "_Handler | None":
        """Return the method's handler, with an end to its calls."""
        handler = await continuation(handler_call_details)
        service = handler_call_details.method.strip("/").partition("/")[0]
        if handler is None or service not in self._services:
            return handler
        if handler.response_streaming:
            answers = cast("Callable[..., Any]", handler.stream_stream or handler.unary_stream)

            async def stream(request: Any, context: Any) -> AsyncIterator[Any]:
                reset_call_later(self._seconds)
                try:
                    async for response in answers(request, context):
                        yield response
                except RefusedCallError as error:
                    await error.status(DOMAIN).abort(context)

            make = grpc.stream_stream_rpc_method_handler
            if not handler.request_streaming:
                make = grpc.unary_stream_rpc_method_handler
            return make(stream, handler.request_deserializer, handler.response_serializer)
        answer = cast("Callable[..., Any]", handler.unary_unary)

        async def single(request: Any, context: Any) -> Any:
            reset_call_later(self._seconds)
            try:
                return await answer(request, context)
            except RefusedCallError as error:
                await error.status(DOMAIN).abort(context)

        return grpc.unary_unary_rpc_method_handler(
            single, handler.request_deserializer, handler.response_serializer
        )


PLAYER_SERVICE: Final = players_pb2.DESCRIPTOR.services_by_name["PlayerService"].full_name
HEALTH_SERVICE: Final = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name
GRACE_SECONDS: Final = 5.0
_OTHER_FILES: Final = 1_024


@dataclass(frozen=True)
class OpenLobby:
    """A lobby that is open: where players dial in, and the socket where games ask for them."""

    address: str
    games: Path


@dataclass(frozen=True)
class Neighbour:
    """Other services of the lobby's server.

    They are added as the block begins, and end what they do as it ends, before players are sent home.
    """

    names: tuple[str, ...]
    serve: Callable[[aio.Server, Lobby, Path], AbstractAsyncContextManager[None]]


def new_server(services: Sequence[str], limits: LobbyLimits) -> tuple[aio.Server, HealthServicer]:
    """A gRPC server with health and reflection, and limits on what it takes."""
    seconds = limits.health_watch_seconds + limits.write_seconds
    server = aio.server(
        interceptors=[
            OneMessageInterceptor(limits),
            ShortCallInterceptor((HEALTH_SERVICE, reflection.SERVICE_NAME), seconds),
        ],
        options=[
            ("grpc.max_receive_message_length", limits.message_bytes),
            ("grpc.max_send_message_length", -1),
            ("grpc.max_metadata_size", limits.metadata_bytes),
            ("grpc.max_allowed_incoming_connections", _make_room(limits.connections)),
            ("grpc.server_handshake_timeout_ms", round(1_000 * limits.handshake_seconds)),
            ("grpc.max_connection_idle_ms", round(1_000 * limits.idle_connection_seconds)),
            # A player whose machine has vanished says nothing more: this finds it out.
            ("grpc.keepalive_time_ms", 20_000),
            ("grpc.keepalive_timeout_ms", 10_000),
            ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
            ("grpc.so_reuseport", 0),
        ],
        maximum_concurrent_rpcs=2 * limits.players,
    )
    health = HealthServicer(services, limits.health_watch_seconds)
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    reflection.enable_server_reflection((*services, HEALTH_SERVICE, reflection.SERVICE_NAME), server)
    return server, health


def _make_room(connections: int) -> int:
    """Return for how many connections there are open files, besides those of games, results and the league.

    Strangers who take all connections take no other files: runs and pools go on.
    """
    files = allow_open_files(connections + _OTHER_FILES)
    return min(connections, max(files - _OTHER_FILES, files // 2))


@asynccontextmanager
async def open_lobby(
    endpoint: Endpoint,
    authenticator: Authenticator,
    note: Note,
    limits: LobbyLimits | None = None,
    more: Neighbour | None = None,
) -> AsyncIterator[OpenLobby]:
    """Let players dial in while the block lasts; `note` hears who comes and goes. Raises InvalidAddressError.

    `more` are other services of the same server.
    """
    limits = limits or LobbyLimits()
    remember_makers(asyncio.get_running_loop())
    lobby = Lobby(authenticator, limits)
    services = (PLAYER_SERVICE,) if more is None else (PLAYER_SERVICE, *more.names)
    server, health = new_server(services, limits)
    players_pb2_grpc.add_PlayerServiceServicer_to_server(PlayerServicer(lobby, limits, note), server)
    async with open_game_socket(lobby) as games, AsyncExitStack() as stack:
        if more is not None:
            await stack.enter_async_context(more.serve(server, lobby, games))
        address = str(endpoint.bind(server))
        await server.start()
        try:
            yield OpenLobby(address, games)
        finally:
            health.stop()
            await stack.aclose()
            # First, as a status that is sent while gRPC's server stops can be lost.
            await asyncio.gather(lobby.close(GRACE_SECONDS), health.wait_for_watchers(GRACE_SECONDS))
            await server.stop(0)


@contextmanager
def background_lobby(
    endpoint: Endpoint, authenticator: Authenticator, note: Note, limits: LobbyLimits | None = None
) -> Iterator[OpenLobby]:
    """A lobby that is open while the block lasts, in a thread of its own, in which `note` is called.

    Raises InvalidAddressError and OSError.
    """
    opened: Future[tuple[OpenLobby, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def serve() -> None:
        closed = asyncio.Event()
        async with open_lobby(endpoint, authenticator, note, limits) as lobby:
            opened.set_result((lobby, asyncio.get_running_loop(), closed))
            await closed.wait()

    def run() -> None:
        try:
            asyncio.run(serve())
        except Exception as error:
            # For the caller that enters, in the other thread; later failures have no caller.
            if opened.done():
                raise
            opened.set_exception(error)

    thread = threading.Thread(target=run, name="lobby", daemon=True)
    thread.start()
    lobby, loop, closed = opened.result()
    try:
        yield lobby
    finally:
        loop.call_soon_threadsafe(closed.set)
        thread.join()
