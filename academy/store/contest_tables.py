"""Contests in the tables, and the open ones by player and by age."""

import heapq
from collections.abc import Iterator
from itertools import islice
from typing import Final

from academy.knowledge.uses import uses_by_kind
from academy.store import event_log, keys
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.environment import TableName, Transaction
from academy.store.errors import ContestOverError, InvalidRecordError, UnknownContestError
from academy.store.game_tables import game_record, list_game_ids
from academy.store.v1 import records_pb2
from academy.v1 import contests_pb2

# The questions of a seat that stay with the contest when it is over.
QUESTIONS_KEPT: Final = 1_000


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


def check_open(record: records_pb2.ContestRecord) -> None:
    """Raise ContestOverError for a contest that was reported."""
    if record.contest.state != contests_pb2.CONTEST_STATE_OPEN:
        raise ContestOverError(record.contest.contest_id)


def seat_record(record: records_pb2.ContestRecord, seat: int) -> records_pb2.Seat:
    """Return a seat's part of a contest's record. Raises InvalidRecordError where there is no such seat."""
    if not 1 <= seat <= len(record.seats):
        raise InvalidRecordError("player", f"{seat} must be from 1 to {len(record.seats)}")
    return record.seats[seat - 1]


def read_consultations(
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
            player, given = answer.seats[use.player - 1], uses_by_kind(use.pattern_ids)
            if given.patterns:
                player.patterns.add(library=use.library, pattern_ids=given.patterns)
            player.tesuji_ids.extend(given.tesujis)
            player.evaluation |= given.evaluation
            player.weights |= given.weights
    return answer


# A contest's place in the order by age: when it was opened, in nanoseconds since 1970, and its kept id.
OpenContestPlace = tuple[int, str]


def open_contest_keys(contest: contests_pb2.Contest) -> set[tuple[TableName, bytes]]:
    """Return where an open contest stands in the indexes."""
    place = contest.open_time.ToNanoseconds(), contest.contest_id
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


def games_with_open_contests(transaction: Transaction, player: str) -> Iterator[str]:
    """Yield the games of which a player has open contests. Costs the same however many contests there are."""
    prefix = start = keys.player(player)
    while (first := next(transaction.scan(TableName.OPEN_CONTESTS, prefix, start=start), None)) is not None:
        game = first[0][len(prefix) :].partition(b"\0")[0]
        yield game.decode()
        start = prefix + game + b"\1"


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
    games = [game_id] if game_id else list_game_ids(transaction)
    # Read as far as they are wanted.
    places = islice(heapq.merge(*(_places(transaction, game, after) for game in games)), most)
    return [(place, as_given(contest_record(transaction, place[1]))) for place in places]


def open_contests(transaction: Transaction) -> Iterator[contests_pb2.Contest]:
    """Yield all open contests as they are kept, with their players' identities."""
    for game_id in list_game_ids(transaction):
        for _, contest_id in _places(transaction, game_id, None):
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
