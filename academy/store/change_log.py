"""The feed of changes: which records of a game an event stored, altered or removed.

Whoever holds a copy of a game's knowledge reads those again, and no others. Only the last generations are
kept: one left further behind reads everything.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from academy.knowledge.game import ChangedRecords
from academy.knowledge.settings import Library
from academy.store import keys
from academy.store.codec import pack_message, unpack_message
from academy.store.environment import TableName, Transaction
from academy.store.v1 import records_pb2

GENERATIONS_KEPT: Final = 1_024
MARK_LENGTH: Final = 16


@dataclass(frozen=True, slots=True)
class ChangedKeys:
    """Numbers of patterns and opening nodes to read again, and players whose ratings are.

    Of the patterns in `used` nothing but the uses changed; they are not among `patterns`.
    """

    patterns: frozenset[tuple[Library, int]]
    used: frozenset[tuple[Library, int]]
    nodes: frozenset[int]
    players: frozenset[str]


def since(transaction: Transaction, game_id: str, generation: int, newest: int) -> ChangedKeys | None:
    """Return what changed after a generation up to the newest; None where the feed does not reach back."""
    prefix = keys.in_game(game_id)
    patterns: set[tuple[Library, int]] = set()
    used: set[tuple[Library, int]] = set()
    nodes: set[int] = set()
    players: set[str] = set()
    reached = generation
    for key, stored in transaction.scan(TableName.CHANGES, prefix, start=prefix + keys.number(reached + 1)):
        changes = unpack_message(records_pb2.Changes, stored)
        if changes.previous != reached:
            return None
        reached = keys.last_number(key)
        touched = {(Library.MIDDLE_GAME, number) for number in changes.middle_game}
        touched |= {(Library.ENDGAME, number) for number in changes.endgame}
        learnt = set(changes.learnt)
        only_used = {each for each in touched if each[1] not in learnt} if changes.learnt_told else set()
        used |= only_used
        patterns |= touched - only_used
        nodes.update(changes.nodes)
        players.update(changes.players)
    if reached != newest:
        return None
    return ChangedKeys(frozenset(patterns), frozenset(used - patterns), frozenset(nodes), frozenset(players))


def mark(transaction: Transaction, game_id: str, generation: int) -> bytes | None:
    """Return what tells a generation from one of this number in another folder; None where it is too old.

    A folder that was restored from a backup counts on from there, and learns other things.
    """
    stored = transaction.get(TableName.CHANGES, keys.in_game(game_id, generation))
    return None if stored is None else blake2b(stored, digest_size=MARK_LENGTH).digest()


def append(
    transaction: Transaction,
    game_id: str,
    changes: ChangedRecords,
    previous: int,
    generation: int,
    event: bytes,
) -> None:
    """Tell what the event `generation`, stored as `event`, changed since the event `previous`."""
    told = records_pb2.Changes(
        previous=previous,
        nodes=sorted(changes.nodes),
        players=sorted(changes.players),
        # No two patterns of a game have the same number, whatever their library.
        learnt=sorted(number for _, number in changes.patterns),
        learnt_told=True,
    )
    told.event_digest = blake2b(event, digest_size=MARK_LENGTH).digest()
    for library, pattern_id in sorted(changes.patterns | changes.used, key=lambda change: change[1]):
        (told.middle_game if library is Library.MIDDLE_GAME else told.endgame).append(pattern_id)
    prefix = keys.in_game(game_id)
    newest = next(transaction.scan(TableName.CHANGES, prefix, backwards=True), None)
    if newest is not None:
        told.number = unpack_message(records_pb2.Changes, newest[1]).number + 1
        oldest, value = next(transaction.scan(TableName.CHANGES, prefix))
        if told.number - unpack_message(records_pb2.Changes, value).number >= GENERATIONS_KEPT:
            transaction.delete(TableName.CHANGES, oldest)
    transaction.put(TableName.CHANGES, prefix + keys.number(generation), pack_message(told))
