"""What a message of the shared log holds: a transaction's events, and the records that events do not make.

Servers learn from the events alike. Tickets, open contests, held proposals, tokens, arenas and what can be
restored have no events: their records are taken over as they were written.
"""

import zlib
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from academy.knowledge.game import RULES_VERSION
from academy.store import event_log
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.environment import SCHEMA_VERSION, TableName
from academy.store.errors import (
    LogDivergedError,
    LogMessageTooLargeError,
    LogUpgradingError,
    StoreCorruptError,
    StoreError,
)
from academy.store.shared_log import place
from academy.store.v1 import records_pb2
from academy.store.writer import WriteContext
from academy.v1 import events_pb2

# Boards of one game resemble each other: the fastest level already gains most.
_LEVEL: Final = 1
_LARGEST_UNPACKED: Final = 1 << 30
# NATS counts a message's headers too.
_HEADERS: Final = 1_024


class MessageFullError(StoreError):
    """What a command wrote does not fit into the message any more; it begins the next one."""


class MessageDraft:
    """What the commands of one transaction have written so far."""

    def __init__(self, limit: int) -> None:
        """Begin a message of at most `limit` bytes."""
        self._limit = limit - _HEADERS
        self._size = 0
        self._message = records_pb2.LogMessage(schema=SCHEMA_VERSION)

    def __bool__(self) -> bool:
        return bool(self._message.entries)

    def check(self, part: "CommandEntries") -> None:
        """Raise LogMessageTooLargeError where what a command has written so far fits into no message."""
        # Compressed it is much smaller, which is not worth compressing after each command.
        if part.size() > self._limit:
            packed = len(_pack(records_pb2.LogMessage(schema=SCHEMA_VERSION, entries=part.entries)))
            if packed > self._limit:
                raise LogMessageTooLargeError(packed, self._limit)

    def add(self, part: "CommandEntries") -> None:
        """Take in what a command wrote.

        Raises MessageFullError, or LogMessageTooLargeError where nothing was taken in before.
        """
        size = part.size()
        if self._size + size > self._limit:
            if self._message.entries:
                raise MessageFullError
            self.check(part)
        self._size += size
        self._message.entries.extend(part.entries)

    def pack(self) -> bytes:
        """Return the message as it is published."""
        return _pack(self._message)


class CommandEntries:
    """What one command writes."""

    def __init__(self) -> None:
        self.entries: list[records_pb2.LogEntry] = []

    def size(self) -> int:
        """How many bytes they have."""
        return sum(entry.ByteSize() for entry in self.entries)

    def note_events(self, events: Iterable[events_pb2.Event]) -> None:
        """Take events."""
        self.entries.extend(records_pb2.LogEntry(event=event) for event in events)

    def note_record(self, table: TableName, key: bytes, value: bytes | None) -> None:
        """Take a record that is put, or removed (None), if events do not make it."""
        if table in place.SHARED_TABLES or (table is TableName.META and _is_for_all(key)):
            record = records_pb2.TableRecord(table=table.value, key=key, value=value)
            self.entries.append(records_pb2.LogEntry(record=record))


def _is_for_all(meta_key: bytes) -> bool:
    """Whether all servers keep to what stands under a key of `META`."""
    return meta_key == event_log.TOO_LATE or meta_key.startswith(place.FROZEN)


def _pack(message: records_pb2.LogMessage) -> bytes:
    return zlib.compress(pack_message(message), _LEVEL)


def fold(work: WriteContext, message: bytes) -> None:
    """Write what a message holds.

    Raises LogUpgradingError, before anything is written, for one of a newer version, LogDivergedError where
    it does not continue what is stored, ValueError or LookupError for one that is none of ACADEMY's, and
    StoreCorruptError where the folder is damaged.
    """
    entries = _unpack(message).entries
    for entry in entries:
        if entry.WhichOneof("what") == "event":
            _check_version("rules", entry.event.rules, RULES_VERSION)
            if entry.event.WhichOneof("kind") is None:
                raise LogUpgradingError(
                    f"the shared log goes on with event {entry.event.sequence:,}, of a kind that only newer "
                    "versions have: this server answers questions from what it had, and writes nothing until "
                    "it is upgraded"
                )
    for entry in entries:
        if entry.WhichOneof("what") == "event":
            _take_in(work, entry.event)
        else:
            record = entry.record
            if record.HasField("value"):
                work.transaction.put(TableName(record.table), record.key, record.value)
            else:
                work.transaction.delete(TableName(record.table), record.key)


def check_not_earlier(message: bytes) -> None:
    """Raise LogDivergedError for a message of an earlier schema, which this program cannot read."""
    # What else is wrong with it is found when it is folded.
    with suppress(LogUpgradingError, ValueError):
        _unpack(message)


def _take_in(work: WriteContext, event: events_pb2.Event) -> None:
    expected = event_log.last_sequence(work.transaction) + 1
    if event.sequence != expected:
        remedy = "begin again with an empty folder"
        if expected == 1:
            # A log that a compacted folder is moved into, before it has its snapshot.
            remedy = (
                "its first events were compacted, and new servers need a snapshot: run the `academy move` "
                f"that was interrupted again, or `academy snapshot` at a server that has them; then {remedy}"
            )
        raise LogDivergedError(
            f"the shared log goes on with event {event.sequence:,}, this folder with {expected:,}: {remedy}"
        )
    work.take_in(event)


def _unpack(packed: bytes) -> records_pb2.LogMessage:
    decompressor = zlib.decompressobj()
    try:
        plain = decompressor.decompress(packed, _LARGEST_UNPACKED)
        if decompressor.unconsumed_tail:
            raise ValueError(f"it has more than {_LARGEST_UNPACKED:,} bytes")
        if not decompressor.eof:
            raise ValueError("it is cut short")
        message = unpack_message(records_pb2.LogMessage, plain)
    except (zlib.error, StoreCorruptError) as error:
        raise ValueError(str(error)) from error
    _check_version("schema", message.schema, SCHEMA_VERSION)
    return message


def _check_version(what: str, written: int, own: int) -> None:
    if written > own:
        raise LogUpgradingError(
            f"the shared log goes on with {what} {written}, this server has {own}: it answers questions "
            "from what it had, and writes nothing until it is upgraded"
        )
    if written < own:
        raise LogDivergedError(
            f"the shared log goes on with {what} {written}, which this program, of {own}, does not have: run "
            "the earlier version until it has read what it wrote, or begin with an empty folder, which takes "
            "a snapshot of this version: `academy snapshot` makes one at a server that is upgraded"
        )
