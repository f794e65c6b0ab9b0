"""A game's libraries rebuilt from its snapshot and events, and how the stored ones differ."""

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from academy.knowledge.game import RULES_VERSION, GameKnowledge
from academy.store import event_effects, event_log, game_tables, keys
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.environment import TableName, Transaction
from academy.store.errors import StoreCorruptError
from academy.store.v1 import records_pb2
from academy.v1 import events_pb2, game_pb2

_GENERATION_BYTES: Final = 8
# Tables in which a game has many records, and those in which it has one, with their fields in a snapshot.
_OF_A_GAME: Final = (TableName.PATTERNS, TableName.OPENINGS, TableName.RATINGS)
_ONE_OF_A_GAME: Final = {
    TableName.GAMES: "game",
    TableName.GAME_STATE: "state",
    TableName.MEASURES: "measures",
    TableName.TESUJIS: "tesujis",
    TableName.EVALUATIONS: "evaluation",
}

NoteEvent = Callable[[], object]
"""Called for each event that is taken in again, which takes long: it may show how far that is."""


def note_nothing() -> None:
    """Show nothing."""


def pack_snapshot(knowledge: GameKnowledge, generation: int) -> bytes:
    """Return the snapshot of a game's knowledge after event `generation`, as stored."""
    snapshot = records_pb2.Snapshot()
    for table, key, value in game_tables.records(knowledge, generation):
        if table in _OF_A_GAME:
            getattr(snapshot, table.value).add(key=key, value=value)
        else:
            setattr(snapshot, _ONE_OF_A_GAME[table], value)
    # The generation stands before the rest, so that it can be read without the rest.
    return keys.number(generation) + zlib.compress(pack_message(snapshot))


def store_snapshot(transaction: Transaction, game_id: str, snapshot: bytes) -> None:
    """Keep a game's snapshot unless there is a newer one, or the game was deleted after it."""
    newest = max(snapshot_generation(transaction, game_id), event_log.find_deletion(transaction, game_id))
    if int.from_bytes(snapshot[:_GENERATION_BYTES]) > newest:
        transaction.put(TableName.SNAPSHOTS, keys.game(game_id), snapshot)


def snapshot_generation(transaction: Transaction, game_id: str) -> int:
    """Return the number of the last event in a game's snapshot, 0 where it has none."""
    stored = transaction.get(TableName.SNAPSHOTS, keys.game(game_id)) or b""
    return int.from_bytes(stored[:_GENERATION_BYTES])


def find_snapshot(transaction: Transaction, game_id: str) -> tuple[GameKnowledge, int] | None:
    """Return the knowledge in a game's snapshot and its generation, or None. Raises StoreCorruptError."""
    stored = transaction.get(TableName.SNAPSHOTS, keys.game(game_id))
    return None if stored is None else unpack_snapshot(stored)


def unpack_snapshot(stored: bytes) -> tuple[GameKnowledge, int]:
    """Return the knowledge that was packed and its generation. Raises StoreCorruptError."""
    try:
        snapshot = unpack_message(records_pb2.Snapshot, zlib.decompress(stored[_GENERATION_BYTES:]))
    except zlib.error as error:
        raise StoreCorruptError(f"a snapshot cannot be decompressed: {error}") from error
    game = unpack_message(game_pb2.Game, snapshot.game)
    state = unpack_message(records_pb2.GameState, snapshot.state)
    if state.generation != int.from_bytes(stored[:_GENERATION_BYTES]):
        raise StoreCorruptError(f"the snapshot of {game.game_id!r} names two generations")
    records = {
        table: ((record.key, record.value) for record in getattr(snapshot, table.value))
        for table in _OF_A_GAME
    }
    one_of_a_game = {
        TableName.MEASURES: snapshot.measures,
        TableName.TESUJIS: snapshot.tesujis,
        TableName.EVALUATIONS: snapshot.evaluation,
    }
    return game_tables.restore(game, state, one_of_a_game, records), state.generation


def rebuild(
    transaction: Transaction,
    game_id: str,
    begun: tuple[GameKnowledge, int] | None = None,
    note_event: NoteEvent = note_nothing,
) -> tuple[GameKnowledge, int]:
    """Return what all events of a game add up to, and the number of the last of them.

    It goes on from `begun`, or from the game's snapshot, or from its first event. Raises StoreCorruptError.
    """
    begun = begun or find_snapshot(transaction, game_id)
    events = event_log.scan(transaction, game_id, after=0 if begun is None else begun[1])
    made = advance(begun, events, lambda number: event_log.get(transaction, number), note_event)
    if made is None:
        raise StoreCorruptError(f"game {game_id!r} has no events")
    return made


def advance(
    begun: tuple[GameKnowledge, int] | None,
    events: Iterable[events_pb2.Event],
    read_event: event_effects.EventReader,
    note_event: NoteEvent = note_nothing,
) -> tuple[GameKnowledge, int] | None:
    """Return what is known of a game, and its last event, once its next events are taken in.

    None is before the first event, which must register the game. Raises StoreCorruptError.
    """
    for event in events:
        try:
            if begun is None:
                begun = event_effects.begin(event), event.sequence
            else:
                event_effects.apply(begun[0], event, read_event)
                begun = begun[0], event.sequence
            note_event()
        except (ValueError, LookupError) as error:
            raise StoreCorruptError(f"event {event.sequence} cannot be taken in: {error}") from error
    return begun


def differences(
    transaction: Transaction,
    game_id: str,
    begun: tuple[GameKnowledge, int] | None = None,
    note_event: NoteEvent = note_nothing,
) -> Iterator[str]:
    """Compare a game's stored records with its rebuilt ones, byte for byte; yield what differs.

    `begun` is a part that was rebuilt already. Raises StoreCorruptError.
    """
    knowledge, generation = rebuild(transaction, game_id, begun, note_event)
    expected = {(table, key): value for table, key, value in game_tables.records(knowledge, generation)}
    for table, key, stored in stored_records(transaction, game_id):
        made = expected.pop((table, key), None)
        if made is None:
            yield f"{_describe_record(table, key, stored)} is stored, but the events do not make it"
        elif made != stored:
            yield f"{_describe_record(table, key, made)} differs from what the events make"
    for (table, key), made in expected.items():
        yield f"{_describe_record(table, key, made)} is missing"


def other_rules(transaction: Transaction, game_id: str) -> list[int]:
    """Return the versions of the rules, but this program's, that events of a game were taken in under.

    Raises StoreCorruptError.
    """
    begun = find_snapshot(transaction, game_id)
    events = event_log.scan(transaction, game_id, after=0 if begun is None else begun[1])
    return sorted({event.rules for event in events} - {RULES_VERSION})


def stored_records(transaction: Transaction, game_id: str) -> Iterator[tuple[TableName, bytes, bytes]]:
    """Yield the stored records that a game's events make: table, key and value."""
    for table in _ONE_OF_A_GAME:
        value = transaction.get(table, keys.game(game_id))
        if value is not None:
            yield table, keys.game(game_id), value
    for table in _OF_A_GAME:
        for key, value in transaction.scan(table, keys.in_game(game_id)):
            yield table, key, value


def _describe_record(table: TableName, key: bytes, record: bytes) -> str:
    if table is TableName.PATTERNS:
        library, number = keys.pattern_of(key)
        return f"{library.value} pattern {number}"
    if table is TableName.OPENINGS:
        return f"opening node {keys.last_number(key)}"
    if table is TableName.RATINGS:
        return f"the rating of player {game_tables.read_rating(record)[0]!r}"
    return f"the record in {table.value!r}"
