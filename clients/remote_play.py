"""Plays at an arena from wherever this program runs: dials in, receives games, answers with moves.

A bot is a function that gets each game and returns the game's chooser, which gets each turn and returns a
move. `dial_in` runs blocking bots, each game in a thread of its own; `dial_in_async` runs choosers that are
coroutine functions, all games in one event loop.
"""

import asyncio
import concurrent.futures
import inspect
import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import grpc

from arena.v1 import players_pb2, players_pb2_grpc
from clients.connection import (
    AcademyRefusedError,
    AcademyUnavailableError,
    Connection,
    to_client_error,
)
from clients.remote_game import (
    CHECK_GAME_ID,
    Answer,
    Engine,
    Game,
    GameDeclinedError,
    GameEnd,
    GameTurn,
    ending_of,
    game_of,
    hello_of,
    move_of,
    turn_of,
)
from clients.retries import REDIAL_SECONDS, Redialling

_log = logging.getLogger(__name__)
# How long a bot may take for the end of its last game when the arena has ended the stream.
LAST_GAME_SECONDS: Final = 5.0
# More than an arena awaits of one bot: it plays at most 256 games at once.
MOST_AWAITED: Final = 1_000

Move = Answer | str | None
Chooser = Callable[[GameTurn], Move]
NewGame = Callable[[Game], Chooser]
GameOver = Callable[[Game, GameEnd], None]
AsyncChooser = Callable[[GameTurn], Awaitable[Move]]
AsyncNewGame = Callable[[Game], AsyncChooser]
AsyncGameOver = Callable[[Game, GameEnd], Awaitable[None]]


def dial_in(
    arena: Connection,
    player: str,
    new_game: NewGame,
    engine: Engine | None = None,
    *,
    redial_seconds: float = REDIAL_SECONDS,
    game_over: GameOver | None = None,
) -> int:
    """Play until the arena could not be reached for a while, or the bot leaves as its `engine` says.

    Not for threads that run an event loop.

    Broken connections are dialled again, and the arena then sends the games in progress again.

    Args:
        arena: where to dial in; `Connection.to_arena()` finds it and the player's token.
        player: the player's name in the control file.
        new_game: called in each game's own thread; returns what chooses its moves, or raises
            GameDeclinedError.
        engine: what the bot says of itself, and wants.
        redial_seconds: for how many seconds a lost arena is dialled.
        game_over: called at the end of each game, in the game's thread.

    Returns:
        How many games were begun.

    Raises:
        AcademyRefusedError: the token is wrong, or the player dialled in a second time.
        AcademyUnavailableError: the arena was never there.
        Exception: Any exception of the bot.
    """
    bot = _Bot(new_game, game_over, _call_in_thread)
    return asyncio.run(_dial(arena, hello_of(player, engine), bot, redial_seconds))


async def dial_in_async(
    arena: Connection,
    player: str,
    new_game: AsyncNewGame,
    engine: Engine | None = None,
    *,
    redial_seconds: float = REDIAL_SECONDS,
    game_over: AsyncGameOver | None = None,
) -> int:
    """Play as `dial_in` does, for bots that use asyncio. Cancel the task to stop earlier.

    Args:
        arena: as for `dial_in`.
        player: as for `dial_in`.
        new_game: called for each game; returns the coroutine function that chooses its moves, or raises
            GameDeclinedError.
        engine: as for `dial_in`.
        redial_seconds: as for `dial_in`.
        game_over: awaited at the end of each game.

    Returns:
        How many games were begun.

    Raises:
        AcademyRefusedError: as for `dial_in`.
        AcademyUnavailableError: as for `dial_in`.
        Exception: Any exception of the bot.
    """
    bot = _Bot(new_game, game_over, lambda: nullcontext(_call_here))
    return await _dial(arena, hello_of(player, engine), bot, redial_seconds)


_TOKEN_IS_FROM: Final = (
    "its token is in the file of --token-file, token_file= or ARENA_TOKEN_FILE, or in ARENA_TOKEN"
)


def run_bot(
    player: str,
    new_game: NewGame,
    engine: Engine | None = None,
    *,
    address: str = "",
    token_file: str | Path | None = None,
    game_over: GameOver | None = None,
) -> int:
    """Play as `dial_in` does, as a program: a refusal ends it with a line and a status, and no traceback.

    Args:
        player: as for `dial_in`.
        new_game: as for `dial_in`.
        engine: as for `dial_in`.
        address: as for `Connection.to_arena`.
        token_file: as for `Connection.to_arena`.
        game_over: as for `dial_in`.

    Returns:
        How many games were begun.

    Raises:
        SystemExit: the arena was never there, refused the player or ended its stream (a ban, a revoked token,
            another program of the player), or the token cannot be read: status 1 with a line that says why;
            Ctrl-C: status 130.
        Exception: Any exception of the bot.
    """
    try:
        arena = Connection.to_arena(address, token_file=token_file)
    except (OSError, ValueError) as error:
        raise SystemExit(f"{player}: its token can't be read: {error} ({_TOKEN_IS_FROM})") from None
    # The client does without, until it prints something.
    from referees.legible_text import legible

    try:
        return dial_in(arena, player, new_game, engine, game_over=game_over)
    except AcademyUnavailableError as error:
        raise SystemExit(
            f"{player}: no arena answers at {arena.address}: {legible(str(error))} (start it with "
            "`arena serve`, or give its address, and what TLS needs)"
        ) from None
    except AcademyRefusedError as error:
        remedy = f" ({_TOKEN_IS_FROM})" if error.reason == "TOKEN_INVALID" else ""
        raise SystemExit(f"{player}: {legible(str(error))}{remedy}") from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None


_Call = Callable[..., Awaitable[Any]]


@dataclass(frozen=True)
class _Bot:
    """A bot's functions, and how they are called in one game."""

    new_game: Callable[[Game], Callable[[GameTurn], Any]]
    game_over: Callable[[Game, GameEnd], Any] | None
    calls: Callable[[], AbstractContextManager[_Call]]


async def _call_here(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function, which may be a coroutine function."""
    try:
        result = function(*arguments)
        return await result if inspect.isawaitable(result) else result
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise _raised_by_bot(error) from error


def _raised_by_bot(error: BaseException) -> RuntimeError:
    """An exception of the bot's as one that asyncio passes on: it would end the game without a word."""
    return RuntimeError(f"the bot raised {type(error).__name__}")


@contextmanager
def _call_in_thread() -> Iterator[_Call]:
    """What calls blocking functions in a thread of the game's own."""
    calls: queue.SimpleQueue[
        tuple[concurrent.futures.Future[Any], Callable[..., Any], tuple[Any, ...]] | None
    ] = queue.SimpleQueue()

    def run() -> None:
        while (waiting := calls.get()) is not None:
            future, function, arguments = waiting
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(function(*arguments))
            except (StopIteration, asyncio.CancelledError, concurrent.futures.CancelledError) as error:
                ended = _raised_by_bot(error)
                ended.__cause__ = error
                future.set_exception(ended)
            except BaseException as error:  # The bot's own: `dial_in` raises it.
                future.set_exception(error)

    async def call(function: Callable[..., Any], *arguments: Any) -> Any:
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        calls.put((future, function, arguments))
        return await asyncio.wrap_future(future)

    # A bot that thinks for ever does not keep its process from ending.
    threading.Thread(target=run, daemon=True).start()
    try:
        yield call
    finally:
        calls.put(None)


async def _dial(arena: Connection, hello: players_pb2.Hello, bot: _Bot, redial_seconds: float) -> int:
    games, redialling, visit, dialled = 0, Redialling(redial_seconds), _Visit(hello), False
    while True:
        stream = _Stream(arena, bot, visit.seats)
        reason: AcademyUnavailableError | None = None
        try:
            await stream.run(hello)
        except AcademyUnavailableError as error:
            reason = error
            if not (dialled or stream.tables.welcomed):
                _log.warning("no arena answers at %s; trying for %g s", arena.address, redial_seconds)
        dialled = True
        games += stream.tables.games
        visit.go_on(stream.tables)
        # A stream that broke is dialled again for its games in progress.
        if visit.over and (reason is None or not stream.tables.in_progress):
            return games
        pause = redialling.pause(stream.tables.welcomed, reason)
        if pause is None:
            return games
        await asyncio.sleep(pause)


class _Visit:
    """How long a bot stays, over all its streams; the hello says what is left."""

    def __init__(self, hello: players_pb2.Hello) -> None:
        self._hello = hello
        self._until = time.monotonic() + hello.leave_after.ToNanoseconds() / 1e9
        # The seats whose games a later stream may bring again: in progress, or awaited, when a stream ended.
        self.seats: set[int] = set()

    def go_on(self, tables: "Tables") -> None:
        """Note what has passed of it when a stream has ended."""
        self.seats.update(tables.in_progress, tables.awaited)
        if self._hello.HasField("leave_after_games"):
            self._hello.leave_after_games = max(0, self._hello.leave_after_games - tables.games)
        if self._hello.HasField("leave_after"):
            left = max(0.0, self._until - time.monotonic())
            self._hello.leave_after.FromNanoseconds(round(left * 1e9))

    @property
    def over(self) -> bool:
        """Whether the bot begins no more games."""
        hello = self._hello
        return (hello.HasField("leave_after_games") and not hello.leave_after_games) or (
            hello.HasField("leave_after") and not hello.leave_after.ToNanoseconds()
        )


@dataclass
class GameSession:
    """One game in progress: what the arena asks of its player, and the moves so far."""

    game: Game
    inbox: "asyncio.Queue[players_pb2.MoveRequest | players_pb2.GameEnd]" = field(
        default_factory=asyncio.Queue
    )
    moves: list[tuple[int, str]] = field(default_factory=list)


class Tables:
    """The games of one stream: how many began on it, those in progress, and whether the arena accepted it."""

    def __init__(
        self, arena: Connection, begin: Callable[[GameSession], object], seats: Collection[int] = ()
    ) -> None:
        """`begin` has a game played, which reads its inbox. `seats` are those of earlier streams."""
        self._arena = arena
        self._begin = begin
        self._seats = seats
        self.in_progress: dict[int, GameSession] = {}
        # The seats of the last games that are over for which the arena waits, or has waited.
        self.awaited: deque[int] = deque(maxlen=MOST_AWAITED)
        self.games = 0
        self.welcomed = False

    def take(self, message: players_pb2.PlayResponse) -> None:
        """Pass on what the arena sends."""
        match message.WhichOneof("message"):
            case "welcome":
                self.welcomed = True
            case "game_start":
                start = message.game_start
                session = GameSession(game_of(start, self._arena))
                self.in_progress[start.seat_id] = session
                # Its first start may have been lost with the stream. A check is not a game.
                is_new = not start.resumed or start.seat_id not in self._seats
                self.games += is_new and start.game_id != CHECK_GAME_ID
                self._begin(session)
            case "moves_made":
                if playing := self.in_progress.get(message.moves_made.seat_id):
                    playing.moves += [(move.seat, move.text) for move in message.moves_made.moves]
            case "move_request":
                if playing := self.in_progress.get(message.move_request.seat_id):
                    playing.inbox.put_nowait(message.move_request)
            case "game_end":
                if playing := self.in_progress.pop(message.game_end.seat_id, None):
                    playing.inbox.put_nowait(message.game_end)
                    if message.game_end.HasField("time_to_finish"):
                        self.awaited.append(playing.game.seat_id)


class _Stream:
    """One connection, from its hello to its end."""

    def __init__(self, arena: Connection, bot: _Bot, seats: Collection[int]) -> None:
        self.tables = Tables(arena, self._begin, seats)
        self._arena = arena
        self._bot = bot
        self._playing: dict[asyncio.Task[None], int] = {}
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # gRPC takes one message of a stream at a time.
        self._sending = asyncio.Lock()
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
                # The arena ends a stream when its last game is over, of which the bot may not have heard yet.
                over = [
                    task for task, seat_id in self._playing.items() if seat_id not in self.tables.in_progress
                ]
                if over:
                    await asyncio.wait(over, timeout=LAST_GAME_SECONDS)
                    if self._failed.done():
                        self._failed.result()
            except grpc.RpcError as error:
                raise to_client_error(error, "the arena's stream") from None
            finally:
                tasks = [listening, *self._playing]
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                self._call.cancel()
                self._failed.cancel()

    async def _listen(self, hello: players_pb2.Hello) -> None:
        await self._send(players_pb2.PlayRequest(hello=hello))
        async for message in self._call:
            self.tables.take(message)

    async def _send(self, request: players_pb2.PlayRequest) -> None:
        # `_listen` hears why a stream has ended.
        with suppress(grpc.RpcError, asyncio.InvalidStateError):
            async with self._sending:
                await self._call.write(request)

    def _begin(self, session: GameSession) -> None:
        task = asyncio.create_task(self._play(session))
        self._playing[task] = session.game.seat_id
        task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._playing.pop(task, None)
        if not task.cancelled() and (error := task.exception()) is not None and not self._failed.done():
            self._failed.set_exception(error)

    async def _play(self, session: GameSession) -> None:
        bot = self._bot
        with bot.calls() as call:
            try:
                choose = await call(bot.new_game, session.game)
            except GameDeclinedError as error:
                decline = players_pb2.Decline(seat_id=session.game.seat_id, reason=str(error))
                await self._send(players_pb2.PlayRequest(decline=decline))
                # A game that had begun hears it only in answer to a request.
                while isinstance(message := await session.inbox.get(), players_pb2.MoveRequest):
                    await self._send(players_pb2.PlayRequest(decline=decline))
                await self._finish(message)
                return
            await self._send(players_pb2.PlayRequest(ready=players_pb2.Ready(seat_id=session.game.seat_id)))
            while isinstance(request := await session.inbox.get(), players_pb2.MoveRequest):
                move = await call(choose, turn_of(request, session.moves))
                await self._send(players_pb2.PlayRequest(move=move_of(request, move)))
            if bot.game_over is not None:
                await call(bot.game_over, session.game, ending_of(request))
            await self._finish(request)

    async def _finish(self, end: players_pb2.GameEnd) -> None:
        """Have the arena wait no longer, if it does."""
        if end.HasField("time_to_finish"):
            await self._send(players_pb2.PlayRequest(done=players_pb2.Done(seat_id=end.seat_id)))
