"""What a league shows: its games, a game's rating list, its players, and the history of one."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import case, func, select

from arena.league.database import LeagueDatabase
from arena.league.players import all_players, label
from arena.league.tables import COMPETITION, HISTORY, PLAYER, RATED_GAME, RATING
from arena.results.database import NoResultsYetError


@dataclass(frozen=True)
class RatedGame:
    """A game of the league: its contests, its players, and the contests known to the last estimate of all."""

    game: str
    games: int
    players: int
    estimated_games: int


@dataclass(frozen=True)
class ListedRating:
    """A line of a rating list. `score` is the mean of the games with a result, None without one.

    `likeliest` and its `error` are None before the first estimate.
    """

    name: str
    version: str
    family: str
    elo: float
    likeliest: float | None
    error: float | None
    games: int
    score: float | None
    last_played: datetime
    anchored: bool

    @property
    def label(self) -> str:
        """Name and version."""
        return label(self.name, self.version)


@dataclass(frozen=True)
class ListedPlayer:
    """A player of the league; `games` are its contests by game."""

    name: str
    version: str
    family: str
    predecessor: str
    since: datetime
    games: dict[str, int]


@dataclass(frozen=True)
class RatingAt:
    """A player's ratings in a game after a number of its contests."""

    version: str
    game: str
    time: datetime
    games: int
    elo: float
    likeliest: float
    error: float


@dataclass(frozen=True)
class ListedCompetition:
    """A competition that the league has games of."""

    name: str
    kind: str
    games: int


class LeagueReader:
    """Reads a league. Raises NoResultsYetError for games and players that it has not."""

    def __init__(self, league: LeagueDatabase) -> None:
        self._league = league

    def games(self) -> list[RatedGame]:
        """The games, by name."""
        table = RATED_GAME.c
        count = select(RATING.c.Game, func.count().label("players")).group_by(RATING.c.Game).subquery()
        query = (
            select(table.Game, table.Games, count.c.players, table.EstimatedGames)
            .join_from(RATED_GAME, count, count.c.Game == table.Game)
            .order_by(table.Game)
        )
        return [RatedGame(*row) for row in self._league.rows(query)]

    def ratings(self, game: str, limit: int | None = None, first: int = 0) -> list[ListedRating]:
        """A game's rating list from a place on, the likeliest best first."""
        rating, player = RATING.c, PLAYER.c
        known = rating.Games - rating.Unknown
        # In the order of ListedRating's fields: a list may have ten thousand lines.
        query = (
            select(
                player.Name, player.Version, player.Family, rating.Elo, rating.Likeliest, rating.Error,
                rating.Games, case((known > 0, rating.Score / known)), rating.LastPlayed,
                player.Anchor.is_not(None),
            )
            .join_from(RATING, PLAYER, player.PlayerId == rating.PlayerId)
            .where(rating.Game == game)
            .order_by(func.coalesce(rating.Likeliest, rating.Elo).desc(), player.PlayerId)
            .limit(limit)
            .offset(first)
        )  # fmt: skip
        rows = self._league.rows(query)
        if not rows and not first:
            names = ", ".join(listed.game for listed in self.games())
            raise NoResultsYetError(f"the league has no game {game!r}; its games: {names or 'none'}")
        return [ListedRating(*row) for row in rows]

    def players(self) -> list[ListedPlayer]:
        """All players, in the order in which they came."""
        games: dict[int, dict[str, int]] = {}
        table = RATING.c
        for row in self._league.rows(select(table.PlayerId, table.Game, table.Games).order_by(table.Game)):
            games.setdefault(row.PlayerId, {})[row.Game] = row.Games
        with self._league.transaction() as connection:
            players = all_players(connection)
        labels = {player.player_id: player.label for player in players}
        return [
            ListedPlayer(
                player.name, player.version, player.family, labels.get(player.predecessor or 0, ""),
                player.created, games.get(player.player_id, {}),
            )
            for player in players
        ]  # fmt: skip

    def history(
        self, name: str, game: str | None = None, newest: int | None = None
    ) -> dict[str, list[RatingAt]]:
        """The ratings of all versions of a player as each estimate found them, by name and version.

        With `newest` these last ones only, of all together.
        """
        table, player = HISTORY.c, PLAYER.c
        own = table.PlayerId == player.PlayerId
        query = (
            select(
                player.PlayerId, player.Name, player.Version, table.Game, table.Time, table.Games, table.Elo,
                table.Likeliest, table.Error,
            )
            .join_from(PLAYER, HISTORY, own if game is None else own & (table.Game == game), isouter=True)
            .where(player.Name == name)
            .order_by(table.Time.desc())
            .limit(newest)
        )  # fmt: skip
        rows = self._league.rows(query)
        if not rows:
            raise NoResultsYetError(
                f"the league has no player {name!r}; `arena league players LEAGUE` lists them, "
                "`arena rating list GAME` those that have played at a service"
            )
        lines: dict[str, list[RatingAt]] = {}
        for row in sorted(rows, key=lambda row: (row.PlayerId, row.Game or "", row.Games or 0)):
            line = lines.setdefault(label(row.Name, row.Version), [])
            if row.Game is not None:
                line.append(RatingAt(*row[2:]))
        return lines

    def competitions(self) -> list[ListedCompetition]:
        """The competitions, in the order in which they came."""
        table = COMPETITION.c
        query = select(table.Name, table.Kind, table.Games).order_by(table.CompetitionId)
        return [ListedCompetition(*row) for row in self._league.rows(query)]


def as_json_list(items: Sequence[Any]) -> list[dict[str, Any]]:
    """Listed values as JSON has them."""
    return [asdict(item) for item in items]
