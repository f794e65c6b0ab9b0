"""One event of the log taken into a game's knowledge.

Writing and rebuilding go through here alone, so that the log can always make the libraries again.
"""

from collections.abc import Callable
from dataclasses import dataclass

from academy.knowledge.contests import Judgement
from academy.knowledge.game import GameKnowledge
from academy.knowledge.library import PatternEntry
from academy.knowledge.openings import OpeningNode
from academy.store.contest_records import report_from_proto
from academy.store.errors import StoreCorrupt
from academy.store.game_records import (
    library_from_proto,
    pattern_library_from_proto,
    settings_from_proto,
    spec_from_proto,
)
from academy.store.pattern_records import entry_from_proto, node_from_proto
from academy.v1 import events_pb2

EventReader = Callable[[int], events_pb2.Event]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an event.

    `judgements` are by proposal; `removed` counts what left for want of room or by pruning; `pruned`
    lists the latter; `pattern_id` is the number a restored pattern has now, 0 where there was no room.
    """

    judgements: tuple[Judgement, ...] = ()
    removed: int = 0
    pruned: tuple[PatternEntry | OpeningNode, ...] = ()
    pattern_id: int = 0


def begin(event: events_pb2.Event) -> GameKnowledge:
    """Return what is known of a game after its first event. Raises StoreCorrupt for another kind of event."""
    if event.WhichOneof("kind") != "game_registered":
        raise StoreCorrupt(
            f"event {event.sequence}: the first of game {event.game_id!r} does not register it"
        )
    game = event.game_registered
    return GameKnowledge(spec_from_proto(game), settings_from_proto(game.settings))


def apply(
    knowledge: GameKnowledge,
    event: events_pb2.Event,
    read_event: EventReader,
    give_way: Callable[[], None] = lambda: None,
) -> Outcome:
    """Take a game's next event into its knowledge.

    `read_event` gives an earlier event by its number, `give_way` is called between steps. Raises
    InvalidRecord and what the knowledge rules raise; the knowledge may then be half changed and must be
    thrown away.
    """
    spec = knowledge.spec
    match event.WhichOneof("kind"):
        case "contest_reported":
            reported = event.contest_reported
            if reported.report.void:
                return Outcome()
            report = report_from_proto(reported, spec)
            give_way()
            return Outcome(judgements=tuple(knowledge.report(report, event.sequence, give_way)))
        case "proposal_judged":
            judged = event.proposal_judged
            known = read_event(judged.report_event).contest_reported
            reported = events_pb2.ContestReported(
                report=known.report,
                proposals=[judged.proposal],
                false_consultations=known.false_consultations,
                false_claims=known.false_claims,
            )
            report = report_from_proto(reported, spec)
            return Outcome(judgements=tuple(knowledge.judge_late(report, event.sequence)))
        case "settings_changed":
            settings = settings_from_proto(event.settings_changed)
            return Outcome(removed=knowledge.change_settings(settings))
        case "game_described":
            knowledge.describe(tuple(event.game_described.move_forms))
            return Outcome()
        case "pattern_deleted":
            deleted = event.pattern_deleted
            knowledge.delete_pattern(pattern_library_from_proto(deleted.library), deleted.pattern_id)
            return Outcome(removed=1)
        case "pattern_restored":
            record = event.pattern_restored.record
            library = pattern_library_from_proto(record.library)
            return Outcome(pattern_id=knowledge.restore_pattern(library, entry_from_proto(record, spec)))
        case "library_pruned":
            pruned = knowledge.prune(
                library_from_proto(event.library_pruned.library), event.library_pruned.below
            )
            return Outcome(removed=len(pruned), pruned=tuple(pruned))
        case "patterns_imported":
            imported = event.patterns_imported
            library = pattern_library_from_proto(imported.library)
            entries = [
                entry_from_proto(record, spec, f"patterns[{place}]")
                for place, record in enumerate(imported.records)
            ]
            return Outcome(
                removed=knowledge.import_patterns(library, entries, imported.replace, event.sequence)
            )
        case "openings_imported":
            nodes = [
                node_from_proto(record, spec, f"nodes[{place}]")
                for place, record in enumerate(event.openings_imported.nodes)
            ]
            return Outcome(removed=knowledge.import_openings(nodes, event.openings_imported.replace))
        case kind:
            raise StoreCorrupt(f"event {event.sequence}: a {kind} event cannot follow another of the game")
