"""Data folders that an earlier version of ACADEMY wrote, brought up to this program's schema version.

All of it is one transaction: a folder is of one version or of the other, whenever it is interrupted. No other
process may have the folder open meanwhile, because it would go on writing records of the version before.
"""

import fcntl
import json
import logging
import os
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from academy.knowledge.votes import VALUE_SCALE
from academy.store import arenas, contest_tables, game_tables, keys, lock_file, rebuild
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.contest_tables import contest_record
from academy.store.environment import LARGEST_MAP, SCHEMA_VERSION, Environment, TableName, Transaction
from academy.store.errors import SchemaOutdatedError, StoreBusyError, StoreCorruptError, StoreError
from academy.store.v1 import records_pb2
from academy.v1 import pattern_pb2

# Other processes that start look at the version before they wait for their turn.
_SECONDS_FOR_OTHERS_TO_GO: Final = 10.0
_SECONDS_BETWEEN_LOOKS: Final = 0.05
_log = logging.getLogger(__name__)


def upgrade(folder: Path, largest_map: int = LARGEST_MAP) -> None:
    """Do as `upgrade_copy` does, and warn of it: earlier programs can then no longer read the folder."""
    if (version := upgrade_copy(folder, largest_map)) is not None:
        _log.warning(
            "%s: brought from schema version %d to %d; earlier programs can no longer read it",
            folder,
            version,
            SCHEMA_VERSION,
        )


def upgrade_copy(folder: Path, largest_map: int = LARGEST_MAP) -> int | None:
    """Bring a folder up to this program's schema version; return its earlier one, None where it had this.

    Of several processes that begin at once one does it, the others wait. Raises StoreBusyError where a
    process goes on using the folder, SchemaMismatchError for a version that is not known here,
    StoreCorruptError, StoreError.
    """
    with _turn(folder):
        try:
            Environment(folder, largest_map=largest_map).close()
        except SchemaOutdatedError as outdated:
            _upgrade(folder, outdated.version, largest_map)
            return outdated.version
    return None


def as_written(folder: Path) -> Environment:
    """Open a folder for reading under the schema version it was written under, where that is known here."""
    try:
        return Environment(folder, read_only=True)
    except SchemaOutdatedError as outdated:
        return Environment(folder, read_only=True, version=outdated.version)


def _upgrade(folder: Path, version: int, largest_map: int) -> None:
    # A process loses its locks on a file with the first handle of it that it closes: LMDB's must be that one.
    lock = os.open(folder / "lock.mdb", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        with Environment(folder, version=version, largest_map=largest_map) as environment:
            _wait_until_alone(folder, lock)
            environment.write(lambda transaction: _take_steps(transaction, version))
    finally:
        os.close(lock)


@contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """Wait until no other process of this program brings the folder up to date."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError as error:
            raise StoreError(
                f"{folder}: cannot be locked: {error.strerror}; keep it on a local disk"
            ) from error
        yield
    finally:
        os.close(handle)


def _wait_until_alone(folder: Path, lock: int) -> None:
    """Make the lock by which LMDB's users of a folder know of each other exclusive: none can open it then."""
    end = time.monotonic() + _SECONDS_FOR_OTHERS_TO_GO
    while not lock_file.try_alone(lock):
        if time.monotonic() >= end:
            raise StoreBusyError(
                f"{folder}: an earlier version of ACADEMY wrote it, and it must be brought up to date, "
                "but another process uses it; stop its servers, then start again"
            )
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def _take_steps(transaction: Transaction, version: int) -> None:
    for step in range(version, SCHEMA_VERSION):
        _STEPS[step](transaction)
    transaction.put_schema(SCHEMA_VERSION)


def _from_version_1(transaction: Transaction) -> None:
    """Players' ratings were part of their game's measures, and open contests were not ordered by age."""
    for key, stored in [*transaction.scan(TableName.MEASURES)]:
        sums, ratings = _drop_ratings(key, stored)
        transaction.put(TableName.MEASURES, key, sums)
        for rating_key, rating in ratings.items():
            transaction.put(TableName.RATINGS, rating_key, rating)
    for key, stored in [*transaction.scan(TableName.SNAPSHOTS)]:
        transaction.put(TableName.SNAPSHOTS, key, _snapshot_without_ratings(key, stored))
    old = transaction.pop(TableName.OPEN_CONTESTS)
    # They ended with the game, a zero byte, and the contest.
    for contest_id in {key[keys.PLAYER_BYTES :].partition(b"\0")[2].decode() for key, _ in old}:
        contest_tables.add_open_contest(transaction, contest_record(transaction, contest_id).contest)


def _drop_ratings(game: bytes, stored: bytes) -> tuple[bytes, dict[bytes, bytes]]:
    """Part a game's measures of version 1; the ratings are by their keys."""
    game_id = game.decode()
    try:
        sums = json.loads(stored)
        players: dict[str, int] = sums["players"]
        sums["players"] = len(players)
        ratings = {
            keys.rating(game_id, player): pack_message(records_pb2.Rating(player=player, elo_hundredths=elo))
            for player, elo in players.items()
        }
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreCorruptError(f"the measures of game {game_id!r} cannot be read: {error!r}") from error
    return json.dumps(sums, sort_keys=True, separators=(",", ":")).encode(), ratings


def _snapshot_without_ratings(game: bytes, stored: bytes) -> bytes:
    generation, body = stored[:8], stored[8:]
    try:
        snapshot = unpack_message(records_pb2.Snapshot, zlib.decompress(body))
    except zlib.error as error:
        raise StoreCorruptError(f"the snapshot of game {game.decode()!r} cannot be read: {error}") from error
    snapshot.measures, ratings = _drop_ratings(game, snapshot.measures)
    for key, value in ratings.items():
        snapshot.ratings.add(key=key, value=value)
    return generation + zlib.compress(pack_message(snapshot))


def _from_other_rules(transaction: Transaction) -> None:
    """Nothing but rules of learning changed: what the old ones made is kept by the last step."""


def _keep_what_other_rules_made(transaction: Transaction) -> None:
    """Let replays begin with each game as it is stored: by the rules of today its events make another one.

    Records that are kept once a game are written again as this program writes them.
    """
    for key in [key for key, _ in transaction.scan(TableName.GAMES)]:
        knowledge, generation = game_tables.load(transaction, key.decode())
        for table, one_of_game, record in game_tables.records(knowledge, generation):
            if table in (TableName.GAMES, TableName.MEASURES):
                transaction.put(table, one_of_game, record)
        transaction.put(TableName.SNAPSHOTS, key, rebuild.pack_snapshot(knowledge, generation))


def _from_version_5(transaction: Transaction) -> None:
    """Pruned openings that were restored had more value at one level of contests than at all levels."""
    for key, stored in [*transaction.scan(TableName.OPENINGS)]:
        node = unpack_message(pattern_pb2.OpeningNodeRecord, stored)
        if _forget_impossible_levels(node):
            transaction.put(TableName.OPENINGS, key, pack_message(node))
    for key, stored in [*transaction.scan(TableName.REMOVALS)]:
        removal = unpack_message(records_pb2.RemovalRecord, stored)
        if [node for node in removal.nodes if _forget_impossible_levels(node)]:
            transaction.put(TableName.REMOVALS, key, pack_message(removal))
    _keep_what_other_rules_made(transaction)


def _forget_impossible_levels(node: pattern_pb2.OpeningNodeRecord) -> bool:
    """Count all contests of a node for its own level where its strongest ones have a value that cannot be.

    Neither has the node more than its visits can have. Returns whether that was so.
    """
    visits = node.visits - sum(part.visits for part in node.weaker)
    strongest = (
        whole - sum(part.value_millionths[player] for part in node.weaker)
        for player, whole in enumerate(node.value_millionths)
    )
    if all(0 <= value <= visits * VALUE_SCALE for value in strongest):
        return False
    del node.weaker[:]
    node.value_millionths[:] = [min(value, node.visits * VALUE_SCALE) for value in node.value_millionths]
    return True


_STEPS: Final[dict[int, Callable[[Transaction], None]]] = {
    1: _from_version_1,
    # All contests and players were in one namespace, and the rules of learning were the first ones.
    2: arenas.name_home,
    # Contests of players far weaker than others counted in the opening trees.
    3: _from_other_rules,
    # Ten contests of a high Elo silenced all others in the opening trees.
    4: _from_other_rules,
    5: _from_version_5,
}
