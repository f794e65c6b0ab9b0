"""The games as consultations see them: views that follow the store, with their matching indexes."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from academy.knowledge.game import PATTERN_LIBRARIES
from academy.knowledge.settings import Library
from academy.service.metrics import LibrarySize
from academy.service.shelves import Shelf
from academy.store.following import GameView, PatternChanges
from academy.store.library_store import Store
from academy.v1 import consultation_pb2

_OPENINGS_REMEMBERED = 10_000


@dataclass(eq=False)
class LiveGame:
    """A game's newest view, the shelf of its patterns, and opening answers given from it.

    `version` is that of the store when the view was last seen to be the newest.
    """

    view: GameView
    shelf: Shelf
    openings: dict[tuple[object, ...], consultation_pb2.LookUpOpeningResponse] = field(default_factory=dict)
    version: int = -1

    def remember(self, question: tuple[object, ...], answer: consultation_pb2.LookUpOpeningResponse) -> None:
        """Keep an answer until the game's next generation."""
        if len(self.openings) >= _OPENINGS_REMEMBERED:
            self.openings.clear()
        self.openings[question] = answer


class LiveGames:
    """All games that were asked about, kept up to date. For one thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._games: dict[str, LiveGame] = {}
        self._follower = store.follow(self._follow)

    def game(self, game_id: str) -> LiveGame:
        """Return a game as committed last. Raises UnknownGame."""
        version = self._store.version
        game = self._games.get(game_id)
        if game is None or game.version != version:
            self._follower.refresh(game_id)
            game = self._games[game_id]
            game.version = version
        return game

    def load(self, seconds: float) -> int:
        """Load games for about so long, those first that learnt last; return how many were loaded."""
        end = time.monotonic() + seconds
        for count, game_id in enumerate(self._store.latest_games()):
            if time.monotonic() >= end:
                return count
            self.game(game_id)
        return len(self._games)

    def sizes(self) -> Iterator[LibrarySize]:
        """How large the libraries in memory are."""
        for game_id, game in list(self._games.items()):
            yield LibrarySize(game_id, Library.OPENING.value, len(game.view.openings))
            for library in PATTERN_LIBRARIES:
                yield LibrarySize(game_id, library.value, len(game.view.libraries[library]))

    def _follow(self, view: GameView, changes: PatternChanges) -> None:
        game = self._games.get(view.spec.game_id)
        if game is None:
            game = self._games[view.spec.game_id] = LiveGame(view, Shelf(view.spec))
        game.view = view
        game.openings.clear()
        for _, pattern_id in changes.removed:
            game.shelf.remove(pattern_id)
        for library, entry in changes.put:
            game.shelf.put(library, entry)
