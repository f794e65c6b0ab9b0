"""The arena's own tables beside SAGA's: what SAGA has no place for.

ARENA_Competition adds to a series what resuming needs; ARENA_Competitor says which contestant
stands for a name of the control file now, ARENA_FirstRating with which Elo a name began, ARENA_Standing and
ARENA_Pair how each player fared so far, in all games and against each opponent; ARENA_Series says
which series a MARS mission consists of, ARENA_Inhibition which contestants get no more games of a variant,
and ARENA_Exclusion which players and matchups were left out, and when; ARENA_Attempt, ARENA_Void and
ARENA_Outbox follow a game from the moment it is given out to ACADEMY's acknowledgement.
"""

from typing import Any, Final

from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
    event,
)

from arena.results.schema import METADATA, auto_number, refers

SCHEMA_VERSION: Final = 10

META: Final = Table(
    "ARENA_Meta",
    METADATA,
    Column("Key", Text, primary_key=True),
    Column("Value", Text, nullable=False),
)

COMPETITION: Final = Table(
    "ARENA_Competition",
    METADATA,
    refers("SeriesId", "SAGA_Series.SeriesId", primary_key=True),
    Column("Uuid", Text, nullable=False, unique=True),
    Column("Kind", Text, nullable=False),
    Column("Game", Text, nullable=False),
    Column("Settings", Text, nullable=False),  # the referee's settings as JSON, keys sorted
    Column("MoveLimit", Integer, nullable=False),
    Column("Scorer", Text, nullable=False),
    Column("Created", DateTime, nullable=False),
    CheckConstraint("\"Scorer\" IN ('internal', 'players')", name="Scorer_known"),
)

COMPETITOR: Final = Table(
    "ARENA_Competitor",
    METADATA,
    refers("ContestantId", "SAGA_Contestant.ContestantId", primary_key=True),
    refers("SeriesId", "SAGA_Series.SeriesId"),
    Column("Name", Text, nullable=False),
    Column("Current", Boolean, nullable=False, default=True),
)

FIRST_RATING: Final = Table(
    "ARENA_FirstRating",
    METADATA,
    refers("SeriesId", "SAGA_Series.SeriesId", primary_key=True),
    Column("Name", Text, primary_key=True),
    Column("Elo", Float, nullable=False),
    Column("Source", Text, nullable=False),
    Column("Game", Text, nullable=False),  # as ACADEMY calls it, where the Elo is ACADEMY's or a league's
    CheckConstraint(
        "\"Source\" IN ('control file', 'academy', 'newcomer', 'earlier games')", name="Source_known"
    ),
)

MISSION_SERIES: Final = Table(
    "ARENA_Series",
    METADATA,
    refers("SeriesId", "SAGA_Series.SeriesId", primary_key=True),
    refers("MissionId", "SAGA_Series.SeriesId"),
    Column("Name", Text, nullable=False),  # as the control file calls it, and Matchup of its games
    UniqueConstraint("MissionId", "Name", name="series_once"),
)

INHIBITION: Final = Table(
    "ARENA_Inhibition",
    METADATA,
    refers("ContestantId", "SAGA_Contestant.ContestantId", primary_key=True),
    refers("VariantId", "SAGA_Variant.VariantId", primary_key=True),
)

EXCLUSION: Final = Table(
    "ARENA_Exclusion",
    METADATA,
    auto_number("ExclusionId"),
    refers("SeriesId", "SAGA_Series.SeriesId"),
    Column("Scope", Text, nullable=False),
    Column("Name", Text, nullable=False),  # of a player or of a matchup
    Column("Reason", Text, nullable=False),
    Column("Time", DateTime, nullable=False),
    Column("Games", Integer, nullable=False),  # the finished games of the competition by then
    Column("Readmitted", Integer),  # and when it was let in again; NULL: it is left out
    CheckConstraint("\"Scope\" IN ('player', 'matchup')", name="Scope_known"),
)

ATTEMPT: Final = Table(
    "ARENA_Attempt",
    METADATA,
    refers("SeriesId", "SAGA_Series.SeriesId", primary_key=True),
    Column("Name", Text, primary_key=True),
    Column("Attempt", Integer, primary_key=True),
    Column("ContestId", Text, nullable=False, unique=True),
    # academy.v1.Contest as opened at ACADEMY, which therefore must hear how it ended; else NULL
    Column("Contest", LargeBinary),
    Column("Matchup", Text, nullable=False),
    Column("Players", Text, nullable=False),  # their names by seat, as JSON
    Column("Detail", Text, nullable=False),  # what the selector must know of the game again
    Column("Started", DateTime, nullable=False),
    CheckConstraint('"Attempt" >= 1', name="Attempt_from_1"),
)


def of_an_attempt() -> ForeignKeyConstraint:
    """The rule that a row is of an attempt that was begun."""
    names = ["SeriesId", "Name", "Attempt"]
    return ForeignKeyConstraint(names, [f"ARENA_Attempt.{name}" for name in names])


VOID: Final = Table(
    "ARENA_Void",
    METADATA,
    refers("SeriesId", "SAGA_Series.SeriesId", primary_key=True),
    Column("Name", Text, primary_key=True),
    Column("Attempt", Integer, primary_key=True),
    Column("Cause", Text, nullable=False),
    Column("Reason", Text, nullable=False),
    Column("Seconds", Float, nullable=False),
    Column("Ended", DateTime, nullable=False),
    of_an_attempt(),
    CheckConstraint("\"Cause\" IN ('void', 'interrupted')", name="Cause_known"),
    CheckConstraint('"Seconds" >= 0', name="Void_seconds_not_negative"),
)

GAME_DETAIL: Final = Table(
    "ARENA_Game",
    METADATA,
    refers("GameId", "SAGA_Game.GameId", primary_key=True),
    refers("SeriesId", "SAGA_Series.SeriesId"),
    Column("Name", Text, nullable=False),  # the game id as people see it: AvB_0
    Column("Matchup", Text, nullable=False),
    Column("Attempt", Integer, nullable=False),
    Column("Seed", BigInteger, nullable=False),
    Column("ContestId", Text, nullable=False, unique=True),
    Column("Summary", Text, nullable=False),
    Column("Detail", Text, nullable=False),
    Column("Termination", Text, nullable=False),  # the arena's word: score, resignation, forfeit...
    Column("Voids", Integer, nullable=False),
    Column("Started", DateTime, nullable=False),
    Column("StartBoard", Text, nullable=False),
    Column("Record", Text, nullable=False),
    Column("RecordExtension", Text, nullable=False),
    Column("Warnings", Text, nullable=False),
    # All moves with what is known of them: see `arena.results.game_rows`
    Column("Moves", Text, nullable=False, server_default="[]"),
    Column("Plies", Integer, nullable=False, server_default="0"),  # how many moves these are
    # The opening that the game began with: the file's name, its place there from 1, and its own name.
    # NULL without one, and not known of games that an earlier release has stored
    Column("OpeningFile", Text),
    Column("OpeningNumber", Integer),
    Column("OpeningName", Text),
    # The first position as a player arranged it; NULL where none did, and in games before version 9
    Column("Arrangement", Text),
    UniqueConstraint("SeriesId", "Name", name="game_counted_once"),
    of_an_attempt(),
    # All that lists filter by: the rows themselves are long, and games by the hundred thousand.
    Index("ARENA_Game_in_lists", "SeriesId", "GameId", "Termination", "Plies", "OpeningName"),
)

SEAT: Final = Table(
    "ARENA_Seat",
    METADATA,
    refers("GameId", "SAGA_Game.GameId", primary_key=True),
    Column("Seat", Integer, primary_key=True),
    Column("PowerId", Integer, nullable=False),  # the seat's player in SAGA_Player
    Column("Name", Text, nullable=False),
    Column("Fault", Text, nullable=False),
    Column("Remark", Text, nullable=False),
    Column("WallSeconds", Float, nullable=False),
    Column("PeakMemoryBytes", BigInteger),
    Column("EngineName", Text, nullable=False),
    Column("EngineDescription", Text, nullable=False),
    Column("Clock", Text),  # how long it may think: see `arena.players.clock.describe_clock`; NULL: not known
    # How often it was asked for a move, which is what WallSeconds are for
    Column("OwnMoves", Integer, nullable=False, server_default="0"),
    Column("Result", Text),  # win, draw, loss or unknown
    CheckConstraint('"Seat" >= 1', name="Seat_from_1"),
    UniqueConstraint("GameId", "PowerId", name="Seat_of_a_power"),
    Index("ARENA_Seat_of_player", "Name", "Result", "GameId"),
    ForeignKeyConstraint(["GameId", "PowerId"], ["SAGA_Player.GameId", "SAGA_Player.PowerId"]),
)
# As text: an `Index` with a condition makes SQLAlchemy load what it has for PostgreSQL, with every start.
INDEX_OF_FAULTS: Final = DDL(  # type: ignore[no-untyped-call]
    'CREATE INDEX IF NOT EXISTS "ARENA_Seat_with_fault" ON "ARENA_Seat" ("GameId") WHERE "Fault" <> \'none\''
)
event.listen(SEAT, "after_create", INDEX_OF_FAULTS)

RATING: Final = Table(
    "ARENA_Rating",
    METADATA,
    refers("GameId", "SAGA_Game.GameId", primary_key=True),
    Column("Seat", Integer, primary_key=True),
    Column("Name", Text, nullable=False),
    Column("EloBefore", Float, nullable=False),
    Column("EloAfter", Float, nullable=False),
    Index("ARENA_Rating_of_player", "Name", "GameId"),
)


def _result_counts() -> list[Column[Any]]:
    return [Column(name, Integer, nullable=False) for name in ("Wins", "Draws", "Losses", "Unknown")]


STANDING: Final = Table(
    "ARENA_Standing",
    METADATA,
    refers("SeriesId", "SAGA_Series.SeriesId", primary_key=True),
    Column("Name", Text, primary_key=True),
    *_result_counts(),
    Column("Points", Float, nullable=False),
    Column("Forfeits", Integer, nullable=False),
    Column("TimeLosses", Integer, nullable=False),
    Column("Faults", Integer, nullable=False),  # games with a fault
    Column("CpuSeconds", Float, nullable=False),  # the sum over the games in which it is known
    Column("CpuGames", Integer, nullable=False),
    Column("Elo", Float, nullable=False),  # after the last game
)

PAIR: Final = Table(
    "ARENA_Pair",
    METADATA,
    refers("SeriesId", "SAGA_Series.SeriesId", primary_key=True),
    Column("Name", Text, primary_key=True),
    Column("Opponent", Text, primary_key=True),
    *_result_counts(),
)

OUTBOX: Final = Table(
    "ARENA_Outbox",
    METADATA,
    auto_number("OutboxId"),
    refers("SeriesId", "SAGA_Series.SeriesId"),
    Column("ContestId", Text, nullable=False, unique=True),
    Column("Report", LargeBinary),  # academy.v1.ReportContestRequest; NULL once acknowledged
    Column("State", Text, nullable=False, default="waiting"),
    Column("Attempts", Integer, nullable=False, default=0),
    Column("LastError", Text, nullable=False, default=""),
    Column("Changed", DateTime, nullable=False),
    CheckConstraint("\"State\" IN ('waiting', 'acknowledged', 'refused')", name="State_known"),
    CheckConstraint('("State" = \'acknowledged\') = ("Report" IS NULL)', name="acknowledged_is_gone"),
    sqlite_autoincrement=True,
)
# Acknowledged rows stay, by the hundred thousand.
INDEX_OF_WAITING: Final = DDL(  # type: ignore[no-untyped-call]
    'CREATE INDEX IF NOT EXISTS "ARENA_Outbox_waiting" ON "ARENA_Outbox" '
    '("SeriesId", "Attempts", "OutboxId") WHERE "State" = \'waiting\''
)
event.listen(OUTBOX, "after_create", INDEX_OF_WAITING)

# What ACADEMY made of the players' proposals, by contest. Seat 0: its counts, where ACADEMY gives only them.
VERDICT: Final = Table(
    "ARENA_Verdict",
    METADATA,
    auto_number("VerdictId"),
    refers("SeriesId", "SAGA_Series.SeriesId"),
    Column("ContestId", Text, nullable=False),
    Column("Seat", Integer, nullable=False),
    Column("Player", Text, nullable=False),
    Column("Verdict", Text, nullable=False),  # matched, specialised, generalised, inserted, evicted, dropped
    Column("Reason", Text, nullable=False),  # the rule that decided, with its numbers
    Column("Count", Integer, nullable=False),
    UniqueConstraint("ContestId", "Seat", "Verdict", "Reason"),
    sqlite_autoincrement=True,
)
