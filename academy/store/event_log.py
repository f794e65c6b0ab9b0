"""The event log: everything the libraries were made from, numbered from 1 without gaps over all games."""

import zlib
from collections.abc import Iterator
from itertools import islice
from typing import Final

from academy.store import import_digests, keys
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.environment import TableName, Transaction
from academy.store.errors import InvalidRecordError, StoreCorruptError
from academy.store.game_tables import game_record
from academy.v1 import events_pb2

_COMPACTED: Final = b"compacted"
TOO_LATE: Final = b"too_late"
_DELETED: Final = b"deleted "
_PLAIN: Final = b"\x00"
_DEFLATED: Final = b"\x01"
_WORTH_DEFLATING: Final = 256
# Boards of one game resemble each other: the fastest level already gains most.
_LEVEL: Final = 1
_REMOVED_AT_ONCE: Final = 2_000


def pack(event: events_pb2.Event) -> bytes:
    """Return an event as stored: a format byte, then the message, compressed where that pays."""
    plain = pack_message(event)
    if len(plain) < _WORTH_DEFLATING:
        return _PLAIN + plain
    return _DEFLATED + zlib.compress(plain, _LEVEL)


def unpack(stored: bytes) -> events_pb2.Event:
    """Return the event that was packed. Raises StoreCorruptError."""
    form, body = stored[:1], stored[1:]
    if form == _DEFLATED:
        try:
            body = zlib.decompress(body)
        except zlib.error as error:
            raise StoreCorruptError(f"a stored event cannot be decompressed: {error}") from error
    elif form != _PLAIN:
        raise StoreCorruptError(f"a stored event has the unknown format {form!r}")
    return unpack_message(events_pb2.Event, body)


def last_sequence(transaction: Transaction) -> int:
    """Return the number of the newest event, 0 where there is none."""
    for key, _ in transaction.scan(TableName.EVENTS, backwards=True):
        return keys.last_number(key)
    return 0


def first_sequence(transaction: Transaction) -> int:
    """Return the number of the oldest event that is kept, 0 where there is none."""
    for key, _ in transaction.scan(TableName.EVENTS):
        return keys.last_number(key)
    return 0


def last_compacted(transaction: Transaction) -> int:
    """Return the number up to which events are marked as compacted, removed or not yet."""
    return int.from_bytes(transaction.get(TableName.META, _COMPACTED) or b"")


def mark_compacted(transaction: Transaction, cut: int) -> None:
    """Mark events up to number `cut` as replaced by snapshots: `remove_oldest` may delete them."""
    transaction.put(TableName.META, _COMPACTED, keys.number(max(cut, last_compacted(transaction))))


def last_unreferable(transaction: Transaction) -> int:
    """Return the number of the last event that no new one may refer to, 0 where there is none."""
    too_late = int.from_bytes(transaction.get(TableName.META, TOO_LATE) or b"")
    return max(too_late, last_compacted(transaction))


def forbid_references(transaction: Transaction, cut: int) -> None:
    """Let no new event refer to those up to number `cut`: servers that share a log may compact them."""
    transaction.put(TableName.META, TOO_LATE, keys.number(max(cut, last_unreferable(transaction))))


def remove_oldest(transaction: Transaction) -> int:
    """Remove some of the events marked as compacted, oldest first; return how many."""
    cut = last_compacted(transaction)
    old: list[tuple[bytes, events_pb2.Event]] = []
    for key, stored in transaction.scan(TableName.EVENTS):
        if keys.last_number(key) > cut or len(old) == _REMOVED_AT_ONCE:
            break
        old.append((key, unpack(stored)))
    for key, event in old:
        transaction.delete(TableName.EVENTS, key)
        transaction.delete(TableName.EVENTS_BY_GAME, keys.in_game(event.game_id, event.sequence))
    return len(old)


def find_deletion(transaction: Transaction, game_id: str) -> int:
    """Return the number of the event that deleted a game last, 0 where none did."""
    return int.from_bytes(transaction.get(TableName.META, _DELETED + keys.game(game_id)) or b"")


def delete_game(transaction: Transaction, event: events_pb2.Event) -> None:
    """Store the event that deletes a game: from now on `scan` begins after it."""
    append(transaction, event)
    transaction.put(TableName.META, _DELETED + keys.game(event.game_id), keys.number(event.sequence))


def append(transaction: Transaction, event: events_pb2.Event) -> bytes:
    """Store an event whose `sequence` is one more than `last_sequence`; return it as stored."""
    stored = pack(event)
    transaction.put(TableName.EVENTS, keys.number(event.sequence), stored)
    transaction.put(TableName.EVENTS_BY_GAME, keys.in_game(event.game_id, event.sequence))
    import_digests.note(transaction, event)
    return stored


def get(transaction: Transaction, sequence: int) -> events_pb2.Event:
    """Return an event by its number. Raises StoreCorruptError where it is missing."""
    stored = transaction.get(TableName.EVENTS, keys.number(sequence))
    if stored is None:
        raise StoreCorruptError(f"event {sequence} is missing")
    return unpack(stored)


def scan(
    transaction: Transaction, game_id: str = "", *, after: int = 0, newest_first: bool = False
) -> Iterator[events_pb2.Event]:
    """Yield the events of a game (all games' where empty) that follow number `after` in the given order.

    `after` 0 begins at the first event, or with `newest_first` at the last. A deleted game begins
    with the event that registered it again.
    """
    prefix = keys.in_game(game_id) if game_id else b""
    deleted = find_deletion(transaction, game_id) if game_id else 0
    if not newest_first:
        after = max(after, deleted)
    table = TableName.EVENTS_BY_GAME if game_id else TableName.EVENTS
    start = b""
    if newest_first and after == 1:
        return
    if after:
        start = prefix + keys.number(after - 1 if newest_first else after + 1)
    for key, stored in transaction.scan(table, prefix, start=start, backwards=newest_first):
        if keys.last_number(key) <= deleted:
            return
        yield get(transaction, keys.last_number(key)) if game_id else unpack(stored)


def count(transaction: Transaction, game_id: str) -> int:
    """Return how many events a game has in the log, those of a deleted game of its id too."""
    return sum(1 for _ in transaction.scan(TableName.EVENTS_BY_GAME, keys.in_game(game_id)))


def read_page(
    transaction: Transaction, most: int, place: int = 0, *, game_id: str = "", newest_first: bool = False
) -> tuple[list[events_pb2.Event], int]:
    """Return events of a game (of all where empty), and the next page's place (0: none is left).

    `place` is from the page before. Raises UnknownGameError, and InvalidRecordError for a place that no page
    can have.
    """
    if not 0 <= place < 2**63:
        raise InvalidRecordError("page", f"{place} is not a place in the log: take it from the page before")
    if game_id:
        game_record(transaction, game_id)
    log = scan(transaction, game_id, after=place, newest_first=newest_first)
    events = list(islice(log, most))
    return events, events[-1].sequence if next(log, None) else 0
