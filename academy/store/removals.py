"""What admins removed, kept so that it can be restored for a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from academy.knowledge.evaluation import EvaluationTable
from academy.knowledge.pattern_entry import PatternEntry
from academy.knowledge.settings import Library, LibrarySettings
from academy.knowledge.spec import GameSpec
from academy.knowledge.tesujis.table import TesujiTable
from academy.store import event_effects, game_tables, keys
from academy.store.codec.learnt_tables import (
    evaluation_from_records,
    evaluation_records,
    tesuji_records,
    tesujis_from_records,
)
from academy.store.codec.openings import node_to_proto
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.codec.patterns import entries_to_proto
from academy.store.environment import TableName, Transaction
from academy.store.errors import UnknownRemovalError
from academy.store.v1 import records_pb2
from academy.store.writer import WriteContext
from academy.v1 import events_pb2, libraries_pb2, pattern_pb2

# What a removal is called, by the kind of its event.
_WHAT: Final = {
    "library_pruned": "pruned",
    "settings_changed": "capacity lowered",
    "opening_deleted": "opening deleted",
    "tesuji_deleted": "tesuji deleted",
    "player_muted": "player muted",
}
MOST_LISTED: Final = 1_000
_DAY: Final = 86_400.0


def record_removal(work: WriteContext, event: events_pb2.Event) -> event_effects.EventOutcome:
    """Record an event and keep what it removes; returns what became of it."""
    knowledge = work.knowledge(event.game_id)
    patterns = {library: dict(known.entries) for library, known in knowledge.libraries.items()}
    nodes = dict(knowledge.openings.nodes)
    tesujis, evaluation = knowledge.tesujis, knowledge.evaluation
    outcome = work.record(event)
    removal = _begin_removal(work, event)
    _keep_learnt(
        removal,
        knowledge.spec,
        tesujis.missing_from(knowledge.tesujis),
        evaluation.missing_from(knowledge.evaluation),
    )
    for library, before in patterns.items():
        gone = before.keys() - knowledge.libraries[library].entries.keys()
        removal.patterns.extend(
            entries_to_proto([(library, before[number]) for number in sorted(gone)], knowledge.spec)
        )
    for node_id, node in nodes.items():
        now = knowledge.openings.nodes.get(node_id)
        if now is None:
            removal.nodes.append(node_to_proto(node, event.game_id))
        elif now.value_millionths != node.value_millionths:
            for level, taken in node.value_taken(now).items():
                removal.values_taken.add(node_id=node_id, value_millionths=taken, level=level)
    keep_removal(work, event.game_id, removal)
    return outcome


def record_muting(work: WriteContext, event: events_pb2.Event) -> int:
    """Record that a player is muted, and keep what that takes out, as long as it lasts.

    Returns how many patterns that affects.
    """
    knowledge = work.knowledge(event.game_id)
    outcome = work.record(event)
    removal = _begin_removal(work, event)
    removal.muted = event.player_muted.player
    removal.patterns.extend(entries_to_proto(outcome.taken_out, knowledge.spec))
    keep_removal(work, event.game_id, removal)
    return len(outcome.taken_out)


def keep_muted_votes(work: WriteContext, game_id: str, outcome: event_effects.EventOutcome) -> None:
    """Keep the votes that restored patterns came back without with what muting their players took out."""
    spec = work.knowledge(game_id).spec
    kept: dict[str, list[tuple[Library, PatternEntry]]] = {}
    for player, library, votes in outcome.kept_out:
        kept.setdefault(player, []).append((library, votes))
    for record in list(newest_removals_first(work.transaction, game_id)) if kept else ():
        if record.muted in kept:
            record.patterns.extend(entries_to_proto(kept.pop(record.muted), spec))
            keep_removal(work, game_id, record)


def _begin_removal(work: WriteContext, event: events_pb2.Event) -> records_pb2.RemovalRecord:
    record = records_pb2.RemovalRecord()
    record.removal.event, record.removal.actor = event.sequence, event.actor
    record.removal.what = _WHAT[event.WhichOneof("kind") or ""]
    record.removal.time.CopyFrom(work.time)
    return record


def _keep_learnt(
    removal: records_pb2.RemovalRecord, spec: GameSpec, tesujis: TesujiTable, evaluation: EvaluationTable
) -> None:
    """Keep these tesujis and weights with a removal."""
    removal.tesujis.extend(tesuji_records(tesujis, spec, range(len(tesujis))))
    removal.evaluation.extend(evaluation_records(evaluation, spec))


def keep_removal(work: WriteContext, game_id: str, record: records_pb2.RemovalRecord) -> None:
    """Store a removal, or drop it where nothing is left of it; drop those too old or too many.

    That of a muted player stays: patterns that come back may bring votes of this player.
    """
    settings = work.knowledge(game_id).settings
    record.removal.patterns, record.removal.nodes = len(record.patterns), len(record.nodes)
    record.removal.tesujis = len(record.tesujis)
    record.removal.weights = sum(len(part.weights) for part in record.evaluation)
    if _count(record.removal) or record.muted:
        key = keys.in_game(game_id, record.removal.event)
        work.transaction.put(TableName.REMOVALS, key, pack_message(record))
    else:
        drop_removal(work.transaction, game_id, record)
    kept = 0
    for other in list(newest_removals_first(work.transaction, game_id)):
        if other.muted:
            continue
        kept += _count(other.removal)
        if kept > settings.removed_records or _is_removal_over(other, settings, work.now):
            drop_removal(work.transaction, game_id, other)


def _count(removal: libraries_pb2.Removal) -> int:
    """Return how many records a removal has."""
    return removal.patterns + removal.nodes + removal.tesujis + removal.weights


def drop_removal(transaction: Transaction, game_id: str, record: records_pb2.RemovalRecord) -> None:
    """Keep a removal no longer."""
    transaction.delete(TableName.REMOVALS, keys.in_game(game_id, record.removal.event))


def drop_tesujis(work: WriteContext, game_id: str) -> None:
    """Keep removed tesujis no longer: the game's begin again, with other shapes. All else stays."""
    for record in list(newest_removals_first(work.transaction, game_id)):
        if record.tesujis:
            del record.tesujis[:]
            keep_removal(work, game_id, record)


def newest_removals_first(transaction: Transaction, game_id: str) -> Iterator[records_pb2.RemovalRecord]:
    """Yield all that is kept of a game, what is too old already included."""
    for _, stored in transaction.scan(TableName.REMOVALS, keys.in_game(game_id), backwards=True):
        yield unpack_message(records_pb2.RemovalRecord, stored)


def list_removals(transaction: Transaction, game_id: str, now: float) -> list[libraries_pb2.Removal]:
    """Return what admins removed of a game and can be restored at a time, and mutings that took votes out.

    Newest first. Raises UnknownGameError.
    """
    _, settings = game_tables.spec_and_settings(game_tables.game_record(transaction, game_id))
    kept = newest_removals_first(transaction, game_id)
    lasting = (
        record.removal
        for record in kept
        if _count(record.removal) and not _is_removal_over(record, settings, now)
    )
    return list(islice(lasting, MOST_LISTED))


def _is_removal_over(record: records_pb2.RemovalRecord, settings: LibrarySettings, now: float) -> bool:
    """Whether a removal is too old to be restored; never one whose player is still muted."""
    age = now - record.removal.time.ToNanoseconds() / 1e9
    return not record.muted and age >= settings.removed_days * _DAY


def find_removed_pattern(
    work: WriteContext, game_id: str, library: pattern_pb2.Library.ValueType, pattern_id: int
) -> tuple[records_pb2.RemovalRecord, pattern_pb2.PatternRecord] | None:
    """Return the newest removal that a pattern can be restored from, and the pattern; or None."""
    settings = work.knowledge(game_id).settings
    for record in newest_removals_first(work.transaction, game_id):
        if record.muted or _is_removal_over(record, settings, work.now):
            continue
        for pattern in record.patterns:
            if (pattern.library, pattern.pattern_id) == (library, pattern_id):
                return record, pattern
    return None


@dataclass(frozen=True, slots=True)
class RestoreRemoval:
    """Undo what an event removed. Records without room are still kept.

    Raises UnknownRemovalError and UnknownGameError.
    """

    game_id: str
    removal: int
    actor: str

    def execute(self, work: WriteContext) -> libraries_pb2.RestoreRemovalResponse:
        """Log the undo with the whole records."""
        knowledge = work.knowledge(self.game_id)
        spec, settings = knowledge.spec, knowledge.settings
        stored = work.transaction.get(TableName.REMOVALS, keys.in_game(self.game_id, self.removal))
        kept = None if stored is None else unpack_message(records_pb2.RemovalRecord, stored)
        if kept is None or kept.muted or _is_removal_over(kept, settings, work.now):
            raise UnknownRemovalError(self.removal, "" if kept is None else kept.muted)
        restored = events_pb2.RemovalRestored(
            removal=self.removal,
            patterns=kept.patterns,
            nodes=kept.nodes,
            values_taken=kept.values_taken,
            tesujis=kept.tesujis,
            evaluation=kept.evaluation,
        )
        tesujis, weights = len(knowledge.tesujis), len(knowledge.evaluation)
        outcome = work.record(
            events_pb2.Event(game_id=self.game_id, actor=self.actor, removal_restored=restored)
        )
        keep_muted_votes(work, self.game_id, outcome)
        patterns = {entry.pattern_id for _, entry in outcome.patterns_back}
        nodes = {node.node_id for node in outcome.nodes_back}
        parents = {node.parent_id for node in outcome.nodes_back}
        left = records_pb2.RemovalRecord(
            removal=kept.removal,
            patterns=[record for record in kept.patterns if record.pattern_id not in patterns],
            nodes=[record for record in kept.nodes if record.node_id not in nodes],
            values_taken=[record for record in kept.values_taken if record.node_id not in parents],
        )
        knowledge = work.knowledge(self.game_id)
        _keep_learnt(
            left,
            spec,
            tesujis_from_records(kept.tesujis, spec).missing_from(knowledge.tesujis),
            evaluation_from_records(kept.evaluation, spec).missing_from(knowledge.evaluation),
        )
        keep_removal(work, self.game_id, left)
        return libraries_pb2.RestoreRemovalResponse(
            patterns=len(patterns),
            nodes=len(nodes),
            tesujis=len(knowledge.tesujis) - tesujis,
            weights=len(knowledge.evaluation) - weights,
            no_room=_count(left.removal),
        )
