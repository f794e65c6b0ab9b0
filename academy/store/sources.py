"""Sources: the games whose contests a game's libraries come from, itself and those whose exports it took in.

An export names them. A library that has one of them already would count the same contests twice. A game is
named by a digest of the event that registered it. And the origin of a fork: the game that it was forked from.
"""

import hashlib
from collections.abc import Iterable, Mapping
from itertools import islice
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
_ORIGIN: Final = b"origin "
_TESUJIS: Final = "tesujis"
_EVALUATION: Final = "evaluation"
# Tesujis and the evaluation go with the middle game, as in exports.
_SECTIONS: Final = {
    Library.OPENING: (Library.OPENING.value,),
    Library.MIDDLE_GAME: (Library.MIDDLE_GAME.value, _TESUJIS, _EVALUATION),
    Library.ENDGAME: (Library.ENDGAME.value,),
}


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
    """Store where the contests of a logged event's game, or the records that it brings, come from."""
    own, number = _OWN + keys.game(event.game_id), keys.number(event.sequence)
    kind = event.WhichOneof("kind")
    # A game that begins with another's contests goes on under its name.
    if kind == "history_imported" and event.sources:
        transaction.put(TableName.META, own, number + event.sources[0])
    elif kind == "game_registered":
        transaction.put(TableName.META, own, number + _digest(event))
    elif transaction.get(TableName.META, own) is None:
        _keep_own(transaction, event.game_id)
    if (section := section_of(event)) is None:
        return
    taken = _taken(event.game_id, section)
    if getattr(event, str(kind)).replace:
        transaction.pop(TableName.META, taken)
    for source in event.sources:
        transaction.put(TableName.META, taken + source, number)


def keep(transaction: Transaction, game_id: str) -> None:
    """Store what a game's first events tell of where it is from: these may go from now on."""
    _keep_own(transaction, game_id)
    if (forked := _find_origin(transaction, game_id)) is not None:
        game, number = forked
        transaction.put(TableName.META, _ORIGIN + keys.game(game_id), keys.number(number) + game.encode())


def _keep_own(transaction: Transaction, game_id: str) -> None:
    """Store the name of a game that an earlier version registered."""
    if (own := _own(transaction, game_id)) is not None:
        transaction.put(TableName.META, _OWN + keys.game(game_id), keys.number(own[1]) + own[0])


def origin(transaction: Transaction, game_id: str) -> str | None:
    """Return the id of the game that a game was forked from; None where it is not a fork."""
    forked = _find_origin(transaction, game_id)
    return None if forked is None else forked[0]


def find(transaction: Transaction, game_id: str, section: str) -> Mapping[bytes, int]:
    """Return the sources of what a section of a game has, and the number of the event that brought each."""
    deleted = event_log.find_deletion(transaction, game_id)
    own = _own(transaction, game_id)
    prefix = _taken(game_id, section)
    return ({} if own is None else {own[0]: own[1]}) | {
        key.removeprefix(prefix): number
        for key, stored in transaction.scan(TableName.META, prefix)
        if (number := int.from_bytes(stored)) > deleted
    }


def of_libraries(transaction: Transaction, game_id: str, libraries: Iterable[Library]) -> list[bytes]:
    """Return the different sources of some of a game's libraries, up to `MOST`, its own first."""
    own = _own(transaction, game_id)
    first = [] if own is None else [own[0]]
    sections = (section for library in libraries for section in _SECTIONS[library])
    others = {source for section in sections for source in find(transaction, game_id, section)}
    return [*first, *sorted(others.difference(first))][:MOST]


def section_of(event: events_pb2.Event) -> str | None:
    """Return what an import's event brings records of; None for other events."""
    match event.WhichOneof("kind"):
        case "openings_imported":
            return Library.OPENING.value
        # Those of the first versions name none.
        case "patterns_imported" if event.patterns_imported.library:
            return library_from_proto(event.patterns_imported.library).value
        case "tesujis_imported":
            return _TESUJIS
        case "evaluation_imported":
            return _EVALUATION
        case _:
            return None


def _find_origin(transaction: Transaction, game_id: str) -> tuple[str, int] | None:
    """Return where a fork is from, and the number of the event that tells it."""
    stored = transaction.get(TableName.META, _ORIGIN + keys.game(game_id))
    # What is stored may be of a game that was deleted and had the same id.
    if stored is not None and (number := int.from_bytes(stored[:8])) > event_log.find_deletion(
        transaction, game_id
    ):
        return stored[8:].decode(), number
    # The registration comes first.
    for event in islice(event_log.scan(transaction, game_id), 2):
        if event.WhichOneof("kind") == "game_forked":
            return event.game_forked.from_game_id, event.sequence
    return None


def _own(transaction: Transaction, game_id: str) -> tuple[bytes, int] | None:
    """Return the name of a game and the number of the event that it comes from.

    Where an earlier version registered it and removed that event, it is the first one left; before there is
    one, the game has no name.
    """
    stored = transaction.get(TableName.META, _OWN + keys.game(game_id))
    if stored is not None:
        return stored[8:], int.from_bytes(stored[:8])
    first = next(event_log.scan(transaction, game_id), None)
    return None if first is None else (_digest(first), first.sequence)


def _taken(game_id: str, section: str) -> bytes:
    return _TAKEN + keys.in_game(game_id) + section.encode() + b" "


def _digest(event: events_pb2.Event) -> bytes:
    """The digest of an event, wherever its log was moved to."""
    moved = events_pb2.Event()
    moved.CopyFrom(event)
    moved.ClearField("sequence")
    moved.ClearField("rules")
    return hashlib.sha256(pack_message(moved)).digest()[:SIZE]
