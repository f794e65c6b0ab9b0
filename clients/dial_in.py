"""Plays at an arena from wherever this program runs: dials in, is given games, answers with moves.

A bot is a function that is called for each game and returns the game's chooser, which is called for
each move. Games are played in threads of their own, as many at once as the bot allows.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import grpc

from arena.v1 import players_pb2, players_pb2_grpc
from clients.connection import AcademyUnavailableError, Connection, explained
from clients.games import Answer as Answer
from clients.games import Engine as Engine
from clients.games import Game as Game
from clients.games import GameDeclinedError as GameDeclinedError
from clients.games import GameEnd as GameEnd
from clients.games import GameTurn as GameTurn
from clients.games import ending_of, hello_of
from clients.tables import REDIAL_SECONDS, GameSession, Redialling, Tables, Told

Chooser = Callable[[GameTurn], Answer | str | None]
NewGame = Callable[[Game], Chooser]
GameOver = Callable[[Game, GameEnd], None]
# None says that the stream has ended.
_Inbox = queue.SimpleQueue[Told | None]


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

    `Connection.to_arena()` makes an `arena` with the player's token from the environment or a file.
    Broken connections are dialled again, and the arena then tells the games in progress anew. `game_over`
    is called at the end of each game, in the game's thread. Raises
    AcademyRefusedError where the arena does not want this player (a wrong token, a newer stream of the same
    name), AcademyUnavailableError where it was never there, and whatever the bot raises.
    """
    hello = hello_of(player, engine)
    games, redialling = 0, Redialling(redial_seconds)
    while True:
        stream = _Stream(arena, hello, new_game, game_over)
        try:
            stream.run()
            reason: AcademyUnavailableError | None = None
        except AcademyUnavailableError as error:
            reason = error
        games += stream.tables.games
        pause = redialling.pause(stream.tables.welcomed, reason)
        if pause is None:
            return games
        time.sleep(pause)


class _Stream:
    """One connection, from its hello to its end."""

    def __init__(
        self, arena: Connection, hello: players_pb2.Hello, new_game: NewGame, game_over: GameOver | None
    ) -> None:
        self.tables = Tables(arena, _Inbox, self._begin)
        self._arena = arena
        self._new_game = new_game
        self._game_over = game_over
        self._said: queue.SimpleQueue[players_pb2.PlayRequest | None] = queue.SimpleQueue()
        self._said.put(players_pb2.PlayRequest(hello=hello))
        self._crash: BaseException | None = None
        self._call: Any = None

    def run(self) -> None:
        """Play until the stream ends. Raises as `dial_in`."""
        with self._arena.channel() as channel:
            stub = players_pb2_grpc.PlayerServiceStub(channel)
            self._call = stub.Play(self._requests(), metadata=self._arena.metadata)
            try:
                for message in self._call:
                    self.tables.take(message)
            except grpc.RpcError as error:
                if self._crash is None:
                    raise explained(error, "the arena's stream") from None
            finally:
                self._said.put(None)
                for table in self.tables.in_progress.values():
                    table.told.put(None)
        if self._crash is not None:
            raise self._crash

    def _requests(self) -> Iterator[players_pb2.PlayRequest]:
        while (request := self._said.get()) is not None:
            yield request

    def _begin(self, table: GameSession[_Inbox]) -> None:
        threading.Thread(target=self._play, args=(table,), daemon=True).start()

    def _play(self, table: GameSession[_Inbox]) -> None:
        try:
            try:
                choose = self._new_game(table.game)
            except GameDeclinedError as error:
                self._said.put(table.declined(error))
                return
            self._said.put(table.ready())
            while (told := table.told.get()) is not None:
                if isinstance(told, players_pb2.GameEnd):
                    if self._game_over is not None:
                        self._game_over(table.game, ending_of(told))
                    return
                self._said.put(table.answer(told, choose(table.turn(told))))
        except BaseException as error:  # The bot's own: it belongs to whoever has dialled in.
            self._crash = error
            self._call.cancel()
