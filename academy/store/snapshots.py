"""Snapshots: a game's whole knowledge as of one event, in one record, from which a replay can begin."""

import zlib

from academy.knowledge.game import Counters, GameKnowledge
from academy.store import event_log, game_tables, keys
from academy.store.codec import pack_message, unpack_message
from academy.store.environment import TableName, Transaction
from academy.store.errors import StoreCorruptError
from academy.store.v1 import records_pb2
from academy.v1 import game_pb2

_GENERATION_BYTES = 8


def pack(knowledge: GameKnowledge, generation: int) -> bytes:
    """Return the snapshot of a game's knowledge after event `generation`, as stored."""
    snapshot = records_pb2.Snapshot()
    for table, key, value in game_tables.records(knowledge, generation):
        match table:
            case TableName.GAMES:
                snapshot.game = value
            case TableName.GAME_STATE:
                snapshot.state = value
            case TableName.MEASURES:
                snapshot.measures = value
            case TableName.PATTERNS:
                snapshot.patterns.add(key=key, value=value)
            case TableName.OPENINGS:
                snapshot.openings.add(key=key, value=value)
            case TableName.RATINGS:
                snapshot.ratings.add(key=key, value=value)
            case _:
                raise AssertionError(f"a snapshot has no place for {table.value!r}")
    # The generation stands before the rest, so that it can be read without the rest.
    return keys.number(generation) + zlib.compress(pack_message(snapshot))


def store(transaction: Transaction, game_id: str, snapshot: bytes) -> None:
    """Keep a game's snapshot unless there is a newer one, or the game was deleted after it."""
    newest = max(generation(transaction, game_id), event_log.deletion(transaction, game_id))
    if int.from_bytes(snapshot[:_GENERATION_BYTES]) > newest:
        transaction.put(TableName.SNAPSHOTS, keys.game(game_id), snapshot)


def generation(transaction: Transaction, game_id: str) -> int:
    """Return the number of the last event in a game's snapshot, 0 where it has none."""
    stored = transaction.get(TableName.SNAPSHOTS, keys.game(game_id))
    return 0 if stored is None else int.from_bytes(stored[:_GENERATION_BYTES])


def find(transaction: Transaction, game_id: str) -> tuple[GameKnowledge, int] | None:
    """Return the knowledge in a game's snapshot and its generation, or None. Raises StoreCorruptError."""
    stored = transaction.get(TableName.SNAPSHOTS, keys.game(game_id))
    return None if stored is None else unpack(stored)


def unpack(stored: bytes) -> tuple[GameKnowledge, int]:
    """Return the knowledge that was packed and its generation. Raises StoreCorruptError."""
    try:
        snapshot = unpack_message(records_pb2.Snapshot, zlib.decompress(stored[_GENERATION_BYTES:]))
    except zlib.error as fault:
        raise StoreCorruptError(f"a snapshot cannot be decompressed: {fault}") from fault
    spec, settings = game_tables.spec_and_settings(unpack_message(game_pb2.Game, snapshot.game))
    state = unpack_message(records_pb2.GameState, snapshot.state)
    if state.generation != int.from_bytes(stored[:_GENERATION_BYTES]):
        raise StoreCorruptError(f"the snapshot of {spec.game_id!r} names two generations")
    reader = game_tables.EntryReader(spec)
    knowledge = GameKnowledge.restore(
        spec,
        settings,
        ((keys.pattern_of(each.key)[0], reader.read(each.value)) for each in snapshot.patterns),
        (game_tables.read_node(each.value, spec) for each in snapshot.openings),
        Counters(state.next_pattern_id, state.next_node_id),
        game_tables.read_measures(snapshot.measures),
        (game_tables.read_rating(each.value) for each in snapshot.ratings),
        state.muted,
    )
    return knowledge, state.generation
