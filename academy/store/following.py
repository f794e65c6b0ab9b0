"""The reading side: libraries in memory that follow what any process commits.

A view holds only committed knowledge. `Follower.refresh` compares the game's generation, one look-up,
and reads again only what changed.
"""

from collections.abc import Callable
from dataclasses import dataclass

from academy.knowledge.game import PATTERN_LIBRARIES, News
from academy.knowledge.library import PatternEntry
from academy.knowledge.measures import Measures
from academy.knowledge.openings import OpeningTree
from academy.knowledge.settings import Library, LibrarySettings
from academy.knowledge.spec import GameSpec
from academy.store import game_tables
from academy.store.environment import Environment, Transaction
from academy.store.game_tables import EntryReader
from academy.store.v1 import records_pb2


@dataclass(eq=False)
class GameView:
    """What is known of a game. Only for reading, and only until the next `refresh` of the game.

    `libraries` and `openings` are the same objects from refresh to refresh, brought up to date in place:
    what is to be kept over a refresh must be copied out. The view itself is new for each `generation`.
    """

    spec: GameSpec
    settings: LibrarySettings
    generation: int
    libraries: dict[Library, dict[int, PatternEntry]]
    openings: OpeningTree
    measures: Measures


@dataclass(frozen=True, slots=True)
class PatternChanges:
    """Patterns that are new or different in a view, and those that are gone, since the view before it."""

    put: tuple[tuple[Library, PatternEntry], ...]
    removed: tuple[tuple[Library, int], ...]


Listener = Callable[[GameView, PatternChanges], None]


class Follower:
    """Views of games, brought up to date on demand. For one thread.

    The listener is told of every new view before `refresh` returns it, with what differs from the one
    before: from nothing at first. A matching index that applies these changes holds what the view holds.
    """

    def __init__(self, environment: Environment, listener: Listener | None = None) -> None:
        self._environment = environment
        self._listener = listener
        self._views: dict[str, GameView] = {}
        self._readers: dict[str, EntryReader] = {}

    def refresh(self, game_id: str) -> GameView:
        """Return the newest view of a game. Raises UnknownGame, StoreError."""
        view = self._views.get(game_id)
        with self._environment.reading() as transaction:
            state = game_tables.game_state(transaction, game_id)
            if view is not None and view.generation == state.generation:
                return view
            news = None
            if view is not None:
                news = game_tables.news(transaction, self._readers[game_id], game_id, view.generation, state)
            if view is None or news is None:
                fresh, changes = self._loaded(transaction, game_id, state)
            else:
                fresh, changes = _followed(view, news, state.generation)
        self._views[game_id] = fresh
        if self._listener is not None:
            self._listener(fresh, changes)
        return fresh

    def _loaded(
        self, transaction: Transaction, game_id: str, state: records_pb2.GameState
    ) -> tuple[GameView, PatternChanges]:
        """Read all of a game."""
        game = game_tables.game_record(transaction, game_id)
        spec, settings = game_tables.spec_and_settings(game)
        reader = self._readers.setdefault(game_id, EntryReader(spec))
        libraries: dict[Library, dict[int, PatternEntry]] = {library: {} for library in PATTERN_LIBRARIES}
        for library, entry in game_tables.entries(transaction, reader, game_id):
            libraries[library][entry.pattern_id] = entry
        openings = OpeningTree(spec)
        openings.restore(game_tables.nodes(transaction, spec))
        openings.take_changes()
        measures = game_tables.read_measures(game_tables.measures(transaction, game_id))
        view = GameView(spec, settings, state.generation, libraries, openings, measures)
        old = self._views.get(game_id)
        return view, _difference(old, view)


def _followed(old: GameView, news: News, generation: int) -> tuple[GameView, PatternChanges]:
    """Bring a view's libraries up to date."""
    for library, entry in news.patterns:
        old.libraries[library][entry.pattern_id] = entry
    # What came and went between two looks was never here.
    gone = tuple(each for each in news.patterns_gone if each[1] in old.libraries[each[0]])
    for library, pattern_id in gone:
        del old.libraries[library][pattern_id]
    old.openings.follow(news.nodes, news.nodes_gone)
    view = GameView(old.spec, news.settings, generation, old.libraries, old.openings, news.measures)
    return view, PatternChanges(news.patterns, gone)


def _difference(old: GameView | None, new: GameView) -> PatternChanges:
    put = []
    removed = []
    for library in PATTERN_LIBRARIES:
        before = {} if old is None else old.libraries[library]
        after = new.libraries[library]
        put += [(library, entry) for number, entry in after.items() if before.get(number) != entry]
        removed += [(library, number) for number in before if number not in after]
    return PatternChanges(tuple(put), tuple(removed))
