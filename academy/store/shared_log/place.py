"""Which shared log a folder follows, and how far: stored with what was folded, in the same transaction.

Also whether writes are frozen, so that servers of another version can go on where all others have stopped.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from academy.knowledge.game import RULES_VERSION
from academy.store import keys
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.environment import SCHEMA_VERSION, TableName, Transaction
from academy.store.errors import StoreError
from academy.store.shared_log.address import LogAddress
from academy.store.v1 import records_pb2
from academy.store.writer import WriteContext

FROZEN: Final = b"frozen_log"
# What a folder with a history of its own has records in.
_TELLING: Final = (
    TableName.EVENTS,
    TableName.SNAPSHOTS,
    TableName.TOKENS,
    TableName.CONTESTS,
    TableName.ARENAS,
    TableName.MUTED_PLAYERS,
)
# The tables whose records servers share as they are, because no event makes them. `ANALYSES` is each
# server's own, and events make the other tables.
SHARED_TABLES: Final = frozenset(
    {
        TableName.DELETED_PATTERNS,
        TableName.REMOVALS,
        TableName.MUTED_PLAYERS,
        TableName.CONTESTS,
        TableName.OPEN_CONTESTS,
        TableName.OPEN_CONTESTS_BY_AGE,
        TableName.USES,
        TableName.CLAIMS,
        TableName.PROPOSALS,
        TableName.PROPOSALS_BY_CONTEST,
        TableName.PROPOSALS_BY_PLAYER,
        TableName.HELD_PROPOSALS,
        TableName.PLAYER_STATISTICS,
        TableName.TOKENS,
        TableName.ARENAS,
    }
)


def read(transaction: Transaction) -> records_pb2.LogPlace | None:
    """Return a folder's place in the log that it follows, None where it has a log of its own."""
    stored = transaction.get(TableName.META, keys.SHARED_LOG)
    return None if stored is None else unpack_message(records_pb2.LogPlace, stored)


def log_of(transaction: Transaction) -> LogAddress | None:
    """Return the log that a folder follows, None where it has one of its own."""
    now = read(transaction)
    return None if now is None else LogAddress.parse(now.address)


def write(transaction: Transaction, place: records_pb2.LogPlace) -> None:
    """Store a place."""
    transaction.put(TableName.META, keys.SHARED_LOG, pack_message(place))


def name_of_last(place: records_pb2.LogPlace) -> str:
    """Return the name of the last message folded; "" where it is not known."""
    return place.name if place.named == place.followed else ""


def move_to(place: records_pb2.LogPlace, message: int, name: str) -> None:
    """Note the last message folded."""
    place.followed = place.named = message
    place.name = name


def remove(transaction: Transaction) -> None:
    """Let a folder follow no shared log."""
    transaction.delete(TableName.META, keys.SHARED_LOG)
    # A freeze is for servers of the log that is left.
    transaction.pop(TableName.META, FROZEN)


def is_frozen(transaction: Transaction) -> bool:
    """Whether servers of this version write no more to the shared log."""
    return transaction.get(TableName.META, _freeze_key()) is not None


def _freeze_key() -> bytes:
    # Each version has its own: what a newer one freezes or lifts must not let earlier ones write again.
    return FROZEN + f" schema {SCHEMA_VERSION}, rules {RULES_VERSION}".encode()


@dataclass(frozen=True, slots=True)
class FreezeLog:
    """Stop all servers of this version from writing to the shared log; `lift` lets them write again."""

    lift: bool = False

    def execute(self, work: WriteContext) -> None:
        """Do it. Raises StoreError where the folder follows no shared log."""
        if read(work.transaction) is None:
            raise StoreError("this folder has a log of its own: stop its server, and start the new version")
        if self.lift:
            work.transaction.delete(TableName.META, _freeze_key())
        elif not is_frozen(work.transaction):
            # Once: a second message of this version would stop servers that are upgraded already.
            work.transaction.put(TableName.META, _freeze_key())


def used_tables(transaction: Transaction) -> Iterable[TableName]:
    """Return the tables that show that a folder has a history."""
    return [table for table in _TELLING if transaction.count(table)]
