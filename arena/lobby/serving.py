"""The gRPC server that players dial in to."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from academy.wire.hanging_up import remember_makers
from arena.lobby.addresses import Endpoint
from arena.lobby.game_door import game_door
from arena.lobby.health import HealthServicer
from arena.lobby.limits import LobbyLimits
from arena.lobby.lobby import Doorkeeper, Lobby
from arena.lobby.short_calls import ShortCalls
from arena.lobby.streams import Note, PlayerServicer
from arena.v1 import players_pb2, players_pb2_grpc

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


def new_server(services: Sequence[str], limits: LobbyLimits) -> tuple[aio.Server, HealthServicer]:
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
    health = HealthServicer(services, limits.health_watch_seconds)
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    reflection.enable_server_reflection((*services, HEALTH_SERVICE, reflection.SERVICE_NAME), server)
    return server, health


@asynccontextmanager
async def open_lobby(
    endpoint: Endpoint,
    doorkeeper: Doorkeeper,
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
