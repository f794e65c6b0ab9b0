"""One event of the log taken into a game's knowledge.

Writing and rebuilding go through here alone, so that the log can always make the libraries again.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from academy.knowledge.contests import Judgement
from academy.knowledge.game import GameKnowledge
from academy.knowledge.library import PatternEntry
from academy.knowledge.openings import OpeningNode
from academy.knowledge.settings import Library
from academy.knowledge.signatures import ELO_SCALE
from academy.knowledge.spec import GameSpec
from academy.store.contest_records import report_from_proto
from academy.store.errors import StoreCorrupt
from academy.store.game_records import (
    library_from_proto,
    measures_from_text,
    pattern_library_from_proto,
    settings_from_proto,
    spec_from_proto,
)
from academy.store.pattern_records import entry_from_proto, node_from_proto
from academy.v1 import events_pb2, pattern_pb2

EventReader = Callable[[int], events_pb2.Event]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an event.

    `judgements` are by proposal; `removed` counts what left for want of room or by pruning; `pruned`
    lists the latter; `pattern_id` is the number a restored pattern has now, 0 where there was no room.
    `patterns_back` and `nodes_back` are what a removal's restoration found room for, `taken_out` is what
    muting a player took out.
    """

    judgements: tuple[Judgement, ...] = ()
    removed: int = 0
    pruned: tuple[PatternEntry | OpeningNode, ...] = ()
    pattern_id: int = 0
    patterns_back: tuple[tuple[Library, PatternEntry], ...] = ()
    nodes_back: tuple[OpeningNode, ...] = ()
    taken_out: tuple[tuple[Library, PatternEntry], ...] = ()


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
                removed=knowledge.import_patterns(
                    library, entries, imported.replace, event.sequence, imported.moved
                )
            )
        case "openings_imported":
            nodes = [
                node_from_proto(record, spec, f"nodes[{place}]")
                for place, record in enumerate(event.openings_imported.nodes)
            ]
            openings = event.openings_imported
            return Outcome(removed=knowledge.import_openings(nodes, openings.replace, openings.moved))
        case "history_imported" | "opening_deleted" | "removal_restored":
            return _mend(knowledge, event)
        case "player_muted" | "player_unmuted" | "player_forgotten":
            return _look_after_player(knowledge, event)
        case kind:
            raise StoreCorrupt(f"event {event.sequence}: a {kind} event cannot follow another of the game")


def _mend(knowledge: GameKnowledge, event: events_pb2.Event) -> Outcome:
    spec = knowledge.spec
    match event.WhichOneof("kind"):
        case "history_imported":
            history = event.history_imported
            ratings = [(each.player, round(each.elo * ELO_SCALE)) for each in history.ratings]
            knowledge.import_history(measures_from_text(history.measures), ratings)
            return Outcome()
        case "opening_deleted":
            deleted = knowledge.delete_opening(event.opening_deleted.node_id)
            return Outcome(removed=len(deleted), pruned=tuple(deleted))
        case _:
            restored = event.removal_restored
            patterns, nodes = knowledge.put_back(
                _entries(restored.patterns, spec),
                [
                    node_from_proto(record, spec, f"nodes[{place}]")
                    for place, record in enumerate(restored.nodes)
                ],
                {taken.node_id: tuple(taken.value_millionths) for taken in restored.values_taken},
            )
            return Outcome(patterns_back=tuple(patterns), nodes_back=tuple(nodes))


def _look_after_player(knowledge: GameKnowledge, event: events_pb2.Event) -> Outcome:
    match event.WhichOneof("kind"):
        case "player_muted":
            taken = knowledge.mute(event.player_muted.player)
            return Outcome(removed=len(taken), taken_out=tuple(taken))
        case "player_unmuted":
            unmuted = event.player_unmuted
            entries = _entries(unmuted.patterns, knowledge.spec)
            return Outcome(removed=knowledge.unmute(unmuted.player, entries))
        case _:
            forgotten = event.player_forgotten
            removed = [
                (pattern_library_from_proto(each.library), each.pattern_id) for each in forgotten.removed
            ]
            knowledge.put_others(removed, _entries(forgotten.patterns, knowledge.spec))
            return Outcome(removed=len(removed))


def _entries(
    records: Iterable[pattern_pb2.PatternRecord], spec: GameSpec
) -> list[tuple[Library, PatternEntry]]:
    return [
        (pattern_library_from_proto(record.library), entry_from_proto(record, spec, f"patterns[{place}]"))
        for place, record in enumerate(records)
    ]
