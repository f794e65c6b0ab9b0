"""Snapshots: a game's whole knowledge as of one event, in one record, from which a replay can begin."""

import zlib

from academy.knowledge.game import Counters, GameKnowledge
from academy.store import game_tables, keys
from academy.store.environment import Table, Transaction
from academy.store.errors import StoreCorrupt
from academy.store.messages import packed, unpacked
from academy.store.v1 import records_pb2
from academy.v1 import game_pb2

_GENERATION_BYTES = 8


def pack(knowledge: GameKnowledge, generation: int) -> bytes:
    """Return the snapshot of a game's knowledge after event `generation`, as stored."""
    snapshot = records_pb2.Snapshot()
    for table, key, value in game_tables.records(knowledge, generation):
        match table:
            case Table.GAMES:
                snapshot.game = value
            case Table.GAME_STATE:
                snapshot.state = value
            case Table.MEASURES:
                snapshot.measures = value
            case Table.PATTERNS:
                snapshot.patterns.add(key=key, value=value)
            case Table.OPENINGS:
                snapshot.openings.add(key=key, value=value)
            case Table.RATINGS:
                snapshot.ratings.add(key=key, value=value)
            case _:
                raise AssertionError(f"a snapshot has no place for {table.value!r}")
    # The generation stands before the rest, so that it can be read without the rest.
    return keys.number(generation) + zlib.compress(packed(snapshot))


def store(transaction: Transaction, game_id: str, snapshot: bytes) -> None:
    """Keep a game's snapshot unless there is a newer one."""
    if int.from_bytes(snapshot[:_GENERATION_BYTES]) > generation(transaction, game_id):
        transaction.put(Table.SNAPSHOTS, keys.game(game_id), snapshot)


def generation(transaction: Transaction, game_id: str) -> int:
    """Return the number of the last event in a game's snapshot, 0 where it has none."""
    stored = transaction.get(Table.SNAPSHOTS, keys.game(game_id))
    return 0 if stored is None else int.from_bytes(stored[:_GENERATION_BYTES])


def find(transaction: Transaction, game_id: str) -> tuple[GameKnowledge, int] | None:
    """Return the knowledge in a game's snapshot and its generation, or None. Raises StoreCorrupt."""
    stored = transaction.get(Table.SNAPSHOTS, keys.game(game_id))
    return None if stored is None else unpack(stored)


def unpack(stored: bytes) -> tuple[GameKnowledge, int]:
    """Return the knowledge that was packed and its generation. Raises StoreCorrupt."""
    try:
        snapshot = unpacked(records_pb2.Snapshot, zlib.decompress(stored[_GENERATION_BYTES:]))
    except zlib.error as fault:
        raise StoreCorrupt(f"a snapshot cannot be decompressed: {fault}") from fault
    spec, settings = game_tables.spec_and_settings(unpacked(game_pb2.Game, snapshot.game))
    state = unpacked(records_pb2.GameState, snapshot.state)
    if state.generation != int.from_bytes(stored[:_GENERATION_BYTES]):
        raise StoreCorrupt(f"the snapshot of {spec.game_id!r} names two generations")
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
