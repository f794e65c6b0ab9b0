"""Games in progress: one watch of the arena for each competition, however many look at it."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from arena.v1 import competitions_pb2
from referees.drawing import Drawing
from web.arena_service import ArenaService
from web.drawing import BoardMarks, DrawnBoard, draw_board
from web.failures import PageError
from web.replay import GameReplay, GameStart, NoBoardError

__all__ = ["Change", "Feed", "Feeds", "LiveGame"]

# A watch goes on for so long after the last watcher, who may only load the page again.
_LINGER_SECONDS: Final = 20.0
_FIRST_SECONDS: Final = 5.0
# Standings are asked for again at most so often, and for at most this share of the time.
_RESULTS_SECONDS: Final = 1.0
_RESULTS_SHARE: Final = 0.1
_WALL_SECONDS: Final = 0.5
# A watcher that is further behind is cut off, and comes back by itself.
_MOST_BEHIND: Final = 256
_MOST_FEEDS: Final = 50
_log = logging.getLogger(__name__)


@dataclass(eq=False)
class LiveGame:
    """A game in progress.

    Attributes:
        game_id: Its id in the competition.
        players: The players' names by seat.
        start: How it began.
        moves: Its moves so far.
        started: When it began, in nanoseconds: a game that is played again begins later.
        reason: Why there is no board; "" where there is one, or nobody looked yet.
    """

    game_id: str
    players: tuple[str, ...]
    start: GameStart
    moves: list[competitions_pb2.GameMove] = field(default_factory=list)
    started: int = 0
    reason: str = ""
    _replay: GameReplay | None = None
    _played: int = 0
    _drawn: dict[int, DrawnBoard] = field(default_factory=dict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def board(self, ply: int) -> DrawnBoard | None:
        """Return the picture after some moves; None where `reason` says why there is none."""
        # A thread plays on when who waits for it leaves: until then nobody else may play the same moves.
        return await asyncio.shield(self._board(ply))

    async def _board(self, ply: int) -> DrawnBoard | None:
        async with self._lock:
            if not self.reason and ply not in self._drawn:
                moves = [(move.seat, move.text) for move in self.moves]
                await asyncio.to_thread(self._draw, moves, ply)
            return self._drawn.get(ply)

    @property
    def seats(self) -> tuple[str, ...]:
        """What the seats are called, once a board was drawn."""
        return self._replay.seats if self._replay is not None else ()

    @property
    def drawings(self) -> Sequence[Drawing]:
        """The picture after each number of moves, once a board was drawn."""
        return self._replay.drawings if self._replay is not None else ()

    def _draw(self, moves: list[tuple[int, str]], ply: int) -> None:
        try:
            if self._replay is None:
                self._replay = GameReplay(self.start)
            self._replay.add(moves[self._played :])
            self._played = len(moves)
        except NoBoardError as error:
            self.reason = str(error)
            return
        drawing, last = self._replay.after(ply)
        label = f"The board after move {ply} of the game {self.game_id}"
        while len(self._drawn) > 3:
            del self._drawn[next(iter(self._drawn))]
        self._drawn[ply] = draw_board(drawing, BoardMarks(last), label)


@dataclass(eq=False)
class Change:
    """What happened: a game went on or is over, other games are in progress, or there are other results.

    Attributes:
        game: The game; None where something else changed.
        before: How many moves it had.
        after: How many moves it has now.
        wall: Whether other games are in progress.
        over: Whether it is no longer in progress.
        results: The results as part of a page; "" where they did not change.
        sent: What was made of it for browsers, by what they look at.
    """

    game: LiveGame | None = None
    before: int = 0
    after: int = 0
    wall: bool = False
    over: bool = False
    results: str = ""
    sent: dict[str, bytes] = field(default_factory=dict)
    making: asyncio.Lock = field(default_factory=asyncio.Lock)


class Feed:
    """The games in progress of one competition, while somebody looks at them.

    `results` makes the part of the page that shows its results.

    Attributes:
        games: The games in progress by id, oldest first.
        running: Whether the competition runs.
        lost: Whether the arena no longer answers: nobody knows how the competition goes on.
    """

    def __init__(
        self,
        arena: ArenaService,
        competition: competitions_pb2.Competition,
        results: Callable[[str], Awaitable[str]],
    ) -> None:
        self.games: dict[str, LiveGame] = {}
        self.running = True
        self.lost = False
        self._arena = arena
        self._competition = competition
        self._results = results
        self._results_due = asyncio.Event()
        self._wall_due = asyncio.Event()
        self._watchers: set[asyncio.Queue[Change | None]] = set()
        self._ready = asyncio.Event()
        self.last_used = asyncio.get_running_loop().time()
        self._tasks = [
            asyncio.create_task(work()) for work in (self._watch, self._renew_wall, self._renew_results)
        ]

    @property
    def watchers(self) -> int:
        """How many look at it."""
        return len(self._watchers)

    async def ready(self) -> None:
        """Wait until the games in progress are known."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_FIRST_SECONDS):
                await self._ready.wait()

    @contextmanager
    def watching(self) -> Iterator[AsyncIterator[Change]]:
        """Give what happens from now on, until the competition ends or the watcher is too slow."""
        queue: asyncio.Queue[Change | None] = asyncio.Queue()
        self._watchers.add(queue)

        async def changes() -> AsyncIterator[Change]:
            while self.running or not queue.empty():
                change = await queue.get()
                if change is None or queue.qsize() >= _MOST_BEHIND:
                    return
                yield change

        try:
            yield changes()
        finally:
            self._watchers.discard(queue)
            self.last_used = asyncio.get_running_loop().time()

    async def close(self) -> None:
        """End it, and its watchers' streams."""
        self.running = False
        self._ready.set()
        for task in self._tasks:
            task.cancel()
        self._tell(None)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _tell(self, change: Change | None) -> None:
        for queue in self._watchers:
            # A reader that does not read at all keeps no more than this.
            if queue.qsize() <= _MOST_BEHIND:
                queue.put_nowait(change)

    async def _watch(self) -> None:
        try:
            async for event in self._arena.watch(self._competition.name):
                self._take(event)
        except PageError as error:
            _log.warning("%s is no longer watched: %s", self._competition.name, error)
            self.lost = True
        finally:
            self.running = False
            self._ready.set()
            self._tell(None)

    def _take(self, event: competitions_pb2.WatchCompetitionResponse) -> None:
        match event.WhichOneof("event"):
            case "in_progress":
                self._go_on(event.in_progress)
            case "game":
                self._results_due.set()
            case "competition":
                self._ready.set()
                self._results_due.set()

    def _go_on(self, news: competitions_pb2.GameInProgress) -> None:
        known = self.games.get(news.game_id)
        started = news.started.ToNanoseconds()
        if known is not None and started < known.started:
            # An attempt without a result, whose end is seen after the next one's beginning.
            return
        if news.over:
            if known is not None:
                del self.games[news.game_id]
                self._wall_due.set()
                self._tell(Change(known, over=True))
            return
        if known is None or started > known.started or news.moves_before != len(known.moves):
            if known is not None:
                self._tell(Change(known, over=True))
            settings = news.settings_json or self._competition.settings_json
            start = GameStart(self._competition.game, settings, arrangement=news.arrangement)
            known = self.games[news.game_id] = LiveGame(
                news.game_id, tuple(news.players), start, started=started
            )
            self._wall_due.set()
        before = len(known.moves)
        known.moves += news.moves
        if news.moves:
            self._tell(Change(known, before, len(known.moves)))

    async def _renew_wall(self) -> None:
        while True:
            await self._wall_due.wait()
            self._wall_due.clear()
            self._tell(Change(wall=True))
            await asyncio.sleep(_WALL_SECONDS)

    async def _renew_results(self) -> None:
        loop = asyncio.get_running_loop()
        await self._ready.wait()
        self._results_due.clear()
        while True:
            await self._results_due.wait()
            self._results_due.clear()
            began = loop.time()
            if self._watchers:
                try:
                    self._tell(Change(results=await self._results(self._competition.name)))
                except PageError:
                    # The next result asks again.
                    pass
                except Exception:
                    _log.exception("the results of %s cannot be shown", self._competition.name)
            await asyncio.sleep(max(_RESULTS_SECONDS, (loop.time() - began) / _RESULTS_SHARE))


class Feeds:
    """All competitions that somebody looks at; `results` makes the part of a page with the results of one."""

    def __init__(self, arena: ArenaService, results: Callable[[str], Awaitable[str]]) -> None:
        self._arena = arena
        self._results = results
        self._feeds: dict[str, Feed] = {}
        self._clearing = asyncio.create_task(self._clear())

    def known(self, name: str) -> Feed | None:
        """Return a competition's games in progress where they are watched already."""
        feed = self._feeds.get(name)
        return feed if feed is not None and feed.running else None

    async def feed(self, competition: competitions_pb2.Competition) -> Feed:
        """Return a running competition's games in progress. Raises PageError where too many are watched."""
        feed = self._feeds.get(competition.name)
        if feed is None or not feed.running:
            if len(self._feeds) >= _MOST_FEEDS:
                why = f"{_MOST_FEEDS} competitions are watched already."
                raise PageError(503, "Too many competitions are watched", why, "Try again later.", 20)
            # No other task comes between the look-up and this: a second one would watch the arena unseen.
            ended, feed = feed, Feed(self._arena, competition, self._results)
            self._feeds[competition.name] = feed
            if ended is not None:
                await ended.close()
        feed.last_used = asyncio.get_running_loop().time()
        await feed.ready()
        return feed

    async def _clear(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_LINGER_SECONDS / 4)
            for name, feed in list(self._feeds.items()):
                idle = not feed.watchers and loop.time() - feed.last_used > _LINGER_SECONDS
                if (idle or not feed.running) and self._feeds.get(name) is feed:
                    del self._feeds[name]
                    await feed.close()

    async def close(self) -> None:
        """End all of them."""
        self._clearing.cancel()
        await asyncio.gather(*(feed.close() for feed in self._feeds.values()))
