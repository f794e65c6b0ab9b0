"""The writing side: one thread runs commands, several to a transaction, on its own copies of games."""

import logging
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar

import lmdb
from google.protobuf.timestamp_pb2 import Timestamp

from academy.knowledge.game import RULES_VERSION, GameKnowledge
from academy.knowledge.game_records import ChangedKeys
from academy.store import event_effects, event_log, game_tables, history, keys, sources
from academy.store.consultation_journal import ConsultationJournal
from academy.store.environment import Environment, TableName, Transaction
from academy.store.errors import GameConflictError, LogDivergedError, StoreBusyError, StoreClosedError
from academy.store.game_tables import EntryReader
from academy.store.v1 import records_pb2
from academy.v1 import events_pb2

# A full game takes 10 MiB here: with 100 that are served, a process stays under 1 GiB.
GAMES_IN_MEMORY: Final = 48


@dataclass(frozen=True, slots=True)
class LoadedGame:
    """A game's knowledge as of an event of its own."""

    knowledge: GameKnowledge
    generation: int


class LoadedGames:
    """Knowledge of the games written last. For one thread."""

    def __init__(self) -> None:
        self._most = GAMES_IN_MEMORY
        self._loaded: OrderedDict[str, LoadedGame] = OrderedDict()

    def current(self, transaction: Transaction, game_id: str) -> LoadedGame:
        """Return a game as stored now, also by other processes. Raises UnknownGameError."""
        state = game_tables.game_state(transaction, game_id)
        loaded = self._loaded.get(game_id)
        if loaded is not None and loaded.generation != state.generation:
            loaded = self._follow(transaction, loaded, state)
        if loaded is None:
            loaded = LoadedGame(*game_tables.load(transaction, game_id))
        self.keep(game_id, loaded)
        return loaded

    def _follow(
        self, transaction: Transaction, loaded: LoadedGame, state: records_pb2.GameState
    ) -> LoadedGame | None:
        """Take in what another process wrote; None where the feed no longer says what that was."""
        spec = loaded.knowledge.spec
        touched = game_tables.changes_since(transaction, spec.game_id, loaded.generation, state.generation)
        if touched is None:
            return None
        news = game_tables.read_update(transaction, EntryReader(spec), spec.game_id, touched, state)
        # A copy that fails half-way must not be used again.
        del self._loaded[spec.game_id]
        loaded.knowledge.follow(news)
        return LoadedGame(loaded.knowledge, state.generation)

    def undo(self, transaction: Transaction, game_id: str, changes: ChangedKeys, generation: int) -> None:
        """Bring a copy back to a generation, which is stored, after it learnt what was not kept.

        `changes` are what it learnt. Costs that, where loading the game again costs what there is.
        """
        loaded = self._loaded.pop(game_id, None)
        # Its registration was undone too, or another process has deleted it meanwhile.
        if loaded is None or transaction.get(TableName.GAMES, keys.game(game_id)) is None:
            return
        state = game_tables.game_state(transaction, game_id)
        new_players = any(
            game_tables.find_rating(transaction, game_id, player) is None for player in changes.players
        )
        if state.generation != generation or new_players:
            return
        reader = EntryReader(loaded.knowledge.spec)
        loaded.knowledge.follow(game_tables.read_update(transaction, reader, game_id, changes, state))
        self.keep(game_id, LoadedGame(loaded.knowledge, generation))

    def keep(self, game_id: str, loaded: LoadedGame) -> None:
        """Remember a game; the one that was not used for longest goes when there are too many."""
        self._loaded[game_id] = loaded
        self._loaded.move_to_end(game_id)
        while len(self._loaded) > self._most:
            self._loaded.popitem(last=False)

    def forget(self, game_id: str) -> None:
        """Throw a game's copy away: it may hold what was not committed."""
        self._loaded.pop(game_id, None)


class WriteContext:
    """One command's part of a write transaction."""

    def __init__(
        self,
        transaction: Transaction,
        games: LoadedGames,
        journal: ConsultationJournal,
        now: float,
        give_way: Callable[[], None],
        note_events: Callable[[Sequence[events_pb2.Event]], None] = lambda events: None,
    ) -> None:
        """Begin at the time `now`.

        `give_way` is called between steps, `note_events` with new events before they are taken in.
        """
        self.transaction = transaction
        self.journal = journal
        self.now = now
        self._give_way = give_way
        self._note_events = note_events
        self.touched: set[str] = set()
        self._games = games

    @property
    def time(self) -> Timestamp:
        """The present time as a message."""
        nanoseconds = round(self.now * 1e9)
        return Timestamp(seconds=nanoseconds // 10**9, nanos=nanoseconds % 10**9)

    def knowledge(self, game_id: str) -> GameKnowledge:
        """Return a game's knowledge to look at; only `record` changes it. Raises UnknownGameError."""
        return self._games.current(self.transaction, game_id).knowledge

    def record(self, event: events_pb2.Event) -> event_effects.EventOutcome:
        """Number an event, log it, and store what it changes. Returns what became of it.

        Raises what `event_effects.apply` raises; then the transaction must not be committed.
        """
        return self.record_all([event])[0]

    def record_all(self, events: Sequence[events_pb2.Event]) -> list[event_effects.EventOutcome]:
        """Do what `record` does with events in their order.

        Where they are too many for a shared log, none is taken in. Raises like `record`.
        """
        for sequence, event in enumerate(events, event_log.last_sequence(self.transaction) + 1):
            event.sequence = sequence
            event.time.CopyFrom(self.time)
            event.rules = RULES_VERSION
        self._note_events(events)
        return [self.take_in(event) for event in events]

    def take_in(self, event: events_pb2.Event) -> event_effects.EventOutcome:
        """Log a numbered event, and store what it changes. Returns and raises like `record`."""
        game_id, kind = event.game_id, event.WhichOneof("kind")
        self.touched.add(game_id)
        if kind == "game_registered":
            if self.transaction.get(TableName.GAMES, keys.game(game_id)) is not None:
                raise GameConflictError(game_id, "registration")
            knowledge = event_effects.begin(event)
            game_tables.store_new(self.transaction, knowledge, event.sequence)
            event_log.append(self.transaction, event)
            sources.note(self.transaction, event)
            outcome = event_effects.EventOutcome()
        elif kind == "game_deleted":
            game_tables.remove_game(self.transaction, game_id)
            event_log.delete_game(self.transaction, event)
            self._games.forget(game_id)
            return event_effects.EventOutcome()
        else:
            loaded = self._games.current(self.transaction, game_id)
            knowledge = loaded.knowledge
            self._give_way()
            outcome = event_effects.apply(
                knowledge, event, lambda number: event_log.get(self.transaction, number), self._give_way
            )
            self._give_way()
            stored = event_log.append(self.transaction, event)
            sources.note(self.transaction, event)
            self._give_way()
            changes = game_tables.store_changes(
                self.transaction, knowledge, loaded.generation, event.sequence, stored
            )
            self._give_way()
            history.note_event(self.transaction, knowledge, event, changes, outcome)
            if kind in ("settings_changed", "game_described"):
                game_tables.store_game(self.transaction, knowledge)
        self._games.keep(game_id, LoadedGame(knowledge, event.sequence))
        return outcome


# As long as some answers take.
_REST_SECONDS: Final = 0.002


class WriterYield:
    """Rests between two steps of a command where questions came since the last step."""

    def __init__(self, rest: Callable[[float], None] = time.sleep) -> None:
        self._rest = rest
        self._count_questions: Callable[[], float] | None = None
        self._seen = 0.0

    def to(self, count_questions: Callable[[], float]) -> None:
        """Give way to questions from now on; `count_questions` returns how many any thread has had."""
        self._count_questions = count_questions

    def __call__(self) -> None:
        """End a step."""
        if self._count_questions is None:
            return
        count = self._count_questions()
        if count != self._seen:
            self._seen = count
            self._rest(_REST_SECONDS)


QUEUE_SIZE: Final = 1_024
GROUP_SIZE: Final = 256
# While more wait, or are committed together, commands do not give way.
_FEW: Final = 4

_T = TypeVar("_T")
_Result = TypeVar("_Result", covariant=True)
_log = logging.getLogger(__name__)


class Command(Protocol[_Result]):
    """A change to the store. It may run again when its transaction has to be repeated."""

    def execute(self, work: WriteContext) -> _Result:
        """Do it, or raise: then nothing of it is kept."""


@dataclass(slots=True)
class Queued:
    """A command that waits, and what became of it."""

    command: Command[Any]
    future: "Future[Any]"
    result: Any = None
    error: Exception | None = None
    since: float = field(default_factory=time.monotonic)


class Writer:
    """Takes commands from any thread and commits them in the order they came."""

    def __init__(
        self,
        environment: Environment,
        journal: ConsultationJournal,
        *,
        queue_size: int,
        clock: Callable[[], float],
    ) -> None:
        self.giving_way = WriterYield()
        self._environment = environment
        self._journal = journal
        self._group_size = GROUP_SIZE
        self._clock = clock
        self._games = LoadedGames()
        self._queue: queue.Queue[Queued | None] = queue.Queue(queue_size)
        self._closing = threading.Lock()
        self._closed = False
        self._together = 0
        self._thread = threading.Thread(target=self._run, name="academy-writer", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many commands wait."""
        return self._queue.qsize()

    @property
    def follows(self) -> bool | None:
        """Whether the log that servers share is followed now; None where the folder has a log of its own."""
        return None

    def catch_up(self, seconds: float) -> None:
        """Wait until all is here that other servers wrote; a folder with a log of its own has none."""

    def schedule_snapshots(self, every: int, cut: bool) -> None:
        """Let snapshots be made for new servers; a folder with a log of its own needs none."""

    def submit(self, command: Command[_T]) -> "Future[_T]":
        """Queue a command; the future has its result once that is on the disk.

        A command that is refused sets the refusal; a failing disk sets a StoreError for all commands of the
        commit. Cancelling works until the command's turn. Raises StoreBusyError when too many wait,
        StoreClosedError.
        """
        future: Future[_T] = Future()
        with self._closing:
            if self._closed:
                raise StoreClosedError("the store was closed")
            try:
                self._queue.put_nowait(Queued(command, future))
            except queue.Full:
                raise StoreBusyError(f"{self._queue.maxsize} writes are waiting; try again later") from None
        return future

    def close(self) -> None:
        """Commit what waits, then stop."""
        with self._closing:
            first = not self._closed
            self._closed = True
        if first:
            self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        ended = False
        while not ended:
            group: list[Queued] = []
            taken = self._queue.get()
            while taken is not None:
                if taken.future.set_running_or_notify_cancel():
                    group.append(taken)
                if len(group) == self._group_size:
                    break
                try:
                    taken = self._queue.get_nowait()
                except queue.Empty:
                    break
            ended = taken is None
            if group:
                self._commit(group)

    def _commit(self, group: list[Queued]) -> None:
        touched: set[str] = set()
        try:
            self._environment.write(lambda transaction: self._execute(transaction, group, touched))
        except Exception as error:
            # Every fault must reach the callers, and the thread must go on.
            self._forget(touched)
            self._fail(group, error)
            return
        self._settle(group)

    @staticmethod
    def _fail(group: Sequence[Queued], error: Exception) -> None:
        if not isinstance(error, OSError):
            _log.error("a group of writes failed", exc_info=error)
        for queued in group:
            queued.future.set_exception(error)

    @staticmethod
    def _settle(group: Sequence[Queued]) -> None:
        for queued in group:
            if queued.error is None:
                queued.future.set_result(queued.result)
            else:
                queued.future.set_exception(queued.error)

    def _execute(self, transaction: Transaction, group: list[Queued], touched: set[str]) -> None:
        self._together = len(group)
        # A repeated transaction must not meet what the abandoned one did in memory.
        self._forget(touched)
        if transaction.get(TableName.META, keys.SHARED_LOG) is not None:
            raise LogDivergedError(
                "this folder was moved to a log that servers share since its server started: start it again"
            )
        for queued in group:
            self._execute_command(transaction, queued, touched)

    def _execute_command(self, transaction: Transaction, queued: Queued, touched: set[str]) -> None:
        queued.result = queued.error = None
        own: set[str] = set()
        try:
            with self._begin(transaction) as work:
                own = work.touched
                queued.result = queued.command.execute(work)
        except lmdb.Error:
            touched |= own
            raise
        except Exception as error:
            # The command's own refusal, or a mistake in it: its caller's business either way.
            self._forget(own)
            queued.error = error
        touched |= own

    @contextmanager
    def _begin(self, transaction: Transaction) -> Iterator[WriteContext]:
        """One command's part of a transaction: only it is undone when its block raises."""
        with transaction.begin_nested() as part:
            yield WriteContext(part, self._games, self._journal, self._clock(), self._give_way)

    def _give_way(self) -> None:
        if self._together <= _FEW and self.waiting <= _FEW:
            self.giving_way()

    def _forget(self, games: set[str]) -> None:
        for game_id in games:
            self._games.forget(game_id)
        games.clear()
