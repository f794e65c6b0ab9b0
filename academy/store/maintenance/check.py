"""Check that a data folder is sound: indexes, counts, the log's numbers, libraries against their events."""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Final

from google.protobuf.message import Message

from academy.knowledge.game import RULES_VERSION
from academy.knowledge.settings import Library
from academy.store import contest_tables, event_log, game_tables, keys, rebuild, tokens
from academy.store.codec.packing import unpack_message
from academy.store.codec.proposals import PROPOSAL_ID_LENGTH
from academy.store.contest_tables import find_contest
from academy.store.environment import Environment, TableName, Transaction
from academy.store.errors import StoreCorruptError
from academy.store.page_scan import show_key
from academy.store.v1 import records_pb2
from academy.v1 import contests_pb2, events_pb2, game_pb2, history_pb2, libraries_pb2, proposals_pb2

# Reading a damaged record may raise any of these.
_DAMAGED: Final = (StoreCorruptError, LookupError, ValueError)


# Tables of which nothing more is known than what their records are.
_READABLE_AS: Final[dict[TableName, type[Message]]] = {
    TableName.CHANGES: records_pb2.Changes,
    TableName.DELETED_PATTERNS: records_pb2.DeletedPattern,
    TableName.REMOVALS: records_pb2.RemovalRecord,
    TableName.MUTED_PLAYERS: records_pb2.MutedPlayer,
    TableName.ARENAS: records_pb2.ArenaRecord,
    TableName.ANALYSES: records_pb2.AnalysisRecord,
    TableName.PLAYER_STATISTICS: libraries_pb2.PlayerStatistics,
    TableName.GROWTH: history_pb2.GrowthPoint,
    TableName.RECENT_CONTESTS: records_pb2.RecentContest,
    TableName.NODE_CONTESTS: records_pb2.NodeContests,
    TableName.PATTERN_HISTORY: records_pb2.PatternHistory,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it must be; `game_id` is empty where it is of no single game.

    What this program cannot decide is not a fault.
    """

    game_id: str
    what: str
    is_fault: bool = True


@dataclass(slots=True)
class _Log:
    """The result of one pass over the log; `start` is the event before its first."""

    start: int = 0
    reports: int = 0
    # The last event of each game.
    newest: dict[str, int] = field(default_factory=dict)


def check(
    environment: Environment, *, replay: bool = True, note_event: rebuild.NoteEvent = rebuild.note_nothing
) -> Iterator[Finding]:
    """Yield all that is wrong in a data folder, as of one moment.

    With `replay` every library is made again from its events and compared byte for byte; that takes
    about as long as writing them did. Other processes may write meanwhile, this one must not.
    """
    with environment.reading() as transaction:
        log = _Log()
        yield from _check_log(transaction, log)
        games = [show_key(key) for key, _ in transaction.scan(TableName.GAMES)]
        known = set(games)
        for game_id in sorted(log.newest.keys() - known):
            if log.newest[game_id] != event_log.find_deletion(transaction, game_id):
                yield Finding(game_id, "has events, but no record of the game")
        for key, _ in transaction.scan(TableName.SNAPSHOTS):
            if show_key(key) not in known:
                yield Finding(show_key(key), "has a snapshot, but no record of the game")
        yield from _look_at_each(transaction, TableName.GAMES, _look_at_game)
        for game_id in games:
            if (yield from _check_game(transaction, game_id)) and replay:
                yield from _replay_game(transaction, game_id, note_event)
        yield from _check_contests(transaction, log)
        yield from _check_proposals(transaction)
        for table, kind in _READABLE_AS.items():
            yield from _look_at_each(transaction, table, _check_readable_as(kind))
        yield from _look_at_each(transaction, TableName.TOKENS, _look_at_token)


def _look_at_each(
    transaction: Transaction, table: TableName, look: Callable[[bytes, bytes], Iterator[Finding]]
) -> Iterator[Finding]:
    """Look at each record of a table by its key and value; one that cannot be read is named by its key."""
    for key, stored in transaction.scan(table):
        try:
            yield from look(key, stored)
        except _DAMAGED as error:
            yield Finding("", f"record {show_key(key)!r} of table {table.value!r} cannot be read: {error}")


def _check_readable_as(kind: type[Message]) -> Callable[[bytes, bytes], Iterator[Finding]]:
    def look(key: bytes, stored: bytes) -> Iterator[Finding]:
        unpack_message(kind, stored)
        return iter(())

    return look


def _look_at_game(key: bytes, stored: bytes) -> Iterator[Finding]:
    named = unpack_message(game_pb2.Game, stored).game_id
    if named != show_key(key):
        yield Finding(show_key(key), f"its record says it is game {named!r}")


def _look_at_token(key: bytes, stored: bytes) -> Iterator[Finding]:
    named = tokens.read(stored).token_id
    if named != show_key(key):
        yield Finding("", f"token {show_key(key)!r} says it is token {named!r}")


def _check_log(transaction: Transaction, log: _Log) -> Iterator[Finding]:
    # Events that snapshots replaced may still wait to be removed.
    log.start = min(max(event_log.first_sequence(transaction) - 1, 0), event_log.last_compacted(transaction))
    expected = log.start
    for key, stored in transaction.scan(TableName.EVENTS):
        expected += 1
        sequence = keys.last_number(key)
        if sequence != expected:
            yield Finding("", f"event {expected} is missing: {sequence} comes in its place")
            expected = sequence
        try:
            yield from _look_at_event(transaction, log, sequence, event_log.unpack(stored))
        except _DAMAGED as error:
            yield Finding("", f"event {sequence}: {error}")
    if transaction.count(TableName.EVENTS_BY_GAME) != transaction.count(TableName.EVENTS):
        yield Finding("", "the index of events by game names events that do not exist")


def _look_at_event(
    transaction: Transaction, log: _Log, sequence: int, event: events_pb2.Event
) -> Iterator[Finding]:
    if event.sequence != sequence:
        yield Finding(event.game_id, f"event {sequence} says it is event {event.sequence}")
    if transaction.get(TableName.EVENTS_BY_GAME, keys.in_game(event.game_id, sequence)) is None:
        yield Finding(event.game_id, f"event {sequence} is missing in the index by game")
    log.newest[event.game_id] = sequence
    if event.WhichOneof("kind") == "contest_reported":
        log.reports += 1
        contest_id = event.contest_reported.report.contest.contest_id
        record = find_contest(transaction, contest_id)
        if record is None or record.event != sequence:
            named = "there is no record of it" if record is None else f"its record names event {record.event}"
            yield Finding(event.game_id, f"event {sequence} reports contest {contest_id!r}, but {named}")


def _check_game(transaction: Transaction, game_id: str) -> Generator[Finding, None, bool]:
    """Look at what is stored of a game; return whether it can be read."""
    try:
        knowledge, generation = game_tables.load(transaction, game_id)
    except _DAMAGED as error:
        yield Finding(game_id, str(error))
        return False
    newest = next(transaction.scan(TableName.EVENTS_BY_GAME, keys.in_game(game_id), backwards=True), None)
    last = (
        rebuild.snapshot_generation(transaction, game_id) if newest is None else keys.last_number(newest[0])
    )
    if generation != last:
        yield Finding(game_id, f"its generation is {generation}, but its last event is {last}")
    feed = next(transaction.scan(TableName.CHANGES, keys.in_game(game_id), backwards=True), None)
    if feed is not None and keys.last_number(feed[0]) != generation:
        yield Finding(game_id, f"the feed of changes ends at {keys.last_number(feed[0])}, not {generation}")
    sizes = {library: len(patterns) for library, patterns in knowledge.libraries.items()}
    sizes[Library.OPENING] = len(knowledge.openings)
    for library, size in sizes.items():
        capacity = knowledge.settings.capacity(library)
        if size > capacity:
            yield Finding(
                game_id, f"the {library.value} library holds {size:,}, its capacity is {capacity:,}"
            )
    return True


def _replay_game(transaction: Transaction, game_id: str, note_event: rebuild.NoteEvent) -> Iterator[Finding]:
    differences = list(_differences(transaction, game_id, note_event))
    others = _other_rules(transaction, game_id) if differences else []
    if others:
        versions = ", ".join(map(str, others))
        yield Finding(
            game_id,
            f"written under rules {versions}, this program replays by rules {RULES_VERSION}: "
            f"its libraries may differ from the replay ({len(differences):,} records do) and are used as "
            "they are",
            is_fault=False,
        )
    else:
        yield from (Finding(game_id, what) for what in differences)


def _differences(transaction: Transaction, game_id: str, note_event: rebuild.NoteEvent) -> Iterator[str]:
    try:
        yield from rebuild.differences(transaction, game_id, note_event=note_event)
    except _DAMAGED as error:
        yield str(error)


def _other_rules(transaction: Transaction, game_id: str) -> list[int]:
    try:
        return rebuild.other_rules(transaction, game_id)
    except _DAMAGED:
        # Events that cannot be read excuse nothing.
        return []


def _check_contests(transaction: Transaction, log: _Log) -> Iterator[Finding]:
    reported = 0
    waiting: set[tuple[TableName, bytes]] = set()

    def look(key: bytes, stored: bytes) -> Iterator[Finding]:
        nonlocal reported
        record = unpack_message(records_pb2.ContestRecord, stored)
        contest = record.contest
        is_open = contest.state == contests_pb2.CONTEST_STATE_OPEN
        reported += record.event > log.start
        if is_open != (record.event == 0):
            state = contests_pb2.ContestState.Name(contest.state)
            yield Finding(
                contest.game_id,
                f"contest {contest.contest_id!r} is {state}, its report is event {record.event}",
            )
        if is_open:
            waiting.update(contest_tables.open_contest_keys(contest))
            return
        for table, what in ((TableName.USES, "uses"), (TableName.CLAIMS, "claims")):
            if next(transaction.scan(table, keys.in_contest(contest.contest_id)), None):
                kept = f"contest {contest.contest_id!r} is over, but {what} are noted for it"
                yield Finding(contest.game_id, kept)

    yield from _look_at_each(transaction, TableName.CONTESTS, look)
    # Every report's contest has been seen to name it, so equal numbers leave none without.
    if reported != log.reports:
        yield Finding("", f"{reported:,} contests name a report, the log holds {log.reports:,}")
    for table, by in ((TableName.OPEN_CONTESTS, "player"), (TableName.OPEN_CONTESTS_BY_AGE, "age")):
        if {key for index, key in waiting if index is table} != {key for key, _ in transaction.scan(table)}:
            yield Finding("", f"the index of open contests by {by} differs from the contests")


def _check_proposals(transaction: Transaction) -> Iterator[Finding]:
    held = 0

    def look(key: bytes, stored: bytes) -> Iterator[Finding]:
        nonlocal held
        proposal = unpack_message(proposals_pb2.Proposal, stored)
        waits = proposal.verdict == proposals_pb2.VERDICT_HELD
        held += waits
        contest = find_contest(transaction, proposal.contest_id)
        state = contest.contest.state if contest else contests_pb2.CONTEST_STATE_UNSPECIFIED
        if waits != (state == contests_pb2.CONTEST_STATE_OPEN):
            verdict = proposals_pb2.Verdict.Name(proposal.verdict)
            named = contests_pb2.ContestState.Name(state)
            yield Finding(proposal.game_id, f"proposal {show_key(key)} is {verdict}, its contest {named}")
        if waits and transaction.get(TableName.HELD_PROPOSALS, keys.in_game(proposal.game_id) + key) is None:
            yield Finding(proposal.game_id, f"proposal {show_key(key)} is missing in the index of held ones")

    yield from _look_at_each(transaction, TableName.PROPOSALS, look)
    if held != transaction.count(TableName.HELD_PROPOSALS):
        yield Finding("", "the index of held proposals names proposals that are not held")
    yield from _check_index(
        transaction, TableName.PROPOSALS_BY_CONTEST, lambda proposal: keys.in_contest(proposal.contest_id)
    )
    yield from _check_index(
        transaction, TableName.PROPOSALS_BY_PLAYER, lambda proposal: keys.player(proposal.player)
    )


def _check_index(
    transaction: Transaction, table: TableName, prefix_of: Callable[[proposals_pb2.Proposal], bytes]
) -> Iterator[Finding]:
    """Check that every entry names a proposal of its own that belongs there; then equal counts suffice."""
    together: set[bytes] = set()
    prefix = b""

    def look(key: bytes, value: bytes) -> Iterator[Finding]:
        nonlocal prefix
        if key[:-8] != prefix:
            prefix = key[:-8]
            together.clear()
        proposal_id = value[-PROPOSAL_ID_LENGTH:]
        stored = transaction.get(TableName.PROPOSALS, proposal_id) if proposal_id else None
        proposal = None if stored is None else unpack_message(proposals_pb2.Proposal, stored)
        if proposal is None or prefix_of(proposal) != prefix or proposal_id in together:
            yield Finding("", f"the index {table.value!r} names proposal {show_key(proposal_id)} wrongly")
        together.add(proposal_id)

    yield from _look_at_each(transaction, table, look)
    if transaction.count(table) != transaction.count(TableName.PROPOSALS):
        yield Finding("", f"the index {table.value!r} does not name every proposal once")
