"""What happened, kept beside the knowledge: growth, contests by opening position, histories of patterns.

Nothing is learnt from these tables, and replays do not make them. All of them are bounded, and compaction of
the event log leaves them as they are.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from academy.knowledge.contests import Judgement, Verdict
from academy.knowledge.game import GameKnowledge
from academy.knowledge.game_records import ChangedRecords
from academy.knowledge.openings import OpeningTree
from academy.knowledge.own_proposals import ACADEMY_PROPOSER
from academy.knowledge.pattern_entry import PatternEntry
from academy.knowledge.settings import Library
from academy.knowledge.text import write_cells
from academy.knowledge.votes import ELO_SCALE
from academy.store import event_effects, event_log, keys
from academy.store.codec.games import pattern_library_from_proto
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.codec.patterns import signature_to_proto
from academy.store.contest_tables import as_given, find_contest
from academy.store.environment import TableName, Transaction
from academy.store.proposal_tables import proposals_of_contest
from academy.store.v1 import records_pb2
from academy.v1 import events_pb2, history_pb2, pattern_pb2, proposals_pb2

MOST_POINTS: Final = 256
CONTESTS_OF_A_NODE: Final = 8
RECENT_CONTESTS: Final = 2_000
MOST_STEPS: Final = 40
MOST_EXAMPLES: Final = 4
EVENTS_AT_ONCE: Final = 50
_MOST_TAKEN: Final = 20
_TAKEN: Final = frozenset(
    {
        proposals_pb2.VERDICT_MATCHED,
        proposals_pb2.VERDICT_SPECIALISED,
        proposals_pb2.VERDICT_GENERALISED,
        proposals_pb2.VERDICT_INSERTED,
    }
)
# Boards of maps may be larger; they are not kept.
_LARGEST_BOARD: Final = 1_024


@dataclass(frozen=True, slots=True)
class _Sighting:
    """A pattern that somebody proposed of a contest, with the verdict. The contest is its kept id."""

    library: Library
    judgement: Judgement
    player: str
    seat: int
    ply: int
    contest_id: str
    board: str


def note_event(
    transaction: Transaction,
    knowledge: GameKnowledge,
    event: events_pb2.Event,
    changes: ChangedRecords,
    outcome: event_effects.EventOutcome,
) -> None:
    """Keep what an event did to a game, once its records are stored."""
    game_id = knowledge.spec.game_id
    nodes = knowledge.openings.nodes
    for node_id in changes.nodes:
        if node_id not in nodes:
            transaction.delete(TableName.NODE_CONTESTS, keys.in_game(game_id, node_id))
    if event.WhichOneof("kind") == "contest_reported" and not event.contest_reported.report.void:
        _note_contest(transaction, knowledge, event, _passed(knowledge.openings, event))
        _note_growth(transaction, knowledge, event)
    _note_patterns(transaction, knowledge, event, changes, _sightings(transaction, event, outcome))


# Contests of opening positions


def _passed(tree: OpeningTree, event: events_pb2.Event) -> list[int]:
    """The positions of the tree that a contest came to, also those where the tree does not count it."""
    plies = event.contest_reported.report.plies
    if not tree.spec.simultaneous:
        return [node.node_id for node in tree.find_path(ply.move for ply in plies)]
    seats = range(1, tree.spec.players + 1)
    paths = (tree.find_path((ply.move for ply in plies if ply.player == seat), seat) for seat in seats)
    return list(dict.fromkeys(node.node_id for path in paths for node in path))


def _note_contest(
    transaction: Transaction, knowledge: GameKnowledge, event: events_pb2.Event, passed: list[int]
) -> None:
    report = event.contest_reported.report
    game_id, number = knowledge.spec.game_id, knowledge.measures.contests
    elo = round(
        ELO_SCALE * sum(player.elo for player in report.contest.players) / len(report.contest.players)
    )
    contest_id = report.contest.contest_id
    recent = records_pb2.RecentContest(
        contest_id=contest_id,
        time=event.time.ToNanoseconds(),
        nodes=sorted(passed),
        elo_hundredths=elo,
        results=report.results,
    )
    transaction.put(TableName.RECENT_CONTESTS, keys.in_game(game_id, number), pack_message(recent))
    if number > RECENT_CONTESTS:
        transaction.delete(TableName.RECENT_CONTESTS, keys.in_game(game_id, number - RECENT_CONTESTS))
    this = records_pb2.PassedContest(contest_id=contest_id, elo_hundredths=elo)
    for node_id in passed:
        known = _contests_of_node(transaction, game_id, node_id)
        known.newest.insert(0, this)
        del known.newest[CONTESTS_OF_A_NODE:]
        weaker = (at for at, other in enumerate(known.strongest) if other.elo_hundredths < elo)
        known.strongest.insert(next(weaker, len(known.strongest)), this)
        del known.strongest[CONTESTS_OF_A_NODE:]
        transaction.put(TableName.NODE_CONTESTS, keys.in_game(game_id, node_id), pack_message(known))


def _contests_of_node(transaction: Transaction, game_id: str, node_id: int) -> records_pb2.NodeContests:
    stored = transaction.get(TableName.NODE_CONTESTS, keys.in_game(game_id, node_id))
    return unpack_message(records_pb2.NodeContests, stored or b"")


def contests_of_node(
    transaction: Transaction, game_id: str, node_id: int
) -> tuple[list[history_pb2.ContestSummary], list[history_pb2.ContestSummary]]:
    """Return the newest and the strongest contests that are kept of a position."""
    known = _contests_of_node(transaction, game_id, node_id)
    newest = [_summarise(transaction, contest.contest_id) for contest in known.newest]
    strongest = [_summarise(transaction, contest.contest_id) for contest in known.strongest]
    return newest, strongest


def recent_contests(transaction: Transaction, game_id: str) -> Iterator[records_pb2.RecentContest]:
    """Yield a game's newest contests, the oldest of them first."""
    for _, stored in transaction.scan(TableName.RECENT_CONTESTS, keys.in_game(game_id)):
        yield unpack_message(records_pb2.RecentContest, stored)


def count_recent_contests(transaction: Transaction, game_id: str) -> int:
    """Return how many contests `recent_contests` yields, without a scan: they are numbered without gaps."""
    table, prefix = TableName.RECENT_CONTESTS, keys.in_game(game_id)
    first = next(transaction.scan(table, prefix), None)
    last = next(transaction.scan(table, prefix, backwards=True), None)
    return 0 if first is None or last is None else keys.last_number(last[0]) - keys.last_number(first[0]) + 1


def _summarise(transaction: Transaction, contest_id: str) -> history_pb2.ContestSummary:
    """Return a contest in short, by the id that it is kept under; its bare id where nothing is kept of it."""
    record = find_contest(transaction, contest_id)
    if record is None:
        return history_pb2.ContestSummary(contest_id=keys.given_contest_id(contest_id))
    contest = as_given(record)
    return history_pb2.ContestSummary(
        contest_id=contest.contest_id,
        arena=contest.arena,
        players=contest.players,
        results=record.results,
        plies=record.plies,
        termination=record.termination,
        report_time=contest.report_time,
    )


# Events


def events_after(
    transaction: Transaction, game_id: str, after: int
) -> tuple[list[history_pb2.WatchLibraryResponse], int]:
    """Return the next events of a game (of all where empty) in short, and the number to go on from."""
    events = list(islice(event_log.scan(transaction, game_id, after=after), EVENTS_AT_ONCE))
    is_last = len(events) < EVENTS_AT_ONCE
    place = event_log.last_sequence(transaction) if is_last else events[-1].sequence
    return [_in_short(transaction, event) for event in events], max(place, after)


def _in_short(transaction: Transaction, event: events_pb2.Event) -> history_pb2.WatchLibraryResponse:
    kind = event.WhichOneof("kind") or ""
    short = history_pb2.WatchLibraryResponse(
        sequence=event.sequence, time=event.time, game_id=event.game_id, kind=kind, actor=event.actor
    )
    if kind == "contest_reported":
        contest_id = event.contest_reported.report.contest.contest_id
        short.contest.CopyFrom(_summarise(transaction, contest_id))
        proposals = proposals_of_contest(transaction, contest_id)
        taken = (proposal for proposal in proposals if proposal.verdict in _TAKEN)
        for proposal in islice(taken, _MOST_TAKEN):
            proposal.contest_id = short.contest.contest_id
            proposal.arena = short.contest.arena
            short.taken.append(proposal)
    return short


# Growth


def _note_growth(transaction: Transaction, knowledge: GameKnowledge, event: events_pb2.Event) -> None:
    game_id, contests = knowledge.spec.game_id, knowledge.measures.contests
    stride = _stride(contests)
    # The point before this one was only kept as the newest.
    gone = [contests - 1] if (contests - 1) % stride else []
    if stride != _stride(contests - 1):
        numbers = (
            keys.last_number(key) for key, _ in transaction.scan(TableName.GROWTH, keys.in_game(game_id))
        )
        gone = [number for number in numbers if number % stride]
    for number in gone:
        transaction.delete(TableName.GROWTH, keys.in_game(game_id, number))
    point = history_pb2.GrowthPoint(
        contests=contests,
        time=event.time,
        opening_nodes=len(knowledge.openings),
        middle_game_patterns=len(knowledge.libraries[Library.MIDDLE_GAME]),
        endgame_patterns=len(knowledge.libraries[Library.ENDGAME]),
        tesujis=len(knowledge.tesujis),
        players=knowledge.measures.players,
    )
    transaction.put(TableName.GROWTH, keys.in_game(game_id, contests), pack_message(point))


def _stride(contests: int) -> int:
    """How far points lie apart: a power of two by which no more than `MOST_POINTS` are kept."""
    return 1 << (contests // MOST_POINTS).bit_length()


def read_growth(transaction: Transaction, game_id: str) -> list[history_pb2.GrowthPoint]:
    """Return how a game's libraries grew, the oldest point first."""
    points = transaction.scan(TableName.GROWTH, keys.in_game(game_id))
    return [unpack_message(history_pb2.GrowthPoint, stored) for _, stored in points]


# Patterns


def _sightings(
    transaction: Transaction, event: events_pb2.Event, outcome: event_effects.EventOutcome
) -> dict[tuple[Library, int], _Sighting]:
    """What an event says of where patterns were found, by the pattern; the first of several."""
    match event.WhichOneof("kind"):
        case "contest_reported":
            report, proposals = event.contest_reported.report, list(event.contest_reported.proposals)
        case "proposal_judged":
            report = event_log.get(transaction, event.proposal_judged.report_event).contest_reported.report
            proposals = [event.proposal_judged.proposal]
        case _:
            return {}
    boards = [ply.board for ply in report.plies]

    def board_after(ply: int) -> str:
        board = boards[ply - 1] if 0 < ply <= len(boards) else ""
        return board if len(board) <= _LARGEST_BOARD else ""

    contest_id = report.contest.contest_id
    sightings = [
        _Sighting(
            pattern_library_from_proto(proposal.content.library),
            judgement,
            proposal.player,
            proposal.seat,
            proposal.content.ply,
            contest_id,
            board_after(proposal.content.ply),
        )
        for proposal, judgement in zip(proposals, outcome.judgements, strict=False)
    ]
    sightings += [
        _Sighting(
            cut.library, judgement, ACADEMY_PROPOSER, cut.seat, cut.ply, contest_id, board_after(cut.ply)
        )
        for cut, judgement in outcome.cut
    ]
    taken = (
        sighting for sighting in reversed(sightings) if sighting.judgement.verdict is not Verdict.DROPPED
    )
    return {(sighting.library, sighting.judgement.pattern_id): sighting for sighting in taken}


def _note_patterns(
    transaction: Transaction,
    knowledge: GameKnowledge,
    event: events_pb2.Event,
    changes: ChangedRecords,
    sightings: dict[tuple[Library, int], _Sighting],
) -> None:
    spec = knowledge.spec
    for library, pattern_id in changes.patterns:
        key = keys.pattern(spec.game_id, library, pattern_id)
        entry = knowledge.libraries[library].entries.get(pattern_id)
        if entry is None:
            transaction.delete(TableName.PATTERN_HISTORY, key)
            continue
        known = _pattern_history(transaction, key)
        cells = write_cells(entry.pattern, spec.geometry)
        cells_before = next((step.cells for step in reversed(known.steps) if step.cells), "")
        sighting = sightings.get((library, pattern_id))
        known.steps.append(_step(entry, event, sighting, cells if cells != cells_before else ""))
        if len(known.steps) > MOST_STEPS:
            # The first step stays. What the next one changed goes on into the step after it.
            known.steps[2].cells = known.steps[2].cells or known.steps[1].cells
            del known.steps[1]
        if sighting is not None and sighting.board:
            example = records_pb2.KeptExample(
                contest_id=sighting.contest_id, ply=sighting.ply, seat=sighting.seat, board=sighting.board
            )
            known.examples.insert(0, example)
            del known.examples[MOST_EXAMPLES:]
        transaction.put(TableName.PATTERN_HISTORY, key, pack_message(known))


def _step(
    entry: PatternEntry, event: events_pb2.Event, sighting: _Sighting | None, cells: str
) -> history_pb2.PatternStep:
    step = history_pb2.PatternStep(
        event=event.sequence,
        time=event.time,
        signature=signature_to_proto(entry.signature),
        strength=entry.strength,
        cells=cells,
    )
    if sighting is not None:
        step.cause, step.reason = sighting.judgement.verdict.value, sighting.judgement.reason
        step.player, step.ply, step.contest_id = sighting.player, sighting.ply, sighting.contest_id
        return step
    kind = event.WhichOneof("kind") or ""
    if kind == "contest_reported":
        step.cause, step.contest_id = "votes counted", event.contest_reported.report.contest.contest_id
    else:
        step.cause = kind.replace("_", " ")
    return step


def _pattern_history(transaction: Transaction, key: bytes) -> records_pb2.PatternHistory:
    stored = transaction.get(TableName.PATTERN_HISTORY, key)
    return unpack_message(records_pb2.PatternHistory, stored or b"")


def origins(
    transaction: Transaction, game_id: str, library: Library, pattern_ids: Iterable[int], proposer: str = ""
) -> dict[int, pattern_pb2.PatternOrigin]:
    """Return where patterns come from, or where a proposer had them, by number; unknown ones are missing."""
    found: dict[int, pattern_pb2.PatternOrigin] = {}
    for pattern_id in pattern_ids:
        steps = _pattern_history(transaction, keys.pattern(game_id, library, pattern_id)).steps
        first = next((step for step in steps if not proposer or step.player == proposer), None)
        if first is not None:
            origin = pattern_pb2.PatternOrigin(player=first.player, ply=first.ply, time=first.time)
            if first.contest_id:
                origin.contest_id = keys.given_contest_id(first.contest_id)
                origin.arena = _summarise(transaction, first.contest_id).arena
            found[pattern_id] = origin
    return found


def pattern_history(
    transaction: Transaction, game_id: str, library: Library, pattern_id: int
) -> history_pb2.GetPatternHistoryResponse:
    """Return what became of a pattern, and boards on which it was found."""
    known = _pattern_history(transaction, keys.pattern(game_id, library, pattern_id))
    arenas: dict[str, str] = {}
    for step in known.steps:
        if step.contest_id:
            if step.contest_id not in arenas:
                arenas[step.contest_id] = _summarise(transaction, step.contest_id).arena
            step.arena = arenas[step.contest_id]
            step.contest_id = keys.given_contest_id(step.contest_id)
    examples = [
        history_pb2.PatternExample(
            contest=_summarise(transaction, example.contest_id),
            ply=example.ply,
            seat=example.seat,
            board=example.board,
        )
        for example in known.examples
    ]
    return history_pb2.GetPatternHistoryResponse(steps=known.steps, examples=examples)
