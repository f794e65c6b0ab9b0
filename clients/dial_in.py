"""Plays at an arena from wherever this program runs: dials in, is given games, answers with moves.

A bot is a function that is called for each game and returns the game's chooser, which is called for
each move. Games are played in threads of their own, as many at once as the bot allows.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import grpc

from arena.v1 import players_pb2, players_pb2_grpc
from clients.connection import AcademyUnavailable, Connection, explained
from clients.games import Answer as Answer
from clients.games import Declined as Declined
from clients.games import Ending as Ending
from clients.games import Engine as Engine
from clients.games import Game as Game
from clients.games import Turn as Turn
from clients.games import ending_of, game_of, hello_of, move_of, turn_of

REDIAL_SECONDS: Final = 60.0
_FIRST_PAUSE_SECONDS: Final = 0.1
_LONGEST_PAUSE_SECONDS: Final = 5.0


Chooser = Callable[[Turn], Answer | str | None]
NewGame = Callable[[Game], Chooser]
GameOver = Callable[[Game, Ending], None]


def dial_in(
    arena: Connection,
    player: str,
    new_game: NewGame,
    engine: Engine | None = None,
    *,
    redial_seconds: float = REDIAL_SECONDS,
    game_over: GameOver | None = None,
) -> int:
    """Play until the arena has not been there for `redial_seconds`; return how many games were begun.

    Broken connections are dialled again, and the arena then tells the games in progress anew. `game_over`
    is called at the end of each game, in the game's thread. Raises
    AcademyRefusal where the arena does not want this player (a wrong token, a newer stream of the same
    name), AcademyUnavailable where it was never there, and whatever the bot raises.
    """
    hello = hello_of(player, engine)
    games, pause, reached = 0, _FIRST_PAUSE_SECONDS, False
    alone_since = time.monotonic()
    while True:
        stream = _Stream(arena, hello, new_game, game_over)
        try:
            stream.run()
            reason: AcademyUnavailable | None = None
        except AcademyUnavailable as error:
            reason = error
        games += stream.games
        if stream.welcomed:
            reached, alone_since, pause = True, time.monotonic(), _FIRST_PAUSE_SECONDS
        if time.monotonic() + pause > alone_since + redial_seconds:
            if reached or reason is None:
                return games
            raise reason
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


@dataclass
class _Table:
    """One game in progress: what its thread is told, and what it knows."""

    game: Game
    told: "queue.SimpleQueue[players_pb2.MoveRequest | players_pb2.GameEnd | None]" = field(
        default_factory=queue.SimpleQueue
    )
    moves: list[tuple[int, str]] = field(default_factory=list)


class _Stream:
    """One connection, from its hello to its end."""

    def __init__(
        self, arena: Connection, hello: players_pb2.Hello, new_game: NewGame, game_over: GameOver | None
    ) -> None:
        self._arena = arena
        self._new_game = new_game
        self._game_over = game_over
        self._said: queue.SimpleQueue[players_pb2.PlayRequest | None] = queue.SimpleQueue()
        self._said.put(players_pb2.PlayRequest(hello=hello))
        self._tables: dict[int, _Table] = {}
        self._crash: BaseException | None = None
        self._call: Any = None
        self.games = 0
        self.welcomed = False

    def run(self) -> None:
        """Play until the stream ends. Raises as `dial_in`."""
        with self._arena.channel() as channel:
            stub = players_pb2_grpc.PlayerServiceStub(channel)
            self._call = stub.Play(self._requests(), metadata=self._arena.metadata)
            try:
                for message in self._call:
                    self._take(message)
            except grpc.RpcError as error:
                if self._crash is None:
                    raise explained(error, "the arena's stream") from None
            finally:
                self._said.put(None)
                for table in self._tables.values():
                    table.told.put(None)
        if self._crash is not None:
            raise self._crash

    def _requests(self) -> Iterator[players_pb2.PlayRequest]:
        while (request := self._said.get()) is not None:
            yield request

    def _take(self, message: players_pb2.PlayResponse) -> None:
        match message.WhichOneof("message"):
            case "welcome":
                self.welcomed = True
            case "game_start":
                self._begin(message.game_start)
            case "moves_made":
                if (table := self._tables.get(message.moves_made.seat_id)) is not None:
                    table.moves += [(move.seat, move.text) for move in message.moves_made.moves]
            case "move_request":
                if (table := self._tables.get(message.move_request.seat_id)) is not None:
                    table.told.put(message.move_request)
            case "game_end":
                if (table := self._tables.pop(message.game_end.seat_id, None)) is not None:
                    table.told.put(message.game_end)

    def _begin(self, start: players_pb2.GameStart) -> None:
        table = self._tables[start.seat_id] = _Table(game_of(start, self._arena))
        self.games += not start.resumed
        threading.Thread(target=self._play, args=(start.seat_id, table), daemon=True).start()

    def _play(self, seat_id: int, table: _Table) -> None:
        try:
            try:
                choose = self._new_game(table.game)
            except Declined as error:
                decline = players_pb2.Decline(seat_id=seat_id, reason=str(error))
                self._said.put(players_pb2.PlayRequest(decline=decline))
                return
            self._said.put(players_pb2.PlayRequest(ready=players_pb2.Ready(seat_id=seat_id)))
            while (told := table.told.get()) is not None:
                if isinstance(told, players_pb2.GameEnd):
                    if self._game_over is not None:
                        self._game_over(table.game, ending_of(told))
                    return
                self._said.put(
                    players_pb2.PlayRequest(move=move_of(told, choose(turn_of(told, table.moves))))
                )
        except BaseException as error:  # The bot's own: it belongs to whoever has dialled in.
            self._crash = error
            self._call.cancel()
