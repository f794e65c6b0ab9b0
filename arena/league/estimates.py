"""The likeliest ratings of a league, estimated again when there are new games from the last ones on."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, bindparam, func, select, update

from arena.league.database import LeagueDatabase
from arena.league.tables import HISTORY, PAIR, PLAYER, RATED_GAME, RATING
from arena.ratings.bradley_terry import PRIOR, Pairings, Strengths, likeliest
from arena.results.database import insertion, utc_now


def estimate_all(league: LeagueDatabase) -> list[str]:
    """Find the likeliest ratings of every game that has new games; return these games."""
    table = RATED_GAME.c
    stale = select(table.Game).where(table.Games != table.EstimatedGames).order_by(table.Game)
    games = [row.Game for row in league.rows(stale)]
    for game in games:
        estimate(league, game)
    return games


def estimate(league: LeagueDatabase, game: str) -> None:
    """Find the likeliest ratings of a game, and keep those of players with new games in their history."""
    with league.transaction() as connection:
        counted = connection.execute(
            select(func.coalesce(func.max(RATED_GAME.c.Games), 0)).where(RATED_GAME.c.Game == game)
        ).scalar_one()
        players = _players(connection, game)
        pair = PAIR.c
        pairs = connection.execute(
            select(pair.PlayerId, pair.OpponentId, pair.Points, pair.Games).where(pair.Game == game)
        ).all()
    strengths = _likeliest(players, pairs)
    rows = [
        (player, round(float(elo), 3), round(float(error), 3))
        for player, elo, error in zip(players, strengths.elo, strengths.error, strict=True)
    ]
    with league.sole_transaction() as connection:
        _store(connection, game, rows)
        connection.execute(update(RATED_GAME).where(RATED_GAME.c.Game == game).values(EstimatedGames=counted))


def _players(connection: Connection, game: str) -> Sequence[Row[Any]]:
    """Those who have played the game."""
    query = (
        select(RATING, PLAYER.c.PredecessorId, PLAYER.c.Anchor)
        .join_from(RATING, PLAYER, PLAYER.c.PlayerId == RATING.c.PlayerId)
        .where(RATING.c.Game == game)
        .order_by(RATING.c.PlayerId)
    )
    return connection.execute(query).all()


def _likeliest(players: Sequence[Row[Any]], pairs: Sequence[Any]) -> Strengths:
    place = {player.PlayerId: number for number, player in enumerate(players)}
    columns = np.array([tuple(row) for row in pairs], dtype=np.float64).reshape(-1, 4)
    keys = np.array(list(place), dtype=np.int64)
    return likeliest(
        Pairings(
            np.searchsorted(keys, columns[:, 0].astype(np.int64)),
            np.searchsorted(keys, columns[:, 1].astype(np.int64)),
            columns[:, 2],
            columns[:, 3],
        ),
        np.array([place.get(player.PredecessorId, -1) for player in players], dtype=np.int64),
        np.array([math.nan if player.Anchor is None else player.Anchor for player in players]),
        np.array([PRIOR if player.Likeliest is None else player.Likeliest for player in players]),
    )


def _store(connection: Connection, game: str, rows: Sequence[tuple[Row[Any], float, float]]) -> None:
    changed = [
        {"player": row.PlayerId, "elo": elo, "error": error, "games": row.Games}
        for row, elo, error in rows
        if (row.Likeliest, row.Error, row.EstimatedGames) != (elo, error, row.Games)
    ]
    if changed:
        connection.execute(
            update(RATING)
            .where(RATING.c.Game == game, RATING.c.PlayerId == bindparam("player"))
            .values(Likeliest=bindparam("elo"), Error=bindparam("error"), EstimatedGames=bindparam("games")),
            changed,
        )
    # Another process may have found the same.
    last = select(HISTORY.c.PlayerId, func.max(HISTORY.c.Games)).where(HISTORY.c.Game == game)
    known = {row[0]: row[1] for row in connection.execute(last.group_by(HISTORY.c.PlayerId))}
    news = [
        {
            "Game": game,
            "PlayerId": row.PlayerId,
            "Games": row.Games,
            "Time": utc_now(),
            "Elo": row.Elo,
            "Likeliest": elo,
            "Error": error,
        }
        for row, elo, error in rows
        if row.Games > known.get(row.PlayerId, 0)
    ]
    if news:
        connection.execute(insertion(HISTORY), news)
