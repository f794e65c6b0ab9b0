"""Take in the libraries that another ACADEMY exported."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from academy.knowledge.game_records import Counters
from academy.knowledge.openings import ROOT
from academy.knowledge.settings import Library
from academy.knowledge.votes import ELO_SCALE
from academy.store import event_log, import_digests, keys, sources
from academy.store.codec.contests import check_plausible_elo
from academy.store.codec.field_rules import check_elo
from academy.store.codec.games import check_sums, library_to_proto
from academy.store.codec.openings import check_figures
from academy.store.codec.patterns import check_counts
from academy.store.environment import Transaction
from academy.store.errors import ImportedBeforeError
from academy.store.writer import WriteContext
from academy.v1 import events_pb2, libraries_pb2, pattern_pb2

RECORDS_PER_EVENT: Final = 1_000


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
            events.insert(0, event)
        outcomes = work.record_all(events)
        left_out = sum(outcome.left_out for outcome in outcomes)
        return libraries_pb2.ImportLibraryResponse(
            patterns=sum(map(len, self.patterns.values())) - left_out,
            nodes=sum(node.node_id != ROOT for node in self.nodes),
            evicted=sum(outcome.removed for outcome in outcomes),
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
            for tesuji in tesujis.records:
                # Exports of earlier versions have none, and the digest tells what was imported before.
                tesuji.ClearField("code")
            yield events_pb2.Event(game_id=self.game_id, actor=self.actor, tesujis_imported=tesujis)
        for place, record in enumerate(self.evaluation):
            evaluation = events_pb2.EvaluationImported(records=[record], replace=self.replace and place == 0)
            yield events_pb2.Event(game_id=self.game_id, actor=self.actor, evaluation_imported=evaluation)
        if self.nodes:
            openings = events_pb2.OpeningsImported(nodes=self.nodes, replace=self.replace, moved=moved)
            yield events_pb2.Event(game_id=self.game_id, actor=self.actor, openings_imported=openings)
