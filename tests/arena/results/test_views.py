"""SAGA 1.0 as views: its scores by the SQL its own text describes, and its moving averages."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pytest
from sqlalchemy import Connection, text

from arena.ratings.moving_averages import MovingAverages
from arena.ratings.pot_scores import pot_scores
from arena.results.database import ResultsDatabase
from referees.api import Outcome
from tests.arena.results.saga_games import DIPLOMACY, TWO, line_up, play

# SAGA's text: "SQL JOIN the Dip_Games and Dip_Players tables. A game is a solo if Winners = 1; else a
# draw. Each player pays (loses) a point for entering a game, but if he is a winner (the soloist, or in
# a survivor in a draw) he regains the sum of the points paid (1 per power) divided by the number of
# Winners. A player is a soloist if his SC > MaxSC/2; else a survivor in a draw if his Years is Null;
# else a loser." A game without winners is void: the stakes are returned.
SCORE_OF_A_PLAYER: Final = """
SELECT p."Game", p."Power",
  CASE WHEN g."Winners" = 0 THEN 0.0
       WHEN g."Winners" = 1 AND p."SC" > g."MaxSC" / 2.0 THEN 1.0 * v."Powers" / g."Winners" - 1.0
       WHEN g."Winners" > 1 AND p."Years" IS NULL THEN 1.0 * v."Powers" / g."Winners" - 1.0
       ELSE -1.0 END AS "Score"
FROM "Dip_Game" g
JOIN "Dip_Player" p ON p."Game" = g."Id"
JOIN "Dip_Variant" v ON v."Id" = g."Variant"
ORDER BY p."Game", p."Power"
"""


@pytest.fixture
def connection(database: ResultsDatabase) -> Iterator[Connection]:
    with database.transaction() as connection:
        yield connection


def scores(connection: Connection, query: str) -> list[tuple[float, ...]]:
    games: dict[int, list[float]] = {}
    for game, _, score in connection.execute(text(query)):
        games.setdefault(game, []).append(score)
    return [tuple(game) for game in games.values()]


@pytest.mark.parametrize(("outcomes", "seats", "supplies"), [(DIPLOMACY, 7, 34), (TWO, 2, None)])
def test_sagas_sql_gives_the_score_of_every_player(
    connection: Connection, outcomes: Sequence[Outcome], seats: int, supplies: int | None
) -> None:
    play(connection, outcomes, seats, supplies)
    expected = [pot_scores(seats, outcome.winners) for outcome in outcomes]
    assert scores(connection, SCORE_OF_A_PLAYER) == expected
    assert scores(connection, 'SELECT * FROM "ARENA_Score" ORDER BY "GameId", "PowerId"') == expected


@pytest.mark.parametrize(("outcomes", "seats", "supplies"), [(DIPLOMACY, 7, 34), (TWO, 2, None)])
def test_moving_averages_are_those_a_series_selects_by(
    connection: Connection, outcomes: Sequence[Outcome], seats: int, supplies: int | None
) -> None:
    play(connection, outcomes, seats, supplies)
    averages = {bot: MovingAverages() for bot in range(1, seats + 1)}
    expected = []
    for number, outcome in enumerate(outcomes):
        for seat, bot in enumerate(line_up(number, seats), start=1):
            averages[bot] = averages[bot].after(outcome, seat, seats)
            expected.append((averages[bot].strength, averages[bot].tenacity, averages[bot].fitness))
    stored = connection.execute(
        text('SELECT "Strength", "Tenacity", "Fitness" FROM "Dip_Player" ORDER BY "Game", "Power"')
    ).all()
    assert [tuple(row) for row in stored] == [pytest.approx(row) for row in expected]


def test_the_other_views_have_sagas_columns_and_values(connection: Connection) -> None:
    play(connection, DIPLOMACY, 7, 34)

    def first(view: str) -> dict[str, Any]:
        row = connection.execute(text(f'SELECT * FROM "{view}" ORDER BY 1')).mappings().first()
        return dict(row or {})

    assert first("Dip_Bot") == {"Id": 1, "Name": "bot1", "Title": "Bot 1"}
    assert first("Dip_Power") == {"Id": 1, "Variant": 1, "Code": "AUS"}
    assert first("Dip_Variant") == {
        "Id": 1, "Name": "a game", "Powers": 7, "SC": 34.0, "Year0": None, "Season0": None,
    }  # fmt: skip
    game = first("Dip_Game")
    assert (game["Tournament"], game["Kill"], game["Level"], game["MaxSC"]) == ("cup", 10, 0, 34.0)
    assert (game["Winners"], game["Survivors"], game["Leaders"], game["TotalTime"]) == (1, 2, 1, 9.0)
    assert " ".join(game) == (
        "Id Tournament Finished SetupTime PlayTime TotalTime Years Survivors Leaders Winners MaxSC Variant "
        "Level Kill PTL MTL RTL BTL AOA NPR NPB"
    )
    player = first("Dip_Player")
    assert list(player) == ["Game", "Power", "Bot", "SC", "Years", "Strength", "Tenacity", "Fitness"]
    assert (player["SC"], player["Years"]) == (0.0, 4)
