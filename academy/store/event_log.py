"""The event log: everything the libraries were made from, numbered from 1 without gaps over all games.

Its oldest part may have been given up for snapshots (`academy.store.compaction`).
"""

import zlib
from collections.abc import Iterator
from typing import Final

from academy.store import keys
from academy.store.environment import Table, Transaction
from academy.store.errors import StoreCorrupt
from academy.store.messages import packed, unpacked
from academy.v1 import events_pb2

_COMPACTED: Final = b"compacted"
_PLAIN: Final = b"\x00"
_DEFLATED: Final = b"\x01"
_WORTH_DEFLATING: Final = 256
# Boards of one game resemble each other: the fastest level already gains most.
_LEVEL: Final = 1


def pack(event: events_pb2.Event) -> bytes:
    """Return an event as stored: a format byte, then the message, compressed where that pays."""
    plain = packed(event)
    if len(plain) < _WORTH_DEFLATING:
        return _PLAIN + plain
    return _DEFLATED + zlib.compress(plain, _LEVEL)


def unpack(stored: bytes) -> events_pb2.Event:
    """Return the event that was packed. Raises StoreCorrupt."""
    form, body = stored[:1], stored[1:]
    if form == _DEFLATED:
        try:
            body = zlib.decompress(body)
        except zlib.error as fault:
            raise StoreCorrupt(f"a stored event cannot be decompressed: {fault}") from fault
    elif form != _PLAIN:
        raise StoreCorrupt(f"a stored event has the unknown format {form!r}")
    return unpacked(events_pb2.Event, body)


def last_sequence(transaction: Transaction) -> int:
    """Return the number of the newest event, 0 where there is none."""
    for key, _ in transaction.scan(Table.EVENTS, backwards=True):
        return keys.last_number(key)
    return 0


def first_sequence(transaction: Transaction) -> int:
    """Return the number of the oldest event that is kept, 0 where there is none."""
    for key, _ in transaction.scan(Table.EVENTS):
        return keys.last_number(key)
    return 0


def compacted(transaction: Transaction) -> int:
    """Return the number up to which events were given up, whether or not they are still there."""
    stored = transaction.get(Table.META, _COMPACTED)
    return 0 if stored is None else int.from_bytes(stored)


def give_up(transaction: Transaction, cut: int) -> None:
    """Say that nothing may rely on events up to number `cut` any more."""
    transaction.put(Table.META, _COMPACTED, keys.number(max(cut, compacted(transaction))))


def remove_oldest(transaction: Transaction, most: int) -> int:
    """Remove up to `most` of the events given up, oldest first; return how many were there."""
    cut = compacted(transaction)
    old: list[tuple[bytes, events_pb2.Event]] = []
    for key, stored in transaction.scan(Table.EVENTS):
        if keys.last_number(key) > cut or len(old) == most:
            break
        old.append((key, unpack(stored)))
    for key, event in old:
        transaction.delete(Table.EVENTS, key)
        transaction.delete(Table.EVENTS_BY_GAME, keys.in_game(event.game_id, event.sequence))
    return len(old)


def append(transaction: Transaction, event: events_pb2.Event) -> bytes:
    """Store an event whose `sequence` is one more than `last_sequence`; return it as stored."""
    stored = pack(event)
    transaction.put(Table.EVENTS, keys.number(event.sequence), stored)
    transaction.put(Table.EVENTS_BY_GAME, keys.in_game(event.game_id, event.sequence))
    return stored


def get(transaction: Transaction, sequence: int) -> events_pb2.Event:
    """Return an event by its number. Raises StoreCorrupt where it is missing."""
    stored = transaction.get(Table.EVENTS, keys.number(sequence))
    if stored is None:
        raise StoreCorrupt(f"event {sequence} is missing")
    return unpack(stored)


def scan(
    transaction: Transaction, game_id: str = "", *, after: int = 0, newest_first: bool = False
) -> Iterator[events_pb2.Event]:
    """Yield the events of a game (all games' where empty) that follow number `after` in the order asked for.

    `after` 0 begins at the first event, or with `newest_first` at the last.
    """
    prefix = keys.in_game(game_id) if game_id else b""
    table = Table.EVENTS_BY_GAME if game_id else Table.EVENTS
    start = b""
    if newest_first and after == 1:
        return
    if after:
        start = prefix + keys.number(after - 1 if newest_first else after + 1)
    for key, stored in transaction.scan(table, prefix, start=start, backwards=newest_first):
        yield get(transaction, keys.last_number(key)) if game_id else unpack(stored)
