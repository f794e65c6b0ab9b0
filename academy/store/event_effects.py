"""What events do to a game's knowledge.

`apply` takes one event into it. Writing and rebuilding use nothing else, so the log can always make the
libraries again.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from academy.knowledge.contests import Judgement, Proposal
from academy.knowledge.game import GameKnowledge
from academy.knowledge.opening_node import OpeningNode
from academy.knowledge.pattern_entry import PatternEntry
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.knowledge.votes import ELO_SCALE
from academy.store.codec.contests import report_from_proto
from academy.store.codec.games import (
    library_from_proto,
    measures_from_text,
    pattern_library_from_proto,
    settings_from_proto,
)
from academy.store.codec.learnt_tables import evaluation_from_records, tesujis_from_records
from academy.store.codec.openings import analysis_from_proto, node_from_proto
from academy.store.codec.patterns import entries_from_proto, entry_from_proto
from academy.store.errors import StoreCorruptError
from academy.v1 import events_pb2, pattern_pb2
from academy.wire.games import read_description, read_spec

EventReader = Callable[[int], events_pb2.Event]


@dataclass(frozen=True, slots=True)
class EventOutcome:
    """The effect of an event.

    `judgements` are by proposal; `removed` counts what left for want of room or by pruning; `pruned`
    lists the latter; `pattern_id` is the number a restored pattern has now, 0 where there was no room.
    `patterns_back` and `nodes_back` are what a removal's restoration found room for, `taken_out` is what
    muting a player took out; `kept_out` are votes of muted players that restored patterns came back without;
    `left_out` counts imported patterns that only muted players voted for, `analysed` the analyses that were
    news; `cut` are the patterns that ACADEMY itself cut from a contest.
    """

    judgements: tuple[Judgement, ...] = ()
    removed: int = 0
    pruned: tuple[PatternEntry | OpeningNode, ...] = ()
    pattern_id: int = 0
    patterns_back: tuple[tuple[Library, PatternEntry], ...] = ()
    nodes_back: tuple[OpeningNode, ...] = ()
    taken_out: tuple[tuple[Library, PatternEntry], ...] = ()
    kept_out: tuple[tuple[str, Library, PatternEntry], ...] = ()
    left_out: int = 0
    analysed: int = 0
    cut: tuple[tuple[Proposal, Judgement], ...] = ()


def begin(event: events_pb2.Event) -> GameKnowledge:
    """Return what is known of a game after its first event.

    Raises StoreCorruptError for another kind of event.
    """
    if event.WhichOneof("kind") != "game_registered":
        raise StoreCorruptError(
            f"event {event.sequence}: the first of game {event.game_id!r} does not register it"
        )
    game = event.game_registered
    return GameKnowledge(read_spec(game), settings_from_proto(game.settings))


def apply(
    knowledge: GameKnowledge,
    event: events_pb2.Event,
    read_event: EventReader,
    give_way: Callable[[], None] = lambda: None,
) -> EventOutcome:
    """Take a game's next event into its knowledge.

    `read_event` gives an earlier event by its number, `give_way` is called between steps. Raises
    InvalidRecordError and what the knowledge rules raise; the knowledge may then be half changed and must be
    thrown away.
    """
    match event.WhichOneof("kind"):
        case "contest_reported":
            return _learn_contest(knowledge, event, give_way)
        case "proposal_judged":
            return _judge_late(knowledge, event, read_event(event.proposal_judged.report_event))
        case "settings_changed":
            settings = settings_from_proto(event.settings_changed)
            return EventOutcome(removed=knowledge.change_settings(settings))
        case "game_described":
            knowledge.describe(read_description(event.game_described))
            return EventOutcome()
        case "pattern_deleted" | "pattern_restored":
            return _delete_or_restore(knowledge, event)
        case "library_pruned" | "opening_deleted" | "tesuji_deleted" | "removal_restored":
            return _remove_or_put_back(knowledge, event)
        case "openings_analysed" | "analyses_forgotten":
            return _analyse(knowledge, event)
        case (
            "patterns_imported"
            | "openings_imported"
            | "tesujis_imported"
            | "evaluation_imported"
            | "history_imported"
            | "game_forked"
        ):
            return _import(knowledge, event)
        case "player_muted" | "player_unmuted" | "player_forgotten":
            return _apply_to_player(knowledge, event)
        case kind:
            what = f"a {kind} event" if kind else "one of a kind that only newer versions have"
            raise StoreCorruptError(f"event {event.sequence}: {what} cannot follow another of the game")


def _learn_contest(
    knowledge: GameKnowledge, event: events_pb2.Event, give_way: Callable[[], None]
) -> EventOutcome:
    if event.contest_reported.report.void:
        return EventOutcome()
    report = report_from_proto(event.contest_reported, knowledge.spec)
    give_way()
    cut: list[tuple[Proposal, Judgement]] = []
    judgements = knowledge.learn(report, event.sequence, give_way, lambda *judged: cut.append(judged))
    return EventOutcome(judgements=tuple(judgements), cut=tuple(cut))


def _judge_late(
    knowledge: GameKnowledge, event: events_pb2.Event, report_event: events_pb2.Event
) -> EventOutcome:
    known = report_event.contest_reported
    reported = events_pb2.ContestReported(
        report=known.report,
        proposals=[event.proposal_judged.proposal],
        false_consultations=known.false_consultations,
        false_claims=known.false_claims,
    )
    report = report_from_proto(reported, knowledge.spec)
    return EventOutcome(judgements=tuple(knowledge.judge_late(report, event.sequence)))


def _import(knowledge: GameKnowledge, event: events_pb2.Event) -> EventOutcome:
    spec = knowledge.spec
    match event.WhichOneof("kind"):
        case "patterns_imported":
            imported = event.patterns_imported
            library = pattern_library_from_proto(imported.library)
            entries = [
                entry_from_proto(record, spec, f"patterns[{place}]")
                for place, record in enumerate(imported.records)
            ]
            removed = knowledge.import_patterns(
                library, entries, imported.replace, event.sequence, imported.moved
            )
            left_out = sum(not knowledge.admits(entry) for entry in entries) if knowledge.muted else 0
            return EventOutcome(removed=removed, left_out=left_out)
        case "openings_imported":
            openings = event.openings_imported
            nodes = _nodes(openings.nodes, spec)
            return EventOutcome(removed=knowledge.import_openings(nodes, openings.replace, openings.moved))
        case "tesujis_imported":
            tesujis = event.tesujis_imported
            table = tesujis_from_records(tesujis.records, spec)
            return EventOutcome(removed=knowledge.import_tesujis(table, tesujis.replace))
        case "evaluation_imported":
            evaluation = event.evaluation_imported
            read = evaluation_from_records(evaluation.records, spec)
            return EventOutcome(removed=knowledge.import_evaluation(read, evaluation.replace))
        case "game_forked":
            # What came from the other game is in the events that follow.
            return EventOutcome()
        case _:
            history = event.history_imported
            ratings = [(rating.player, round(rating.elo * ELO_SCALE)) for rating in history.ratings]
            knowledge.import_history(measures_from_text(history.measures), ratings)
            return EventOutcome()


def _delete_or_restore(knowledge: GameKnowledge, event: events_pb2.Event) -> EventOutcome:
    if event.WhichOneof("kind") == "pattern_deleted":
        deleted = event.pattern_deleted
        knowledge.libraries[pattern_library_from_proto(deleted.library)].remove(deleted.pattern_id)
        return EventOutcome(removed=1)
    record = event.pattern_restored.record
    library = pattern_library_from_proto(record.library)
    entry = entry_from_proto(record, knowledge.spec)
    pattern_id = knowledge.restore_pattern(library, entry)
    back = [(library, replace(entry, pattern_id=pattern_id))] if pattern_id else []
    return EventOutcome(pattern_id=pattern_id, kept_out=_muted_votes(knowledge, back))


def _analyse(knowledge: GameKnowledge, event: events_pb2.Event) -> EventOutcome:
    if event.WhichOneof("kind") == "analyses_forgotten":
        forgotten = knowledge.openings.forget_analyses(event.analyses_forgotten.analyst)
        return EventOutcome(removed=forgotten)
    nodes = event.openings_analysed.nodes
    analysed = sum(
        knowledge.openings.analyse(node.node_id, analysis_from_proto(node.analysis, "nodes.analysis"))
        for node in nodes
    )
    return EventOutcome(analysed=analysed)


def _remove_or_put_back(knowledge: GameKnowledge, event: events_pb2.Event) -> EventOutcome:
    if event.WhichOneof("kind") == "library_pruned":
        library = library_from_proto(event.library_pruned.library)
        pruned = knowledge.prune(library, event.library_pruned.below)
        return EventOutcome(removed=len(pruned), pruned=tuple(pruned))
    if event.WhichOneof("kind") == "opening_deleted":
        deleted = knowledge.openings.delete(event.opening_deleted.node_id)
        return EventOutcome(removed=len(deleted), pruned=tuple(deleted))
    if event.WhichOneof("kind") == "tesuji_deleted":
        return EventOutcome(removed=knowledge.delete_tesuji(event.tesuji_deleted.code))
    restored = event.removal_restored
    values_taken: dict[int, dict[int, tuple[int, ...]]] = {}
    for taken in restored.values_taken:
        if taken.HasField("level"):
            values_taken.setdefault(taken.node_id, {})[taken.level] = tuple(taken.value_millionths)
    patterns, nodes = knowledge.put_back(
        entries_from_proto(restored.patterns, knowledge.spec),
        _nodes(restored.nodes, knowledge.spec),
        values_taken,
    )
    knowledge.put_tables_back(
        tesujis_from_records(restored.tesujis, knowledge.spec),
        evaluation_from_records(restored.evaluation, knowledge.spec),
    )
    return EventOutcome(
        patterns_back=tuple(patterns), nodes_back=tuple(nodes), kept_out=_muted_votes(knowledge, patterns)
    )


def _muted_votes(
    knowledge: GameKnowledge, patterns: Iterable[tuple[Library, PatternEntry]]
) -> tuple[tuple[str, Library, PatternEntry], ...]:
    return tuple(
        (player, library, votes)
        for library, entry in patterns
        for player, votes in knowledge.muted_votes(entry)
    )


def _apply_to_player(knowledge: GameKnowledge, event: events_pb2.Event) -> EventOutcome:
    match event.WhichOneof("kind"):
        case "player_muted":
            taken = knowledge.mute(event.player_muted.player)
            return EventOutcome(removed=len(taken), taken_out=tuple(taken))
        case "player_unmuted":
            unmuted = event.player_unmuted
            entries = entries_from_proto(unmuted.patterns, knowledge.spec)
            return EventOutcome(removed=knowledge.unmute(unmuted.player, entries))
        case _:
            forgotten = event.player_forgotten
            removed = [(pattern_library_from_proto(key.library), key.pattern_id) for key in forgotten.removed]
            knowledge.put_others(removed, entries_from_proto(forgotten.patterns, knowledge.spec))
            return EventOutcome(removed=len(removed))


def _nodes(records: Iterable[pattern_pb2.OpeningNodeRecord], spec: GameSpec) -> list[OpeningNode]:
    return [node_from_proto(record, spec, f"nodes[{place}]") for place, record in enumerate(records)]
