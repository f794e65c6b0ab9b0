"""The likeliest ratings of a league: estimated again after new games, from where the last estimate ended.

In a large league an estimate may move those alone who have new games, while the others stay where they are.
That reads their pairs and no others; what their games tell of their opponents comes with the next estimate
of all.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from sqlalchemy import (
    ColumnElement,
    Connection,
    DateTime,
    Row,
    bindparam,
    exists,
    func,
    or_,
    select,
    text,
    update,
)

from arena.league.database import LeagueDatabase
from arena.league.tables import PAIR, PLAYER, RATED_GAME, RATING
from arena.ratings.bradley_terry import MOST_EXACT, PRIOR, Pairings, Strengths, likeliest
from arena.results.database import utc_now

FEW: Final = 0.25
"""Up to this share of a game's players move alone."""

# Another process may have found the same.
_ADD_TO_HISTORY: Final = text(
    'INSERT INTO "LEAGUE_History" ("Game", "PlayerId", "Games", "Time", "Elo", "Likeliest", "Error")'
    " VALUES (:game, :player, :games, :time, :elo, :likeliest, :error) ON CONFLICT DO NOTHING"
).bindparams(bindparam("time", type_=DateTime()))


def estimate_all(league: LeagueDatabase, only_new: bool = False) -> list[str]:
    """Find the likeliest ratings of every game that has new games; return these games.

    `only_new` is as for `estimate`; a game has new games until an estimate moves all its players.
    """
    table = RATED_GAME.c
    stale = select(table.Game).where(table.Games != table.EstimatedGames).order_by(table.Game)
    if only_new:
        unrated = (RATING.c.Game == table.Game) & (RATING.c.Games != RATING.c.EstimatedGames)
        stale = stale.where(exists().where(unrated))
    games = [row.Game for row in league.rows(stale)]
    for game in games:
        estimate(league, game, only_new)
    return games


def estimate(league: LeagueDatabase, game: str, only_new: bool = False) -> None:
    """Find the likeliest ratings of a game, and keep those of players with new games in their history.

    With `only_new` only players with new games move where they are few among many; else all do.
    """
    # Games of players who came meanwhile would be of nobody.
    with league.snapshot() as connection:
        counted = _most(connection, RATED_GAME.c.Games, game)
        players = _players(connection, game)
        moving = {player.PlayerId for player in players if player.Games != player.EstimatedGames}
        if not (only_new and len(players) > MOST_EXACT and len(moving) < FEW * len(players)):
            moving = set()
        pairs = _pairs(connection, game, moving)
    strengths = _likeliest(players, pairs, moving)
    rows = [
        (player, round(float(elo), 3), round(float(error), 3))
        for player, elo, error in zip(players, strengths.elo, strengths.error, strict=True)
        if not moving or player.PlayerId in moving
    ]
    with league.sole_transaction() as connection:
        if _most(connection, RATED_GAME.c.EstimatedGames, game) > counted:
            # Another process has found them from more games meanwhile.
            return
        _store(connection, game, rows)
        # After an estimate of some the next one of all is due, with or without further games.
        if not moving:
            estimated = update(RATED_GAME).where(RATED_GAME.c.Game == game).values(EstimatedGames=counted)
            connection.execute(estimated)


def _most(connection: Connection, column: ColumnElement[int], game: str) -> int:
    """A count of a game's row; 0 where there is none."""
    query = select(func.coalesce(func.max(column), 0)).where(RATED_GAME.c.Game == game)
    return int(connection.execute(query).scalar_one())


def _players(connection: Connection, game: str) -> Sequence[Row[Any]]:
    """Those who have played the game."""
    query = (
        select(RATING, PLAYER.c.Name, PLAYER.c.Anchor)
        .join_from(RATING, PLAYER, PLAYER.c.PlayerId == RATING.c.PlayerId)
        .where(RATING.c.Game == game)
        .order_by(RATING.c.PlayerId)
    )
    return connection.execute(query).all()


def _pairs(connection: Connection, game: str, players: Collection[int]) -> npt.NDArray[np.float64]:
    """The pairs of these players, or of all where there are none: two players, points and games in a row."""
    pair = PAIR.c
    query = select(pair.PlayerId, pair.OpponentId, pair.Points, pair.Games).where(pair.Game == game)
    if players:
        query = query.where(or_(pair.PlayerId.in_(players), pair.OpponentId.in_(players)))
    # There may be millions: no list of them is made.
    rows = connection.execution_options(yield_per=10_000).execute(query)
    return np.fromiter(chain.from_iterable(rows), np.float64).reshape(-1, 4)


def _likeliest(
    players: Sequence[Row[Any]], pairs: npt.NDArray[np.float64], moving: Collection[int]
) -> Strengths:
    """The strengths of all players; where some are moving, the others' are those that they have."""
    keys = np.array([player.PlayerId for player in players], dtype=np.int64)
    anchors = np.array([math.nan if player.Anchor is None else player.Anchor for player in players])
    last = np.array([PRIOR if player.Likeliest is None else player.Likeliest for player in players])
    errors = None
    if moving:
        anchors = np.where(np.isin(keys, list(moving)), anchors, last)
        errors = np.array([player.Error or 0.0 for player in players])
    return likeliest(
        Pairings.of_rows(pairs, keys),
        np.array(_versions_before(players), dtype=np.int64),
        anchors,
        last,
        errors,
    )


def _versions_before(players: Iterable[Row[Any]]) -> list[int]:
    """The place of each one's version before among these, as `version_before`; -1 for a name's first."""
    before: list[int] = []
    latest: dict[str, int] = {}
    for place, player in enumerate(players):
        before.append(latest.get(player.Name, -1))
        latest[player.Name] = place
    return before


def _store(connection: Connection, game: str, rows: Sequence[tuple[Row[Any], float, float]]) -> None:
    changed = [
        {"player": row.PlayerId, "elo": elo, "error": error, "games": row.Games, "before": row.EstimatedGames}
        for row, elo, error in rows
        if (row.Likeliest, row.Error, row.EstimatedGames) != (elo, error, row.Games)
    ]
    if changed:
        connection.execute(
            update(RATING)
            .where(RATING.c.Game == game, RATING.c.PlayerId == bindparam("player"))
            # An estimate of some, from more games, may have come first.
            .where(RATING.c.EstimatedGames == bindparam("before"))
            .values(Likeliest=bindparam("elo"), Error=bindparam("error"), EstimatedGames=bindparam("games")),
            changed,
        )
    news = [
        {
            "game": game,
            "player": row.PlayerId,
            "games": row.Games,
            "time": utc_now(),
            "elo": row.Elo,
            "likeliest": elo,
            "error": error,
        }
        for row, elo, error in rows
        if row.Games != row.EstimatedGames
    ]
    if news:
        connection.execute(_ADD_TO_HISTORY, news)
