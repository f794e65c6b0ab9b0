"""Less room: old events replaced by snapshots, and a file rewritten without its empty pages."""

import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

import lmdb

from academy.knowledge.game import RULES_VERSION, GameKnowledge
from academy.store import event_log, game_tables, lock_file, rebuild, sources
from academy.store.codec.packing import unpack_message
from academy.store.environment import Environment, TableName, Transaction
from academy.store.errors import StoreBusyError, StoreCorruptError, StoreError
from academy.store.library_store import Store
from academy.store.maintenance.backup import sync, verify
from academy.store.writer import WriteContext
from academy.v1 import events_pb2, game_pb2

EVENTS_KEPT: Final = 1_000
_READ_AT_ONCE: Final = 200


@dataclass(frozen=True, slots=True)
class Compacted:
    """How many events were removed, and how many are left."""

    removed: int
    left: int


def compact(
    store: Store, *, keep: int = EVENTS_KEPT, note_event: rebuild.NoteEvent = rebuild.note_nothing
) -> Compacted:
    """Replace all events but about the newest `keep` (at least 1) by snapshots.

    First no server of a shared log makes an event any more that refers to those that go. Each server's
    folder is compacted by itself.

    Servers and other compactions may go on meanwhile. Proposals for contests whose reports are removed come
    too late from then on. More than `keep` are kept where a late proposal among the newest refers to an older
    report. Raises StoreCorruptError, with nothing removed, where events that were all learnt by this
    program's rules do not make the stored libraries; StoreBusyError where such a proposal came in between:
    run it again; StoreFullError.
    """
    environment = store.environment
    with environment.reading() as transaction:
        newest = event_log.last_sequence(transaction)
        cut = _cut(transaction, newest - max(keep, 1))
        games = [
            unpack_message(game_pb2.Game, stored).game_id for _, stored in transaction.scan(TableName.GAMES)
        ]
        begun = cut > event_log.last_compacted(transaction)
    if begun:
        for game_id in games:
            _snapshot(environment, game_id, cut, note_event)
        store.run(RefuseLateProposals(cut, newest))
        environment.write(lambda transaction: _mark_compacted(transaction, games, cut))
    removed = 0
    # Other writers get their turn between the parts.
    while part := environment.write(event_log.remove_oldest):
        removed += part
    with environment.reading() as transaction:
        return Compacted(removed, transaction.count(TableName.EVENTS))


def _mark_compacted(transaction: Transaction, games: Iterable[str], cut: int) -> None:
    for game_id in games:
        sources.keep(transaction, game_id)
    event_log.mark_compacted(transaction, cut)


def _cut(transaction: Transaction, cut: int) -> int:
    """Return the last event that may be compacted: no event after it refers to one up to it."""
    for event in event_log.scan(transaction, newest_first=True):
        if event.sequence <= cut:
            break
        if event.WhichOneof("kind") == "proposal_judged":
            cut = min(cut, event.proposal_judged.report_event - 1)
    return cut


class _CutMeanwhileError(StoreError):
    """Another process compacted events of a game, or deleted it, while they were read."""


class _OtherRulesError(StoreError):
    """Events of a game were learnt by other rules: a replay may come to other libraries than theirs."""


# Begins a transaction; raises _CutMeanwhileError.
_Begin = Callable[[], AbstractContextManager[Transaction]]


def _snapshot(environment: Environment, game_id: str, cut: int, note_event: rebuild.NoteEvent) -> None:
    """Store a game's snapshot as of an event, once its whole log has been seen to make what is stored.

    What other rules made is kept as it is stored.
    """
    snapshot = None
    while snapshot is None:
        with environment.reading() as transaction:
            first = next(event_log.scan(transaction, game_id), None)
            if first is None or first.sequence > cut:
                # It has a snapshot with nothing to add, or is younger than the cut.
                return
            begin = partial(_begin, environment, game_id, _shortened(transaction, game_id))
        # What others cut has a snapshot of theirs to begin with.
        with suppress(_CutMeanwhileError):
            snapshot = _make_snapshot(begin, environment.folder, game_id, cut, note_event)
    made = snapshot
    environment.write(lambda transaction: rebuild.store_snapshot(transaction, game_id, made))


def _shortened(transaction: Transaction, game_id: str) -> tuple[int, int]:
    """Return what changes before an event of a game is removed, or left out as one of a deleted game."""
    return event_log.last_compacted(transaction), event_log.find_deletion(transaction, game_id)


@contextmanager
def _begin(environment: Environment, game_id: str, shortened: tuple[int, int]) -> Iterator[Transaction]:
    with environment.reading() as transaction:
        if _shortened(transaction, game_id) != shortened:
            raise _CutMeanwhileError
        yield transaction


def _make_snapshot(
    begin: _Begin, folder: Path, game_id: str, cut: int, note_event: rebuild.NoteEvent
) -> bytes:
    with begin() as transaction:
        begun = rebuild.find_snapshot(transaction, game_id)
        newest = event_log.last_sequence(transaction)
    try:
        made = _advance(begin, game_id, begun, cut, note_event)
        snapshot = rebuild.pack_snapshot(*made)
        made = _advance(begin, game_id, made, newest, note_event)
    except _OtherRulesError:
        with begin() as transaction:
            return rebuild.pack_snapshot(*game_tables.load(transaction, game_id))
    with begin() as transaction:
        for difference in rebuild.differences(transaction, game_id, made):
            raise StoreCorruptError(
                f"{folder}: {game_id}: {difference}; nothing was removed: see `academy check`, "
                "and restore a backup"
            )
    return snapshot


def _advance(
    begin: _Begin,
    game_id: str,
    begun: tuple[GameKnowledge, int] | None,
    until: int,
    note_event: rebuild.NoteEvent,
) -> tuple[GameKnowledge, int]:
    """Take in a game's events up to a number; there must be one at least. Raises _OtherRulesError.

    They are read in parts, because a long transaction would keep pages from being used again, and the file
    would grow with what is written meanwhile.
    """

    def earlier(number: int) -> events_pb2.Event:
        with begin() as transaction:
            return event_log.get(transaction, number)

    while True:
        with begin() as transaction:
            scan = event_log.scan(transaction, game_id, after=0 if begun is None else begun[1])
            events = [event for event in islice(scan, _READ_AT_ONCE) if event.sequence <= until]
        if any(event.rules != RULES_VERSION for event in events):
            raise _OtherRulesError
        begun = rebuild.advance(begun, events, earlier, note_event)
        if not events and begun is not None:
            return begun


@dataclass(frozen=True, slots=True)
class RefuseLateProposals:
    """Drop proposals for contests that were reported by event `cut` from now on: they come too late.

    `seen` is the last event that is known not to refer to one of these.
    """

    cut: int
    seen: int

    def execute(self, work: WriteContext) -> None:
        """Do it. Raises StoreBusyError where an event since refers to one of these."""
        for event in event_log.scan(work.transaction, after=self.seen):
            if (
                event.WhichOneof("kind") == "proposal_judged"
                and event.proposal_judged.report_event <= self.cut
            ):
                raise StoreBusyError("a proposal for an old contest was judged meanwhile; compact again")
        event_log.forbid_references(work.transaction, self.cut)


_DRAFT: Final = "shrinking"


def shrink(folder: Path) -> tuple[int, int]:
    """Rewrite a folder's file; return its bytes before and after.

    It needs room for the copy. The old file stays until the new one is whole, verified and on the disk.
    Raises StoreBusyError while another process uses the folder, StoreError where this one does or it cannot
    be written.
    """
    data = folder / "data.mdb"
    draft = folder / _DRAFT
    if not data.exists():
        raise StoreError(f"{folder}: holds no data of ACADEMY")
    owner = data.stat().st_uid
    if os.geteuid() not in (0, owner):
        raise StoreError(
            f"{data}: belongs to another user (number {owner}): shrink it as that one, or as root"
        )
    with lock_alone(folder) as lock:
        # Remains of an earlier attempt that was killed.
        shutil.rmtree(draft, ignore_errors=True)
        before = data.stat().st_size
        try:
            draft.mkdir(mode=0o700)
            # The holder of the lock must not open the folder with LMDB's locking: closing would release it.
            with lmdb.open(str(folder), readonly=True, lock=False, max_dbs=0) as environment:
                environment.copy(str(draft), compact=True)
            verify(draft)
            copy = draft / "data.mdb"
            after = copy.stat().st_size
            _belong_as(data, copy)
            sync(copy)
            put_in_place(copy, folder, lock)
        except lmdb.Error as error:
            raise StoreError(f"{folder}: cannot be copied: {error}; the file stays as it is") from error
        except StoreError:
            raise
        except OSError as error:
            raise StoreError(f"{folder}: {error.strerror}; the file stays as it is") from error
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return before, after


def _belong_as(data: Path, copy: Path) -> None:
    """Give a copy owner and mode of the data, which belong to this user or are root's to give."""
    state = data.stat()
    copy.chmod(stat.S_IMODE(state.st_mode))
    os.chown(copy, state.st_uid, state.st_gid)


def put_in_place(copy: Path, folder: Path, lock: int) -> None:
    """Put the data of a copy into a folder; `lock` is what `lock_alone` yields for it."""
    # A process that waits for the lock would take the number of the last commit, which stands in its file,
    # for one of the new data, and might find nothing under it. So the file is emptied first.
    os.ftruncate(lock, 0)
    lock_file.allocate(lock)
    copy.replace(folder / "data.mdb")
    sync(folder)
    lmdb.open(str(folder), max_readers=lock_file.MAX_READERS, max_dbs=0, mode=0o600).close()


@contextmanager
def lock_alone(folder: Path) -> Iterator[int]:
    """Hold the lock by which LMDB's users of a folder know of each other, so that none can open it.

    Yields a handle of its file.
    """
    lock_file.reserve(folder)
    with (folder / "lock.mdb").open("a+b") as lock:
        if not lock_file.try_alone(lock.fileno()):
            raise StoreBusyError(f"{folder}: another process uses it; stop its servers first")
        yield lock.fileno()
