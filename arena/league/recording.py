"""Results taken into the league: each game once, in one transaction with its ratings.

The league keeps with each competition which of its games came last, so that a run, a later run and
`arena league import` all do the same: they take the games after it. What interrupts them loses nothing and
counts nothing twice.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, bindparam, insert, select, text, update

from arena.league.database import LeagueDatabase
from arena.league.players import LeaguePlayer, find_or_enter, version_before
from arena.league.source import SourceCompetition, SourceGame, batches, contest_of
from arena.league.tables import COMPETITION, GAME, PLAYER, RATING, SEAT
from arena.ratings.elo import EloRules
from arena.ratings.places import RatedBy, places_of
from arena.results.database import ResultsDatabase, insertion, utc_now

BATCH: Final = 200
"""Games of one transaction."""

# Both databases understand it; SQLAlchemy has two spellings.
_ADD_TO_PAIR: Final = text(
    'INSERT INTO "LEAGUE_Pair" ("Game", "PlayerId", "OpponentId", "Points", "Games")'
    " VALUES (:game, :player, :opponent, :points, :games)"
    ' ON CONFLICT ("Game", "PlayerId", "OpponentId") DO UPDATE SET'
    ' "Points" = "LEAGUE_Pair"."Points" + excluded."Points",'
    ' "Games" = "LEAGUE_Pair"."Games" + excluded."Games"'
)
_COUNT_GAMES: Final = text(
    'INSERT INTO "LEAGUE_RatedGame" ("Game", "Games", "EstimatedGames") VALUES (:game, :games, 0)'
    ' ON CONFLICT ("Game") DO UPDATE SET "Games" = "LEAGUE_RatedGame"."Games" + excluded."Games"'
)


def take_in(
    league: LeagueDatabase,
    results: ResultsDatabase,
    competition: SourceCompetition,
    go_on: Callable[[], bool] = lambda: True,
) -> int:
    """Take in a competition's games that the league has not; return how many these were.

    `go_on` is asked before each batch of games. Raises SQLAlchemyError; it may be called again.
    """
    taken = 0
    with league.transaction() as connection:
        last = connection.execute(
            select(COMPETITION.c.LastGame).where(COMPETITION.c.Uuid == competition.uuid)
        ).scalar()
        contest = contest_of(results, competition.series_id, last) if last else None
        known = connection.execute(select(GAME.c.GameId).where(GAME.c.ContestId == contest)).first()
    if last and known is None:
        # A backup of the results was put back: their games from then on are others.
        last = 0
    if last is None:
        with league.sole_transaction() as connection:
            enter_competition(connection, competition)
    for games in batches(results, competition.series_id, last or 0, BATCH):
        if not go_on():
            break
        taken += record(league, competition, games)
    return taken


def record(league: LeagueDatabase, competition: SourceCompetition, games: Sequence[SourceGame]) -> int:
    """Take in games of a competition that is entered; return how many of them are new."""
    with league.sole_transaction() as connection:
        contests = GAME.c.ContestId.in_([game.contest_id for game in games])
        known = set(connection.execute(select(GAME.c.ContestId).where(contests)).scalars())
        new = [game for game in games if game.contest_id not in known]
        table = COMPETITION.c
        key = connection.execute(
            select(table.CompetitionId).where(table.Uuid == competition.uuid)
        ).scalar_one()
        if new:
            _Batch(connection, key).add(new)
        connection.execute(
            update(COMPETITION)
            .where(table.CompetitionId == key)
            .values(LastGame=games[-1].sequence, Games=table.Games + len(new))
        )
    return len(new)


def enter_competition(connection: Connection, competition: SourceCompetition) -> None:
    """Enter a competition, or leave it as it is. The caller's transaction is the only writer."""
    known = select(COMPETITION.c.CompetitionId).where(COMPETITION.c.Uuid == competition.uuid)
    if connection.execute(known).first() is None:
        connection.execute(
            insert(COMPETITION).values(
                Uuid=competition.uuid,
                Name=competition.name,
                Kind=competition.kind,
                LastGame=0,
                Games=0,
                Created=utc_now(),
            )
        )


class _Batch:
    """The games of one transaction."""

    def __init__(self, connection: Connection, competition_id: int) -> None:
        self._connection = connection
        self._players: dict[tuple[str, str], LeaguePlayer] = {}
        self._competition_id = competition_id
        self._ratings: dict[tuple[str, int], dict[str, Any]] = {}
        self._new: set[tuple[str, int]] = set()
        # The Elo of each version that has played, by game and name.
        self._elos: dict[tuple[str, str], dict[int, float]] = {}
        self._pairs: dict[tuple[str, int, int], list[float]] = {}
        self._games: dict[str, int] = {}

    def add(self, games: Sequence[SourceGame]) -> None:
        """Store the games with all that follows from them."""
        # In the order in which they came: players are numbered by it.
        playing = dict.fromkeys((seat.name, seat.version) for game in games for seat in game.seats)
        self._players = find_or_enter(self._connection, playing)
        self._read_ratings(games)
        rows: list[dict[str, Any]] = []
        for game in games:
            rows += self._add(game)
        self._connection.execute(insertion(SEAT), rows)
        self._store()

    def _playing(self, game: SourceGame) -> list[LeaguePlayer]:
        return [self._players[seat.name, seat.version] for seat in game.seats]

    def _read_ratings(self, games: Sequence[SourceGame]) -> None:
        """Read the ratings of all who play, and begin those of newcomers."""
        wanted: dict[str, dict[int, tuple[LeaguePlayer, float]]] = {}
        for game in games:
            for player, seat in zip(self._playing(game), game.seats, strict=True):
                wanted.setdefault(game.game, {}).setdefault(player.player_id, (player, seat.elo))
        for name, players in wanted.items():
            names = {player.name for player, _ in players.values()}
            versions = {player.player_id: player for player in self._players.values() if player.name in names}
            known = ratings_of(self._connection, name, list(versions))
            for key, row in known.items():
                self._elos.setdefault((name, versions[key].name), {})[key] = row["Elo"]
            for key, (player, elo) in players.items():
                row = known.get(key) or _newcomer(name, key, elo)
                if key not in known:
                    self._new.add((name, key))
                if player.anchor is not None:
                    row["Elo"] = player.anchor
                self._ratings[name, key] = row

    def _begin(self, game: str, player: LeaguePlayer) -> None:
        """Begin a newcomer's Elo with that of the version before, as it is by now."""
        row = self._ratings[game, player.player_id]
        if player.anchor is None and not row["Games"]:
            elos = self._elos.get((game, player.name), {})
            before = version_before(player.player_id, elos)
            if before is not None:
                row["Elo"] = elos[before]

    def _add(self, game: SourceGame) -> list[dict[str, Any]]:
        players = self._playing(game)
        keys = [player.player_id for player in players]
        for player in players:
            self._begin(game.game, player)
        before = [self._ratings[game.game, key]["Elo"] for key in keys]
        fixed = {str(player.player_id): player.anchor for player in players if player.anchor is not None}
        after = EloRules(fixed=fixed).rate_outcome([str(key) for key in keys], before, game.outcome)
        winners = game.outcome.winners
        scores = [1.0 / len(winners) if seat in winners else 0.0 for seat in range(1, len(keys) + 1)]
        for key, score, elo in zip(keys, scores, after, strict=True):
            _count(self._ratings[game.game, key], elo, score, bool(winners), game.finished)
        for player, elo in zip(players, after, strict=True):
            self._elos.setdefault((game.game, player.name), {})[player.player_id] = elo
        if winners:
            self._count_pairs(game, keys)
        self._games[game.game] = self._games.get(game.game, 0) + 1
        game_id = self._connection.execute(
            insertion(GAME),
            {
                "ContestId": game.contest_id,
                "CompetitionId": self._competition_id,
                "Name": game.name,
                "Game": game.game,
                "Finished": game.finished,
                "Summary": game.outcome.summary,
                "Known": bool(winners),
            },
        ).inserted_primary_key
        assert game_id is not None
        return [
            {"GameId": game_id[0], "Seat": seat, "PlayerId": key, "Score": score,
             "EloBefore": elo, "EloAfter": new}
            for seat, (key, score, elo, new) in enumerate(
                zip(keys, scores, before, after, strict=True), start=1)
        ]  # fmt: skip

    def _count_pairs(self, game: SourceGame, keys: Sequence[int]) -> None:
        places = places_of(game.outcome, len(keys), RatedBy.WINNERS)
        share = 1.0 / max(1, len(keys) - 1)
        for place in range(len(keys)):
            for other in range(place + 1, len(keys)):
                first, second = (place, other) if keys[place] < keys[other] else (other, place)
                if keys[first] != keys[second]:
                    better = 0.5 * (1 + (places[first] < places[second]) - (places[first] > places[second]))
                    pair = self._pairs.setdefault((game.game, keys[first], keys[second]), [0.0, 0.0])
                    pair[0] += share * better
                    pair[1] += share

    def _store(self) -> None:
        rows = self._ratings
        if fresh := [row for key, row in rows.items() if key in self._new]:
            self._connection.execute(insertion(RATING), fresh)
        if old := [row for key, row in rows.items() if key not in self._new]:
            table = RATING.c
            changed = ("Elo", "Games", "Score", "Unknown", "LastPlayed")
            self._connection.execute(
                update(RATING)
                .where(table.Game == bindparam("of_game"), table.PlayerId == bindparam("of_player"))
                .values({name: bindparam(f"new_{name}") for name in changed}),
                [
                    {"of_game": row["Game"], "of_player": row["PlayerId"]}
                    | {f"new_{name}": row[name] for name in changed}
                    for row in old
                ],
            )
        pairs = [
            {"game": game, "player": player, "opponent": opponent, "points": points, "games": games}
            for (game, player, opponent), (points, games) in self._pairs.items()
        ]
        if pairs:
            self._connection.execute(_ADD_TO_PAIR, pairs)
        self._connection.execute(
            _COUNT_GAMES, [{"game": game, "games": games} for game, games in self._games.items()]
        )


def ratings_of(connection: Connection, game: str, players: Sequence[int]) -> dict[int, dict[str, Any]]:
    """The stored ratings of players in a game, by player."""
    query = select(RATING).where(RATING.c.Game == game, RATING.c.PlayerId.in_(players))
    return {row["PlayerId"]: dict(row) for row in connection.execute(query).mappings()}


def begun_ratings(
    connection: Connection, game: str, players: Collection[tuple[str, str]]
) -> dict[str, float]:
    """The Elo with which players, by name and version, begin in a game, by name; newcomers are missing.

    That is their own, or that of the version before (`version_before`).
    """
    table = PLAYER.c
    own_rating = (RATING.c.PlayerId == table.PlayerId) & (RATING.c.Game == game)
    query = (
        select(table.Name, table.Version, RATING.c.Elo, table.Anchor)
        .join_from(PLAYER, RATING, own_rating, isouter=True)
        .where(table.Name.in_([name for name, _ in players]))
        .order_by(table.PlayerId)
    )
    latest: dict[str, float] = {}
    begun: dict[tuple[str, str], float | None] = {}
    for name, version, elo, anchor in connection.execute(query):
        if elo is not None:
            latest[name] = elo if anchor is None else anchor
        begun[name, version] = latest.get(name)
    ratings = {name: begun.get((name, version), latest.get(name)) for name, version in players}
    return {name: elo for name, elo in ratings.items() if elo is not None}


def _newcomer(game: str, player: int, elo: float) -> dict[str, Any]:
    return {
        "Game": game, "PlayerId": player, "Elo": elo, "Games": 0, "Score": 0.0, "Unknown": 0,
        "LastPlayed": None, "Likeliest": None, "Error": None, "EstimatedGames": 0,
    }  # fmt: skip


def _count(row: dict[str, Any], elo: float, score: float, known: bool, finished: datetime) -> None:
    """Count a seat of a game."""
    row["Elo"] = elo
    row["Games"] += 1
    row["Score"] += score
    row["Unknown"] += not known
    row["LastPlayed"] = finished if row["LastPlayed"] is None else max(row["LastPlayed"], finished)
