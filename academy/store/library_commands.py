"""Commands of admins and analysts about a game's settings and libraries."""

from collections.abc import Sequence
from dataclasses import dataclass

from academy.knowledge.learnable import check_learnable
from academy.knowledge.library import UnknownPatternError
from academy.knowledge.node_analysis import NodeAnalysis
from academy.knowledge.opening_node import OpeningNode
from academy.knowledge.pattern_entry import PatternEntry
from academy.knowledge.settings import Library, LibrarySettings
from academy.store import contest_tables, game_tables, keys, sources
from academy.store.codec.games import library_to_proto, settings_from_proto, settings_to_proto
from academy.store.codec.learnt_tables import tesuji_records
from academy.store.codec.openings import analysis_to_proto
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.codec.patterns import entry_to_proto
from academy.store.environment import TableName
from academy.store.errors import GameInUseError, InvalidRecordError, NotDeletedError, UnknownTesujiError
from academy.store.removals import find_removed_pattern, keep_muted_votes, keep_removal, record_removal
from academy.store.v1 import records_pb2
from academy.store.writer import WriteContext
from academy.v1 import events_pb2, game_pb2, pattern_pb2


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
        event = events_pb2.Event(game_id=self.game_id, actor=self.actor, settings_changed=changed)
        return settings, record_removal(work, event).removed


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
            if sources.origin(work.transaction, self.game_id) is None:
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
            removed = find_removed_pattern(work, self.game_id, proto, self.pattern_id)
            if removed is None:
                raise NotDeletedError(self.pattern_id)
            removal, record = removed
        restored = events_pb2.PatternRestored(record=record)
        outcome = work.record(
            events_pb2.Event(game_id=self.game_id, actor=self.actor, pattern_restored=restored)
        )
        keep_muted_votes(work, self.game_id, outcome)
        if outcome.pattern_id:
            work.transaction.delete(TableName.DELETED_PATTERNS, key)
            if removal is not None:
                removal.patterns.remove(record)
                keep_removal(work, self.game_id, removal)
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
        event = events_pb2.Event(game_id=self.game_id, actor=self.actor, opening_deleted=deleted)
        outcome = record_removal(work, event)
        return [node for node in outcome.pruned if isinstance(node, OpeningNode)], event.sequence


@dataclass(frozen=True, slots=True)
class DeleteTesuji:
    """Take a tesuji out of a game's table. The result is the tesuji as it was, and the event.

    Raises UnknownTesujiError and UnknownGameError.
    """

    game_id: str
    code: int
    actor: str

    def execute(self, work: WriteContext) -> tuple[pattern_pb2.TesujiRecord, int]:
        """Log the deletion and keep the tesuji."""
        knowledge = work.knowledge(self.game_id)
        rows = knowledge.tesujis.rows_of(self.code)
        tesuji = next(tesuji_records(knowledge.tesujis, knowledge.spec, rows), None)
        if tesuji is None:
            raise UnknownTesujiError(self.game_id, self.code)
        deleted = events_pb2.TesujiDeleted(code=self.code, cells=tesuji.cells)
        event = events_pb2.Event(game_id=self.game_id, actor=self.actor, tesuji_deleted=deleted)
        record_removal(work, event)
        return tesuji, event.sequence


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
        return work.record(event).analysed


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
        return work.record(event).removed


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
        event = events_pb2.Event(game_id=self.game_id, actor=self.actor, library_pruned=pruned)
        return record_removal(work, event).pruned
