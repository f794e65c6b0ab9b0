"""The store as the rest of ACADEMY uses it: commands to write, and reading calls.

Libraries are read through `replica.Replica`, which keeps them in memory.
"""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

from academy.knowledge.votes import ELO_SCALE
from academy.store import arenas, contest_tables, event_log, game_tables, keys, library_commands, tokens
from academy.store.codec import unpack_message
from academy.store.contest_tables import OpenContestPlace, ProposalFilter, contest_record, find_contest
from academy.store.environment import LARGEST_MAP, Environment, TableName
from academy.store.errors import (
    InvalidRecordError,
    SchemaOutdatedError,
    StoreReadOnlyError,
    UnknownContestError,
)
from academy.store.maintenance.upgrade import upgrade
from academy.store.replica import Listener, Replica
from academy.store.v1 import records_pb2
from academy.store.writer import QUEUE_SIZE, Command, Writer
from academy.v1 import contests_pb2, events_pb2, game_pb2, libraries_pb2, proposals_pb2

MAX_PAGE: Final = 1_000

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Page:
    """How many records to read at most, and the place to go on from (from the page before; 0 at first)."""

    most: int = 100
    place: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.most <= MAX_PAGE or not 0 <= self.place < 2**63:
            raise InvalidRecordError(
                "page", f"{self.most} records from {self.place}: 1 to {MAX_PAGE} are read at once"
            )


class Store:
    """An open data folder. Open it once a process, after any fork; its calls may come from any thread."""

    def __init__(
        self,
        folder: Path,
        *,
        read_only: bool = False,
        largest_map: int = LARGEST_MAP,
        queue_size: int = QUEUE_SIZE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Open a folder, making it where it is missing, and bringing it up to date unless `read_only`.

        `largest_map` bounds its size in bytes, `queue_size` the writes that may wait; `clock` gives
        seconds since 1970. Raises StoreError, SchemaMismatchError.
        """
        try:
            self.environment = Environment(folder, read_only=read_only, largest_map=largest_map)
        except SchemaOutdatedError:
            if read_only:
                raise
            upgrade(folder, largest_map)
            self.environment = Environment(folder, largest_map=largest_map)
        self.clock = clock
        self._writer = None if read_only else Writer(self.environment, queue_size=queue_size, clock=clock)

    def close(self) -> None:
        """Commit what waits, then close. Closing twice is harmless."""
        if self._writer is not None:
            self._writer.close()
        self.environment.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Writing

    def submit(self, command: Command[_T]) -> "Future[_T]":
        """Queue a command; see `Writer.submit`.

        Raises StoreBusyError, StoreClosedError, StoreReadOnlyError.
        """
        if self._writer is None:
            raise StoreReadOnlyError(f"{self.environment.folder}: was opened for reading only")
        return self._writer.submit(command)

    def run(self, command: Command[_T]) -> _T:
        """Do a command and return its result once it is on the disk. Raises like `submit` and the command."""
        return self.submit(command).result()

    def give_way(self, count_questions: Callable[[], float]) -> None:
        """Have writes give way to questions; `count_questions` returns how many any thread has had."""
        if self._writer is not None:
            self._writer.giving_way.to(count_questions)

    @property
    def waiting_writes(self) -> int:
        """How many commands wait for the writer."""
        return 0 if self._writer is None else self._writer.waiting

    # Reading

    @property
    def version(self) -> int:
        """A number that changes with each commit of any process. Raises StoreError."""
        return self.environment.version

    def follow(self, listener: Listener | None = None) -> Replica:
        """Return a new reader of libraries that follows what is committed, for use by one thread."""
        return Replica(self.environment, listener)

    def authenticate(self, text: str) -> tokens.Caller:
        """Return whose token or ticket this is.

        Raises UnknownToken, RevokedTokenError or ExpiredTokenError.
        """
        with self.environment.reading() as transaction:
            return tokens.authenticate(transaction, text, self.clock())

    def tokens(self) -> list[tokens.Token]:
        """Return all tokens, oldest first."""
        with self.environment.reading() as transaction:
            return tokens.tokens(transaction)

    def game(self, game_id: str) -> game_pb2.Game:
        """Return a game with its present settings. Raises UnknownGame."""
        with self.environment.reading() as transaction:
            return game_tables.game_record(transaction, game_id)

    def average_length(self, game_id: str) -> float:
        """Return the plies of an average game as known now. Raises UnknownGame."""
        with self.environment.reading() as transaction:
            expected = game_tables.game_record(transaction, game_id).expected_length
            known = game_tables.read_measures(game_tables.measures(transaction, game_id))
        return known.average_length(expected)

    def games(self, *, after: str = "", most: int = MAX_PAGE) -> list[game_pb2.Game]:
        """Return up to `most` games in the order of their ids, those after id `after`."""
        games = []
        with self.environment.reading() as transaction:
            start = after.encode() + b"\0" if after else b""
            for _, stored in transaction.scan(TableName.GAMES, start=start):
                games.append(unpack_message(game_pb2.Game, stored))
                if len(games) == most:
                    break
        return games

    def latest_games(self) -> list[str]:
        """Return the ids of all games, the latest to learn first."""
        with self.environment.reading() as transaction:
            generations = {
                key.decode(): unpack_message(records_pb2.GameState, stored).generation
                for key, stored in transaction.scan(TableName.GAME_STATE)
            }
        return sorted(generations, key=lambda game_id: (-generations[game_id], game_id))

    def elo(self, game_id: str, player: str) -> float | None:
        """Return the Elo of a player of a game as the arena gave it last, None where it gave none."""
        with self.environment.reading() as transaction:
            rating = game_tables.rating(transaction, game_id, player)
        return None if rating is None else rating[1] / ELO_SCALE

    def contest(self, contest_id: str) -> records_pb2.ContestRecord:
        """Return a contest with its seats. Raises UnknownContestError."""
        with self.environment.reading() as transaction:
            return contest_record(transaction, contest_id)

    def contest_of_arena(self, arena: str, contest_id: str) -> records_pb2.ContestRecord:
        """Return an arena's contest by the arena's own id for it.

        Raises UnknownContestError, InvalidRecordError.
        """
        with self.environment.reading() as transaction:
            known = arenas.find(transaction, arena)
            if known is None:
                raise UnknownContestError(contest_id)
            return contest_record(transaction, keys.kept_contest_id(contest_id, known.number))

    def contests_of_id(self, contest_id: str) -> list[records_pb2.ContestRecord]:
        """Return the contests of all arenas that were given this id. Raises InvalidRecordError."""
        with self.environment.reading() as transaction:
            numbers = {0, *(arena.number for arena in arenas.arenas(transaction))}
            kept = (keys.kept_contest_id(contest_id, number) for number in sorted(numbers))
            return [record for kept_id in kept if (record := find_contest(transaction, kept_id)) is not None]

    def arenas(self) -> list[contests_pb2.Arena]:
        """Return all arenas in the order in which they came."""
        with self.environment.reading() as transaction:
            return [arenas.as_message(arena) for arena in arenas.arenas(transaction)]

    def arena_number(self, name: str) -> int | None:
        """Return the number of an arena, None where the name is new."""
        with self.environment.reading() as transaction:
            record = arenas.find(transaction, name)
            return None if record is None else record.number

    def is_home(self, arena: str) -> bool:
        """Whether an arena is the first of this folder, or would be."""
        with self.environment.reading() as transaction:
            known = arenas.find(transaction, arena)
            return not arenas.arenas(transaction) if known is None else known.number == 0

    def identity(self, arena: str, player: str) -> str:
        """Return the identity that a name has in an arena now. Raises InvalidRecordError."""
        with self.environment.reading() as transaction:
            known = arenas.find(transaction, arena)
            return player if known is None else arenas.identity(transaction, known, player, "player")

    def may_act(self, name: str, other: str) -> bool:
        """Whether an arena may act for another."""
        with self.environment.reading() as transaction:
            return arenas.may_act(transaction, name, other)

    def open_contest(self, player: str, game_id: str, since: float = 0.0) -> str | None:
        """Return the id of the oldest open contest of a game that a player has a seat in, None without any.

        Only those count that were opened at `since` or later, in seconds since 1970.
        """
        with self.environment.reading() as transaction:
            return contest_tables.open_contest_of_player(
                transaction, player, game_id, round(max(0.0, since) * 1e9)
            )

    def oldest_contests(
        self, game_id: str, after: OpenContestPlace | None, most: int
    ) -> list[contests_pb2.Contest]:
        """Return up to `most` open contests of a game (of all if empty), oldest first, those after a place.

        Raises UnknownGame.
        """
        with self.environment.reading() as transaction:
            if game_id:
                game_tables.game_record(transaction, game_id)
            return contest_tables.oldest_open_contests(transaction, game_id, after, most)

    def proposals(
        self, wanted: ProposalFilter, start: bytes = b"", most: int = MAX_PAGE
    ) -> tuple[list[proposals_pb2.Proposal], bytes]:
        """Return proposals as `list_proposals` does, with contests as their arenas know them."""
        with self.environment.reading() as transaction:
            proposals, after = contest_tables.list_proposals(transaction, wanted, start, most)
        return self.proposals_as_given(proposals), after

    def proposals_as_given(self, proposals: list[proposals_pb2.Proposal]) -> list[proposals_pb2.Proposal]:
        """Return proposals with their contests as the arenas know them, not as they are kept."""
        with self.environment.reading() as transaction:
            names = {arena.number: arena.name for arena in arenas.arenas(transaction)}
        for proposal in proposals:
            proposal.arena = names.get(keys.arena_number(proposal.contest_id), "")
            proposal.contest_id = keys.given_contest_id(proposal.contest_id)
        return proposals

    def player_statistics(
        self, game_id: str, player: str, after: bytes, most: int
    ) -> list[tuple[bytes, libraries_pb2.PlayerStatistics]]:
        """Return up to `most` players' figures of a game with their places, those after a place.

        With a player's identity only its own. Raises UnknownGame.
        """
        with self.environment.reading() as transaction:
            game_tables.game_record(transaction, game_id)
            if player:
                return [(b"", contest_tables.find_player_statistics(transaction, game_id, player))]
            return contest_tables.page_of_player_statistics(transaction, game_id, after, most)

    def proposals_of_seat(self, contest_id: str, seat: int) -> int:
        """Return how many proposals a seat has made in a contest."""
        with self.environment.reading() as transaction:
            return contest_tables.count_proposals_of_seat(transaction, contest_id, seat)

    def events(
        self, page: Page, *, game_id: str = "", newest_first: bool = False
    ) -> tuple[list[events_pb2.Event], int]:
        """Return events of a game (of all where empty), and the next page's place (0: none is left)."""
        events: list[events_pb2.Event] = []
        with self.environment.reading() as transaction:
            if game_id:
                game_tables.game_record(transaction, game_id)
            log = event_log.scan(transaction, game_id, after=page.place, newest_first=newest_first)
            for event in log:
                if len(events) == page.most:
                    return events, events[-1].sequence
                events.append(event)
        return events, 0

    def last_event(self) -> int:
        """Return the number of the newest event, 0 where there is none."""
        with self.environment.reading() as transaction:
            return event_log.last_sequence(transaction)

    def ratings(
        self, game_id: str, arena: str, players: Iterable[str], *, of_admin: bool = False
    ) -> dict[str, float]:
        """Return the last Elo in a game of those players of an arena that are known there.

        With `of_admin` the names are identities, unless there is an arena of that name.

        Raises UnknownGame, and InvalidRecordError for names that cannot be of this arena.
        """
        with self.environment.reading() as transaction:
            game_tables.game_record(transaction, game_id)
            known = arenas.find(transaction, arena)
            as_identities = of_admin and known is None
            if known is None and not as_identities and arenas.arenas(transaction):
                # Its namespace is made with its first contest; no player can be known there yet.
                return {}
            record = known or records_pb2.ArenaRecord()
            ratings: dict[str, float] = {}
            for player in players:
                name = player if as_identities else arenas.identity(transaction, record, player)
                rating = game_tables.rating(transaction, game_id, name)
                if rating is not None:
                    ratings[player] = rating[1] / ELO_SCALE
            return ratings

    def all_ratings(self, game_id: str) -> list[tuple[str, float]]:
        """Return the last Elo of all players of a game, by name."""
        with self.environment.reading() as transaction:
            return sorted((name, elo / ELO_SCALE) for name, elo in game_tables.ratings(transaction, game_id))

    def removals(self, game_id: str) -> list[libraries_pb2.Removal]:
        """Return what admins removed of a game and can be restored, newest first. Raises UnknownGame."""
        with self.environment.reading() as transaction:
            game = game_tables.game_record(transaction, game_id)
            _, settings = game_tables.spec_and_settings(game)
            kept = library_commands.newest_removals_first(transaction, game_id)
            now = self.clock()
            lasting = (
                removal.removal
                for removal in kept
                if not library_commands.is_removal_over(removal, settings, now)
            )
            return list(islice(lasting, library_commands.MOST_LISTED))

    def open_contests(self) -> int:
        """Return how many contests wait for their reports."""
        with self.environment.reading() as transaction:
            return transaction.count(TableName.OPEN_CONTESTS_BY_AGE)

    def held_proposals(self, game_id: str) -> int:
        """Return how many proposals of a game wait for their contests' reports."""
        with self.environment.reading() as transaction:
            return contest_tables.count_held_proposals(transaction, game_id)
