"""Sources: the games whose contests a game's libraries come from, itself and those whose exports it took in.

An export names them. A library that has one of them already would count the same contests twice. A game is
named by a digest of the event that registered it.
"""

import hashlib
from collections.abc import Iterable, Mapping
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
    number = keys.number(event.sequence)
    match event.WhichOneof("kind"):
        case "game_registered":
            _put_own(transaction, event.game_id, number + _digest(event))
        # A game that begins with another's contests goes on under its name.
        case "history_imported" if event.sources:
            _put_own(transaction, event.game_id, number + event.sources[0])
        case "patterns_imported" | "openings_imported" | "tesujis_imported" | "evaluation_imported":
            taken = _taken(event.game_id, library_of(event))
            if event.patterns_imported.replace or event.openings_imported.replace:
                for key in [key for key, _ in transaction.scan(TableName.META, taken)]:
                    transaction.delete(TableName.META, key)
            for source in event.sources:
                transaction.put(TableName.META, taken + source, number)


def keep_own(transaction: Transaction, game_id: str) -> None:
    """Store the name of a game that an earlier version registered, before its first events go."""
    source, number = _own(transaction, game_id)
    _put_own(transaction, game_id, keys.number(number) + source)


def find(transaction: Transaction, game_id: str, library: Library) -> Mapping[bytes, int]:
    """Return the sources of a game's library, and the number of the event that brought each."""
    deleted = event_log.deletion(transaction, game_id)
    own, first = _own(transaction, game_id)
    prefix = _taken(game_id, library)
    return {own: first} | {
        key.removeprefix(prefix): number
        for key, stored in transaction.scan(TableName.META, prefix)
        if (number := int.from_bytes(stored)) > deleted
    }


def of_libraries(transaction: Transaction, game_id: str, libraries: Iterable[Library]) -> list[bytes]:
    """Return the different sources of some of a game's libraries, up to `MOST`, its own first."""
    own, _ = _own(transaction, game_id)
    others = {source for library in libraries for source in find(transaction, game_id, library)} - {own}
    return [own, *sorted(others)][:MOST]


def library_of(event: events_pb2.Event) -> Library:
    """Return the library that an import's event brings records of.

    Tesujis and the evaluation go with the middle game, as in exports.
    """
    match event.WhichOneof("kind"):
        case "openings_imported":
            return Library.OPENING
        case "patterns_imported" if event.patterns_imported.library:
            return library_from_proto(event.patterns_imported.library)
        case _:
            return Library.MIDDLE_GAME


def _own(transaction: Transaction, game_id: str) -> tuple[bytes, int]:
    """Return the name of a game and the number of the event that it comes from.

    Where an earlier version registered it and removed that event, it is the first one left that names it.
    """
    stored = transaction.get(TableName.META, _OWN + keys.game(game_id))
    if stored is not None:
        return stored[8:], int.from_bytes(stored[:8])
    first = next(event_log.scan(transaction, game_id), events_pb2.Event(game_id=game_id))
    return _digest(first), first.sequence


def _put_own(transaction: Transaction, game_id: str, own: bytes) -> None:
    transaction.put(TableName.META, _OWN + keys.game(game_id), own)


def _taken(game_id: str, library: Library) -> bytes:
    return _TAKEN + keys.in_game(game_id) + library.value.encode() + b" "


def _digest(event: events_pb2.Event) -> bytes:
    """The digest of an event, wherever its log was moved to."""
    moved = events_pb2.Event()
    moved.CopyFrom(event)
    moved.ClearField("sequence")
    moved.ClearField("rules")
    return hashlib.sha256(pack_message(moved)).digest()[:SIZE]
