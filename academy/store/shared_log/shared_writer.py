"""The writer of a folder that follows a shared log: folds what others wrote, publishes, then commits.

A message is published within the transaction that executed its commands, on the condition that it follows
the last one folded there. The transaction is committed after the acknowledgement. Should the server end in
between, the message is in the stream, and the next start folds it like those of others.
"""

import logging
import math
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from queue import Full
from typing import Final

import lmdb

from academy.knowledge.game_records import ChangedKeys
from academy.store import event_log, game_tables, keys
from academy.store.codec.packing import unpack_message
from academy.store.consultation_journal import ConsultationJournal
from academy.store.environment import Environment, TableName, Transaction
from academy.store.errors import (
    LogDivergedError,
    LogUnavailableError,
    LogUnreadableError,
    LogUpgradingError,
    StoreClosedError,
    StoreCorruptError,
    StoreError,
)
from academy.store.shared_log import messages, place, snapshots
from academy.store.shared_log.address import LogAddress
from academy.store.shared_log.connection import PATIENCE
from academy.store.shared_log.jetstream import JetStreamLog, LostRaceError
from academy.store.shared_log.messages import CommandEntries, MessageDraft, MessageFullError
from academy.store.shared_log.stream import MOVE, LogStream, Message, StreamState
from academy.store.v1 import records_pb2
from academy.store.writer import Queued, WriteContext, Writer
from academy.v1 import events_pb2

# What a transaction folds at most before it is committed.
_FOLDING_SECONDS: Final = 0.5
# How long commands are tried that have already waited with others in vain.
_LEAST_PATIENCE: Final = 3.0
_LOOK_SECONDS: Final = 0.002
_FROZEN: Final = (
    "writes are frozen for an upgrade: this server answers questions, and writes again when it is upgraded, "
    "or after `academy freeze --lift`"
)
_CANNOT_BE_FOLDED: Final = (
    LogDivergedError,
    LogUpgradingError,
    StoreCorruptError,
    ValueError,
    LookupError,
    # A key that no program of ours writes.
    lmdb.BadValsizeError,
)
_log = logging.getLogger(__name__)
# Commands print this; what they are refused they say themselves.
_copies_log: Final = logging.getLogger("academy.store.shared_log.copies")


@dataclass(frozen=True, slots=True)
class _Follow:
    """Writes nothing: the transaction it is in folds what others wrote."""

    def execute(self, work: WriteContext) -> None:
        """Do nothing."""


@dataclass(slots=True)
class _Attempt:
    """Commands that are executed together, and how far that has come.

    `settled` of them have their outcome. `published` is the message of these, once it is acknowledged: the
    transaction may have to be repeated after that, when its commit finds no room. With `folding` there is
    more to fold first.
    """

    commands: list[Queued]
    settled: int = 0
    published: Message | None = None
    folding: bool = False
    frozen: bool = False
    # By game: the generation before the transaction, and what the transaction changed.
    undoing: dict[str, tuple[int, ChangedKeys]] = field(default_factory=dict)


class _NotCommittedError(LogUnavailableError):
    """The log has the message, and the folder has not: it is folded like those of others once that can be."""


class SharedWriter(Writer):
    """Takes commands from any thread, as `Writer` does."""

    def __init__(
        self,
        environment: Environment,
        journal: ConsultationJournal,
        address: LogAddress,
        *,
        queue_size: int,
        clock: Callable[[], float],
    ) -> None:
        """Connect, and fold what the stream has by now.

        Raises StoreError, LogUnavailableError, LogDivergedError.
        """
        self._patience = PATIENCE
        self._ends = math.inf
        self._draft = MessageDraft(0)
        self._failure: StoreError | None = None
        # Why writes are refused now, "" if they are not; and whether any commit says that they are no longer.
        self._refused, self._until_commit = "", False
        self._is_called = False
        self._every, self._cut = 0, False
        self._snapshot = threading.Thread()
        # Read before the stream is looked at: other processes of the folder may follow it further meanwhile.
        with environment.reading() as transaction:
            known = place.read(transaction)
        self._log = JetStreamLog(address, known)
        if (copies := self._log.state.replicas) < address.replicas:
            _copies_log.warning(
                "%s: the stream has %d of %d copies, until `nats stream edit %s --replicas %d`",
                *(address, copies, address.replicas, address.stream, address.replicas),
            )
        try:
            joined = environment.write(lambda transaction: _join(transaction, address, self._log.state))
            super().__init__(environment, journal, queue_size=queue_size, clock=clock)
        except BaseException:
            self._log.close()
            raise
        try:
            self._log.follow(joined.followed, place.name_of_last(joined), self._tell_news)
            self._catch_up(self._log.state.last)
        except BaseException:
            self._patience = 0.0
            self.close()
            raise

    @property
    def follows(self) -> bool:
        """Whether the log is followed now."""
        return self._failure is None and self._log.is_read

    def close(self) -> None:
        """Commit what waits, then stop. Where NATS is lost, groups of commands wait together for it."""
        self._ends = time.monotonic() + self._patience
        super().close()
        self._log.close()

    def catch_up(self, seconds: float) -> None:
        """Wait until all is folded that the log has now. Raises LogUnavailableError."""
        deadline = time.monotonic() + seconds
        last = self._log.find_last(deadline) if self.follows else 0
        # Other processes of the folder fold, too.
        while self.follows and (followed := self._read_place()) < last:
            if time.monotonic() > deadline:
                raise LogUnavailableError(
                    f"message {last:,} of the shared log is not folded within {seconds:g} seconds, only "
                    f"{followed:,}: try again"
                )
            time.sleep(_LOOK_SECONDS)
        if not self.follows:
            raise LogUnavailableError("the shared log is not followed now: try again")

    def _catch_up(self, last: int) -> None:
        while (followed := self._read_place()) < last:
            self._log.wait(followed, time.monotonic() + self._patience)
            try:
                self.submit(_Follow()).result()
            except LogUpgradingError:
                # Others are of a newer version: this one answers from what it knows.
                return

    def _read_place(self) -> int:
        with self._environment.reading() as transaction:
            now = place.read(transaction)
        return 0 if now is None else now.followed

    def _tell_news(self) -> None:
        """Let the writer's thread fold what came; it may be called already."""
        if not self._is_called:
            self._is_called = True
            try:
                self._queue.put_nowait(Queued(_Follow(), Future()))
            except Full:
                # The commands that wait will fold it.
                self._is_called = False

    def _commit(self, group: list[Queued]) -> None:
        # Those that came while others waited for NATS have waited with them.
        waiting_since = min(queued.since for queued in group)
        deadline = max(waiting_since + self._patience, time.monotonic() + _LEAST_PATIENCE)
        deadline = min(deadline, self._ends)
        # What could not be committed is, before more is published that could not be either.
        lost = self._until_commit
        while group:
            if time.monotonic() > self._ends:
                # What is still to be folded may take long.
                self._fail(group, StoreClosedError("the store was closed"))
                return
            if not lost:
                self._log.let_pass()
            try:
                if lost:
                    # Committed before the next try: else there would be more to fold after each lost race.
                    self._attempt([], deadline)
                settled = self._attempt(group, deadline)
            except LostRaceError:
                lost = True
                continue
            except Exception as error:
                # Every fault must reach the callers, and the thread must go on.
                if isinstance(error, LogDivergedError) and self._failure is None:
                    self._stop_following(error)
                if isinstance(error, StoreError) and self._failure is None:
                    # Also where nobody writes: what is no longer folded is no longer answered.
                    is_of_log = isinstance(error, LogUnavailableError)
                    is_of_folder = not is_of_log or isinstance(error, _NotCommittedError)
                    self._note_refusal(str(error), until_commit=is_of_folder)
                self._fail(group, error)
                return
            self._settle(group[:settled])
            group = group[settled:]
            lost = False

    def _stop_following(self, error: StoreError) -> None:
        self._failure = error
        _log.error("the shared log is followed no longer: %s", error)

    def _note_refusal(self, why: str, until_commit: bool = False) -> None:
        """Log when writes begin to be refused, and when they are done again, instead of each refusal."""
        if why and not self._refused:
            _log.warning("writes are refused: %s", why)
        elif self._refused and not why:
            _log.warning("writes are done again")
        self._refused, self._until_commit = why, until_commit

    def _attempt(self, group: list[Queued], deadline: float) -> int:
        """Fold, execute and publish once; return how many of the commands are done.

        Raises LostRaceError once the message of the other server is here.
        """
        if self._failure is not None:
            raise self._failure
        # What comes from here on is folded next.
        self._is_called = False
        touched: set[str] = set()
        attempt = _Attempt(group)
        try:
            self._environment.write(
                lambda transaction: self._execute_shared(transaction, attempt, touched, deadline)
            )
        except LostRaceError:
            self._log.ask_to_pass()
            try:
                self._undo(attempt, touched)
            except BaseException:
                self._forget(touched)
                raise
            self._log.wait(self._read_place(), deadline)
            raise
        except BaseException as error:
            self._forget(touched)
            if attempt.published is not None and isinstance(error, StoreError):
                raise _NotCommittedError(f"{error}; what was asked is in the shared log already") from error
            raise
        if attempt.frozen:
            self._note_refusal(_FROZEN, until_commit=True)
        elif attempt.published is not None or self._until_commit:
            self._note_refusal("")
        if attempt.published is not None:
            self._begin_snapshot(attempt.published.place)
        return attempt.settled

    def schedule_snapshots(self, every: int, cut: bool) -> None:
        """Let the server whose message is the `every`-th make a snapshot, and with `cut` cut the log.

        So one server makes each, without one that is chosen: should it be killed, the next one's comes.
        """
        self._every, self._cut = every, cut

    def _begin_snapshot(self, published: int) -> None:
        if self._every and published % self._every == 0 and not self._snapshot.is_alive():
            self._snapshot = threading.Thread(
                target=self._make_snapshot, name="academy-snapshot", daemon=True
            )
            self._snapshot.start()

    def _make_snapshot(self) -> None:
        try:
            made = snapshots.make(self._environment)
            first = snapshots.cut(self._environment) if self._cut else 0
        except Exception as error:
            if self._ends < math.inf:
                # The server stops: its folder is closed, and the interpreter ends under this thread.
                return
            if not isinstance(error, OSError):
                raise
            _log.warning("no snapshot was made: %s", error)
            return
        _log.info("a snapshot of message %d has %d bytes", made.followed, made.size)
        if self._cut:
            _log.info("the shared log begins with message %d", first)

    def _undo(self, attempt: _Attempt, touched: set[str]) -> None:
        """Make the games in memory equal to the stored ones."""
        undoing = {game_id: attempt.undoing[game_id] for game_id in touched if game_id in attempt.undoing}
        self._forget(touched - undoing.keys())
        with self._environment.reading() as transaction:
            for game_id, (generation, changes) in undoing.items():
                self._games.undo(transaction, game_id, changes, generation)

    def _execute_shared(
        self, transaction: Transaction, attempt: _Attempt, touched: set[str], deadline: float
    ) -> None:
        # A repeated transaction must not meet what the abandoned one did in memory.
        self._forget(touched)
        before = event_log.last_sequence(transaction)
        now = place.read(transaction)
        if now is None:
            raise LogDivergedError(
                "this folder was taken out of the shared log since its server started: start it again, "
                "without --log"
            )
        self._fold_news(transaction, attempt, now, touched)
        if attempt.published is None and not attempt.folding:
            self._execute_commands(transaction, attempt, touched)
            if self._draft:
                message = Message(
                    now.followed + 1, self._draft.pack(), secrets.token_hex(16), place.name_of_last(now)
                )
                try:
                    self._log.publish(message, deadline)
                except LostRaceError:
                    attempt.undoing = _changes_after(transaction, before, touched)
                    raise
                attempt.published = message
                place.move_to(now, message.place, message.name)
        attempt.frozen = place.is_frozen(transaction)
        place.write(transaction, now)

    def _fold_news(
        self, transaction: Transaction, attempt: _Attempt, now: records_pb2.LogPlace, touched: set[str]
    ) -> None:
        begun = time.monotonic()
        attempt.folding = False
        news = self._log.news(now.followed)
        if attempt.published is not None:
            own = attempt.published
            news = [message for message in news if message.place < own.place] + [own]
        for message in news:
            if (why := self._fold(transaction, message, touched)) is not None:
                self._stop_following(why)
                if attempt.published is not None:
                    raise why
                # What came before it is kept.
                attempt.folding = True
                break
            place.move_to(now, message.place, message.name)
            if attempt.published is None and time.monotonic() - begun > _FOLDING_SECONDS:
                attempt.folding = True
                break

    def _fold(self, transaction: Transaction, message: Message, touched: set[str]) -> StoreError | None:
        """Fold a message; where that cannot be, return why, and undo what was done of it."""
        own: set[str] = set()
        try:
            with super()._begin(transaction) as work:
                own = work.touched
                messages.fold(work, message.data)
        except _CANNOT_BE_FOLDED as error:
            self._forget(own)
            _log.debug("message %d of the shared log cannot be taken in", message.place, exc_info=error)
            return _explain(message.place, error)
        finally:
            # Also where the map has to grow: the copies in memory have learnt what is folded again then.
            touched |= own
        return None

    def _execute_commands(self, transaction: Transaction, attempt: _Attempt, touched: set[str]) -> None:
        self._together = len(attempt.commands)
        self._draft = MessageDraft(self._log.limit)
        attempt.settled = 0
        for queued in attempt.commands:
            if place.is_frozen(transaction) and not isinstance(queued.command, place.FreezeLog | _Follow):
                queued.error = LogUpgradingError(_FROZEN)
                attempt.settled += 1
                continue
            self._execute_command(transaction, queued, touched)
            if isinstance(queued.error, MessageFullError):
                break
            attempt.settled += 1

    @contextmanager
    def _begin(self, transaction: Transaction) -> Iterator[WriteContext]:
        part = CommandEntries()

        def note_events(events: Sequence[events_pb2.Event]) -> None:
            part.note_events(events)
            # Not only in the end: to execute a large import or fork takes long.
            self._draft.check(part)

        with transaction.begin_nested(part.note_record) as nested:
            yield WriteContext(nested, self._games, self._journal, self._clock(), self._give_way, note_events)
            self._draft.add(part)


def check_has_read(address: LogAddress, known: records_pb2.LogPlace) -> None:
    """Check that an earlier program's folder may be upgraded: only that program reads what it wrote.

    Raises LogDivergedError where the folder lacks some of that, or follows another stream, and
    LogUnavailableError.
    """
    with closing(LogStream(address, known)) as log:
        next_message = known.followed + 1
        if log.state.first <= next_message <= log.state.last:
            messages.check_not_earlier(log.read(next_message))


def _join(transaction: Transaction, address: LogAddress, stream: StreamState) -> records_pb2.LogPlace:
    """Let a folder follow a stream; return its place there."""
    now = place.read(transaction)
    if now is None:
        used = place.used_tables(transaction)
        if used:
            raise StoreError(
                f"this folder has a history of its own ({', '.join(used)}): a server with --log begins with "
                "an empty folder; `academy move` makes a log of a folder's history"
            )
        now = records_pb2.LogPlace(created=stream.created)
    now.address = address.text
    place.write(transaction, now)
    return now


def _explain(message: int, error: Exception) -> StoreError:
    """Return why a message is not folded: version or place, damage of the folder, or the message itself."""
    if isinstance(error, LogDivergedError | LogUpgradingError):
        return error
    if isinstance(error, StoreCorruptError):
        return LogDivergedError(
            f"this folder is damaged and cannot take in message {message:,} of the shared log: {error}; "
            "begin with an empty folder"
        )
    return LogUnreadableError(
        f"message {message:,} of the shared log cannot be read ({error}): to go on with what this folder "
        f"has, {MOVE}"
    )


def _changes_after(
    transaction: Transaction, event: int, games: Iterable[str]
) -> dict[str, tuple[int, ChangedKeys]]:
    """Return what events after this one changed, by game, with the generation before; new games lack."""
    changed = {}
    for game_id in games:
        prefix = keys.in_game(game_id)
        feed = transaction.scan(TableName.CHANGES, prefix, start=keys.in_game(game_id, event + 1))
        first = next(feed, None)
        if first is None or not (generation := unpack_message(records_pb2.Changes, first[1]).previous):
            continue
        newest = game_tables.game_state(transaction, game_id).generation
        changes = game_tables.changes_since(transaction, game_id, generation, newest)
        if changes is not None:
            changed[game_id] = generation, changes
    return changed
