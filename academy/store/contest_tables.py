"""Contests in the tables."""

from academy.store import keys
from academy.store.environment import Table, Transaction
from academy.store.errors import InvalidRecord, UnknownContest
from academy.store.messages import packed, unpacked
from academy.store.v1 import records_pb2
from academy.v1 import contests_pb2


def find_contest(transaction: Transaction, contest_id: str) -> records_pb2.ContestRecord | None:
    """Return a contest's record, or None. Raises InvalidRecord for what cannot be a contest's id."""
    stored = transaction.get(Table.CONTESTS, keys.contest(contest_id))
    return None if stored is None else unpacked(records_pb2.ContestRecord, stored)


def contest_record(transaction: Transaction, contest_id: str) -> records_pb2.ContestRecord:
    """Return a contest's record. Raises UnknownContest."""
    record = find_contest(transaction, contest_id)
    if record is None:
        raise UnknownContest(contest_id)
    return record


def store_contest(transaction: Transaction, record: records_pb2.ContestRecord) -> None:
    """Write a contest's record."""
    transaction.put(Table.CONTESTS, keys.contest(record.contest.contest_id), packed(record))


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
    """Return a seat's part of a contest's record. Raises InvalidRecord where there is no such seat."""
    if not 1 <= seat <= len(record.seats):
        raise InvalidRecord("player", f"{seat} must be from 1 to {len(record.seats)}")
    return record.seats[seat - 1]
