"""Contests that wait for their reports, by age."""

import heapq
from collections.abc import Iterator
from typing import Final

from academy.store import keys
from academy.store.contest_tables import contest_record
from academy.store.environment import Table, Transaction
from academy.store.library_store import Store
from academy.v1 import contests_pb2

Place = tuple[int, str]
_NAME_BYTES: Final = len(keys.player(""))


def place_of(contest: contests_pb2.Contest) -> Place:
    """A contest's place in the order by age: when it was opened, in nanoseconds since 1970, and its id."""
    return contest.open_time.ToNanoseconds(), contest.contest_id


def open_contests(store: Store, game_id: str, after: Place | None, most: int) -> list[contests_pb2.Contest]:
    """Return up to `most` open contests of a game (of all where empty), oldest first, those after a place.

    Raises UnknownGame.
    """
    if game_id:
        store.game(game_id)
    with store.environment.reading() as transaction:
        return heapq.nsmallest(
            most,
            (each for each in _found(transaction, game_id) if after is None or place_of(each) > after),
            key=place_of,
        )


def _found(transaction: Transaction, game_id: str) -> Iterator[contests_pb2.Contest]:
    # There is a key a player, and several of a contest are far apart.
    contest_ids = set()
    for key, _ in transaction.scan(Table.OPEN_CONTESTS):
        game, _, contest_id = key[_NAME_BYTES:].partition(b"\0")
        if not game_id or game == game_id.encode():
            contest_ids.add(contest_id)
    for contest_id in contest_ids:
        yield contest_record(transaction, contest_id.decode()).contest
