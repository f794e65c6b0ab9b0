"""The league's tables, all of them in one place.

A player is a name and a version; versions of one name follow each other, and names share families. A game
belongs to a competition and has a seat for each player, with LUDAE's Elo around it. LEAGUE_Pair sums up what
two players achieved against each other, so that the likeliest ratings need not read all games again;
LEAGUE_History has the rating of a player as each estimate found it.

`Game` is what ACADEMY calls the game: `go-9x9`. Ratings are by player and game.

A member is a player that registered itself: LEAGUE_Member has its claim to a name and the digest of its
token, LEAGUE_Invitation the codes with which players register. LEAGUE_Pool has the pools of a standing
arena, LEAGUE_Season the spans of time that have tables of their own.
"""

from typing import Final

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

METADATA: Final = MetaData()
SCHEMA_VERSION: Final = 1


def _number(name: str) -> Column[int]:
    return Column(name, Integer, primary_key=True, autoincrement=True)


def _player(name: str = "PlayerId", primary_key: bool = True, nullable: bool = False) -> Column[int]:
    return Column(
        name, Integer, ForeignKey("LEAGUE_Player.PlayerId"), primary_key=primary_key, nullable=nullable
    )


META: Final = Table(
    "LEAGUE_Meta",
    METADATA,
    Column("Key", Text, primary_key=True),
    Column("Value", Text, nullable=False),
)

PLAYER: Final = Table(
    "LEAGUE_Player",
    METADATA,
    _number("PlayerId"),
    Column("Name", Text, nullable=False),
    Column("Version", Text, nullable=False),
    Column("Family", Text, nullable=False),
    _player("PredecessorId", primary_key=False, nullable=True),
    Column("Anchor", Float),  # an Elo that never changes, in all games; NULL for others
    Column("Created", DateTime, nullable=False),
    UniqueConstraint("Name", "Version", name="player_once"),
    sqlite_autoincrement=True,
)

COMPETITION: Final = Table(
    "LEAGUE_Competition",
    METADATA,
    _number("CompetitionId"),
    Column("Uuid", Text, nullable=False, unique=True),  # as in ARENA_Competition
    Column("Name", Text, nullable=False),
    Column("Kind", Text, nullable=False),
    # The last of its games, in its results database, that the league has
    Column("LastGame", Integer, nullable=False),
    Column("Games", Integer, nullable=False),
    Column("Created", DateTime, nullable=False),
    sqlite_autoincrement=True,
)

GAME: Final = Table(
    "LEAGUE_Game",
    METADATA,
    _number("GameId"),
    Column("ContestId", Text, nullable=False, unique=True),
    Column("CompetitionId", Integer, ForeignKey("LEAGUE_Competition.CompetitionId"), nullable=False),
    Column("Name", Text, nullable=False),  # in its competition: AvB_0
    Column("Game", Text, nullable=False),
    Column("Finished", DateTime, nullable=False),  # UTC
    Column("Summary", Text, nullable=False),
    Column("Known", Boolean, nullable=False),  # whether it has a result
    # A season's table reads the games of its time alone.
    Index("LEAGUE_Game_by_end", "Game", "Finished"),
    sqlite_autoincrement=True,
)

SEAT: Final = Table(
    "LEAGUE_Seat",
    METADATA,
    Column("GameId", Integer, ForeignKey("LEAGUE_Game.GameId"), primary_key=True),
    Column("Seat", Integer, primary_key=True),
    _player(primary_key=False),
    Column("Score", Float, nullable=False),  # its share of the win
    Column("EloBefore", Float, nullable=False),
    Column("EloAfter", Float, nullable=False),
    Index("LEAGUE_Seat_of_player", "PlayerId", "GameId"),
)

RATING: Final = Table(
    "LEAGUE_Rating",
    METADATA,
    Column("Game", Text, primary_key=True),
    _player(),
    Column("Elo", Float, nullable=False),  # LUDAE's
    Column("Games", Integer, nullable=False),
    Column("Score", Float, nullable=False),  # the sum over its games
    Column("Unknown", Integer, nullable=False),  # games without a result
    Column("LastPlayed", DateTime, nullable=False),
    # The last estimate, and after how many games of the player it was made; NULL before the first
    Column("Likeliest", Float),
    Column("Error", Float),
    Column("EstimatedGames", Integer, nullable=False, default=0),
    CheckConstraint('("Likeliest" IS NULL) = ("Error" IS NULL)', name="estimate_is_whole"),
    Index("LEAGUE_Rating_of_player", "PlayerId"),
)

PAIR: Final = Table(
    "LEAGUE_Pair",
    METADATA,
    Column("Game", Text, primary_key=True),
    _player(),
    _player("OpponentId"),
    # A game of more than two is a game of each pair, which counts one by the number of opponents.
    Column("Points", Float, nullable=False),
    Column("Games", Float, nullable=False),
    CheckConstraint('"PlayerId" < "OpponentId"', name="pair_once"),
    Index("LEAGUE_Pair_of_opponent", "Game", "OpponentId"),
)

RATED_GAME: Final = Table(
    "LEAGUE_RatedGame",
    METADATA,
    Column("Game", Text, primary_key=True),
    Column("Games", Integer, nullable=False),
    Column("EstimatedGames", Integer, nullable=False),  # of them, by the last estimate of all players
)

HISTORY: Final = Table(
    "LEAGUE_History",
    METADATA,
    Column("Game", Text, primary_key=True),
    _player(),
    Column("Games", Integer, primary_key=True),  # of the player, by then
    Column("Time", DateTime, nullable=False),
    Column("Elo", Float, nullable=False),
    Column("Likeliest", Float, nullable=False),
    Column("Error", Float, nullable=False),
)

INVITATION: Final = Table(
    "LEAGUE_Invitation",
    METADATA,
    _number("InvitationId"),
    Column("Digest", LargeBinary, nullable=False, unique=True),  # of its code
    Column("Note", Text, nullable=False),
    Column("Name", Text, nullable=False),  # the only name that it is for; empty for any
    Column("Uses", Integer, nullable=False),
    Column("Used", Integer, nullable=False),
    Column("Created", DateTime, nullable=False),
    Column("Expires", DateTime),
    Column("Revoked", Boolean, nullable=False),
    CheckConstraint('"Used" <= "Uses"', name="used_as_often_as_it_may"),
    sqlite_autoincrement=True,
)

MEMBER: Final = Table(
    "LEAGUE_Member",
    METADATA,
    _number("MemberId"),
    Column("Name", Text, nullable=False, unique=True),
    Column("Skeleton", Text, nullable=False, unique=True),  # names that look alike have the same
    Column("Version", Text, nullable=False),  # that plays now
    Column("Contact", Text, nullable=False),
    Column("Games", Text, nullable=False),  # one a line; empty for all
    Column("Registered", DateTime, nullable=False),
    Column("KeyDigest", LargeBinary),  # by which a repeated registration is known
    Column("Digest", LargeBinary, unique=True),  # of its token; NULL where it has none
    # The token before, and until when it is good
    Column("OldDigest", LargeBinary),
    Column("OldUntil", DateTime),
    Column("Banned", Boolean, nullable=False),
    Column("BanReason", Text, nullable=False),
    Column("BanUntil", DateTime),  # NULL for a ban without end
    Column("GamesAtOnce", Integer, nullable=False),  # 0 for no limit
    Column("GamesADay", Integer, nullable=False),  # 0 for no limit
    CheckConstraint('("OldDigest" IS NULL) = ("OldUntil" IS NULL)', name="old_token_is_whole"),
    sqlite_autoincrement=True,
)

POOL: Final = Table(
    "LEAGUE_Pool",
    METADATA,
    Column("Name", Text, primary_key=True),
    Column("State", Text, nullable=False),  # `open` (now or by its schedule), `paused` or `ended`
    Column("Settings", LargeBinary, nullable=False),  # an arena.v1.PoolSettings
    Column("Added", DateTime, nullable=False),
    CheckConstraint("\"State\" IN ('open', 'paused', 'ended')", name="pool_state_is_known"),
)

SEASON: Final = Table(
    "LEAGUE_Season",
    METADATA,
    Column("Name", Text, primary_key=True),
    Column("Begins", DateTime, nullable=False),
    Column("Ends", DateTime),  # NULL while it lasts
)
