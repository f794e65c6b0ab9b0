"""SAGA 2.0's tables under their own names, for any game.

SAGA was made for Diplomacy. Here a power is a seat, its supply centres are its points as the game
counts them (as real numbers: Go's White has half points), a variant is a game on one board, a
client is a program, a contestant the program as one competition runs it, and a series is a
competition. A year is a round: one move of every seat. What a game has no meaning for is NULL.

Each column says here what the arena writes into it; columns without a remark stay at their default or
NULL. What the keeper of the database enters there has no effect on games. SAGA's own checks are
enforced, AutoNumbers are primary keys.
"""

from typing import Any, Final

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Float,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.schema import SchemaItem

METADATA: Final = MetaData()


def auto_number(name: str) -> Column[int]:
    """An AutoNumber: a primary key that is never used twice, even after deletions."""
    return Column(name, Integer, primary_key=True, autoincrement=True)


def refers(name: str, target: str, primary_key: bool = False, nullable: bool = False) -> Column[int]:
    """A column that names a row of another table."""
    return Column(name, Integer, ForeignKey(target), primary_key=primary_key, nullable=nullable)


def not_negative(*names: str) -> list[CheckConstraint]:
    """The rule that none of the columns is below zero."""
    return [CheckConstraint(f'"{name}" >= 0', name=f"{name}_not_negative") for name in names]


def weight(of: str) -> list[SchemaItem]:
    """How much a row counts among the others, and what there is to remark on it."""
    return [
        Column("Weight", Float, nullable=False, default=1.0),
        Column("Notes", Text, nullable=False, default=""),
        CheckConstraint('"Weight" >= 0', name=f"{of}_weight_not_negative"),
    ]


def saga(name: str, *items: Any) -> Table:
    """A table whose AutoNumbers SQLite keeps unique for ever."""
    return Table(name, METADATA, *items, sqlite_autoincrement=True)


CLIENT: Final = saga(
    "SAGA_Client",
    auto_number("ClientId"),
    Column("Family", Text, nullable=False),  # the player's in the control file, else its name
    Column("Release", Text, nullable=False, default=""),  # its version in the control file
    Column("Name", Text, nullable=False, default=""),  # as its process last reported it
    Column("Version", Text, nullable=False, default=""),
    Column("Command", Text, nullable=False),  # program and arguments, quoted for a shell
    Column("WorkingDir", Text, nullable=False, default=""),
    Column("Lazy", Boolean, nullable=False, default=False),
    Column("Superseded", Boolean, nullable=False, default=False),
    Column("Obsolete", Boolean, nullable=False, default=False),
    Column("Notes", Text, nullable=False, default=""),
    CheckConstraint("\"Family\" <> '' AND \"Command\" <> ''", name="Client_named"),
)

PLATFORM: Final = saga(
    "SAGA_Platform",
    auto_number("PlatformId"),
    Column("Name", Text, nullable=False),  # host name and processor
    Column("Fraction", Float),  # 1: players run at normal priority; 0: the arena was started at a lower one
    # By the load before the first game: 3 below a tenth of the cores, 2 to a half
    Column("Quality", Integer),
    Column("Notes", Text, nullable=False, default=""),
    UniqueConstraint("Name", "Fraction", "Quality", name="Platform_once"),
    CheckConstraint('"Fraction" BETWEEN 0 AND 1', name="Fraction_is_a_share"),
    CheckConstraint('"Quality" IN (1, 2, 3)', name="Quality_1_to_3"),
)

VARIANT: Final = saga(
    "SAGA_Variant",
    auto_number("VariantId"),
    Column("Name", Text, nullable=False, unique=True),  # the game id its referee gives ACADEMY
    Column("Powers", Integer, nullable=False),  # seats
    Column("Supplies", Float),
    Column("FirstYear", Integer),
    Column("FirstSeason", Text),
    Column("Notes", Text, nullable=False, default=""),
    CheckConstraint('"Powers" >= 1', name="Powers_at_least_1"),
)

POWER: Final = saga(
    "SAGA_Power",
    auto_number("PowerId"),
    refers("VariantId", "SAGA_Variant.VariantId"),
    Column("Code", Text, nullable=False),  # the referee's token name of the seat (AUS), else its Name
    Column("Name", Text, nullable=False),  # as players call the seat
    Column("Notes", Text, nullable=False, default=""),
    UniqueConstraint("VariantId", "Code", name="Power_once"),
)

CLIENT_VARIANT: Final = saga(
    "SAGA_ClientVariant",
    refers("ClientId", "SAGA_Client.ClientId", primary_key=True),
    refers("VariantId", "SAGA_Variant.VariantId", primary_key=True),
    # a series that inhibits clients found that it can't be started in time; it plays no more there
    Column("AutoInhibit", Boolean, nullable=False, default=False),
)

CONTESTANT: Final = saga(
    "SAGA_Contestant",
    auto_number("ContestantId"),
    refers("ClientId", "SAGA_Client.ClientId"),
    # The player's name where it has a family; a tuner's candidate: its name in its first game
    Column("Personality", Text, nullable=False, default=""),
    Column("Options", Text, nullable=False, default=""),  # GTP start-up commands, each followed by "#"
    refers("PlatformId", "SAGA_Platform.PlatformId", nullable=True),
    Column("FinishTime", Integer),  # the time to exit, in milliseconds
    Column("Throttle", Float),
    Column("Superseded", Boolean, nullable=False, default=False),  # its command was changed since
    Column("Obsolete", Boolean, nullable=False, default=False),
    Column("Notes", Text, nullable=False, default=""),
    *not_negative("FinishTime"),
)

SETTING: Final = saga(
    "SAGA_Setting",
    auto_number("SettingId"),
    refers("PlatformId", "SAGA_Platform.PlatformId", nullable=True),
    refers("VariantId", "SAGA_Variant.VariantId"),
    Column("Obsolete", Boolean, nullable=False, default=False),
    # Press level, limits and rules are the referee's settings of these names, as they are in force; NULL is
    # no limit. For games without such settings: level 0, NULL
    Column("Level", Integer),
    Column("SL", Integer),
    Column("IL", Integer),
    Column("PTL", Integer),
    Column("MTL", Integer),  # seconds for a move, rounded up, where all have the same and no other clock
    Column("RTL", Integer),  # RTL and BTL: as MTL, in games with retreats and builds
    Column("BTL", Integer),
    *(Column(rule, Boolean) for rule in ("AOA", "PDA", "NPR", "NPB")),
    # game, its settings, move limit, scorer and the clocks of its players, as JSON
    Column("Notes", Text, nullable=False, default=""),
    *not_negative("Level", "SL", "IL", "PTL", "MTL", "RTL", "BTL"),
)

SERIES: Final = saga(
    "SAGA_Series",
    auto_number("SeriesId"),
    Column("Name", Text, nullable=False, unique=True),  # the control file's name without extension
    Column("State", Integer, nullable=False, default=0),  # 0 not begun, 1 begun, 2 complete
    Column("Weight", Float, nullable=False, default=1.0),
    Column("Pure", Boolean, nullable=False, default=True),  # a selector that sees only earlier games
    Column("GameLim", Integer),  # how many games in all, NULL for no end
    Column("Selector", Text, nullable=False),
    Column("Notes", Text, nullable=False, default=""),  # the competition's description
    *not_negative("State", "Weight", "GameLim"),
)

SERIES_CONTESTANT: Final = saga(
    "SAGA_SeriesContestant",
    refers("SeriesId", "SAGA_Series.SeriesId", primary_key=True),
    refers("ContestantId", "SAGA_Contestant.ContestantId", primary_key=True),
    *weight("contestant"),  # 0 for a contestant that plays no longer
)

SERIES_SETTING: Final = saga(
    "SAGA_SeriesSetting",
    refers("SeriesId", "SAGA_Series.SeriesId", primary_key=True),
    refers("SettingId", "SAGA_Setting.SettingId", primary_key=True),
    *weight("setting"),
)

GAME: Final = saga(
    "SAGA_Game",
    auto_number("GameId"),
    refers("SeriesId", "SAGA_Series.SeriesId"),
    refers("SettingId", "SAGA_Setting.SettingId"),
    Column("Finished", DateTime, nullable=False),  # UTC
    Column("SetupTime", Float, nullable=False),
    Column("PlayTime", Float, nullable=False),
    Column("TotalTime", Float, nullable=False),  # with all earlier attempts that were void or interrupted
    # 1 one winner; 2 a draw of some seats; draws of all seats: 3 agreed, 5 stopped at the move
    # limit or adjudicated, 6 by the game's own rules; NULL where the result is not known
    Column("Termination", Integer),
    Column("Years", Integer, nullable=False),  # the most moves any seat made
    Column("Survivors", Integer),  # seats that were not eliminated
    Column("Leaders", Integer),  # of the points; NULL where they were not counted
    Column("Winners", Integer, nullable=False),  # 0 where the result is not known
    Column("MaxSupplies", Float),  # the most points of a seat
    CheckConstraint('"Termination" BETWEEN 1 AND 6', name="Termination_1_to_6"),
    CheckConstraint('"TotalTime" >= "SetupTime" + "PlayTime" - 0.000001', name="TotalTime_holds_all"),
    CheckConstraint('("Termination" IS NULL) = ("Winners" = 0)', name="known_result_has_winners"),
    CheckConstraint('"Termination" <> 1 OR "Winners" = 1', name="solo_has_one_winner"),
    *not_negative("SetupTime", "PlayTime", "Years", "Survivors", "Winners"),
    CheckConstraint('"Leaders" >= 1', name="Leaders_at_least_1"),
)

PLAYER: Final = saga(
    "SAGA_Player",
    refers("GameId", "SAGA_Game.GameId", primary_key=True),
    refers("PowerId", "SAGA_Power.PowerId", primary_key=True),
    refers("ContestantId", "SAGA_Contestant.ContestantId"),
    Column("Supplies", Float),  # points, NULL where they were not counted
    Column("Elimination", Integer),  # rounds played before it, NULL for a survivor
    Column("Disorder", Integer),  # the game's turns before the Problem; where seats alternate, the player's
    Column("Problem", Integer),  # 0 none, 1 late, 2 disconnected, NULL any other: see ARENA_Seat
    Column("Winner", Integer, nullable=False),
    # Points; once eliminated, minus the rounds before the last one; NULL if not counted
    Column("Grade", Float),
    Column("Rank", Integer),  # 1 + players of higher Grade, without points 1 + winners above; NULL if unknown
    Column("Cpu", Float),
    CheckConstraint('"Problem" IN (0, 1, 2)', name="Problem_0_to_2"),
    CheckConstraint('"Winner" IN (0, 1)', name="Winner_is_a_truth"),
    CheckConstraint('"Rank" >= 1', name="Rank_from_1"),
    CheckConstraint('"Disorder" IS NULL OR COALESCE("Problem", 0) > 0', name="Disorder_has_a_Problem"),
    *not_negative("Elimination", "Disorder", "Cpu"),
)
