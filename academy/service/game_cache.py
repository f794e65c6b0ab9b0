"""The games as consultations see them: views that follow the store, with their matching indexes."""

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Final

import structlog

from academy.knowledge.game import PATTERN_LIBRARIES
from academy.knowledge.settings import Library
from academy.service.metrics import LibrarySize
from academy.service.pattern_cache import KeptShelf, PatternCache, PatternCacheFiles
from academy.store import game_tables
from academy.store.errors import StoreError, UnknownGameError
from academy.store.library_store import Store
from academy.store.replica import GameView, PatternChanges, read_view
from academy.v1 import consultation_pb2

_OPENINGS_REMEMBERED: Final = 10_000
# A pattern takes about 600 bytes in memory.
PATTERNS_IN_MEMORY: Final = 1_000_000
# The feed reaches back four times as far: what a kept shelf lacks is then found there.
_GENERATIONS_NOT_KEPT: Final = game_tables.GENERATIONS_KEPT // 4
_SECONDS_BETWEEN_ROUNDS: Final = 30.0
_log = structlog.get_logger()


@dataclass(eq=False)
class CachedGame:
    """A game's newest view, the shelf of its patterns, and opening answers given from it.

    `version` is that of the store when the view was last seen to be the newest, `kept` the generation that
    the shelf's file is of.
    """

    view: GameView
    shelf: PatternCache
    kept: int
    openings: dict[tuple[object, ...], consultation_pb2.LookUpOpeningResponse] = field(default_factory=dict)
    version: int = -1

    def remember(self, question: tuple[object, ...], answer: consultation_pb2.LookUpOpeningResponse) -> None:
        """Keep an answer until the game's next generation."""
        if len(self.openings) >= _OPENINGS_REMEMBERED:
            self.openings.clear()
        self.openings[question] = answer

    def stored_patterns(self) -> dict[int, bytes]:
        """The patterns of both libraries as they are stored now, by number."""
        return {
            number: stored
            for library in PATTERN_LIBRARIES
            for number, stored in self.view.libraries[library].stored.items()
        }


class GameCache:
    """Games that were asked about, kept up to date. For one event loop, but for loading, which is done aside.

    At most about `most_patterns` are held: then the games that were not asked about for longest go, and are
    loaded again when they are asked about.
    """

    def __init__(self, store: Store, most_patterns: int = PATTERNS_IN_MEMORY) -> None:
        self._store = store
        self._most = most_patterns
        self._games: OrderedDict[str, CachedGame] = OrderedDict()
        self._follower = store.follow(self._follow)
        self._kept = PatternCacheFiles(store.environment.folder)
        self._loading: dict[str, asyncio.Task[None]] = {}
        # One game after another: two at once would be ready no earlier.
        self._aside = ThreadPoolExecutor(max_workers=1, thread_name_prefix="loading")

    async def game(self, game_id: str) -> CachedGame:
        """Return a game as committed last. Raises UnknownGame."""
        version = self._store.version
        while (game := self._games.get(game_id)) is None:
            await self._loaded(game_id)
            version = self._store.version
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
        """Load games for about so long, those first that learnt last; return how many were loaded."""
        end = time.monotonic() + seconds
        for game_id in self._store.latest_games():
            if time.monotonic() >= end or self._held >= self._most:
                break
            if game_id not in self._games:
                await self.game(game_id)
        return len(self._games)

    async def keep_for_restarts(self) -> None:
        """Load the games that are left, then keep the shelves' files from falling behind. Never returns."""
        while True:
            try:
                await self.load(math.inf)
                for game in list(self._games.values()):
                    await self._keep(game, _GENERATIONS_NOT_KEPT)
            except StoreError as fault:
                _log.warning("games cannot be loaded ahead", fault=str(fault))
            await asyncio.sleep(_SECONDS_BETWEEN_ROUNDS)

    async def close(self, seconds: float) -> None:
        """Keep for about so long the shelves that have changed, those first that were asked about last."""
        end = time.monotonic() + seconds
        try:
            # What was being loaded may come in meanwhile.
            for game in reversed(list(self._games.values())):
                if time.monotonic() < end:
                    await self._keep(game, 1)
        except StoreError as fault:
            _log.warning("the next start will take longer", fault=str(fault))
        self._aside.shutdown(wait=False, cancel_futures=True)

    def sizes(self) -> Iterator[LibrarySize]:
        """How large the libraries in memory are."""
        for game_id, game in list(self._games.items()):
            yield LibrarySize(game_id, Library.OPENING.value, game.view.opening_nodes)
            for library in PATTERN_LIBRARIES:
                yield LibrarySize(game_id, library.value, len(game.view.libraries[library]))

    @property
    def _held(self) -> int:
        return sum(len(game.shelf) for game in self._games.values())

    async def _loaded(self, game_id: str) -> None:
        """Load a game in another thread, once for all who wait for it."""
        loading = self._loading.get(game_id)
        if loading is None:
            loading = self._loading[game_id] = asyncio.create_task(self._load(game_id))
        # Whoever gives up must not take it from the others.
        await asyncio.shield(loading)

    async def _load(self, game_id: str) -> None:
        try:
            game = await asyncio.get_running_loop().run_in_executor(self._aside, self._read, game_id)
        finally:
            # In the same step as the game is there: who finds neither would load it once more, who found
            # only this would wait for nothing, again and again.
            del self._loading[game_id]
        self._follower.begin(game.view)
        self._games[game_id] = game
        held = self._held
        while held > self._most and len(self._games) > 1:
            gone, other = self._games.popitem(last=False)
            self._follower.forget(gone)
            held -= len(other.shelf)

    def _read(self, game_id: str) -> CachedGame:
        with self._store.environment.reading() as transaction:
            view = read_view(transaction, game_id)
            mark = game_tables.fingerprint(transaction, game_id, view.generation)
            kept = self._kept.find(transaction, view)
        # Outside the transaction: others may want the map to grow meanwhile.
        shelf = PatternCache(view.spec)
        if kept is None:
            for library, entries in view.libraries.items():
                for entry in entries.values():
                    shelf.put(library, entry)
        else:
            shelf.restore(kept.arrays)
            for library, pattern_id in kept.learnt:
                if pattern_id in view.libraries[library]:
                    shelf.put(library, view.libraries[library][pattern_id])
                else:
                    shelf.remove(pattern_id)
        game = CachedGame(view, shelf, 0 if kept is None else kept.generation)
        if kept is None and mark is not None and len(shelf):
            self._write(game, KeptShelf(view.generation, mark, shelf.kept()))
        # Made here, where nobody waits for it.
        shelf.ranked  # noqa: B018
        return game

    async def _keep(self, game: CachedGame, behind: int) -> None:
        """Write a shelf's file, in another thread, if it is as many generations behind as that."""
        game_id = game.view.spec.game_id
        if game.view.generation - game.kept >= behind:
            # Another process may have written it.
            game.kept = self._kept.generation(game_id)
        if game.view.generation - game.kept < behind or not len(game.shelf):
            return
        with self._store.environment.reading() as transaction:
            mark = game_tables.fingerprint(transaction, game_id, game.view.generation)
        if mark is not None:
            kept = KeptShelf(game.view.generation, mark, game.shelf.kept())
            await asyncio.get_running_loop().run_in_executor(self._aside, self._write, game, kept)

    def _write(self, game: CachedGame, kept: KeptShelf) -> None:
        if self._kept.keep(game.view.spec.game_id, kept):
            game.kept = kept.generation

    def _follow(self, view: GameView, changes: PatternChanges) -> None:
        game = self._games[view.spec.game_id]
        is_other_game = view.spec != replace(game.view.spec, move_forms=view.spec.move_forms)
        game.view = view
        game.openings.clear()
        if is_other_game:
            # It was deleted, and another one registered.
            game.shelf, game.kept = PatternCache(view.spec), 0
            for library, entries in view.libraries.items():
                for entry in entries.values():
                    game.shelf.put(library, entry)
            return
        for _, pattern_id in changes.removed:
            game.shelf.remove(pattern_id)
        for put in changes.put:
            game.shelf.put(put.library, put.entry)
        for each in changes.restated:
            game.shelf.restate(each.library, each.pattern_id, each.player, each.ballot)
