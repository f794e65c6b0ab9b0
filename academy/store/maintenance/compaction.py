"""Compaction: the oldest part of the event log replaced by a snapshot a game. The libraries stay the same.

Contests stay known by their ids, so that a report that comes again is still not counted twice. It may be
killed at any moment and run again: events go only after every snapshot is on the disk, oldest first.
"""

from dataclasses import dataclass
from itertools import islice
from typing import Final

from academy.knowledge.game import GameKnowledge
from academy.store import event_log, snapshots
from academy.store.codec import unpack_message
from academy.store.environment import Environment, TableName, Transaction
from academy.store.errors import StoreBusyError, StoreCorruptError
from academy.store.maintenance import rebuild
from academy.v1 import events_pb2, game_pb2

EVENTS_KEPT: Final = 1_000
# Other writers get their turn between the parts.
_REMOVED_AT_ONCE: Final = 2_000
_READ_AT_ONCE: Final = 200


@dataclass(frozen=True, slots=True)
class Compacted:
    """How many events were removed, and how many are left."""

    removed: int
    left: int


def compact(environment: Environment, *, keep: int = EVENTS_KEPT) -> Compacted:
    """Replace all events but about the newest `keep` (at least 1) by snapshots.

    Servers may go on meanwhile. Proposals for contests whose reports are removed come too late from then on.
    More than `keep` are kept where a late proposal among the newest refers to an older report. Raises
    StoreCorruptError, with nothing removed, where the events do not make the stored libraries; StoreBusyError
    where such a proposal came in between: run it again; StoreFullError.
    """
    with environment.reading() as transaction:
        newest = event_log.last_sequence(transaction)
        cut = _cut(transaction, newest - max(keep, 1))
        games = [
            unpack_message(game_pb2.Game, stored).game_id for _, stored in transaction.scan(TableName.GAMES)
        ]
        begun = cut > event_log.compacted(transaction)
    if begun:
        for game_id in games:
            _snapshot(environment, game_id, cut)
        environment.write(lambda transaction: _give_up(transaction, cut, newest))
    removed = 0
    while part := environment.write(
        lambda transaction: event_log.remove_oldest(transaction, _REMOVED_AT_ONCE)
    ):
        removed += part
    with environment.reading() as transaction:
        return Compacted(removed, transaction.count(TableName.EVENTS))


def _cut(transaction: Transaction, cut: int) -> int:
    """Return the last event to give up: no event after it may refer to one before."""
    for event in event_log.scan(transaction, newest_first=True):
        if event.sequence <= cut:
            break
        if event.WhichOneof("kind") == "proposal_judged":
            cut = min(cut, event.proposal_judged.report_event - 1)
    return cut


def _snapshot(environment: Environment, game_id: str, cut: int) -> None:
    """Store a game's snapshot as of an event, once its whole log has been seen to make what is stored."""
    with environment.reading() as transaction:
        first = next(event_log.scan(transaction, game_id), None)
        if first is None or first.sequence > cut:
            # It has a snapshot with nothing to add, or is younger than the cut.
            return
        begun = snapshots.find(transaction, game_id)
        newest = event_log.last_sequence(transaction)
    made = _advanced(environment, game_id, begun, cut)
    if made is None:
        return
    snapshot = snapshots.pack(*made)
    made = _advanced(environment, game_id, made, newest)
    with environment.reading() as transaction:
        for difference in rebuild.differences(transaction, game_id, made):
            raise StoreCorruptError(
                f"{environment.folder}: {game_id}: {difference}; nothing was removed: see `academy check`, "
                "and restore a backup"
            )
    environment.write(lambda transaction: snapshots.store(transaction, game_id, snapshot))


def _advanced(
    environment: Environment, game_id: str, begun: tuple[GameKnowledge, int] | None, until: int
) -> tuple[GameKnowledge, int] | None:
    """Take in a game's events up to a number.

    They are read in parts, since a long transaction would keep pages from being used again, and the file
    would grow with what is written meanwhile.
    """

    def earlier(number: int) -> events_pb2.Event:
        with environment.reading() as transaction:
            return event_log.get(transaction, number)

    while True:
        with environment.reading() as transaction:
            scan = event_log.scan(transaction, game_id, after=0 if begun is None else begun[1])
            events = [event for event in islice(scan, _READ_AT_ONCE) if event.sequence <= until]
        if not events:
            return begun
        begun = rebuild.advanced(begun, events, earlier)


def _give_up(transaction: Transaction, cut: int, seen: int) -> None:
    for event in event_log.scan(transaction, after=seen):
        if event.WhichOneof("kind") == "proposal_judged" and event.proposal_judged.report_event <= cut:
            raise StoreBusyError("a proposal for an old contest was judged meanwhile; compact again")
    event_log.give_up(transaction, cut)
