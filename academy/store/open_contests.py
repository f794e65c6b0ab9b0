"""Contests that wait for their reports: indexes by player and by age, which a report takes them out of."""

import heapq
from collections.abc import Iterator
from itertools import islice

from academy.store import keys
from academy.store.contest_tables import as_given, contest_record
from academy.store.environment import Table, Transaction
from academy.store.errors import InvalidRecord
from academy.v1 import contests_pb2

Place = tuple[int, str]


def place_of(contest: contests_pb2.Contest) -> Place:
    """A contest's place in the order by age: when it was opened, in nanoseconds since 1970, and its id."""
    return contest.open_time.ToNanoseconds(), contest.contest_id


def index_keys(contest: contests_pb2.Contest) -> set[tuple[Table, bytes]]:
    """Return where an open contest stands in the indexes."""
    place = place_of(contest)
    found = {
        (Table.OPEN_CONTESTS, keys.open_contest(player.name, contest.game_id, *place))
        for player in contest.players
    }
    return found | {(Table.OPEN_CONTESTS_BY_AGE, keys.open_contest_by_age(contest.game_id, *place))}


def add(transaction: Transaction, contest: contests_pb2.Contest) -> None:
    """Take a contest into the indexes."""
    for table, key in index_keys(contest):
        transaction.put(table, key)


def remove(transaction: Transaction, contest: contests_pb2.Contest) -> None:
    """Take a contest out of the indexes."""
    for table, key in index_keys(contest):
        transaction.delete(table, key)


def of_player(transaction: Transaction, player: str, game_id: str, since: int) -> str | None:
    """Return the oldest open contest of a player in a game that was opened at `since` or later, or None.

    `since` is in nanoseconds since 1970. Costs the same however many there are.
    """
    prefix = keys.open_contest(player, game_id)
    start = keys.open_contest(player, game_id, since)
    for key, _ in transaction.scan(Table.OPEN_CONTESTS, prefix, start=start):
        return keys.open_contest_place(key[len(prefix) :])[1]
    return None


def oldest(
    transaction: Transaction, game_id: str, after: Place | None, most: int
) -> list[contests_pb2.Contest]:
    """Return up to `most` open contests of a game (of all where empty), oldest first, those after a place.

    Raises InvalidRecord for what cannot be a place.
    """
    if after is not None and not (0 <= after[0] < 1 << 64 and keys.is_place_of_contest(after[1])):
        raise InvalidRecord("place", "no contest can be there; begin again without one")
    games = [game_id] if game_id else [key.decode() for key, _ in transaction.scan(Table.GAMES)]
    # Read as far as they are wanted.
    places = islice(heapq.merge(*(_places(transaction, each, after) for each in games)), most)
    return [as_given(contest_record(transaction, contest_id)) for _, contest_id in places]


def _places(transaction: Transaction, game_id: str, after: Place | None) -> Iterator[Place]:
    prefix = keys.open_contest_by_age(game_id)
    start = prefix if after is None else keys.open_contest_by_age(game_id, *after)
    for key, _ in transaction.scan(Table.OPEN_CONTESTS_BY_AGE, prefix, start=start):
        place = keys.open_contest_place(key[len(prefix) :])
        if place != after:
            yield place
