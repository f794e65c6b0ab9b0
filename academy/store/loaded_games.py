"""The writer's own copies of games' knowledge, and what one write transaction does with them."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from academy.knowledge.game import RULES_VERSION, GameKnowledge
from academy.store import event_log, game_tables, keys
from academy.store.environment import TableName, Transaction
from academy.store.errors import GameConflictError
from academy.store.game_tables import EntryReader
from academy.store.v1 import records_pb2
from academy.v1 import events_pb2

# A full game takes 10 MiB here: with 100 that are served, a process stays under 1 GiB.
GAMES_IN_MEMORY: Final = 48


@dataclass(slots=True)
class LoadedGame:
    """A game's knowledge as of an event of its own."""

    knowledge: GameKnowledge
    generation: int


class LoadedGames:
    """Knowledge of the games written last. For one thread."""

    def __init__(self, most: int = GAMES_IN_MEMORY) -> None:
        self._most = most
        self._loaded: OrderedDict[str, LoadedGame] = OrderedDict()

    def current(self, transaction: Transaction, game_id: str) -> LoadedGame:
        """Return a game as stored now, also by other processes. Raises UnknownGame."""
        state = game_tables.game_state(transaction, game_id)
        loaded = self._loaded.get(game_id)
        if loaded is not None and loaded.generation != state.generation:
            loaded = self._followed(transaction, loaded, state)
        if loaded is None:
            loaded = LoadedGame(*game_tables.load(transaction, game_id))
        self.keep(game_id, loaded.knowledge, loaded.generation)
        return self._loaded[game_id]

    def _followed(
        self, transaction: Transaction, loaded: LoadedGame, state: records_pb2.GameState
    ) -> LoadedGame | None:
        """Take in what another process wrote; None where the feed no longer says what that was."""
        spec = loaded.knowledge.spec
        news = game_tables.news(transaction, EntryReader(spec), spec.game_id, loaded.generation, state)
        if news is None:
            return None
        # Should it fail half-way, nobody is to meet this copy again.
        del self._loaded[spec.game_id]
        loaded.knowledge.follow(news)
        return LoadedGame(loaded.knowledge, state.generation)

    def keep(self, game_id: str, knowledge: GameKnowledge, generation: int) -> None:
        """Remember a game; the one that was not used for longest goes when there are too many."""
        self._loaded[game_id] = LoadedGame(knowledge, generation)
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
        now: float,
        give_way: Callable[[], None] = lambda: None,
    ) -> None:
        """Begin at the time `now`; `give_way` is called between steps."""
        self.transaction = transaction
        self.now = now
        self._give_way = give_way
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

    def record(self, event: events_pb2.Event) -> tuple[int, event_log.EventOutcome]:
        """Number an event, log it, and store what it changes. Returns its number and what became of it.

        Raises what `fold.apply` raises; then the transaction must not be committed.
        """
        game_id = event.game_id
        self.touched.add(game_id)
        event.sequence = event_log.last_sequence(self.transaction) + 1
        event.time.CopyFrom(self.time)
        event.rules = RULES_VERSION
        if event.WhichOneof("kind") == "game_registered":
            if self.transaction.get(TableName.GAMES, keys.game(game_id)) is not None:
                raise GameConflictError(game_id, "event of registration")
            knowledge = event_log.begin(event)
            game_tables.store_new(self.transaction, knowledge, event.sequence)
            event_log.append(self.transaction, event)
            outcome = event_log.EventOutcome()
        elif event.WhichOneof("kind") == "game_deleted":
            game_tables.remove_game(self.transaction, game_id)
            event_log.delete_game(self.transaction, event)
            self._games.forget(game_id)
            return event.sequence, event_log.EventOutcome()
        else:
            loaded = self._games.current(self.transaction, game_id)
            knowledge = loaded.knowledge
            self._give_way()
            outcome = event_log.apply(
                knowledge, event, lambda number: event_log.get(self.transaction, number), self._give_way
            )
            self._give_way()
            stored = event_log.append(self.transaction, event)
            self._give_way()
            game_tables.store_changes(
                self.transaction,
                knowledge,
                loaded.generation,
                event.sequence,
                stored,
            )
            if event.WhichOneof("kind") in ("settings_changed", "game_described"):
                game_tables.store_game(self.transaction, knowledge)
        self._games.keep(game_id, knowledge, event.sequence)
        return event.sequence, outcome
