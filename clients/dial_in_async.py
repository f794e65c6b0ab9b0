"""Plays at an arena as `clients.dial_in` does, for bots that use asyncio: all games in one event loop.

A bot is a function that is called for each game and returns the game's chooser, a coroutine function that
is called for each move.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import grpc

from arena.v1 import players_pb2, players_pb2_grpc
from clients.connection import AcademyUnavailableError, Connection, explained
from clients.games import Answer, Engine, Game, GameDeclinedError, GameEnd, GameTurn, ending_of, hello_of
from clients.tables import REDIAL_SECONDS, GameSession, Redialling, Tables, Told

Chooser = Callable[[GameTurn], Awaitable[Answer | str | None]]
NewGame = Callable[[Game], Chooser]
GameOver = Callable[[Game, GameEnd], Awaitable[None]]
_Inbox = asyncio.Queue[Told]


async def dial_in(
    arena: Connection,
    player: str,
    new_game: NewGame,
    engine: Engine | None = None,
    *,
    redial_seconds: float = REDIAL_SECONDS,
    game_over: GameOver | None = None,
) -> int:
    """Play until the arena has not been there for `redial_seconds`; return how many games were begun.

    Cancel the task to stop earlier. All else, errors included, is as with `clients.dial_in.dial_in`.
    """
    hello = hello_of(player, engine)
    games, redialling = 0, Redialling(redial_seconds)
    while True:
        stream = _Stream(arena, new_game, game_over)
        try:
            await stream.run(hello)
            reason: AcademyUnavailableError | None = None
        except AcademyUnavailableError as error:
            reason = error
        games += stream.tables.games
        pause = redialling.pause(stream.tables.welcomed, reason)
        if pause is None:
            return games
        await asyncio.sleep(pause)


class _Stream:
    """One connection, from its hello to its end."""

    def __init__(self, arena: Connection, new_game: NewGame, game_over: GameOver | None) -> None:
        self.tables = Tables(arena, _Inbox, self._begin)
        self._arena = arena
        self._new_game = new_game
        self._game_over = game_over
        self._playing: set[asyncio.Task[None]] = set()
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # gRPC takes one message of a stream at a time.
        self._speaking = asyncio.Lock()
        self._call: Any = None

    async def run(self, hello: players_pb2.Hello) -> None:
        """Play until the stream ends. Raises as `dial_in`."""
        async with self._arena.asyncio_channel() as channel:
            self._call = players_pb2_grpc.PlayerServiceStub(channel).Play(metadata=self._arena.metadata)
            listening = asyncio.ensure_future(self._listen(hello))
            try:
                await asyncio.wait((listening, self._failed), return_when=asyncio.FIRST_COMPLETED)
                # What the bot raises ends the stream as well, and says more.
                (self._failed if self._failed.done() else listening).result()
            except grpc.RpcError as error:
                raise explained(error, "the arena's stream") from None
            finally:
                tasks = [listening, *self._playing]
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                self._call.cancel()
                self._failed.cancel()

    async def _listen(self, hello: players_pb2.Hello) -> None:
        await self._say(players_pb2.PlayRequest(hello=hello))
        async for message in self._call:
            self.tables.take(message)

    async def _say(self, request: players_pb2.PlayRequest) -> None:
        # Of a stream that has ended, whoever listens hears why.
        with suppress(grpc.RpcError, asyncio.InvalidStateError):
            async with self._speaking:
                await self._call.write(request)

    def _begin(self, table: GameSession[_Inbox]) -> None:
        task = asyncio.create_task(self._play(table))
        self._playing.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._playing.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and not self._failed.done():
            self._failed.set_exception(error)

    async def _play(self, table: GameSession[_Inbox]) -> None:
        try:
            choose = self._new_game(table.game)
        except GameDeclinedError as error:
            await self._say(table.declined(error))
            return
        await self._say(table.ready())
        while isinstance(told := await table.told.get(), players_pb2.MoveRequest):
            await self._say(table.answer(told, await choose(table.turn(told))))
        if self._game_over is not None:
            await self._game_over(table.game, ending_of(told))
