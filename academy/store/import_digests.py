"""Digests of what was imported: the same records imported again would count twice."""

import hashlib
from collections.abc import Iterable
from typing import Final

from academy.store import keys
from academy.store.codec.packing import pack_message
from academy.store.environment import TableName, Transaction
from academy.v1 import events_pb2

IMPORTED: Final = b"imported "
# The events that an import of records may be.
_KINDS: Final = ("patterns_imported", "openings_imported", "tesujis_imported", "evaluation_imported")


def note(transaction: Transaction, event: events_pb2.Event) -> None:
    """Store the digest of an event's records, where they were imported."""
    if event.WhichOneof("kind") in _KINDS:
        transaction.put(TableName.META, _key(event), keys.number(event.sequence))


def find_earlier(transaction: Transaction, events: Iterable[events_pb2.Event], after: int) -> int:
    """Return the number of an event after number `after` with the records of one of these, or 0."""
    for event in events:
        stored = transaction.get(TableName.META, _key(event))
        if stored is not None and (number := int.from_bytes(stored)) > after:
            return number
    return 0


def _key(event: events_pb2.Event) -> bytes:
    """The key of an event's records, whatever the libraries were when they came in."""
    kind = event.WhichOneof("kind")
    assert kind is not None
    records = type(getattr(event, kind))()
    records.CopyFrom(getattr(event, kind))
    for field in ("replace", "moved"):
        if field in records.DESCRIPTOR.fields_by_name:
            records.ClearField(field)
    digest = hashlib.sha256(kind.encode() + pack_message(records)).digest()
    return IMPORTED + keys.in_game(event.game_id) + digest
