"""A folder's own history becomes a shared log."""

import hashlib
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from academy.knowledge.game import RULES_VERSION
from academy.store import event_log, keys
from academy.store.environment import Environment, TableName, Transaction
from academy.store.errors import LogDivergedError, StoreError
from academy.store.maintenance.compaction import lock_alone
from academy.store.shared_log import place, snapshots
from academy.store.shared_log.address import LogAddress
from academy.store.shared_log.connection import PATIENCE
from academy.store.shared_log.jetstream import JetStreamLog, LostRaceError
from academy.store.shared_log.messages import CommandEntries, MessageDraft, MessageFullError
from academy.store.shared_log.stream import Message
from academy.store.v1 import records_pb2


def share(data: Path, address: LogAddress) -> int:
    """Publish all of a folder to a stream, which the folder follows then; return the number of messages.

    Where the folder's log lacks the first event, or was learnt by other rules, nobody could learn from it:
    then the stream begins behind it, with a snapshot. Killed, it goes on where it was when it is run again;
    done before, it is not done twice.
    Raises StoreError while another process uses the folder, and where the stream holds something else.
    """
    with lock_alone(data):
        pass
    with Environment(data) as environment:
        with environment.reading() as transaction:
            is_whole, now = _is_whole(transaction), place.read(transaction)
            if now is not None and now.address != address.text:
                raise StoreError(
                    f"cannot be moved: this folder follows the log {LogAddress.parse(now.address)}, which "
                    f"servers share; take it out of that first: `academy move --data {data} --to own`"
                )
            # Killed before it had a snapshot: its last message is that of a move.
            moved = now is None or now.name.startswith(_beginning_of_name(now.created, now.followed))
            if not is_whole and not moved:
                raise StoreError(
                    f"this folder follows {address} already, and was written to since; if its move was "
                    "killed, new servers lack the snapshot that they begin with: "
                    f"`academy snapshot --data {data}`"
                )
        with closing(JetStreamLog(address, now)) as log:
            if now is None:
                now = environment.write(lambda transaction: _share(transaction, address, log))
            if not is_whole:
                snapshots.make(environment)
                log.cut(now.followed + 1)
        return now.followed


def _beginning_of_name(created: str, number: int) -> str:
    return f"{created} {number} "


def _name(created: str, number: int, packed: bytes) -> str:
    # The same at each run, and another for another folder, which may be moved to this stream at once: NATS
    # acknowledges a message whose name it has, whatever it holds.
    return _beginning_of_name(created, number) + hashlib.sha256(packed).hexdigest()


def _is_whole(transaction: Transaction) -> bool:
    """Whether a folder's events make its libraries, by the rules of this version."""
    if event_log.first_sequence(transaction) > 1:
        return False
    return all(event.rules == RULES_VERSION for event in event_log.scan(transaction))


def _share(transaction: Transaction, address: LogAddress, log: JetStreamLog) -> records_pb2.LogPlace:
    known = log.state.last
    if log.state.first > 1:
        # A folder with its own log cannot begin with the snapshot, as servers do that lag behind.
        raise LogDivergedError(
            f"{address}: the stream begins with message {log.state.first:,}, so it is a log that was cut "
            "already: name a new stream"
        )
    if known:
        log.follow(0, "", lambda: None)
    count, name = 0, ""
    for count, packed in enumerate(_messages(transaction, log.limit), 1):
        message = Message(count, packed, _name(log.state.created, count, packed), name)
        name = message.name
        if count <= known:
            _check_known(log, message, address)
            continue
        try:
            log.publish(message, time.monotonic() + PATIENCE)
        except LostRaceError as error:
            raise LogDivergedError(
                f"{address}: another server writes to this stream: name a new stream"
            ) from error
    if count < known:
        raise LogDivergedError(f"{address}: the stream has {known:,} messages, this folder makes {count:,}")
    now = records_pb2.LogPlace(address=address.text, created=log.state.created)
    place.move_to(now, count, name)
    place.write(transaction, now)
    return now


def _check_known(log: JetStreamLog, message: Message, address: LogAddress) -> None:
    """Compare a message with that of the stream, which an earlier run published."""
    log.wait(message.place - 1, time.monotonic() + PATIENCE)
    if log.news(message.place - 1)[0].data != message.data:
        raise LogDivergedError(
            f"{address}: message {message.place:,} of the stream is not this folder's: name a new stream"
        )


def _messages(transaction: Transaction, limit: int) -> Iterator[bytes]:
    """Yield what makes the folder, alike at each run: the events, then the records that no event makes."""
    draft = MessageDraft(limit)
    for part in _parts(transaction):
        try:
            draft.add(part)
        except MessageFullError:
            yield draft.pack()
            draft = MessageDraft(limit)
            draft.add(part)
    if draft:
        yield draft.pack()


def _parts(transaction: Transaction) -> Iterator[CommandEntries]:
    for event in event_log.scan(transaction):
        part = CommandEntries()
        part.note_events([event])
        yield part
    for table in sorted(place.SHARED_TABLES):
        for key, value in transaction.scan(table):
            part = CommandEntries()
            part.note_record(table, key, value)
            yield part
    if too_late := event_log.last_unreferable(transaction):
        part = CommandEntries()
        part.note_record(TableName.META, event_log.TOO_LATE, keys.number(too_late))
        yield part
