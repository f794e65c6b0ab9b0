"""A game's knowledge in the tables: loading it whole, storing what an event changed, the feed of changes."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b
from itertools import islice
from typing import Final

from academy.knowledge.evaluation import EvaluationTable
from academy.knowledge.game import GameKnowledge
from academy.knowledge.game_records import (
    ChangedKeys,
    ChangedRecords,
    Counters,
    KnowledgeUpdate,
    StoredKnowledge,
)
from academy.knowledge.measures import Measures, Rating
from academy.knowledge.opening_node import OpeningNode
from academy.knowledge.pattern_entry import PatternEntry
from academy.knowledge.patterns import Pattern
from academy.knowledge.settings import Library, LibrarySettings
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import Cell
from academy.knowledge.tesujis.table import TesujiTable
from academy.knowledge.votes import ELO_SCALE, VoteTally
from academy.store import keys
from academy.store.codec.games import settings_from_proto, spec_to_proto
from academy.store.codec.learnt_tables import (
    evaluation_from_proto,
    evaluation_to_proto,
    tesujis_from_proto,
    tesujis_to_proto,
)
from academy.store.codec.openings import node_from_proto, node_to_proto
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.codec.patterns import entry_from_proto, entry_to_proto, use_count, votes_from_proto
from academy.store.environment import TableName, Transaction
from academy.store.errors import StoreCorruptError, UnknownGameError
from academy.store.v1 import records_pb2
from academy.v1 import game_pb2, pattern_pb2
from academy.wire.games import read_description, read_spec

GENERATIONS_KEPT: Final = 1_024
MARK_LENGTH: Final = 16
MAX_PAGE: Final = 1_000


def changes_since(transaction: Transaction, game_id: str, generation: int, newest: int) -> ChangedKeys | None:
    """Return what changed after a generation up to the newest; None where the feed does not reach back."""
    prefix = keys.in_game(game_id)
    patterns: set[tuple[Library, int]] = set()
    used: set[tuple[Library, int]] = set()
    nodes: set[int] = set()
    players: set[str] = set()
    reached = generation
    for key, stored in transaction.scan(TableName.CHANGES, prefix, start=prefix + keys.number(reached + 1)):
        changes = unpack_message(records_pb2.Changes, stored)
        if changes.previous != reached:
            return None
        reached = keys.last_number(key)
        touched = {(Library.MIDDLE_GAME, number) for number in changes.middle_game}
        touched |= {(Library.ENDGAME, number) for number in changes.endgame}
        learnt = set(changes.learnt)
        only_used = {pattern for pattern in touched if changes.learnt_told and pattern[1] not in learnt}
        used |= only_used
        patterns |= touched - only_used
        nodes.update(changes.nodes)
        players.update(changes.players)
    if reached != newest:
        return None
    return ChangedKeys(frozenset(patterns), frozenset(used - patterns), frozenset(nodes), frozenset(players))


def fingerprint(transaction: Transaction, game_id: str, generation: int) -> bytes | None:
    """Return a digest of a generation, which differs between folders; None where it is too old.

    A folder that was restored from a backup counts on from there, and learns other things.
    """
    stored = transaction.get(TableName.CHANGES, keys.in_game(game_id, generation))
    return None if stored is None else blake2b(stored, digest_size=MARK_LENGTH).digest()


def _append_changes(
    transaction: Transaction,
    game_id: str,
    changes: ChangedRecords,
    previous: int,
    generation: int,
    event: bytes,
) -> None:
    """Record what the event `generation`, stored as `event`, changed since the event `previous`."""
    record = records_pb2.Changes(
        previous=previous,
        nodes=sorted(changes.nodes),
        players=sorted(changes.players),
        # Numbers of patterns are unique in a game, across its libraries.
        learnt=sorted(number for _, number in changes.patterns),
        learnt_told=True,
    )
    record.event_digest = blake2b(event, digest_size=MARK_LENGTH).digest()
    for library, pattern_id in sorted(changes.patterns | changes.used, key=lambda change: change[1]):
        (record.middle_game if library is Library.MIDDLE_GAME else record.endgame).append(pattern_id)
    prefix = keys.in_game(game_id)
    newest = next(transaction.scan(TableName.CHANGES, prefix, backwards=True), None)
    if newest is not None:
        record.number = unpack_message(records_pb2.Changes, newest[1]).number + 1
        oldest, value = next(transaction.scan(TableName.CHANGES, prefix))
        if record.number - unpack_message(records_pb2.Changes, value).number >= GENERATIONS_KEPT:
            transaction.delete(TableName.CHANGES, oldest)
    transaction.put(TableName.CHANGES, prefix + keys.number(generation), pack_message(record))


def list_game_ids(transaction: Transaction) -> list[str]:
    """Return the ids of all games."""
    return [key.decode() for key, _ in transaction.scan(TableName.GAMES)]


def game_record(transaction: Transaction, game_id: str) -> game_pb2.Game:
    """Return a game with its present settings. Raises UnknownGameError."""
    stored = transaction.get(TableName.GAMES, keys.game(game_id))
    if stored is None:
        raise UnknownGameError(game_id)
    return unpack_message(game_pb2.Game, stored)


def list_games(transaction: Transaction, *, after: str = "", most: int = MAX_PAGE) -> list[game_pb2.Game]:
    """Return up to `most` games in the order of their ids, those after id `after`."""
    start = after.encode() + b"\0" if after else b""
    stored = islice(transaction.scan(TableName.GAMES, start=start), most)
    return [unpack_message(game_pb2.Game, game) for _, game in stored]


def latest_games(transaction: Transaction) -> list[str]:
    """Return the ids of all games, the latest to learn first."""
    states = transaction.scan(TableName.GAME_STATE)
    generations = {
        key.decode(): unpack_message(records_pb2.GameState, state).generation for key, state in states
    }
    return sorted(generations, key=lambda game_id: (-generations[game_id], game_id))


def game_state(transaction: Transaction, game_id: str) -> records_pb2.GameState:
    """Return a game's counters. Raises UnknownGameError."""
    stored = transaction.get(TableName.GAME_STATE, keys.game(game_id))
    if stored is None:
        raise UnknownGameError(game_id)
    return unpack_message(records_pb2.GameState, stored)


def spec_and_settings(game: game_pb2.Game) -> tuple[GameSpec, LibrarySettings]:
    """Read a stored game. Raises StoreCorruptError."""
    try:
        return read_spec(game), settings_from_proto(game.settings)
    except ValueError as error:
        raise StoreCorruptError(f"the record of game {game.game_id!r} cannot be read: {error}") from error


def stored_table(transaction: Transaction, table: TableName, game_id: str) -> bytes:
    """Return a game's measures, tesujis or evaluation as stored, for the table's `read_` function."""
    return transaction.get(table, keys.game(game_id)) or b""


def read_measures(stored: bytes) -> Measures:
    """Read the sums behind a game's measures. Raises StoreCorruptError."""
    try:
        return Measures.from_json(json.loads(stored))
    except (ValueError, TypeError) as error:
        raise StoreCorruptError(f"the measures of a game cannot be read: {error}") from error


def write_measures(measures: Measures) -> str:
    """Write the sums behind a game's measures, always in the same way."""
    return json.dumps(measures.as_json(), sort_keys=True, separators=(",", ":"))


def read_tesujis(stored: bytes, spec: GameSpec) -> TesujiTable:
    """Read stored tesujis. Raises StoreCorruptError."""
    try:
        return tesujis_from_proto(unpack_message(records_pb2.Tesujis, stored))
    except ValueError as fault:
        raise StoreCorruptError(f"the tesujis of {spec.game_id!r} cannot be read: {fault}") from fault


def read_evaluation(stored: bytes, spec: GameSpec) -> EvaluationTable:
    """Read a stored evaluation. Raises StoreCorruptError."""
    try:
        return evaluation_from_proto(unpack_message(records_pb2.Evaluation, stored))
    except ValueError as fault:
        raise StoreCorruptError(f"the evaluation of {spec.game_id!r} cannot be read: {fault}") from fault


def read_rating(stored: bytes) -> Rating:
    """Read a stored rating. Raises StoreCorruptError."""
    record = unpack_message(records_pb2.Rating, stored)
    return record.player, record.elo_hundredths


def find_rating(transaction: Transaction, game_id: str, player: str) -> Rating | None:
    """Return the latest rating of a player of a game, None where there is none."""
    stored = transaction.get(TableName.RATINGS, keys.rating(game_id, player))
    return None if stored is None else read_rating(stored)


def is_rated(transaction: Transaction, player: str) -> bool:
    """Whether a player has a rating in any game."""
    return any(find_rating(transaction, game_id, player) for game_id in list_game_ids(transaction))


def find_elo(transaction: Transaction, game_id: str, player: str) -> float | None:
    """Return the Elo of a player of a game as the arena gave it last, None where it gave none."""
    known = find_rating(transaction, game_id, player)
    return None if known is None else known[1] / ELO_SCALE


def list_ratings(transaction: Transaction, game_id: str) -> list[Rating]:
    """Return the ratings of all players of a game."""
    return [read_rating(stored) for _, stored in transaction.scan(TableName.RATINGS, keys.in_game(game_id))]


class EntryReader:
    """Reads stored patterns of one game; patterns of one outline share their tuple of cells."""

    def __init__(self, spec: GameSpec) -> None:
        self.spec = spec
        self._outlines: dict[tuple[Cell, ...], tuple[Cell, ...]] = {}

    def read(self, stored: bytes) -> PatternEntry:
        """Read one pattern. Raises StoreCorruptError."""
        try:
            entry = entry_from_proto(unpack_message(pattern_pb2.PatternRecord, stored), self.spec)
        except ValueError as error:
            raise StoreCorruptError(f"a pattern of {self.spec.game_id!r} cannot be read: {error}") from error
        cells = self._outlines.setdefault(entry.pattern.cells, entry.pattern.cells)
        if cells is entry.pattern.cells:
            return entry
        return replace(entry, pattern=Pattern(cells, entry.pattern.codes))


def read_votes(record: pattern_pb2.PatternRecord) -> VoteTally:
    """Read the votes for a stored pattern, which is not read further. Raises StoreCorruptError."""
    try:
        return votes_from_proto(record)
    except ValueError as error:
        raise StoreCorruptError(
            f"votes for a pattern of {record.game_id!r} cannot be read: {error}"
        ) from error


def read_node(stored: bytes, spec: GameSpec) -> OpeningNode:
    """Read a stored node. Raises StoreCorruptError."""
    try:
        return node_from_proto(unpack_message(pattern_pb2.OpeningNodeRecord, stored), spec)
    except ValueError as error:
        raise StoreCorruptError(f"an opening node of {spec.game_id!r} cannot be read: {error}") from error


def load(transaction: Transaction, game_id: str) -> tuple[GameKnowledge, int]:
    """Return a game's knowledge and its generation. Raises UnknownGameError or StoreCorruptError."""
    game, state = game_record(transaction, game_id), game_state(transaction, game_id)
    tables = (TableName.PATTERNS, TableName.OPENINGS, TableName.RATINGS)
    records = {table: transaction.scan(table, keys.in_game(game_id)) for table in tables}
    one_of_a_game = {
        table: stored_table(transaction, table, game_id)
        for table in (TableName.MEASURES, TableName.TESUJIS, TableName.EVALUATIONS)
    }
    return restore(game, state, one_of_a_game, records), state.generation


def restore(
    game: game_pb2.Game,
    state: records_pb2.GameState,
    one_of_a_game: Mapping[TableName, bytes],
    records: Mapping[TableName, Iterable[tuple[bytes, bytes]]],
) -> GameKnowledge:
    """Return a game's knowledge from its records by table, the many and the single ones.

    Raises StoreCorruptError.
    """
    spec, settings = spec_and_settings(game)
    reader = EntryReader(spec)
    return GameKnowledge.restore(
        StoredKnowledge(
            spec,
            settings,
            ((keys.pattern_of(key)[0], reader.read(stored)) for key, stored in records[TableName.PATTERNS]),
            (read_node(stored, spec) for _, stored in records[TableName.OPENINGS]),
            Counters(state.next_pattern_id, state.next_node_id),
            read_measures(one_of_a_game[TableName.MEASURES]),
            (read_rating(stored) for _, stored in records[TableName.RATINGS]),
            state.muted,
            read_tesujis(one_of_a_game[TableName.TESUJIS], spec),
            read_evaluation(one_of_a_game[TableName.EVALUATIONS], spec),
        )
    )


def read_update(
    transaction: Transaction,
    reader: EntryReader,
    game_id: str,
    touched: ChangedKeys,
    state: records_pb2.GameState,
) -> KnowledgeUpdate:
    """Return what is stored of records that a copy of a game's knowledge has otherwise.

    Costs what changed, not what there is.
    """
    game = game_record(transaction, game_id)
    spec, settings = reader.spec, settings_from_proto(game.settings)
    uses = []
    for library, pattern_id in touched.used:
        stored = transaction.get(TableName.PATTERNS, keys.pattern(game_id, library, pattern_id))
        if stored is None:
            raise StoreCorruptError(f"pattern {pattern_id} of {game_id!r} was used, but is missing")
        uses.append((library, use_count(stored)))
    patterns, patterns_gone = [], []
    for library, pattern_id in sorted(touched.patterns, key=lambda pattern: pattern[1]):
        stored = transaction.get(TableName.PATTERNS, keys.pattern(game_id, library, pattern_id))
        if stored is None:
            patterns_gone.append((library, pattern_id))
        else:
            patterns.append((library, reader.read(stored)))
    nodes, nodes_gone = [], []
    for node_id in sorted(touched.nodes):
        stored = transaction.get(TableName.OPENINGS, keys.in_game(game_id, node_id))
        if stored is None:
            nodes_gone.append(node_id)
        else:
            nodes.append(read_node(stored, spec))
    return KnowledgeUpdate(
        read_description(game),
        settings,
        Counters(state.next_pattern_id, state.next_node_id),
        read_measures(stored_table(transaction, TableName.MEASURES, game_id)),
        tuple(
            latest
            for player in sorted(touched.players)
            if (latest := find_rating(transaction, game_id, player))
        ),
        tuple(patterns),
        tuple(patterns_gone),
        tuple(uses),
        tuple(nodes),
        tuple(nodes_gone),
        frozenset(state.muted),
        read_tesujis(stored_table(transaction, TableName.TESUJIS, game_id), spec),
        read_evaluation(stored_table(transaction, TableName.EVALUATIONS, game_id), spec),
    )


def records(knowledge: GameKnowledge, generation: int) -> Iterator[tuple[TableName, bytes, bytes]]:
    """Yield table, key and value of everything stored for a game's knowledge, except the changes feed."""
    spec = knowledge.spec
    yield TableName.GAMES, keys.game(spec.game_id), pack_message(spec_to_proto(spec, knowledge.settings))
    yield from _figures(knowledge, generation)
    for library, patterns in knowledge.libraries.items():
        for entry in patterns:
            yield (
                TableName.PATTERNS,
                keys.pattern(spec.game_id, library, entry.pattern_id),
                pack_message(entry_to_proto(entry, library, spec)),
            )
    for node in knowledge.openings.nodes.values():
        yield (
            TableName.OPENINGS,
            keys.in_game(spec.game_id, node.node_id),
            pack_message(node_to_proto(node, spec.game_id)),
        )
    if len(knowledge.tesujis):
        yield TableName.TESUJIS, keys.game(spec.game_id), _pack_tesujis(knowledge)
    if len(knowledge.evaluation):
        yield TableName.EVALUATIONS, keys.game(spec.game_id), _pack_evaluation(knowledge)
    for player, hundredths in knowledge.ratings:
        yield TableName.RATINGS, keys.rating(spec.game_id, player), _pack_rating(player, hundredths)


def _pack_tesujis(knowledge: GameKnowledge) -> bytes:
    return pack_message(tesujis_to_proto(knowledge.tesujis)) if len(knowledge.tesujis) else b""


def _pack_evaluation(knowledge: GameKnowledge) -> bytes:
    return pack_message(evaluation_to_proto(knowledge.evaluation)) if len(knowledge.evaluation) else b""


def _store_table(transaction: Transaction, table: TableName, game_id: str, stored: bytes) -> None:
    if stored:
        transaction.put(table, keys.game(game_id), stored)
    else:
        transaction.delete(table, keys.game(game_id))


def _pack_rating(player: str, hundredths: int) -> bytes:
    return pack_message(records_pb2.Rating(player=player, elo_hundredths=hundredths))


def _figures(knowledge: GameKnowledge, generation: int) -> Iterator[tuple[TableName, bytes, bytes]]:
    key = keys.game(knowledge.spec.game_id)
    state = records_pb2.GameState(
        generation=generation,
        next_pattern_id=knowledge.counters.next_pattern_id,
        next_node_id=knowledge.counters.next_node_id,
        muted=sorted(knowledge.muted),
    )
    yield TableName.GAME_STATE, key, pack_message(state)
    yield TableName.MEASURES, key, write_measures(knowledge.measures).encode()


def store_new(transaction: Transaction, knowledge: GameKnowledge, generation: int) -> None:
    """Store all of a game that had nothing stored."""
    for table, key, value in records(knowledge, generation):
        transaction.put(table, key, value)
    knowledge.take_changes()


def store_changes(
    transaction: Transaction, knowledge: GameKnowledge, previous: int, generation: int, event: bytes
) -> ChangedRecords:
    """Store and return what the event `generation` (`event` in the log) changed since `previous`."""
    spec = knowledge.spec
    changes = knowledge.take_changes()
    for library, pattern_id in changes.patterns | changes.used:
        key = keys.pattern(spec.game_id, library, pattern_id)
        entry = knowledge.libraries[library].entries.get(pattern_id)
        if entry is None:
            transaction.delete(TableName.PATTERNS, key)
        else:
            transaction.put(TableName.PATTERNS, key, pack_message(entry_to_proto(entry, library, spec)))
    for node_id in changes.nodes:
        key = keys.in_game(spec.game_id, node_id)
        node = knowledge.openings.nodes.get(node_id)
        if node is None:
            transaction.delete(TableName.OPENINGS, key)
        else:
            transaction.put(TableName.OPENINGS, key, pack_message(node_to_proto(node, spec.game_id)))
    if changes.tesujis:
        _store_table(transaction, TableName.TESUJIS, spec.game_id, _pack_tesujis(knowledge))
    if changes.evaluation:
        _store_table(transaction, TableName.EVALUATIONS, spec.game_id, _pack_evaluation(knowledge))
    for player in changes.players:
        stored = _pack_rating(player, knowledge.ratings[player])
        transaction.put(TableName.RATINGS, keys.rating(spec.game_id, player), stored)
    for table, key, value in _figures(knowledge, generation):
        transaction.put(table, key, value)
    _append_changes(transaction, spec.game_id, changes, previous, generation, event)
    return changes


def remove_game(transaction: Transaction, game_id: str) -> None:
    """Take all out that is stored of a game, but its events."""
    for table in (
        TableName.GAMES,
        TableName.GAME_STATE,
        TableName.MEASURES,
        TableName.TESUJIS,
        TableName.EVALUATIONS,
        TableName.SNAPSHOTS,
    ):
        transaction.delete(table, keys.game(game_id))
    for table in (
        TableName.PATTERNS,
        TableName.OPENINGS,
        TableName.RATINGS,
        TableName.CHANGES,
        TableName.DELETED_PATTERNS,
        TableName.REMOVALS,
        TableName.PLAYER_STATISTICS,
        TableName.GROWTH,
        TableName.RECENT_CONTESTS,
        TableName.NODE_CONTESTS,
        TableName.PATTERN_HISTORY,
    ):
        transaction.pop(table, keys.in_game(game_id))


def store_game(transaction: Transaction, knowledge: GameKnowledge) -> None:
    """Store a game's description and settings."""
    game = spec_to_proto(knowledge.spec, knowledge.settings)
    transaction.put(TableName.GAMES, keys.game(game.game_id), pack_message(game))
