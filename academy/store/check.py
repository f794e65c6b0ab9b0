"""Whether a data folder is sound: indexes, counts, the log's numbers, and libraries against their events."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from academy.knowledge.settings import Library
from academy.store import event_log, game_tables, keys, rebuild
from academy.store.environment import Environment, Table, Transaction
from academy.store.errors import StoreCorrupt
from academy.store.messages import unpacked
from academy.store.v1 import records_pb2
from academy.v1 import contests_pb2, game_pb2, proposals_pb2


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it must be; `game_id` is empty where it is of no single game."""

    game_id: str
    what: str


@dataclass(slots=True)
class _Log:
    """What one pass over the log found."""

    events: int = 0
    by_game: dict[str, int] = field(default_factory=dict)
    reports: dict[str, int] = field(default_factory=dict)


def check(environment: Environment, *, replay: bool = True) -> Iterator[Finding]:
    """Yield all that is wrong in a data folder, as of one moment.

    With `replay` every library is made again from its events and compared byte for byte; that takes
    about as long as writing them did. Other processes may write meanwhile, this one must not.
    """
    with environment.reading() as transaction:
        log = _Log()
        yield from _check_log(transaction, log)
        games = [unpacked(game_pb2.Game, stored).game_id for _, stored in transaction.scan(Table.GAMES)]
        for game_id in sorted(log.by_game.keys() - set(games)):
            yield Finding(game_id, "has events, but no record of the game")
        for game_id in games:
            yield from _check_game(transaction, game_id, replay)
        yield from _check_contests(transaction, log)
        yield from _check_proposals(transaction)


def _check_log(transaction: Transaction, log: _Log) -> Iterator[Finding]:
    for key, stored in transaction.scan(Table.EVENTS):
        log.events += 1
        sequence = keys.last_number(key)
        if sequence != log.events:
            yield Finding("", f"event {log.events} is missing: {sequence} comes in its place")
            log.events = sequence
        try:
            event = event_log.unpack(stored)
        except StoreCorrupt as fault:
            yield Finding("", f"event {sequence}: {fault}")
            continue
        if event.sequence != sequence:
            yield Finding(event.game_id, f"event {sequence} says it is event {event.sequence}")
        if transaction.get(Table.EVENTS_BY_GAME, keys.in_game(event.game_id, sequence)) is None:
            yield Finding(event.game_id, f"event {sequence} is missing in the index by game")
        log.by_game[event.game_id] = log.by_game.get(event.game_id, 0) + 1
        if event.WhichOneof("kind") == "contest_reported":
            contest_id = event.contest_reported.report.contest.contest_id
            if contest_id in log.reports:
                first = log.reports[contest_id]
                yield Finding(
                    event.game_id, f"contest {contest_id!r} is reported by two events, {first} and {sequence}"
                )
            log.reports[contest_id] = sequence
    if transaction.count(Table.EVENTS_BY_GAME) != transaction.count(Table.EVENTS):
        yield Finding("", "the index of events by game names events that do not exist")


def _check_game(transaction: Transaction, game_id: str, replay: bool) -> Iterator[Finding]:
    try:
        knowledge, generation = game_tables.load(transaction, game_id)
    except (StoreCorrupt, LookupError) as fault:
        yield Finding(game_id, str(fault))
        return
    newest = next(transaction.scan(Table.EVENTS_BY_GAME, keys.in_game(game_id), backwards=True), None)
    last = 0 if newest is None else keys.last_number(newest[0])
    if generation != last:
        yield Finding(game_id, f"its generation is {generation}, but its last event is {last}")
    feed = next(transaction.scan(Table.CHANGES, keys.in_game(game_id), backwards=True), None)
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
    if replay:
        try:
            for what in rebuild.differences(transaction, game_id):
                yield Finding(game_id, what)
        except StoreCorrupt as fault:
            yield Finding(game_id, str(fault))


def _check_contests(transaction: Transaction, log: _Log) -> Iterator[Finding]:
    reports = dict(log.reports)
    open_keys = set()
    for key, stored in transaction.scan(Table.CONTESTS):
        record = unpacked(records_pb2.ContestRecord, stored)
        contest = record.contest
        reported = reports.pop(key.decode(), 0)
        if record.event != reported:
            yield Finding(
                contest.game_id,
                f"contest {contest.contest_id!r}: its record names event {record.event}, the log {reported}",
            )
        if contest.state == contests_pb2.CONTEST_STATE_OPEN:
            open_keys |= {
                keys.open_contest(player.name, contest.game_id, contest.contest_id)
                for player in contest.players
            }
        elif next(transaction.scan(Table.USES, keys.in_contest(contest.contest_id)), None):
            yield Finding(
                contest.game_id, f"contest {contest.contest_id!r} is over, but uses are noted for it"
            )
    for contest_id, sequence in reports.items():
        yield Finding("", f"event {sequence} reports contest {contest_id!r}, which has no record")
    if open_keys != {key for key, _ in transaction.scan(Table.OPEN_CONTESTS)}:
        yield Finding("", "the index of open contests by player differs from the contests")


def _check_proposals(transaction: Transaction) -> Iterator[Finding]:
    held = 0
    for key, stored in transaction.scan(Table.PROPOSALS):
        proposal = unpacked(proposals_pb2.Proposal, stored)
        contest = transaction.get(Table.CONTESTS, keys.contest(proposal.contest_id))
        state = unpacked(records_pb2.ContestRecord, contest or b"").contest.state
        waits = proposal.verdict == proposals_pb2.VERDICT_HELD
        held += waits
        if waits != (state == contests_pb2.CONTEST_STATE_OPEN):
            verdict = proposals_pb2.Verdict.Name(proposal.verdict)
            yield Finding(
                proposal.game_id,
                f"proposal {key.decode()} is {verdict}, its contest {contests_pb2.ContestState.Name(state)}",
            )
        if waits and transaction.get(Table.HELD_PROPOSALS, keys.in_game(proposal.game_id) + key) is None:
            yield Finding(proposal.game_id, f"proposal {key.decode()} is missing in the index of held ones")
    if held != transaction.count(Table.HELD_PROPOSALS):
        yield Finding("", "the index of held proposals names proposals that are not held")
    for table, start in ((Table.PROPOSALS_BY_CONTEST, 1), (Table.PROPOSALS_BY_PLAYER, 0)):
        named = {value[start:] for _, value in transaction.scan(table)}
        if named != {key for key, _ in transaction.scan(Table.PROPOSALS)} or len(named) != transaction.count(
            table
        ):
            yield Finding("", f"the index {table.value!r} does not name every proposal once")
