"""Contests, their proposals, and what players did in them, in the tables."""

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from academy.knowledge.claims import Claim
from academy.knowledge.contests import Judgement, Verdict
from academy.knowledge.own_proposals import ACADEMY_PROPOSER
from academy.knowledge.settings import Library
from academy.store import event_log, keys
from academy.store.codec.games import pattern_library_from_proto
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.codec.proposals import PROPOSAL_ID_LENGTH, set_judgement
from academy.store.environment import TableName, Transaction
from academy.store.errors import InvalidRecordError, StoreCorruptError, UnknownContestError
from academy.store.game_tables import game_record
from academy.store.v1 import records_pb2
from academy.v1 import contests_pb2, events_pb2, libraries_pb2, proposals_pb2


def find_contest(transaction: Transaction, contest_id: str) -> records_pb2.ContestRecord | None:
    """Return a contest's record, or None. Raises InvalidRecordError for what cannot be a contest's id."""
    stored = transaction.get(TableName.CONTESTS, keys.contest(contest_id))
    return None if stored is None else unpack_message(records_pb2.ContestRecord, stored)


def contest_record(transaction: Transaction, contest_id: str) -> records_pb2.ContestRecord:
    """Return a contest's record. Raises UnknownContestError."""
    record = find_contest(transaction, contest_id)
    if record is None:
        raise UnknownContestError(contest_id)
    return record


def store_contest(transaction: Transaction, record: records_pb2.ContestRecord) -> None:
    """Write a contest's record."""
    transaction.put(TableName.CONTESTS, keys.contest(record.contest.contest_id), pack_message(record))


def as_given(record: records_pb2.ContestRecord) -> contests_pb2.Contest:
    """Return a contest as its arena knows it: by the id and the names that it gave, with their identities."""
    contest = contests_pb2.Contest()
    contest.CopyFrom(record.contest)
    contest.contest_id = keys.given_contest_id(contest.contest_id)
    contest.arena = record.arena
    for player, name in zip(contest.players, record.names, strict=False):
        player.identity, player.name = player.name, name
    return contest


def seat_record(record: records_pb2.ContestRecord, seat: int) -> records_pb2.Seat:
    """Return a seat's part of a contest's record. Raises InvalidRecordError where there is no such seat."""
    if not 1 <= seat <= len(record.seats):
        raise InvalidRecordError("player", f"{seat} must be from 1 to {len(record.seats)}")
    return record.seats[seat - 1]


def consultations(
    transaction: Transaction, record: records_pb2.ContestRecord
) -> contests_pb2.GetConsultationsResponse:
    """Return what players asked and got in a contest, by seat.

    What the event has is missing where it was compacted.
    """
    answer = contests_pb2.GetConsultationsResponse()
    for number, seat in enumerate(record.seats, 1):
        answer.seats.add(
            player=number,
            opening_questions=seat.consultations,
            opening_plies=seat.opening_plies,
            pattern_questions=seat.claims,
            questions=seat.questions,
            opening_answers=seat.opening_answers,
        )
    stored = transaction.get(TableName.EVENTS, keys.number(record.event)) if record.event else None
    if stored is not None:
        for use in event_log.unpack(stored).contest_reported.uses:
            answer.seats[use.player - 1].patterns.add(library=use.library, pattern_ids=use.pattern_ids)
    return answer


OpenContestPlace = tuple[int, str]


def open_contest_place(contest: contests_pb2.Contest) -> OpenContestPlace:
    """A contest's place in the order by age: when it was opened, in nanoseconds since 1970, and its id."""
    return contest.open_time.ToNanoseconds(), contest.contest_id


def open_contest_keys(contest: contests_pb2.Contest) -> set[tuple[TableName, bytes]]:
    """Return where an open contest stands in the indexes."""
    place = open_contest_place(contest)
    index_keys = {
        (TableName.OPEN_CONTESTS, keys.open_contest(player.name, contest.game_id, *place))
        for player in contest.players
    }
    return index_keys | {(TableName.OPEN_CONTESTS_BY_AGE, keys.open_contest_by_age(contest.game_id, *place))}


def add_open_contest(transaction: Transaction, contest: contests_pb2.Contest) -> None:
    """Take a contest into the indexes."""
    for table, key in open_contest_keys(contest):
        transaction.put(table, key)


def remove_open_contest(transaction: Transaction, contest: contests_pb2.Contest) -> None:
    """Take a contest out of the indexes."""
    for table, key in open_contest_keys(contest):
        transaction.delete(table, key)


def open_contest_of_player(
    transaction: Transaction, player: str, game_id: str, since: float = 0.0
) -> str | None:
    """Return the oldest open contest of a player in a game that was opened at `since` or later, or None.

    `since` is in seconds since 1970. Costs the same however many there are.
    """
    prefix = keys.open_contest(player, game_id)
    start = keys.open_contest(player, game_id, round(max(0.0, since) * 1e9))
    for key, _ in transaction.scan(TableName.OPEN_CONTESTS, prefix, start=start):
        return keys.open_contest_place(key[len(prefix) :])[1]
    return None


def oldest_open_contests(
    transaction: Transaction, game_id: str, after: OpenContestPlace | None, most: int
) -> list[tuple[OpenContestPlace, contests_pb2.Contest]]:
    """Return up to `most` open contests of a game (of all where empty), oldest first, those after a place.

    With the place of each, which has the id that the contest is kept under.

    Raises UnknownGameError, and InvalidRecordError for what cannot be a place.
    """
    if game_id:
        game_record(transaction, game_id)
    if after is not None and not (0 <= after[0] < 1 << 64 and keys.is_place_of_contest(after[1])):
        raise InvalidRecordError("place", "no contest can be there; begin again without one")
    games = [game_id] if game_id else [key.decode() for key, _ in transaction.scan(TableName.GAMES)]
    # Read as far as they are wanted.
    places = islice(heapq.merge(*(_places(transaction, game, after) for game in games)), most)
    return [(place, as_given(contest_record(transaction, place[1]))) for place in places]


def open_contests(transaction: Transaction) -> Iterator[contests_pb2.Contest]:
    """Yield all open contests as they are kept, with their players' identities."""
    for key, _ in transaction.scan(TableName.GAMES):
        for _, contest_id in _places(transaction, key.decode(), None):
            yield contest_record(transaction, contest_id).contest


def count_open_contests(transaction: Transaction) -> int:
    """Return how many contests wait for their reports."""
    return transaction.count(TableName.OPEN_CONTESTS_BY_AGE)


def _places(
    transaction: Transaction, game_id: str, after: OpenContestPlace | None
) -> Iterator[OpenContestPlace]:
    prefix = keys.open_contest_by_age(game_id)
    start = prefix if after is None else keys.open_contest_by_age(game_id, *after)
    for key, _ in transaction.scan(TableName.OPEN_CONTESTS_BY_AGE, prefix, start=start):
        place = keys.open_contest_place(key[len(prefix) :])
        if place != after:
            yield place


# The name under which the sums of all figures are kept: no player has it.
EVERYBODY: Final = ""
MOST_LOOKED_AT: Final = 2_000
"""How many proposals a listing looks through: 2,000 take about 8 ms."""
NO_ARENA: Final = -1
"""What stands for an arena that has had no contest yet."""
DROPPED_AS_VOID: Final = Judgement(Verdict.DROPPED, "the contest ended without a result")
"""What becomes of the proposals of a void contest."""
DROPPED_AS_TOO_LATE: Final = Judgement(
    Verdict.DROPPED, "the contest was reported so long ago that its moves are no longer kept"
)
"""What becomes of proposals for a contest whose report was given up for a snapshot."""


def find_proposal(transaction: Transaction, proposal_id: str) -> proposals_pb2.Proposal | None:
    """Return a proposal, or None."""
    stored = transaction.get(TableName.PROPOSALS, proposal_id.encode())
    return None if stored is None else unpack_message(proposals_pb2.Proposal, stored)


def proposal_record(transaction: Transaction, proposal_id: str) -> proposals_pb2.Proposal:
    """Return a proposal that an index names. Raises StoreCorruptError where it is missing."""
    proposal = find_proposal(transaction, proposal_id)
    if proposal is None:
        raise StoreCorruptError(f"proposal {proposal_id!r} is missing")
    return proposal


def proposals_of_contest(transaction: Transaction, contest_id: str) -> list[proposals_pb2.Proposal]:
    """Return the proposals of a contest in the order they were submitted."""
    index = transaction.scan(TableName.PROPOSALS_BY_CONTEST, keys.in_contest(contest_id))
    return [proposal_record(transaction, value[1:].decode()) for _, value in index]


@dataclass(frozen=True, slots=True)
class ProposalFilter:
    """Which proposals are meant: of a player by its identity, of a contest by the id it is kept under.

    Of those only these `verdicts`, and only of the arena of this number; empty and None mean all.
    """

    player: str = ""
    contest_id: str = ""
    verdicts: frozenset[int] = frozenset()
    arena: int | None = None

    @property
    def leaves_out(self) -> bool:
        """Whether some of those that are looked at may not be meant."""
        return bool(self.verdicts) or self.arena is not None or bool(self.contest_id and self.player)

    def passes(self, proposal: proposals_pb2.Proposal) -> bool:
        """Whether a proposal is one of those meant."""
        return (
            self.player in ("", proposal.player)
            and (not self.verdicts or proposal.verdict in self.verdicts)
            and (self.arena is None or keys.arena_number(proposal.contest_id) == self.arena)
        )


def list_proposals(
    transaction: Transaction, wanted: ProposalFilter, start: bytes, most: int
) -> tuple[list[proposals_pb2.Proposal], bytes]:
    """Return up to `most` proposals from a place on, and the place of the next (empty: there is none).

    Those of a player or a contest come newest first; all others by contest, from the last to the first. At
    most `MOST_LOOKED_AT` are looked at: fewer may be found, and more after them.
    """
    if wanted.contest_id:
        table, prefix = TableName.PROPOSALS_BY_CONTEST, keys.in_contest(wanted.contest_id)
    elif wanted.player:
        table, prefix = TableName.PROPOSALS_BY_PLAYER, keys.player(wanted.player)
    else:
        table, prefix = TableName.PROPOSALS_BY_CONTEST, b""
    proposals: list[proposals_pb2.Proposal] = []
    entries = transaction.scan(table, prefix, start=prefix + start if start else b"", backwards=True)
    for looked_at, (key, value) in enumerate(entries):
        if len(proposals) == most or looked_at == MOST_LOOKED_AT:
            return proposals, key[len(prefix) :]
        proposal = proposal_record(transaction, value[-PROPOSAL_ID_LENGTH:].decode())
        if wanted.passes(proposal):
            proposals.append(proposal)
    return proposals, b""


def proposers(transaction: Transaction) -> Iterator[str]:
    """Yield the players who proposed anything. Costs as much as there are players, not proposals."""
    start = b""
    while (entry := next(transaction.scan(TableName.PROPOSALS_BY_PLAYER, start=start), None)) is not None:
        key, value = entry
        yield proposal_record(transaction, value.decode()).player
        # No number of one player's proposals comes after this.
        start = key[: keys.PLAYER_BYTES] + b"\xff" * 9


def settle_proposal(transaction: Transaction, proposal: proposals_pb2.Proposal, judgement: Judgement) -> bool:
    """Write a verdict into a proposal, which is held no longer. Returns whether it was taken in."""
    set_judgement(proposal, judgement)
    _put_proposal(transaction, proposal)
    transaction.delete(TableName.HELD_PROPOSALS, _held_key(proposal))
    return judgement.verdict is not Verdict.DROPPED


def count_held_proposals(transaction: Transaction, game_id: str) -> int:
    """Return how many proposals of a game wait for their contests' reports."""
    return sum(1 for _ in transaction.scan(TableName.HELD_PROPOSALS, keys.in_game(game_id)))


def add_proposal(transaction: Transaction, proposal: proposals_pb2.Proposal) -> None:
    """Store a new proposal, which is held, and enter it in the indexes."""
    proposal_id = proposal.proposal_id.encode()
    _put_proposal(transaction, proposal)
    transaction.put(TableName.HELD_PROPOSALS, _held_key(proposal))
    for table, prefix, value in (
        (
            TableName.PROPOSALS_BY_CONTEST,
            keys.in_contest(proposal.contest_id),
            bytes([proposal.seat]) + proposal_id,
        ),
        (TableName.PROPOSALS_BY_PLAYER, keys.player(proposal.player), proposal_id),
    ):
        newest = next(transaction.scan(table, prefix, backwards=True), None)
        number = 1 if newest is None else keys.last_number(newest[0]) + 1
        transaction.put(table, prefix + keys.number(number), value)


def _put_proposal(transaction: Transaction, proposal: proposals_pb2.Proposal) -> None:
    transaction.put(TableName.PROPOSALS, proposal.proposal_id.encode(), pack_message(proposal))


def _held_key(proposal: proposals_pb2.Proposal) -> bytes:
    return keys.in_game(proposal.game_id) + proposal.proposal_id.encode()


def count_proposals_of_seat(transaction: Transaction, contest_id: str, seat: int) -> int:
    """Return how many proposals a seat has made in a contest."""
    index = transaction.scan(TableName.PROPOSALS_BY_CONTEST, keys.in_contest(contest_id))
    return sum(value[0] == seat for _, value in index)


def find_player_statistics(
    transaction: Transaction, game_id: str, player: str
) -> libraries_pb2.PlayerStatistics:
    """Return a player's figures; those of one who has not played yet are zero."""
    stored = transaction.get(TableName.PLAYER_STATISTICS, keys.rating(game_id, player))
    if stored is None:
        return libraries_pb2.PlayerStatistics(game_id=game_id, player=player)
    return unpack_message(libraries_pb2.PlayerStatistics, stored)


def statistics_in_all_games(transaction: Transaction, player: str) -> list[libraries_pb2.PlayerStatistics]:
    """Return a player's figures of the games that it has any in, by game."""
    games = [key.decode() for key, _ in transaction.scan(TableName.GAMES)]
    in_games = (find_player_statistics(transaction, game_id, player) for game_id in games)
    return [figures for figures in in_games if figures.contests or figures.helped]


def page_of_player_statistics(
    transaction: Transaction, game_id: str, player: str, after: bytes, most: int
) -> list[tuple[bytes, libraries_pb2.PlayerStatistics]]:
    """Return up to `most` players' figures of a game with their keys, those after a key, in the keys' order.

    With a player's identity only its own. Raises UnknownGameError.
    """
    game_record(transaction, game_id)
    if player:
        return [(b"", find_player_statistics(transaction, game_id, player))]
    start = after and after + b"\0"
    page = transaction.scan(TableName.PLAYER_STATISTICS, keys.in_game(game_id), start=start)
    everybody = keys.rating(game_id, EVERYBODY)
    players = ((key, stored) for key, stored in page if key != everybody)
    return [
        (key, unpack_message(libraries_pb2.PlayerStatistics, stored)) for key, stored in islice(players, most)
    ]


def count_contest(
    transaction: Transaction,
    reported: events_pb2.ContestReported,
    claims: Sequence[Sequence[Claim]],
    judgements: Sequence[Judgement],
    voters: Callable[[Library, int], Iterable[str]],
    new_openings: int,
) -> None:
    """Count a contest with its players' claims, what became of their proposals, and whose patterns helped.

    `voters` returns the players whose votes for a pattern count; `new_openings` are the positions that
    came to the opening tree.
    """
    game_id = reported.report.contest.game_id
    false = {claim.player: claim.false_claims for claim in reported.false_claims}
    elsewhere = {consultation.player for consultation in reported.false_consultations}
    for seat, player in enumerate(reported.report.contest.players, 1):
        figures = find_player_statistics(transaction, game_id, player.name)
        figures.contests += 1
        figures.contests_with_result += 1
        figures.new_openings += new_openings
        figures.successes += reported.report.results[seat - 1] != contests_pb2.RESULT_LOSS
        figures.claims += len(claims[seat - 1])
        figures.false_claims += false.get(seat, 0)
        figures.contests_with_false_claims += seat in false
        figures.contests_with_false_consultations += seat in elsewhere
        for proposal, judgement in zip(reported.proposals, judgements, strict=True):
            if proposal.seat == seat:
                _count_proposal(figures, judgement)
        _put_statistics(transaction, figures)
    _count_help(transaction, reported, voters)


def _count_help(
    transaction: Transaction,
    reported: events_pb2.ContestReported,
    voters: Callable[[Library, int], Iterable[str]],
) -> None:
    """Count for each player whose patterns another one of the contest was given, and for that one."""
    game_id, players = reported.report.contest.game_id, reported.report.contest.players
    helpers: dict[int, set[str]] = {}
    for use in reported.uses:
        library = pattern_library_from_proto(use.library)
        known = helpers.setdefault(use.player, set())
        for pattern_id in use.pattern_ids:
            known.update(voters(library, pattern_id))
    for seat, names in sorted(helpers.items()):
        succeeded = reported.report.results[seat - 1] != contests_pb2.RESULT_LOSS
        others = sorted(names - {players[seat - 1].name, ACADEMY_PROPOSER})
        if others:
            figures = find_player_statistics(transaction, game_id, players[seat - 1].name)
            figures.helped_by_others += 1
            figures.helped_by_others_successes += succeeded
            _put_statistics(transaction, figures)
        for name in others:
            figures = find_player_statistics(transaction, game_id, name)
            figures.helped += 1
            figures.helped_successes += succeeded
            _put_statistics(transaction, figures)


def count_late_proposal(transaction: Transaction, game_id: str, player: str, judgement: Judgement) -> None:
    """Count a proposal that came after its contest's report."""
    figures = find_player_statistics(transaction, game_id, player)
    _count_proposal(figures, judgement)
    _put_statistics(transaction, figures)


def _count_proposal(figures: libraries_pb2.PlayerStatistics, judgement: Judgement) -> None:
    dropped = judgement.verdict is Verdict.DROPPED
    figures.dropped_proposals += dropped
    figures.accepted_proposals += not dropped


def _put_statistics(transaction: Transaction, figures: libraries_pb2.PlayerStatistics) -> None:
    before = find_player_statistics(transaction, figures.game_id, figures.player)
    total = find_player_statistics(transaction, figures.game_id, EVERYBODY)
    for field, value in figures.ListFields():
        if isinstance(value, int):
            change = value - getattr(before, field.name)
            setattr(total, field.name, getattr(total, field.name) + change)
    for changed in (figures, total):
        key = keys.rating(changed.game_id, changed.player)
        transaction.put(TableName.PLAYER_STATISTICS, key, pack_message(changed))
