"""A lobby for tests, and players that dial in to it."""

import asyncio
import queue
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import grpc

from academy.wire.addresses import ServerAddress
from academy.wire.tls import Endpoint
from arena.jobs import GameJob, PlayerSetup
from arena.lobby.lobby import LobbyLimits
from arena.lobby.server import OpenLobby, background_lobby
from arena.runner.remote_players import NamedPlayers
from arena.v1 import players_pb2, players_pb2_grpc
from clients.connection import Connection
from clients.remote_game import Engine, Game, GameEnd, GameTurn
from clients.remote_play import AsyncChooser, NewGame, dial_in, dial_in_async

SECONDS = 60.0
LOCAL = Endpoint(ServerAddress.parse("127.0.0.1:0"))


@contextmanager
def open_lobby(
    digests: Mapping[str, bytes | None] | None = None,
    limits: LobbyLimits | None = None,
    endpoint: Endpoint = LOCAL,
) -> Iterator[OpenLobby]:
    names = {"one": None, "two": None} if digests is None else digests
    with background_lobby(endpoint, NamedPlayers(names), lambda *_, **__: None, limits) as lobby:
        yield lobby


def remote(
    lobby: OpenLobby, name: str, reconnect_seconds: float = SECONDS, competition: str = "", **setup: Any
) -> PlayerSetup:
    limits = {"start_seconds": SECONDS, "move_seconds": SECONDS}
    parameters = {"lobby": str(lobby.games), "reconnect_seconds": reconnect_seconds}
    if competition:
        parameters["competition"] = competition
    return PlayerSetup(name, (), protocol="grpc", parameters=parameters, **(limits | setup))


def job(*players: PlayerSetup, **more: Any) -> GameJob:
    settings = {"board_size": 5, "komi": 0.5}
    return GameJob("0_1", "go", settings, players, **({"seed": 1, "move_limit": 60} | more))


class DialledIn:
    """A bot in a thread; `result` is what dialling in came to."""

    def __init__(
        self,
        lobby: OpenLobby,
        player: str,
        new_game: Callable[[Game], Callable[[GameTurn], Any]],
        ca: Path | None = None,
        address: str = "",
        redial_seconds: float = 0.0,
        **engine: Any,
    ) -> None:
        self.result: int | BaseException | None = None
        self.endings: queue.SimpleQueue[tuple[str, int, GameEnd]] = queue.SimpleQueue()

        def run() -> None:
            try:
                arena = Connection(address or lobby.address, ca=ca)
                self.result = self._dial(arena, player, new_game, Engine(**engine), redial_seconds)
            except BaseException as error:
                self.result = error

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def _dial(
        self, arena: Connection, player: str, new_game: NewGame, engine: Engine, redial_seconds: float
    ) -> int:
        return dial_in(arena, player, new_game, engine, redial_seconds=redial_seconds, game_over=self._over)

    def _over(self, game: Game, ending: GameEnd) -> None:
        self.endings.put((game.game_id, game.seat, ending))

    def ended(self) -> int | BaseException | None:
        self._thread.join(SECONDS)
        assert not self._thread.is_alive()
        return self.result


class DialledInWithAsyncio(DialledIn):
    """The same with the client for asyncio."""

    def _dial(
        self, arena: Connection, player: str, new_game: NewGame, engine: Engine, redial_seconds: float
    ) -> int:
        def begin(game: Game) -> AsyncChooser:
            choose = new_game(game)

            async def chosen(turn: GameTurn) -> Any:
                return choose(turn)

            return chosen

        async def over(game: Game, ending: GameEnd) -> None:
            self._over(game, ending)

        dialling = dial_in_async(arena, player, begin, engine, redial_seconds=redial_seconds, game_over=over)
        return asyncio.run(dialling)


class Relay:
    """Passes connections on to a lobby, until they are cut."""

    def __init__(self, lobby: OpenLobby) -> None:
        host, _, port = lobby.address.rpartition(":")
        self._lobby = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """End all connections; new ones are passed on."""
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                player, _ = self._listener.accept()
                lobby = socket.create_connection(self._lobby)
                self._open += [player, lobby]
                for source, target in ((player, lobby), (lobby, player)):
                    threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    @staticmethod
    def _pass_on(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


class RawStream:
    """A player that says whatever a test likes."""

    def __init__(self, lobby: OpenLobby, *, token: str = "") -> None:
        self.channel = grpc.insecure_channel(lobby.address)
        self._unsent: list[players_pb2.PlayRequest | None] = []
        self._more = threading.Condition()
        metadata = (("authorization", f"Bearer {token}"),) if token else ()
        stub = players_pb2_grpc.PlayerServiceStub(self.channel)
        self.call = stub.Play(self._requests(), metadata=metadata, timeout=SECONDS)

    def say(self, *requests: players_pb2.PlayRequest | None) -> None:
        with self._more:
            self._unsent += requests
            self._more.notify()

    def hello(self, player: str, **more: Any) -> None:
        self.say(players_pb2.PlayRequest(hello=players_pb2.Hello(player=player, **more)))

    def hear(self) -> players_pb2.PlayResponse:
        return next(self.call)

    def hear_of(self, kind: Any) -> Any:
        while not (heard := self.hear()).HasField(kind):
            pass
        return getattr(heard, kind)

    def ready(self, start: players_pb2.GameStart) -> None:
        self.say(players_pb2.PlayRequest(ready=players_pb2.Ready(seat_id=start.seat_id)))

    def take_seat(self) -> players_pb2.MoveRequest:
        """Get ready for the game that begins; the request for the first move."""
        self.ready(self.hear_of("game_start"))
        request: players_pb2.MoveRequest = self.hear_of("move_request")
        return request

    def resign(self, request: players_pb2.MoveRequest) -> None:
        move = players_pb2.Move(seat_id=request.seat_id, request=request.request, resign=True)
        self.say(players_pb2.PlayRequest(move=move))

    def move(self, request: players_pb2.MoveRequest, text: str) -> None:
        move = players_pb2.Move(seat_id=request.seat_id, request=request.request, text=text)
        self.say(players_pb2.PlayRequest(move=move))

    def vanish(self) -> None:
        self.call.cancel()
        self.channel.close()

    def _requests(self) -> Iterator[players_pb2.PlayRequest]:
        while True:
            with self._more:
                self._more.wait_for(lambda: self._unsent)
                request = self._unsent.pop(0)
            if request is None:
                return
            yield request
