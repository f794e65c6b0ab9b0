"""The reading side: libraries in memory that follow what any process commits.

A view holds only committed knowledge. `Replica.refresh` compares the game's generation, one look-up,
and reads again only what changed.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from academy.knowledge.evaluation import EvaluationTable
from academy.knowledge.game import PATTERN_LIBRARIES
from academy.knowledge.game_records import ChangedKeys
from academy.knowledge.measures import Measures
from academy.knowledge.opening_node import OpeningNode
from academy.knowledge.openings import ROOT, OpeningTree
from academy.knowledge.pattern_entry import PatternEntry
from academy.knowledge.settings import Library, LibrarySettings
from academy.knowledge.spec import GameSpec
from academy.knowledge.tesujis.table import TesujiTable
from academy.knowledge.votes import VoteTally
from academy.store import game_tables, keys
from academy.store.codec.games import settings_from_proto
from academy.store.codec.packing import unpack_message
from academy.store.environment import Environment, TableName, Transaction
from academy.v1 import pattern_pb2
from academy.wire.games import read_description

_T = TypeVar("_T")


class LazyRecords(Mapping[int, _T]):
    """Records by number, `stored` as they are in the store and read at each look-up.

    Raises StoreCorruptError for one that cannot be read.
    """

    def __init__(self, stored: dict[int, bytes], read: Callable[[bytes], _T]) -> None:
        self.stored = stored
        self.read = read

    def __getitem__(self, number: int) -> _T:
        return self.read(self.stored[number])

    def __iter__(self) -> Iterator[int]:
        return iter(self.stored)

    def __len__(self) -> int:
        return len(self.stored)

    def __contains__(self, number: object) -> bool:
        return number in self.stored

    def follow(self, records: Mapping[int, bytes | None]) -> None:
        """Take records as they are now, None for those that are gone."""
        for number, stored in records.items():
            if stored is None:
                self.stored.pop(number, None)
            else:
                self.stored[number] = stored


class _Openings:
    """An opening tree that is built at its first use."""

    def __init__(self, spec: GameSpec, nodes: LazyRecords[OpeningNode]) -> None:
        self.nodes = nodes
        self._spec = spec
        self._tree: OpeningTree | None = None

    @property
    def tree(self) -> OpeningTree:
        if self._tree is None:
            self._tree = OpeningTree(self._spec)
            self._tree.follow(self.nodes.values(), ())
        return self._tree

    def follow(self, records: Mapping[int, bytes | None]) -> None:
        self.nodes.follow(records)
        if self._tree is not None:
            there = [self.nodes[number] for number, stored in records.items() if stored is not None]
            self._tree.follow(there, [number for number, stored in records.items() if stored is None])


@dataclass(eq=False)
class GameView:
    """The knowledge of a game. Only for reading, by one thread, until the next `refresh` of the game.

    The libraries are the same objects from refresh to refresh, brought up to date in place: what must be
    kept over a refresh must be copied out. The view itself is new for each `generation`.
    """

    spec: GameSpec
    settings: LibrarySettings
    generation: int
    libraries: dict[Library, LazyRecords[PatternEntry]]
    measures: Measures
    tree_to_be: _Openings
    stored_tesujis: bytes
    stored_evaluation: bytes

    @cached_property
    def tesujis(self) -> TesujiTable:
        """The tesujis, read at their first use."""
        return game_tables.read_tesujis(self.stored_tesujis, self.spec)

    @cached_property
    def evaluation(self) -> EvaluationTable:
        """The evaluation, read at its first use."""
        return game_tables.read_evaluation(self.stored_evaluation, self.spec)

    @cached_property
    def answered_tesujis(self) -> TesujiTable:
        """The tesujis that questions are answered by: none where the setting is off."""
        return self.tesujis.for_answers(self.settings)

    @cached_property
    def answered_evaluation(self) -> EvaluationTable:
        """The evaluation that others get, as far as the settings have it on."""
        return self.evaluation.for_answers(self.settings)

    @property
    def openings(self) -> OpeningTree:
        """The opening tree, built at its first use."""
        return self.tree_to_be.tree

    @property
    def opening_nodes(self) -> int:
        """How many nodes the opening tree has; the root does not count."""
        return len(self.tree_to_be.nodes) - (ROOT in self.tree_to_be.nodes)


@dataclass(frozen=True, slots=True)
class PatternChanges:
    """The difference from the view before.

    `put` are patterns that are new or have other cells than before, `restated` those of the same cells, by
    number, with the player whom they address and the votes as they are now. Patterns that were only used
    are left out.
    """

    put: tuple[tuple[Library, PatternEntry], ...]
    restated: tuple[tuple[Library, int, int, VoteTally], ...]
    removed: tuple[tuple[Library, int], ...]


Listener = Callable[[GameView, PatternChanges], None]


def read_view(transaction: Transaction, game_id: str) -> GameView:
    """Return a view of all of a game. Raises UnknownGameError, StoreCorruptError."""
    spec, settings = game_tables.spec_and_settings(game_tables.game_record(transaction, game_id))
    entries = game_tables.EntryReader(spec)
    stored = {
        library: transaction.read_numbered(TableName.PATTERNS, keys.pattern(game_id, library))
        for library in PATTERN_LIBRARIES
    }
    nodes = transaction.read_numbered(TableName.OPENINGS, keys.in_game(game_id))
    return GameView(
        spec,
        settings,
        game_tables.game_state(transaction, game_id).generation,
        {library: LazyRecords(records, entries.read) for library, records in stored.items()},
        game_tables.read_measures(game_tables.stored_table(transaction, TableName.MEASURES, game_id)),
        _Openings(spec, LazyRecords(nodes, lambda node: game_tables.read_node(node, spec))),
        game_tables.stored_table(transaction, TableName.TESUJIS, game_id),
        game_tables.stored_table(transaction, TableName.EVALUATIONS, game_id),
    )


class Replica:
    """Views of games, brought up to date on demand. For one thread.

    The listener gets every new view before `refresh` returns it, with what differs from the one
    before: from nothing at first. A matching index that applies these changes holds what the view holds, but
    for uses.
    """

    def __init__(self, environment: Environment, listener: Listener | None = None) -> None:
        self._environment = environment
        self._listener = listener
        self._views: dict[str, GameView] = {}

    def begin(self, view: GameView) -> None:
        """Follow a game from a view that was read elsewhere; the listener knows what it holds."""
        self._views[view.spec.game_id] = view

    def forget(self, game_id: str) -> None:
        """Follow a game no longer."""
        self._views.pop(game_id, None)

    def refresh(self, game_id: str) -> GameView:
        """Return the newest view of a game. Raises UnknownGameError, StoreError."""
        view = self._views.get(game_id)
        with self._environment.reading() as transaction:
            state = game_tables.game_state(transaction, game_id)
            if view is not None and view.generation == state.generation:
                return view
            touched = None
            if view is not None:
                touched = game_tables.changes_since(transaction, game_id, view.generation, state.generation)
            if view is None or touched is None:
                fresh = read_view(transaction, game_id)
                changes = _difference(view, fresh)
            else:
                fresh, changes = _follow(transaction, view, touched, state.generation)
        self._views[game_id] = fresh
        if self._listener is not None:
            self._listener(fresh, changes)
        return fresh


_StoredPatterns = dict[Library, dict[int, bytes | None]]


def _follow(
    transaction: Transaction, old: GameView, touched: ChangedKeys, generation: int
) -> tuple[GameView, PatternChanges]:
    """Bring a view's libraries up to date. Costs what changed, not what there is."""
    game_id = old.spec.game_id
    game = game_tables.game_record(transaction, game_id)
    spec, settings = old.spec.described(read_description(game)), settings_from_proto(game.settings)
    measures = game_tables.read_measures(game_tables.stored_table(transaction, TableName.MEASURES, game_id))
    current: _StoredPatterns = {library: {} for library in PATTERN_LIBRARIES}
    for library, pattern_id in sorted(touched.patterns, key=lambda pattern: pattern[1]):
        key = keys.pattern(game_id, library, pattern_id)
        current[library][pattern_id] = transaction.get(TableName.PATTERNS, key)
    changes = _changes({library: old.libraries[library].stored for library in current}, current, old)
    for library, pattern_id in touched.used:
        current[library][pattern_id] = transaction.get(
            TableName.PATTERNS, keys.pattern(game_id, library, pattern_id)
        )
    for library, records in current.items():
        old.libraries[library].follow(records)
    old.tree_to_be.follow(
        {
            node_id: transaction.get(TableName.OPENINGS, keys.in_game(game_id, node_id))
            for node_id in sorted(touched.nodes)
        }
    )
    view = GameView(
        spec,
        settings,
        generation,
        old.libraries,
        measures,
        old.tree_to_be,
        game_tables.stored_table(transaction, TableName.TESUJIS, game_id),
        game_tables.stored_table(transaction, TableName.EVALUATIONS, game_id),
    )
    return view, changes


def _difference(old: GameView | None, new: GameView) -> PatternChanges:
    known: dict[Library, dict[int, bytes]] = {
        library: {} if old is None else old.libraries[library].stored for library in PATTERN_LIBRARIES
    }
    current: _StoredPatterns = {}
    for library, before in known.items():
        after = new.libraries[library].stored
        current[library] = {number: None for number in before if number not in after}
        current[library] |= {
            number: stored for number, stored in after.items() if before.get(number) != stored
        }
    return _changes(known, current, new)


def _changes(
    known: Mapping[Library, Mapping[int, bytes]], current: _StoredPatterns, view: GameView
) -> PatternChanges:
    """Compare records as they are now with those known before."""
    put = []
    restated = []
    removed = []
    for library, records in current.items():
        for number, stored in records.items():
            before = known[library].get(number)
            if stored is None:
                # A pattern that came and went between two refreshes was never here.
                if before is not None:
                    removed.append((library, number))
                continue
            was = None if before is None else unpack_message(pattern_pb2.PatternRecord, before)
            now = unpack_message(pattern_pb2.PatternRecord, stored)
            if was is None or was.cells != now.cells:
                put.append((library, view.libraries[library].read(stored)))
            elif (was.player, was.votes, was.folded) != (now.player, now.votes, now.folded):
                restated.append((library, number, now.player, game_tables.read_votes(now)))
    return PatternChanges(tuple(put), tuple(restated), tuple(removed))
