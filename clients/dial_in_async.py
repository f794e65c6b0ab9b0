"""Plays at an arena as `clients.dial_in` does, for bots that use asyncio: all games in one event loop.

A bot is a function that is called for each game and returns the game's chooser, a coroutine function that
is called for each move.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import grpc

from arena.v1 import players_pb2, players_pb2_grpc
from clients.connection import AcademyUnavailable, Connection, explained
from clients.games import (
    Answer,
    Declined,
    Ending,
    Engine,
    Game,
    Turn,
    ending_of,
    game_of,
    hello_of,
    move_of,
    turn_of,
)

REDIAL_SECONDS: Final = 60.0
_FIRST_PAUSE_SECONDS: Final = 0.1
_LONGEST_PAUSE_SECONDS: Final = 5.0

Chooser = Callable[[Turn], Awaitable[Answer | str | None]]
NewGame = Callable[[Game], Chooser]
GameOver = Callable[[Game, Ending], Awaitable[None]]


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
    games, pause, reached = 0, _FIRST_PAUSE_SECONDS, False
    alone_since = time.monotonic()
    while True:
        stream = _Stream(arena, new_game, game_over)
        try:
            await stream.run(hello)
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
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


@dataclass
class _Table:
    """One game in progress: what its task is told, and what it knows."""

    game: Game
    told: "asyncio.Queue[players_pb2.MoveRequest | players_pb2.GameEnd]" = field(
        default_factory=asyncio.Queue
    )
    moves: list[tuple[int, str]] = field(default_factory=list)


class _Stream:
    """One connection, from its hello to its end."""

    def __init__(self, arena: Connection, new_game: NewGame, game_over: GameOver | None) -> None:
        self._arena = arena
        self._new_game = new_game
        self._game_over = game_over
        self._tables: dict[int, _Table] = {}
        self._playing: set[asyncio.Task[None]] = set()
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # gRPC takes one message of a stream at a time.
        self._speaking = asyncio.Lock()
        self._call: Any = None
        self.games = 0
        self.welcomed = False

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
            self._take(message)

    async def _say(self, request: players_pb2.PlayRequest) -> None:
        # Of a stream that has ended, whoever listens hears why.
        with suppress(grpc.RpcError, asyncio.InvalidStateError):
            async with self._speaking:
                await self._call.write(request)

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
                    table.told.put_nowait(message.move_request)
            case "game_end":
                if (table := self._tables.pop(message.game_end.seat_id, None)) is not None:
                    table.told.put_nowait(message.game_end)

    def _begin(self, start: players_pb2.GameStart) -> None:
        table = self._tables[start.seat_id] = _Table(game_of(start, self._arena))
        self.games += not start.resumed
        task = asyncio.create_task(self._play(start.seat_id, table))
        self._playing.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._playing.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and not self._failed.done():
            self._failed.set_exception(error)

    async def _play(self, seat_id: int, table: _Table) -> None:
        try:
            choose = self._new_game(table.game)
        except Declined as error:
            decline = players_pb2.Decline(seat_id=seat_id, reason=str(error))
            await self._say(players_pb2.PlayRequest(decline=decline))
            return
        await self._say(players_pb2.PlayRequest(ready=players_pb2.Ready(seat_id=seat_id)))
        while isinstance(told := await table.told.get(), players_pb2.MoveRequest):
            answer = await choose(turn_of(told, table.moves))
            await self._say(players_pb2.PlayRequest(move=move_of(told, answer)))
        if self._game_over is not None:
            await self._game_over(table.game, ending_of(told))
