"""The writer's own copies of games' knowledge, and what one write transaction does with them."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from academy.knowledge.game import GameKnowledge
from academy.store import event_log, fold, game_tables, keys
from academy.store.environment import Table, Transaction
from academy.store.errors import GameConflict
from academy.v1 import events_pb2

GAMES_IN_MEMORY: Final = 64
# Replaying an event costs about as much as loading a hundred patterns.
MOST_REPLAYED: Final = 64


@dataclass(slots=True)
class LoadedGame:
    """A game's knowledge as of an event of its own."""

    knowledge: GameKnowledge
    generation: int


class WorkingGames:
    """Knowledge of the games written last. For one thread."""

    def __init__(self, most: int = GAMES_IN_MEMORY) -> None:
        self._most = most
        self._loaded: OrderedDict[str, LoadedGame] = OrderedDict()

    def current(self, transaction: Transaction, game_id: str) -> LoadedGame:
        """Return a game as stored now, also by other processes. Raises UnknownGame."""
        generation = game_tables.game_state(transaction, game_id).generation
        loaded = self._loaded.get(game_id)
        if loaded is not None and loaded.generation != generation and not self._follow(transaction, loaded):
            loaded = None
        if loaded is None:
            loaded = LoadedGame(*game_tables.load(transaction, game_id))
        self.keep(game_id, loaded.knowledge, loaded.generation)
        return self._loaded[game_id]

    def _follow(self, transaction: Transaction, loaded: LoadedGame) -> bool:
        """Take in what another process wrote; False where loading afresh is cheaper."""
        game_id = loaded.knowledge.spec.game_id
        del self._loaded[game_id]
        if loaded.generation < event_log.compacted(transaction):
            return False
        for count, event in enumerate(event_log.scan(transaction, game_id, after=loaded.generation)):
            if count == MOST_REPLAYED:
                return False
            fold.apply(loaded.knowledge, event, lambda number: event_log.get(transaction, number))
            loaded.generation = event.sequence
        loaded.knowledge.take_changes()
        return True

    def keep(self, game_id: str, knowledge: GameKnowledge, generation: int) -> None:
        """Remember a game; the one that was not used for longest goes when there are too many."""
        self._loaded[game_id] = LoadedGame(knowledge, generation)
        self._loaded.move_to_end(game_id)
        while len(self._loaded) > self._most:
            self._loaded.popitem(last=False)

    def forget(self, game_id: str) -> None:
        """Throw a game's copy away: it may hold what was not committed."""
        self._loaded.pop(game_id, None)


class Work:
    """One command's part of a write transaction."""

    def __init__(self, transaction: Transaction, games: WorkingGames, now: float) -> None:
        self.transaction = transaction
        self.now = now
        self.touched: set[str] = set()
        self._games = games

    @property
    def time(self) -> Timestamp:
        """The present time as a message."""
        nanoseconds = round(self.now * 1e9)
        return Timestamp(seconds=nanoseconds // 10**9, nanos=nanoseconds % 10**9)

    def knowledge(self, game_id: str) -> GameKnowledge:
        """Return a game's knowledge to look at; only `record` changes it. Raises UnknownGame."""
        return self._games.current(self.transaction, game_id).knowledge

    def record(self, event: events_pb2.Event) -> tuple[int, fold.Outcome]:
        """Number an event, log it, and store what it changes. Returns its number and what became of it.

        Raises what `fold.apply` raises; then the transaction must not be committed.
        """
        game_id = event.game_id
        self.touched.add(game_id)
        event.sequence = event_log.last_sequence(self.transaction) + 1
        event.time.CopyFrom(self.time)
        if event.WhichOneof("kind") == "game_registered":
            if self.transaction.get(Table.GAMES, keys.game(game_id)) is not None:
                raise GameConflict(game_id, "event of registration")
            knowledge = fold.begin(event)
            game_tables.store_new(self.transaction, knowledge, event.sequence)
            outcome = fold.Outcome()
        else:
            loaded = self._games.current(self.transaction, game_id)
            knowledge = loaded.knowledge
            outcome = fold.apply(knowledge, event, lambda number: event_log.get(self.transaction, number))
            game_tables.store_changes(self.transaction, knowledge, loaded.generation, event.sequence)
            if event.WhichOneof("kind") == "settings_changed":
                game_tables.store_settings(self.transaction, knowledge)
        event_log.append(self.transaction, event)
        self._games.keep(game_id, knowledge, event.sequence)
        return event.sequence, outcome
