"""Contests that wait for their reports, by age."""

import heapq
from collections.abc import Iterator

from academy.store import keys
from academy.store.contest_tables import contest_record
from academy.store.environment import Table, Transaction
from academy.v1 import contests_pb2

Place = tuple[int, str]


def place_of(contest: contests_pb2.Contest) -> Place:
    """A contest's place in the order by age: when it was opened, in nanoseconds since 1970, and its id."""
    return contest.open_time.ToNanoseconds(), contest.contest_id


def oldest(
    transaction: Transaction, game_id: str, after: Place | None, most: int
) -> list[contests_pb2.Contest]:
    """Return up to `most` open contests of a game (of all where empty), oldest first, those after a place."""
    return heapq.nsmallest(
        most,
        (each for each in _found(transaction, game_id) if after is None or place_of(each) > after),
        key=place_of,
    )


def _found(transaction: Transaction, game_id: str) -> Iterator[contests_pb2.Contest]:
    # There is a key a player, and several of a contest are far apart.
    contest_ids = set()
    for key, _ in transaction.scan(Table.OPEN_CONTESTS):
        game, contest_id = keys.of_open_contest(key)
        if not game_id or game == game_id:
            contest_ids.add(contest_id)
    for contest_id in contest_ids:
        yield contest_record(transaction, contest_id).contest
