"""Games in memory: views that follow the store, with their matching indexes."""

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

import structlog

from academy.knowledge.evaluation import EvaluationTable
from academy.knowledge.game import PATTERN_LIBRARIES
from academy.knowledge.position_evaluator import PositionEvaluator
from academy.knowledge.settings import Library
from academy.knowledge.spec import Description
from academy.knowledge.votes import VALUE_SCALE
from academy.matching.warming import warm_up_in_background
from academy.service.books import Books
from academy.service.metrics import LibrarySize
from academy.service.pattern_cache import PatternCache, PatternCacheFiles, SavedPatterns
from academy.store import game_tables
from academy.store.errors import StoreError, UnknownGameError
from academy.store.library_store import Store
from academy.store.replica import GameView, PatternChanges, read_view

# A pattern takes about 600 bytes in memory.
PATTERNS_IN_MEMORY: Final = 1_000_000
# The feed reaches back four times as far, so it contains all that a saved cache lacks.
_GENERATIONS_NOT_KEPT: Final = game_tables.GENERATIONS_KEPT // 4
_SECONDS_BETWEEN_ROUNDS: Final = 30.0
_log = structlog.get_logger()


@dataclass(eq=False)
class CachedGame:
    """A game's newest view and its patterns.

    `version` is that of the store when the view was last seen to be the newest, `saved` the generation of the
    file of patterns. `books` are those of the opening tree.
    """

    view: GameView
    patterns: PatternCache
    saved: int
    books: Books = field(default_factory=Books)
    version: int = -1
    _evaluator: tuple[EvaluationTable, PositionEvaluator] | None = None

    @property
    def evaluator(self) -> PositionEvaluator:
        """The evaluator of the evaluation that answers hold; the same object until that changes."""
        table = self.view.answered_evaluation
        if self._evaluator is None or self._evaluator[0] is not table:
            weights = table.weight_millionths / VALUE_SCALE
            self._evaluator = table, PositionEvaluator(self.view.spec, table.codes, weights)
        return self._evaluator[1]

    def stored_patterns(self) -> dict[int, bytes]:
        """The patterns of both libraries as they are stored now, by number."""
        return {
            number: stored
            for library in PATTERN_LIBRARIES
            for number, stored in self.view.libraries[library].stored.items()
        }


class GameCache:
    """Games in use, kept up to date. For one event loop; a thread loads them.

    About `most_patterns` stay in memory at most: beyond that, the games unused for longest are dropped until
    their next use.
    """

    def __init__(self, store: Store, most_patterns: int = PATTERNS_IN_MEMORY) -> None:
        self._store = store
        self._most = most_patterns
        self._games: OrderedDict[str, CachedGame] = OrderedDict()
        self._follower = store.follow(self._follow)
        self._files = PatternCacheFiles(store.environment.folder)
        self._loading: dict[str, asyncio.Task[None]] = {}
        # One game after another: two at once would not be ready earlier.
        self._aside = ThreadPoolExecutor(max_workers=1, thread_name_prefix="loading")

    async def game(self, game_id: str) -> CachedGame:
        """Return a game as committed last. Raises UnknownGameError."""
        version = self._store.environment.version
        while (game := self._games.get(game_id)) is None:
            await self._share_load(game_id)
            version = self._store.environment.version
        if game.version != version:
            try:
                self._follower.refresh(game_id)
            except UnknownGameError:
                # It was deleted.
                del self._games[game_id]
                self._follower.forget(game_id)
                raise
            game.version = version
        self._games.move_to_end(game_id)
        return game

    async def load(self, seconds: float) -> int:
        """Load games for about that time, latest learners first; return the number of games in memory."""
        end, size = time.monotonic() + seconds, self._size
        for game_id in self._store.read(game_tables.latest_games):
            if time.monotonic() >= end or size >= self._most:
                break
            if game_id not in self._games:
                size += len((await self.game(game_id)).patterns)
        return len(self._games)

    async def save_for_restarts(self) -> None:
        """Load the other games, then save patterns before their files fall too far behind. Never returns."""
        while True:
            try:
                await self.load(math.inf)
                for game in list(self._games.values()):
                    await self._save(game, _GENERATIONS_NOT_KEPT)
            except StoreError as error:
                _log.warning("games cannot be loaded ahead", error=str(error))
            await asyncio.sleep(_SECONDS_BETWEEN_ROUNDS)

    async def close(self, seconds: float) -> None:
        """Save changed patterns for about that time, of the games used last first."""
        end = time.monotonic() + seconds
        try:
            # What was being loaded may come in meanwhile.
            for game in reversed(list(self._games.values())):
                if time.monotonic() < end:
                    await self._save(game, 1)
        except StoreError as error:
            _log.warning("the next start will take longer", error=str(error))
        self._aside.shutdown(wait=False, cancel_futures=True)

    def sizes(self) -> Iterator[LibrarySize]:
        """How large the libraries in memory are."""
        for game_id, game in list(self._games.items()):
            yield LibrarySize(game_id, Library.OPENING.value, game.view.opening_nodes)
            for library in PATTERN_LIBRARIES:
                yield LibrarySize(game_id, library.value, len(game.view.libraries[library]))
            if game.view.stored_tesujis:
                yield LibrarySize(game_id, "tesujis", len(game.view.tesujis))

    @property
    def _size(self) -> int:
        return sum(len(game.patterns) for game in self._games.values())

    async def _share_load(self, game_id: str) -> None:
        """Load a game in another thread, once for all who wait for it."""
        loading = self._loading.get(game_id)
        if loading is None:
            loading = self._loading[game_id] = asyncio.create_task(self._load(game_id))
        # A caller that gives up must not cancel it for the others.
        await asyncio.shield(loading)

    async def _load(self, game_id: str) -> None:
        try:
            game = await asyncio.get_running_loop().run_in_executor(self._aside, self._read, game_id)
        finally:
            # In the step that adds the game: a caller that saw neither would load it once more, one that saw
            # only this would wait for nothing, again and again.
            del self._loading[game_id]
        self._follower.begin(game.view)
        self._games[game_id] = game
        size = self._size
        while size > self._most and len(self._games) > 1:
            gone, other = self._games.popitem(last=False)
            self._follower.forget(gone)
            size -= len(other.patterns)

    def _read(self, game_id: str) -> CachedGame:
        with self._store.environment.reading() as transaction:
            view = read_view(transaction, game_id)
            mark = game_tables.fingerprint(transaction, game_id, view.generation)
            saved = self._files.load(transaction, view)
        # Outside the transaction: others may want the map to grow meanwhile.
        patterns = PatternCache(view.spec)
        if saved is None:
            _fill(patterns, view)
        else:
            patterns.restore(saved.arrays)
            for library, pattern_id in saved.learnt:
                if pattern_id in view.libraries[library]:
                    patterns.put(library, view.libraries[library][pattern_id])
                else:
                    patterns.remove(pattern_id)
        game = CachedGame(view, patterns, 0 if saved is None else saved.generation)
        if saved is None and mark is not None and len(patterns):
            self._write(game, SavedPatterns(view.generation, mark, patterns.to_arrays()))
        _load_kernel_for(patterns)
        # Ranked here, in the thread, so that no call waits for it.
        patterns.ranked  # noqa: B018
        return game

    async def _save(self, game: CachedGame, behind: int) -> None:
        """Save a game's patterns, in another thread, if their file is that many generations behind."""
        game_id = game.view.spec.game_id
        if game.view.generation - game.saved >= behind:
            # Another process may have written it.
            game.saved = self._files.generation(game_id)
        if game.view.generation - game.saved < behind or not len(game.patterns):
            return
        with self._store.environment.reading() as transaction:
            mark = game_tables.fingerprint(transaction, game_id, game.view.generation)
        if mark is not None:
            saved = SavedPatterns(game.view.generation, mark, game.patterns.to_arrays())
            await asyncio.get_running_loop().run_in_executor(self._aside, self._write, game, saved)

    def _write(self, game: CachedGame, saved: SavedPatterns) -> None:
        if self._files.save(game.view.spec.game_id, saved):
            game.saved = saved.generation

    def _follow(self, view: GameView, changes: PatternChanges) -> None:
        game = self._games[view.spec.game_id]
        # The new description may be none of the old game's.
        is_other_game = view.spec.described(Description()) != game.view.spec.described(Description())
        game.view = view
        if is_other_game:
            # The game was deleted and a different one registered under its id.
            game.books, game.patterns, game.saved = Books(), PatternCache(view.spec), 0
            _fill(game.patterns, view)
        else:
            for _, pattern_id in changes.removed:
                game.patterns.remove(pattern_id)
            for library, entry in changes.put:
                game.patterns.put(library, entry)
            for restated in changes.restated:
                game.patterns.restate(*restated)
        _load_kernel_for(game.patterns)


def _load_kernel_for(patterns: PatternCache) -> None:
    # The compiled kernel takes a second and 145 MB, which a server without patterns can do without.
    if len(patterns):
        warm_up_in_background()


def _fill(patterns: PatternCache, view: GameView) -> None:
    for library, entries in view.libraries.items():
        for entry in entries.values():
            patterns.put(library, entry)
