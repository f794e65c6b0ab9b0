"""The lobby's gRPC server, in a thread of its own: streams of players, health and reflection, and the
socket of the games.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NoReturn, Protocol, Self, TypeAlias, cast

import grpc
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from academy.wire import health
from academy.wire.hanging_up import hang_up_later, remember_makers
from arena.lobby.addresses import Endpoint
from arena.lobby.game_socket import game_door
from arena.lobby.limits import LobbyLimits
from arena.lobby.lobby import Authenticator, Lobby
from arena.lobby.refusals import LobbyRefusalError, PlayerIdleError
from arena.lobby.streams import Note, PlayerServicer
from arena.v1 import players_pb2, players_pb2_grpc


class UnknownServiceError(LobbyRefusalError):
    """Health was asked of a service that this server does not have."""

    code = grpc.StatusCode.NOT_FOUND
    reason = "UNKNOWN_SERVICE"


class LobbyHealthServicer(health.HealthServicer):
    """grpc.health.v1.Health, beside the lobby's services."""

    async def refuse(
        self, why: health.UnknownServiceError | health.WatchTooLongError, context: health.Context
    ) -> NoReturn:
        """End a call with a status."""
        refusal = UnknownServiceError if isinstance(why, health.UnknownServiceError) else PlayerIdleError
        await refusal(str(why), **vars(why)).abort(context)


_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"


class ShortCalls(aio.ServerInterceptor):
    """Ends calls of some services after so many seconds, read or not."""

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
                self._limit()
                async for response in answers(request, context):
                    yield response

            make = grpc.stream_stream_rpc_method_handler
            if not handler.request_streaming:
                make = grpc.unary_stream_rpc_method_handler
            return make(stream, handler.request_deserializer, handler.response_serializer)
        answer = cast("Callable[..., Any]", handler.unary_unary)

        async def single(request: Any, context: Any) -> Any:
            self._limit()
            return await answer(request, context)

        return grpc.unary_unary_rpc_method_handler(
            single, handler.request_deserializer, handler.response_serializer
        )

    def _limit(self) -> None:
        hang_up_later(cast("asyncio.Task[Any]", asyncio.current_task()), self._seconds)


PLAYER_SERVICE: Final = players_pb2.DESCRIPTOR.services_by_name["PlayerService"].full_name
HEALTH_SERVICE: Final = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name
GRACE_SECONDS: Final = 5.0


@dataclass(frozen=True)
class OpenLobby:
    """A lobby that is open: where players dial in, the socket where games ask for them, and who is in it."""

    address: str
    games: Path
    lobby: Lobby


class Neighbour(Protocol):
    """Another service of the lobby's server."""

    name: str

    def add(self, server: aio.Server, games: Path) -> None:
        """Add it; `games` is the socket where games ask for players."""

    async def close(self) -> None:
        """End what it does, before players are sent home."""


def new_server(services: Sequence[str], limits: LobbyLimits) -> tuple[aio.Server, LobbyHealthServicer]:
    """A gRPC server with health and reflection, and limits on what it takes."""
    seconds = limits.health_watch_seconds + limits.write_seconds
    server = aio.server(
        interceptors=[ShortCalls((HEALTH_SERVICE, reflection.SERVICE_NAME), seconds)],
        options=[
            ("grpc.max_receive_message_length", limits.message_bytes),
            ("grpc.max_send_message_length", -1),
            ("grpc.max_metadata_size", limits.metadata_bytes),
            # A player whose machine has vanished says nothing more: this finds it out.
            ("grpc.keepalive_time_ms", 20_000),
            ("grpc.keepalive_timeout_ms", 10_000),
            ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
            ("grpc.so_reuseport", 0),
        ],
        maximum_concurrent_rpcs=2 * limits.players,
    )
    health = LobbyHealthServicer(services, limits.health_watch_seconds)
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    reflection.enable_server_reflection((*services, HEALTH_SERVICE, reflection.SERVICE_NAME), server)
    return server, health


@asynccontextmanager
async def open_lobby(
    endpoint: Endpoint,
    doorkeeper: Authenticator,
    note: Note,
    limits: LobbyLimits | None = None,
    more: Neighbour | None = None,
) -> AsyncIterator[OpenLobby]:
    """Let players dial in while the block lasts; `note` hears who comes and goes. Raises InvalidAddress.

    `more` is another service of the same server.
    """
    limits = limits or LobbyLimits()
    remember_makers(asyncio.get_running_loop())
    lobby = Lobby(doorkeeper, limits)
    services = (PLAYER_SERVICE,) if more is None else (PLAYER_SERVICE, more.name)
    server, health = new_server(services, limits)
    players_pb2_grpc.add_PlayerServiceServicer_to_server(PlayerServicer(lobby, limits, note), server)
    async with game_door(lobby) as games:
        if more is not None:
            more.add(server, games)
        address = endpoint.bind(server)
        await server.start()
        try:
            yield OpenLobby(address, games, lobby)
        finally:
            health.stop()
            if more is not None:
                await more.close()
            # First, as a status that is sent while gRPC's server stops can be lost.
            await asyncio.gather(lobby.close(GRACE_SECONDS), health.watchers_told(GRACE_SECONDS))
            await server.stop(0)


class BackgroundLobby:
    """A lobby that is open while its `with` block lasts; entering raises InvalidAddress and OSError.

    `note` is called in its thread.
    """

    def __init__(
        self, endpoint: Endpoint, doorkeeper: Authenticator, note: Note, limits: LobbyLimits | None = None
    ) -> None:
        self._limits = limits
        self._note = note
        self._endpoint = endpoint
        self._doorkeeper = doorkeeper
        self._opened: Future[OpenLobby] = Future()
        self._closing: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None
        self._thread = threading.Thread(target=self._run, name="lobby", daemon=True)

    @property
    def open(self) -> OpenLobby:
        """Where it is."""
        return self._opened.result()

    def __enter__(self) -> Self:
        self._thread.start()
        self._opened.result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._closing is not None:
            loop, closed = self._closing
            loop.call_soon_threadsafe(closed.set)
            self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except Exception as error:
            # To whoever enters, in the other thread; later ones there are none to tell.
            if self._opened.done():
                raise
            self._opened.set_exception(error)

    async def _serve(self) -> None:
        closed = asyncio.Event()
        async with open_lobby(self._endpoint, self._doorkeeper, self._note, self._limits) as lobby:
            self._closing = asyncio.get_running_loop(), closed
            self._opened.set_result(lobby)
            await closed.wait()
