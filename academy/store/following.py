"""The reading side: libraries in memory that follow what any process commits.

A view holds only committed knowledge. `Follower.refresh` compares the game's generation, one look-up,
and reads again only what changed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from academy.knowledge.game import PATTERN_LIBRARIES
from academy.knowledge.library import PatternEntry
from academy.knowledge.measures import Measures
from academy.knowledge.openings import OpeningNode, OpeningTree
from academy.knowledge.settings import Library, LibrarySettings
from academy.knowledge.spec import GameSpec
from academy.store import game_tables, keys
from academy.store.environment import Environment, Table, Transaction
from academy.store.game_records import settings_from_proto
from academy.store.game_tables import EntryReader
from academy.store.messages import unpacked
from academy.store.v1 import records_pb2


@dataclass(eq=False)
class GameView:
    """What was known of a game at a generation. A refresh makes a new view; this one stays as it is."""

    spec: GameSpec
    settings: LibrarySettings
    generation: int
    libraries: Mapping[Library, Mapping[int, PatternEntry]]
    nodes: Mapping[int, OpeningNode]
    stored_measures: bytes = field(repr=False)

    @cached_property
    def openings(self) -> OpeningTree:
        """The opening tree; put together when first asked for. Only for reading."""
        tree = OpeningTree(self.spec)
        tree.restore(self.nodes.values())
        return tree

    @cached_property
    def measures(self) -> Measures:
        """The sums behind the game's measures. Only for reading."""
        return game_tables.read_measures(self.stored_measures)


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
            followed = None if view is None else self._followed(transaction, view, state)
            fresh, changes = followed or self._loaded(transaction, game_id, state)
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
        nodes = {node.node_id: node for node in game_tables.nodes(transaction, spec)}
        measures = game_tables.measures(transaction, game_id)
        view = GameView(spec, settings, state.generation, libraries, nodes, measures)
        old = self._views.get(game_id)
        return view, _difference(old, view)

    def _followed(
        self, transaction: Transaction, old: GameView, state: records_pb2.GameState
    ) -> tuple[GameView, PatternChanges] | None:
        """Read what the feed says has changed; None where the feed no longer reaches back to the old view."""
        game_id = old.spec.game_id
        prefix = keys.in_game(game_id)
        patterns: set[tuple[Library, int]] = set()
        changed_nodes: set[int] = set()
        reached = old.generation
        start = prefix + keys.number(old.generation + 1)
        for key, stored in transaction.scan(Table.CHANGES, prefix, start=start):
            feed = unpacked(records_pb2.Changes, stored)
            if feed.previous != reached:
                return None
            reached = keys.last_number(key)
            patterns.update((Library.MIDDLE_GAME, number) for number in feed.middle_game)
            patterns.update((Library.ENDGAME, number) for number in feed.endgame)
            changed_nodes.update(feed.nodes)
        if reached != state.generation:
            return None
        settings = settings_from_proto(game_tables.game_record(transaction, game_id).settings)
        libraries = {library: dict(old.libraries[library]) for library in PATTERN_LIBRARIES}
        put, removed = [], []
        reader = self._readers[game_id]
        for library, pattern_id in sorted(patterns, key=lambda each: each[1]):
            value = transaction.get(Table.PATTERNS, keys.pattern(game_id, library, pattern_id))
            if value is not None:
                entry = libraries[library][pattern_id] = reader.read(value)
                put.append((library, entry))
            elif libraries[library].pop(pattern_id, None) is not None:
                removed.append((library, pattern_id))
        nodes = dict(old.nodes)
        for node_id in changed_nodes:
            value = transaction.get(Table.OPENINGS, prefix + keys.number(node_id))
            if value is not None:
                nodes[node_id] = game_tables.read_node(value, old.spec)
            else:
                nodes.pop(node_id, None)
        measures = game_tables.measures(transaction, game_id)
        view = GameView(old.spec, settings, state.generation, libraries, nodes, measures)
        return view, PatternChanges(tuple(put), tuple(removed))


def _difference(old: GameView | None, new: GameView) -> PatternChanges:
    put = []
    removed = []
    for library in PATTERN_LIBRARIES:
        before = {} if old is None else old.libraries[library]
        after = new.libraries[library]
        put += [(library, entry) for number, entry in after.items() if before.get(number) != entry]
        removed += [(library, number) for number in before if number not in after]
    return PatternChanges(tuple(put), tuple(removed))
