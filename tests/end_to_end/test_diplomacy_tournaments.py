"""The tournaments of examples/diplomacy_tournaments, shortened: what SAGA says is what the records show."""

import json
import re
from collections import Counter
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, text

from tests.arena.cli.command import arena

EXAMPLES = Path(__file__).parents[2] / "examples" / "diplomacy_tournaments"
DOCUMENT = Path(__file__).parents[2] / "docs" / "tutorials" / "diplomacy.md"
POWERS = ("AUS", "ENG", "FRA", "GER", "ITA", "RUS", "TUR")
TERMINATIONS = {"solo": 1, "agreed by all": 3, "stasis": 4, "year limit": 6}
FIRST_YEAR = 1901
# Games, and years: in seven one power wins alone, and others are eliminated.
LENGTHS = {"least_played": (3, 7), "slow_knockout": (1, 5), "three_and_four": (1, 5)}
BOTS = ("hold", "random", "tactical")


def run(name: str, games: int, years: int, folder: Path) -> Path:
    """Play some games of an example; returns its control file."""
    content = (EXAMPLES / f"{name}.toml").read_text()
    content = re.sub("(?m)^games = .*$", f"games = {games}", content)
    content = re.sub("(?m)^move_seconds = .*$", "move_seconds = 100", content)
    content = content.replace('protocol = "policy"', 'protocol = "policy"\nstart_seconds = 100')
    control = folder / f"{name}.toml"
    control.write_text(re.sub("(?m)^year_limit = .*$", f"year_limit = {years}", content))
    done = arena("run", control)
    assert done.returncode == 0, done.stdout + done.stderr
    return control


def year_counted(position: dict[str, Any]) -> int:
    """The last year whose centres a position of a record shows."""
    year = int(position["phase"][1:5])
    return year if position["phase"][0] == "W" else year - 1


def shown(record: dict[str, Any]) -> tuple[list[int], list[int | None], int]:
    """The powers' centres at the end, in which year after the first they were eliminated, the last year."""
    centres = [len(record["final"]["centres"].get(code, ())) for code in POWERS]
    match = re.match(r"(solo|draw) (\d+)", record["result"])
    assert match is not None
    last = int(match[2])
    eliminated: list[int | None] = [None] * len(POWERS)
    for position in [*record["phases"], record["final"]]:
        for power, code in enumerate(POWERS):
            if eliminated[power] is None and code not in position["centres"]:
                # The final position may be the one after the last year.
                eliminated[power] = min(year_counted(position), last) - FIRST_YEAR
    return centres, eliminated, last


def check_game(connection: Connection, game: Any, record: dict[str, Any]) -> list[str]:
    """Compare a game's columns with its record; returns its players by seat."""
    centres, eliminated, last = shown(record)
    winners = [code in record["winners"] for code in POWERS]
    why = record["detail"].partition(";")[0]
    assert (game.Termination, game.Years) == (TERMINATIONS[why], last - FIRST_YEAR + 1)
    assert game.Survivors == sum(count > 0 for count in centres)
    assert game.Leaders == centres.count(max(centres))
    assert (game.Winners, game.MaxSupplies) == (sum(winners), max(centres))
    assert winners == (
        [count >= 18 for count in centres] if why == "solo" else [count > 0 for count in centres]
    )
    grades = [
        count if count else -(last - FIRST_YEAR - (year or 0))
        for count, year in zip(centres, eliminated, strict=True)
    ]
    rows = connection.execute(
        text(
            'SELECT p.*, s."Name" AS "Player" FROM "SAGA_Player" p '
            'JOIN "ARENA_Seat" s ON s."GameId" = p."GameId" AND s."PowerId" = p."PowerId" '
            'WHERE p."GameId" = :game ORDER BY s."Seat"'
        ),
        {"game": game.GameId},
    ).all()
    assert [row.Supplies for row in rows] == centres
    assert [row.Elimination for row in rows] == eliminated
    assert [row.Grade for row in rows] == grades
    assert [row.Rank for row in rows] == [1 + sum(other > grade for other in grades) for grade in grades]
    assert [bool(row.Winner) for row in rows] == winners
    assert {(row.Problem, row.Disorder) for row in rows} == {(0, None)}
    assert all(row.Cpu is not None for row in rows)
    return [row.Player for row in rows]


def check_neighbours(connection: Connection, records: dict[str, dict[str, Any]]) -> None:
    """The document's query tells of each pair of players of Russia and Turkey what the records do."""
    (query,) = re.findall(r"```sql\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), flags=re.DOTALL)
    expected: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for record in records.values():
        pot = len(POWERS) / len(record["winners"])
        scores = [(pot if code in record["winners"] else 0.0) - 1.0 for code in ("RUS", "TUR")]
        pair = record["players"]["RUS"], record["players"]["TUR"]
        expected.setdefault(pair, []).append((scores[0], scores[1]))
    rows = {(row.Russia, row.Turkey): row for row in connection.execute(text(query))}
    assert rows.keys() == expected.keys()
    for pair, scores_of_games in expected.items():
        russia, turkey = zip(*scores_of_games, strict=True)
        row = rows[pair]
        assert row.Games == len(scores_of_games)
        assert (row.ScoreOfRussia, row.ScoreOfTurkey) == pytest.approx((fmean(russia), fmean(turkey)))


@pytest.mark.parametrize("name", LENGTHS)
def test_every_column_is_what_the_records_show(name: str, tmp_path: Path) -> None:
    games, years = LENGTHS[name]
    control = run(name, games, years, tmp_path)
    records = {path.stem: json.loads(path.read_text()) for path in control.with_suffix(".games").iterdir()}
    assert len(records) == games
    with create_engine(f"sqlite:///{control.with_suffix('.results.sqlite')}").connect() as connection:
        rows = connection.execute(
            text('SELECT g.*, a."Name" FROM "SAGA_Game" g JOIN "ARENA_Game" a USING ("GameId")')
        ).all()
        assert len(rows) == games
        in_order = sorted(rows, key=lambda game: int(game.GameId))
        seats = [check_game(connection, game, records[game.Name]) for game in in_order]
        check_neighbours(connection, records)
    if name == "three_and_four":
        assert all(sorted(Counter(players).values()) == [3, 4] for players in seats)
    if name == "least_played":
        assert {record["detail"].partition(";")[0] for record in records.values()} == {"solo", "year limit"}
        assert any(any(shown(record)[1]) for record in records.values())
        plays = Counter[str]()
        for players in seats:
            fewest = min(plays[bot] for bot in BOTS)
            assert any(plays[bot] == fewest for bot in players)
            plays.update(players)
