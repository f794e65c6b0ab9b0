"""What admins' commands removed, kept for a time so that it can be restored.

The event log has what the libraries need: a restoration's event holds the records themselves. So these are
no knowledge, and may be dropped.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from academy.knowledge.game import GameKnowledge
from academy.knowledge.library import PatternEntry
from academy.knowledge.settings import Library, LibrarySettings
from academy.store import event_log, keys
from academy.store.codec import entry_to_proto, node_to_proto, pack_message, unpack_message
from academy.store.environment import TableName, Transaction
from academy.store.loaded_games import WriteContext
from academy.store.v1 import records_pb2
from academy.v1 import events_pb2, pattern_pb2

PRUNED: Final = "pruned"
CAPACITY_LOWERED: Final = "capacity lowered"
OPENING_DELETED: Final = "opening deleted"
PLAYER_MUTED: Final = "player muted"
MOST_LISTED: Final = 1_000
_DAY: Final = 86_400.0


def record_removal(
    work: WriteContext, event: events_pb2.Event, what: str
) -> tuple[int, event_log.EventOutcome]:
    """Record an event and keep what it removes; returns its number and what became of it."""
    knowledge = work.knowledge(event.game_id)
    patterns = {library: dict(known.entries) for library, known in knowledge.libraries.items()}
    nodes = dict(knowledge.openings.nodes)
    number, outcome = work.record(event)
    removal = _begun(work, number, event, what)
    for library, before in patterns.items():
        gone = before.keys() - knowledge.libraries[library].entries.keys()
        removal.patterns.extend(_records(knowledge, [(library, before[each]) for each in sorted(gone)]))
    for node_id, node in nodes.items():
        now = knowledge.openings.nodes.get(node_id)
        if now is None:
            removal.nodes.append(node_to_proto(node, event.game_id))
        elif now.value_millionths != node.value_millionths:
            taken = zip(node.value_millionths, now.value_millionths, strict=True)
            removal.values_taken.add(node_id=node_id, value_millionths=[was - is_ for was, is_ in taken])
    keep(work, event.game_id, removal, knowledge.settings)
    return number, outcome


def record_muting(work: WriteContext, event: events_pb2.Event) -> int:
    """Record that a player is muted, and keep what that takes out, as long as it lasts.

    Returns of how many patterns that is.
    """
    knowledge = work.knowledge(event.game_id)
    number, outcome = work.record(event)
    removal = _begun(work, number, event, PLAYER_MUTED)
    removal.muted = event.player_muted.player
    removal.patterns.extend(_records(knowledge, outcome.taken_out))
    keep(work, event.game_id, removal, knowledge.settings)
    return len(outcome.taken_out)


def _begun(work: WriteContext, number: int, event: events_pb2.Event, what: str) -> records_pb2.RemovalRecord:
    record = records_pb2.RemovalRecord()
    record.removal.event, record.removal.actor, record.removal.what = number, event.actor, what
    record.removal.time.CopyFrom(work.time)
    return record


def _records(
    knowledge: GameKnowledge, entries: Sequence[tuple[Library, PatternEntry]]
) -> Iterator[pattern_pb2.PatternRecord]:
    return (entry_to_proto(entry, library, knowledge.spec) for library, entry in entries)


def keep(
    work: WriteContext, game_id: str, record: records_pb2.RemovalRecord, settings: LibrarySettings
) -> None:
    """Store a removal, or drop it where nothing is left of it; drop those too old or too many."""
    record.removal.patterns, record.removal.nodes = len(record.patterns), len(record.nodes)
    key = keys.in_game(game_id, record.removal.event)
    if record.patterns or record.nodes:
        work.transaction.put(TableName.REMOVALS, key, pack_message(record))
    else:
        work.transaction.delete(TableName.REMOVALS, key)
    kept = 0
    for other in list(newest_first(work.transaction, game_id)):
        if other.muted:
            continue
        kept += len(other.patterns) + len(other.nodes)
        if kept > settings.removed_records or is_over(other, settings, work.now):
            work.transaction.delete(TableName.REMOVALS, keys.in_game(game_id, other.removal.event))


def drop(transaction: Transaction, game_id: str, record: records_pb2.RemovalRecord) -> None:
    """Keep a removal no longer."""
    transaction.delete(TableName.REMOVALS, keys.in_game(game_id, record.removal.event))


def newest_first(transaction: Transaction, game_id: str) -> Iterator[records_pb2.RemovalRecord]:
    """Yield all that is kept of a game, what is too old already included."""
    for _, stored in transaction.scan(TableName.REMOVALS, keys.in_game(game_id), backwards=True):
        yield unpack_message(records_pb2.RemovalRecord, stored)


def find(transaction: Transaction, game_id: str, event: int) -> records_pb2.RemovalRecord | None:
    """Return what an event removed, or None."""
    stored = transaction.get(TableName.REMOVALS, keys.in_game(game_id, event))
    return None if stored is None else unpack_message(records_pb2.RemovalRecord, stored)


def is_over(record: records_pb2.RemovalRecord, settings: LibrarySettings, now: float) -> bool:
    """Whether a removal is too old to be restored; never one whose player is still muted."""
    age = now - record.removal.time.ToNanoseconds() / 1e9
    return not record.muted and age >= settings.removed_days * _DAY


def find_pattern(
    work: WriteContext, game_id: str, library: pattern_pb2.Library.ValueType, pattern_id: int
) -> tuple[records_pb2.RemovalRecord, pattern_pb2.PatternRecord] | None:
    """Return the newest removal that a pattern can be restored from, and the pattern; or None."""
    settings = work.knowledge(game_id).settings
    for record in newest_first(work.transaction, game_id):
        if record.muted or is_over(record, settings, work.now):
            continue
        for pattern in record.patterns:
            if (pattern.library, pattern.pattern_id) == (library, pattern_id):
                return record, pattern
    return None
