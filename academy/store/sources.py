"""Sources: the games whose contests a game's libraries come from, itself and those whose exports it took in.

An export names them. A library that has one of them already would count the same contests twice. A game is
named by a digest of the event that registered it.
"""

import hashlib
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from academy.knowledge.settings import Library
from academy.store import event_log, keys
from academy.store.codec.games import library_from_proto
from academy.store.codec.packing import pack_message
from academy.store.environment import TableName, Transaction
from academy.store.errors import InvalidRecordError
from academy.v1 import events_pb2

# In bytes.
SIZE: Final = 16
MOST: Final = 1_000
_OWN: Final = b"source "
_TAKEN: Final = b"taken "


def check(sources: Iterable[bytes]) -> tuple[bytes, ...]:
    """Return the different sources that somebody names. Raises InvalidRecordError."""
    different = tuple(dict.fromkeys(sources))
    for place, source in enumerate(different):
        if len(source) != SIZE or place == MOST:
            raise InvalidRecordError(
                f"sources[{place}]", f"{source[:20].hex()}: up to {MOST:,} of {SIZE} bytes each are expected"
            )
    return different


def note(transaction: Transaction, event: events_pb2.Event) -> None:
    """Store where the contests of an event's game, or the records that it brings, come from."""
    match event.WhichOneof("kind"):
        case "game_registered":
            _note_own(transaction, event, _digest(event))
        # A game that begins with another's contests goes on under its name.
        case "history_imported" if event.sources:
            _note_own(transaction, event, event.sources[0])
        case _:
            for source in event.sources:
                key = _taken(event.game_id, library_of(event)) + source
                transaction.put(TableName.META, key, keys.number(event.sequence))


def _note_own(transaction: Transaction, event: events_pb2.Event, source: bytes) -> None:
    transaction.put(TableName.META, _OWN + keys.game(event.game_id), keys.number(event.sequence) + source)


def find(transaction: Transaction, game_id: str, library: Library) -> Iterator[tuple[bytes, int]]:
    """Yield each source of a game's library, its own first, and the number of the event that last brought it.

    A game registered by an earlier version, whose first events were cut since, has none of its own.
    """
    deleted = event_log.deletion(transaction, game_id)
    own = transaction.get(TableName.META, _OWN + keys.game(game_id))
    if own is not None:
        yield own[8:], int.from_bytes(own[:8])
    else:
        first = next(event_log.scan(transaction, game_id), None)
        if first is not None and first.WhichOneof("kind") == "game_registered":
            yield _digest(first), first.sequence
    prefix = _taken(game_id, library)
    for key, stored in transaction.scan(TableName.META, prefix):
        if (number := int.from_bytes(stored)) > deleted:
            yield key.removeprefix(prefix), number


def of_libraries(transaction: Transaction, game_id: str, libraries: Iterable[Library]) -> list[bytes]:
    """Return the different sources of some of a game's libraries, its own first, as many as may be named."""
    every = (find(transaction, game_id, library) for library in libraries)
    return list(dict.fromkeys(source for source, _ in chain.from_iterable(every)))[:MOST]


def library_of(event: events_pb2.Event) -> Library:
    """Return the library that an import's event brings records of.

    Tesujis and the evaluation go with the middle game, as in exports.
    """
    match event.WhichOneof("kind"):
        case "openings_imported":
            return Library.OPENING
        case "patterns_imported":
            return library_from_proto(event.patterns_imported.library)
        case _:
            return Library.MIDDLE_GAME


def _taken(game_id: str, library: Library) -> bytes:
    return _TAKEN + keys.in_game(game_id) + library.value.encode() + b" "


def _digest(event: events_pb2.Event) -> bytes:
    """The digest of an event of registration, wherever its log was moved to."""
    registered = events_pb2.Event(
        time=event.time, game_id=event.game_id, actor=event.actor, game_registered=event.game_registered
    )
    return hashlib.sha256(pack_message(registered)).digest()[:SIZE]
