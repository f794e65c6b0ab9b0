"""Commands of admins about libraries, and what they removed, which can be restored for a time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from academy.knowledge.evaluation import EvaluationTable
from academy.knowledge.game import GameKnowledge
from academy.knowledge.game_records import Counters
from academy.knowledge.learnable import check_learnable
from academy.knowledge.library import UnknownPatternError
from academy.knowledge.node_analysis import NodeAnalysis
from academy.knowledge.opening_node import OpeningNode
from academy.knowledge.pattern_entry import PatternEntry
from academy.knowledge.settings import Library, LibrarySettings
from academy.knowledge.spec import GameSpec
from academy.knowledge.tesujis.table import TesujiTable
from academy.knowledge.votes import ELO_SCALE
from academy.store import contest_tables, event_effects, event_log, game_tables, import_digests, keys, sources
from academy.store.codec.contests import check_plausible_elo
from academy.store.codec.field_rules import check_elo
from academy.store.codec.games import check_sums, library_to_proto, settings_from_proto, settings_to_proto
from academy.store.codec.learnt_tables import (
    evaluation_from_records,
    evaluation_records,
    tesuji_records,
    tesujis_from_records,
)
from academy.store.codec.openings import analysis_to_proto, check_figures, node_to_proto
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.codec.patterns import check_counts, entry_to_proto
from academy.store.environment import TableName, Transaction
from academy.store.errors import (
    GameInUseError,
    ImportedBeforeError,
    InvalidRecordError,
    NotDeletedError,
    UnknownRemovalError,
)
from academy.store.v1 import records_pb2
from academy.store.writer import WriteContext
from academy.v1 import events_pb2, game_pb2, libraries_pb2, pattern_pb2

PRUNED: Final = "pruned"
CAPACITY_LOWERED: Final = "capacity lowered"
OPENING_DELETED: Final = "opening deleted"
PLAYER_MUTED: Final = "player muted"
MOST_LISTED: Final = 1_000
_DAY: Final = 86_400.0


def record_removal(
    work: WriteContext, event: events_pb2.Event, what: str
) -> tuple[int, event_effects.EventOutcome]:
    """Record an event and keep what it removes; returns its number and what became of it."""
    knowledge = work.knowledge(event.game_id)
    patterns = {library: dict(known.entries) for library, known in knowledge.libraries.items()}
    nodes = dict(knowledge.openings.nodes)
    tesujis, evaluation = knowledge.tesujis, knowledge.evaluation
    number, outcome = work.record(event)
    removal = _begin_removal(work, number, event, what)
    _keep_learnt(
        removal,
        knowledge.spec,
        tesujis.missing_from(knowledge.tesujis),
        evaluation.missing_from(knowledge.evaluation),
    )
    for library, before in patterns.items():
        gone = before.keys() - knowledge.libraries[library].entries.keys()
        removal.patterns.extend(_records(knowledge, [(library, before[number]) for number in sorted(gone)]))
    for node_id, node in nodes.items():
        now = knowledge.openings.nodes.get(node_id)
        if now is None:
            removal.nodes.append(node_to_proto(node, event.game_id))
        elif now.value_millionths != node.value_millionths:
            for level, taken in node.value_taken(now).items():
                removal.values_taken.add(node_id=node_id, value_millionths=taken, level=level)
    keep_removal(work, event.game_id, removal, knowledge.settings)
    return number, outcome


def record_muting(work: WriteContext, event: events_pb2.Event) -> int:
    """Record that a player is muted, and keep what that takes out, as long as it lasts.

    Returns how many patterns that affects.
    """
    knowledge = work.knowledge(event.game_id)
    number, outcome = work.record(event)
    removal = _begin_removal(work, number, event, PLAYER_MUTED)
    removal.muted = event.player_muted.player
    removal.patterns.extend(_records(knowledge, outcome.taken_out))
    keep_removal(work, event.game_id, removal, knowledge.settings)
    return len(outcome.taken_out)


def _begin_removal(
    work: WriteContext, number: int, event: events_pb2.Event, what: str
) -> records_pb2.RemovalRecord:
    record = records_pb2.RemovalRecord()
    record.removal.event, record.removal.actor, record.removal.what = number, event.actor, what
    record.removal.time.CopyFrom(work.time)
    return record


def _keep_learnt(
    removal: records_pb2.RemovalRecord, spec: GameSpec, tesujis: TesujiTable, evaluation: EvaluationTable
) -> None:
    """Keep these tesujis and weights with a removal, in place of those that it has."""
    del removal.tesujis[:], removal.evaluation[:]
    removal.tesujis.extend(tesuji_records(tesujis, spec, range(len(tesujis))))
    removal.evaluation.extend(evaluation_records(evaluation, spec))


def _records(
    knowledge: GameKnowledge, entries: Sequence[tuple[Library, PatternEntry]]
) -> Iterator[pattern_pb2.PatternRecord]:
    return (entry_to_proto(entry, library, knowledge.spec) for library, entry in entries)


def keep_removal(
    work: WriteContext, game_id: str, record: records_pb2.RemovalRecord, settings: LibrarySettings
) -> None:
    """Store a removal, or drop it where nothing is left of it; drop those too old or too many."""
    record.removal.patterns, record.removal.nodes = len(record.patterns), len(record.nodes)
    record.removal.tesujis = len(record.tesujis)
    record.removal.weights = sum(len(part.weights) for part in record.evaluation)
    key = keys.in_game(game_id, record.removal.event)
    if _count(record.removal):
        work.transaction.put(TableName.REMOVALS, key, pack_message(record))
    else:
        work.transaction.delete(TableName.REMOVALS, key)
    kept = 0
    for other in list(newest_removals_first(work.transaction, game_id)):
        if other.muted:
            continue
        kept += _count(other.removal)
        if kept > settings.removed_records or is_removal_over(other, settings, work.now):
            work.transaction.delete(TableName.REMOVALS, keys.in_game(game_id, other.removal.event))


def _count(removal: libraries_pb2.Removal) -> int:
    """Return how many records a removal has."""
    return removal.patterns + removal.nodes + removal.tesujis + removal.weights


def drop_removal(transaction: Transaction, game_id: str, record: records_pb2.RemovalRecord) -> None:
    """Keep a removal no longer."""
    transaction.delete(TableName.REMOVALS, keys.in_game(game_id, record.removal.event))


def newest_removals_first(transaction: Transaction, game_id: str) -> Iterator[records_pb2.RemovalRecord]:
    """Yield all that is kept of a game, what is too old already included."""
    for _, stored in transaction.scan(TableName.REMOVALS, keys.in_game(game_id), backwards=True):
        yield unpack_message(records_pb2.RemovalRecord, stored)


def list_removals(transaction: Transaction, game_id: str, now: float) -> list[libraries_pb2.Removal]:
    """Return what admins removed of a game and can be restored at a time, newest first.

    Raises UnknownGameError.
    """
    _, settings = game_tables.spec_and_settings(game_tables.game_record(transaction, game_id))
    kept = newest_removals_first(transaction, game_id)
    lasting = (removal.removal for removal in kept if not is_removal_over(removal, settings, now))
    return list(islice(lasting, MOST_LISTED))


def find_removal(transaction: Transaction, game_id: str, event: int) -> records_pb2.RemovalRecord | None:
    """Return what an event removed, or None."""
    stored = transaction.get(TableName.REMOVALS, keys.in_game(game_id, event))
    return None if stored is None else unpack_message(records_pb2.RemovalRecord, stored)


def is_removal_over(record: records_pb2.RemovalRecord, settings: LibrarySettings, now: float) -> bool:
    """Whether a removal is too old to be restored; never one whose player is still muted."""
    age = now - record.removal.time.ToNanoseconds() / 1e9
    return not record.muted and age >= settings.removed_days * _DAY


def find_pattern(
    work: WriteContext, game_id: str, library: pattern_pb2.Library.ValueType, pattern_id: int
) -> tuple[records_pb2.RemovalRecord, pattern_pb2.PatternRecord] | None:
    """Return the newest removal that a pattern can be restored from, and the pattern; or None."""
    settings = work.knowledge(game_id).settings
    for record in newest_removals_first(work.transaction, game_id):
        if record.muted or is_removal_over(record, settings, work.now):
            continue
        for pattern in record.patterns:
            if (pattern.library, pattern.pattern_id) == (library, pattern_id):
                return record, pattern
    return None


RECORDS_PER_EVENT: Final = 1_000


@dataclass(frozen=True, slots=True)
class ChangeSettings:
    """Change the settings that `settings` gives. The result is all of them, and how much was removed.

    Raises InvalidSettingsError and UnknownGameError. Where nothing differs, nothing is logged.
    """

    game_id: str
    settings: game_pb2.LibrarySettings
    actor: str
    dry_run: bool = False

    def execute(self, work: WriteContext) -> tuple[LibrarySettings, int]:
        """Log the settings; a lowered capacity removes the weakest at once. A dry run logs nothing."""
        knowledge = work.knowledge(self.game_id)
        before = knowledge.settings
        settings = settings_from_proto(self.settings, before)
        if settings == before:
            return settings, 0
        check_learnable(settings, knowledge.spec, before)
        if self.dry_run:
            return settings, knowledge.count_beyond(settings)
        changed = settings_to_proto(settings)
        _, outcome = record_removal(
            work,
            events_pb2.Event(game_id=self.game_id, actor=self.actor, settings_changed=changed),
            CAPACITY_LOWERED,
        )
        return settings, outcome.removed


@dataclass(frozen=True, slots=True)
class DeleteGame:
    """Make a game that has no contests unknown; its id may be registered again.

    One with knowledge is deleted only if that came from a fork, and `really`. Raises UnknownGameError,
    GameInUseError.
    """

    game_id: str
    actor: str
    really: bool = False

    def execute(self, work: WriteContext) -> game_pb2.Game:
        """Log the deletion. The result is the game as it was."""
        game = game_tables.game_record(work.transaction, self.game_id)
        knowledge = work.knowledge(self.game_id)
        if knowledge.measures.contests:
            raise GameInUseError(self.game_id, f"has {knowledge.measures.contests:,} contests")
        if contest_tables.oldest_open_contests(work.transaction, self.game_id, None, 1):
            raise GameInUseError(
                self.game_id, f"has open contests (academy contests list {self.game_id} shows them)"
            )
        tables = len(knowledge.openings) + len(knowledge.tesujis) + len(knowledge.evaluation)
        if tables or any(map(len, knowledge.libraries.values())):
            first = islice(event_log.scan(work.transaction, self.game_id), 2)
            if not any(event.WhichOneof("kind") == "game_forked" for event in first):
                raise GameInUseError(self.game_id, "has knowledge in its libraries")
            if not self.really:
                raise GameInUseError(
                    self.game_id,
                    "is a fork that holds knowledge (`really` deletes it if nobody has played it)",
                )
        deleted = events_pb2.GameDeleted(game=game)
        work.record(events_pb2.Event(game_id=self.game_id, actor=self.actor, game_deleted=deleted))
        return game


@dataclass(frozen=True, slots=True)
class DeletePattern:
    """Take a pattern out of its library and keep it for undoing. The result is the pattern.

    Raises UnknownPatternError and UnknownGameError.
    """

    game_id: str
    library: Library
    pattern_id: int
    actor: str

    def execute(self, work: WriteContext) -> PatternEntry:
        """Log the deletion and keep the record."""
        knowledge = work.knowledge(self.game_id)
        entry = knowledge.libraries[self.library].entries.get(self.pattern_id)
        if entry is None:
            raise UnknownPatternError(self.pattern_id, self.library, self.game_id)
        deleted = events_pb2.PatternDeleted(
            library=library_to_proto(self.library), pattern_id=self.pattern_id
        )
        work.record(events_pb2.Event(game_id=self.game_id, actor=self.actor, pattern_deleted=deleted))
        kept = records_pb2.DeletedPattern(record=entry_to_proto(entry, self.library, knowledge.spec))
        key = keys.pattern(self.game_id, self.library, self.pattern_id)
        work.transaction.put(TableName.DELETED_PATTERNS, key, pack_message(kept))
        return entry


@dataclass(frozen=True, slots=True)
class RestorePattern:
    """Undo an admin's deletion, or what pruning or a lowered capacity removed. The result is the pattern now.

    The result is None where a full library has no room: then the pattern is still kept. Raises
    NotDeletedError and UnknownGameError.
    """

    game_id: str
    library: Library
    pattern_id: int
    actor: str

    def execute(self, work: WriteContext) -> PatternEntry | None:
        """Log the undo with the whole record."""
        knowledge = work.knowledge(self.game_id)
        key = keys.pattern(self.game_id, self.library, self.pattern_id)
        stored = work.transaction.get(TableName.DELETED_PATTERNS, key)
        removal = None
        if stored is not None:
            record = unpack_message(records_pb2.DeletedPattern, stored).record
        else:
            proto = library_to_proto(self.library)
            removed = find_pattern(work, self.game_id, proto, self.pattern_id)
            if removed is None:
                raise NotDeletedError(self.pattern_id)
            removal, record = removed
        restored = events_pb2.PatternRestored(record=record)
        _, outcome = work.record(
            events_pb2.Event(game_id=self.game_id, actor=self.actor, pattern_restored=restored)
        )
        if outcome.pattern_id:
            work.transaction.delete(TableName.DELETED_PATTERNS, key)
            if removal is not None:
                removal.patterns.remove(record)
                keep_removal(work, self.game_id, removal, knowledge.settings)
        return knowledge.libraries[self.library].entries.get(outcome.pattern_id)


@dataclass(frozen=True, slots=True)
class DeleteOpening:
    """Take a node out of the opening tree with all below it. The result is what went, and the event.

    `moves` are the line that leads to it. Raises UnknownLineError and UnknownGameError.
    """

    game_id: str
    node_id: int
    moves: Sequence[str]
    actor: str

    def execute(self, work: WriteContext) -> tuple[list[OpeningNode], int]:
        """Log the deletion and keep the nodes."""
        deleted = events_pb2.OpeningDeleted(node_id=self.node_id, moves=self.moves)
        number, outcome = record_removal(
            work,
            events_pb2.Event(game_id=self.game_id, actor=self.actor, opening_deleted=deleted),
            OPENING_DELETED,
        )
        return [node for node in outcome.pruned if isinstance(node, OpeningNode)], number


@dataclass(frozen=True, slots=True)
class AnalyseOpenings:
    """Keep what an analyst's searches found out about lines of the opening tree.

    The result is how many were news. Lines that the tree does not have count for nothing. Where nothing is
    news, nothing is logged. Raises UnknownGameError, and InvalidRecordError for a game of another kind.
    """

    game_id: str
    lines: Sequence[tuple[Sequence[str], NodeAnalysis]]
    actor: str

    def execute(self, work: WriteContext) -> int:
        """Log the analyses that are news."""
        knowledge = work.knowledge(self.game_id)
        spec = knowledge.spec
        if not spec.two_in_turn:
            raise InvalidRecordError(
                "game_id", f"{self.game_id}: only games of two players that move in turn are analysed"
            )
        news: dict[int, events_pb2.AnalysedNode] = {}
        best: dict[int, NodeAnalysis] = {}
        for moves, analysis in self.lines:
            node = knowledge.openings.find(moves)
            if node is None or not analysis.replaces(best.get(node.node_id, node.analysis)):
                continue
            best[node.node_id] = analysis
            news[node.node_id] = events_pb2.AnalysedNode(
                node_id=node.node_id, moves=moves, analysis=analysis_to_proto(analysis)
            )
        if not news:
            return 0
        analysed = events_pb2.OpeningsAnalysed(nodes=news.values())
        event = events_pb2.Event(game_id=self.game_id, actor=self.actor, openings_analysed=analysed)
        return work.record(event)[1].analysed


@dataclass(frozen=True, slots=True)
class ForgetAnalyses:
    """Take the analyses of an analyst, or all where empty, out of the opening tree.

    The result is their number. Where there are none, nothing is logged. Raises UnknownGameError.
    """

    game_id: str
    analyst: str
    actor: str

    def execute(self, work: WriteContext) -> int:
        """Log that they are forgotten."""
        nodes = work.knowledge(self.game_id).openings.nodes.values()
        analysts = {node.analysis.analyst for node in nodes if node.analysis is not None}
        if not analysts or self.analyst not in ("", *analysts):
            return 0
        forgotten = events_pb2.AnalysesForgotten(analyst=self.analyst)
        event = events_pb2.Event(game_id=self.game_id, actor=self.actor, analyses_forgotten=forgotten)
        return work.record(event)[1].removed


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
        kept = find_removal(work.transaction, self.game_id, self.removal)
        if kept is None or kept.muted or is_removal_over(kept, settings, work.now):
            raise UnknownRemovalError(self.removal)
        restored = events_pb2.RemovalRestored(
            removal=self.removal,
            patterns=kept.patterns,
            nodes=kept.nodes,
            values_taken=kept.values_taken,
            tesujis=kept.tesujis,
            evaluation=kept.evaluation,
        )
        tesujis, weights = len(knowledge.tesujis), len(knowledge.evaluation)
        _, outcome = work.record(
            events_pb2.Event(game_id=self.game_id, actor=self.actor, removal_restored=restored)
        )
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
        keep_removal(work, self.game_id, left, settings)
        return libraries_pb2.RestoreRemovalResponse(
            patterns=len(patterns),
            nodes=len(nodes),
            tesujis=len(knowledge.tesujis) - tesujis,
            weights=len(knowledge.evaluation) - weights,
            no_room=_count(left.removal),
        )


@dataclass(frozen=True, slots=True)
class PruneLibrary:
    """Remove weak knowledge. The result is what went, or with `dry_run` what would go.

    `below` is a strength for patterns, a value for openings, 0 for the game's own `prune_below`.
    """

    game_id: str
    library: Library
    below: float
    dry_run: bool
    actor: str

    def execute(self, work: WriteContext) -> Sequence[PatternEntry | OpeningNode]:
        """Log the pruning unless nothing is to go. Raises InvalidRecordError and UnknownGameError."""
        knowledge = work.knowledge(self.game_id)
        if not 0.0 <= self.below < float("inf"):
            raise InvalidRecordError("below", f"{self.below!r} must be a number from 0")
        below = self.below
        if self.library is Library.OPENING:
            below = below or knowledge.settings.prune_below
            if below > 1.0:
                raise InvalidRecordError("below", f"{below!r}: openings are pruned by values, from 0 to 1")
        elif not below:
            raise InvalidRecordError("below", "patterns are pruned below a strength above 0, not 0")
        prunable = knowledge.prunable(self.library, below)
        if self.dry_run or not prunable:
            return prunable
        pruned = events_pb2.LibraryPruned(library=library_to_proto(self.library), below=below)
        _, outcome = record_removal(
            work,
            events_pb2.Event(game_id=self.game_id, actor=self.actor, library_pruned=pruned),
            PRUNED,
        )
        return outcome.pruned


@dataclass(frozen=True, slots=True)
class ImportLibraries:
    """Take in records of another ACADEMY, all or none.

    With `replace` the libraries they are for are emptied first. Raises InvalidRecordError naming the record,
    UnknownLineError for a node without its parent, UnknownGameError; without `replace` and `again`
    ImportedBeforeError for what was imported into the game before.
    """

    game_id: str
    patterns: Mapping[Library, Sequence[pattern_pb2.PatternRecord]]
    nodes: Sequence[pattern_pb2.OpeningNodeRecord]
    replace: bool
    actor: str
    history: libraries_pb2.GameHistory | None = None
    tesujis: Sequence[pattern_pb2.TesujiRecord] = ()
    evaluation: Sequence[pattern_pb2.EvaluationRecord] = ()
    again: bool = False

    def execute(self, work: WriteContext) -> libraries_pb2.ImportLibraryResponse:
        """Log the records, patterns in several events where they are many.

        A game that was never played and never imported is moved here: its records keep their numbers, and
        its measures and ratings go on from the `history`.
        """
        self._check_bounds()
        evicted = 0
        knowledge = work.knowledge(self.game_id)
        is_new = knowledge.counters == Counters() and not knowledge.measures.contests
        events = list(self._events(is_new and self._has_numbers()))
        named = sources.check(self.history.sources if self.history is not None else ())
        # The first event of each section says it for all.
        for event in {sources.section_of(event): event for event in reversed(events)}.values():
            event.sources.extend(named)
        if not self.replace and not self.again:
            deleted = event_log.find_deletion(work.transaction, self.game_id)
            if earlier := import_digests.find_earlier(work.transaction, events, deleted):
                raise ImportedBeforeError(self.game_id, earlier)
            if not is_new:
                self._check_sources(work.transaction, events, named)
        given = self.history
        if given is not None and (given.measures or given.ratings) and not knowledge.measures.contests:
            check_sums(given.measures)
            for place, rating in enumerate(given.ratings):
                keys.check_voter_name(f"history.ratings[{place}].player", rating.player)
                check_elo(f"history.ratings[{place}].elo", rating.elo)
            history = events_pb2.HistoryImported(measures=given.measures, ratings=given.ratings)
            event = events_pb2.Event(game_id=self.game_id, actor=self.actor, history_imported=history)
            event.sources.extend(named)
            work.record(event)
        for event in events:
            evicted += work.record(event)[1].removed
        return libraries_pb2.ImportLibraryResponse(
            patterns=sum(map(len, self.patterns.values())),
            nodes=len(self.nodes),
            evicted=evicted,
            tesujis=len(self.tesujis),
            weights=sum(len(record.weights) for record in self.evaluation),
        )

    def _check_sources(
        self, transaction: Transaction, events: Iterable[events_pb2.Event], named: Sequence[bytes]
    ) -> None:
        """Raise ImportedBeforeError where a section has contests in common with what goes into it."""
        for section in filter(None, dict.fromkeys(map(sources.section_of, events))):
            held = sources.find(transaction, self.game_id, section)
            if common := next((source for source in named if source in held), None):
                raise ImportedBeforeError(self.game_id, held[common], section)

    def _check_bounds(self) -> None:
        """Raise InvalidRecordError for a record to which what is learnt later could not be added."""
        for records in self.patterns.values():
            for place, pattern in enumerate(records):
                check_counts(pattern, f"patterns[{place}]")
        for place, node in enumerate(self.nodes):
            check_figures(node, f"nodes[{place}]")
        for place, record in enumerate(self.evaluation):
            # Contests of less Elo would teach it next to nothing any more.
            check_plausible_elo(
                f"evaluation[{place}].best_elo_hundredths", record.best_elo_hundredths / ELO_SCALE
            )

    def _has_numbers(self) -> bool:
        """Whether every record has a number of its own, as in an unedited export."""
        patterns = [record.pattern_id for records in self.patterns.values() for record in records]
        nodes = [node.node_id for node in self.nodes]
        return all(patterns) and len({*patterns}) == len(patterns) and len({*nodes}) == len(nodes)

    def _events(self, moved: bool) -> Iterator[events_pb2.Event]:
        for library, records in self.patterns.items():
            for first in range(0, len(records), RECORDS_PER_EVENT):
                imported = events_pb2.PatternsImported(
                    records=records[first : first + RECORDS_PER_EVENT],
                    replace=self.replace and first == 0,
                    library=library_to_proto(library),
                    moved=moved,
                )
                yield events_pb2.Event(game_id=self.game_id, actor=self.actor, patterns_imported=imported)
        for first in range(0, len(self.tesujis), RECORDS_PER_EVENT):
            tesujis = events_pb2.TesujisImported(
                records=self.tesujis[first : first + RECORDS_PER_EVENT], replace=self.replace and first == 0
            )
            yield events_pb2.Event(game_id=self.game_id, actor=self.actor, tesujis_imported=tesujis)
        for place, record in enumerate(self.evaluation):
            evaluation = events_pb2.EvaluationImported(records=[record], replace=self.replace and place == 0)
            yield events_pb2.Event(game_id=self.game_id, actor=self.actor, evaluation_imported=evaluation)
        if self.nodes:
            openings = events_pb2.OpeningsImported(nodes=self.nodes, replace=self.replace, moved=moved)
            yield events_pb2.Event(game_id=self.game_id, actor=self.actor, openings_imported=openings)
