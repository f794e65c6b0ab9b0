"""Results and leagues for the tests."""

import random
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import select

from arena.jobs import PlayerSetup
from arena.league.database import LeagueDatabase
from arena.league.recording import enter_competition
from arena.league.source import SourceCompetition, SourceGame, SourceSeat
from arena.league.tables import METADATA
from arena.ratings.elo import EloRules
from arena.results.database import ResultsDatabase, sqlite_url, utc_now
from arena.results.series import PlannedGame, Series
from referees.api import Outcome, Termination
from tests.arena.results.examples import heading, play_game, player, registered, result

RULES = EloRules()
CUP = SourceCompetition(1, "uuid", "cup", "standing")
# They differ from one league to another, or with the time.
_OWN = {"Created", "Time", "GameId", "CompetitionId"}


def enter_cup(league: LeagueDatabase) -> None:
    """Have a league know of the competition `CUP`, whose games are recorded as they are."""
    with league.sole_transaction() as connection:
        enter_competition(connection, CUP)


def game_of_cup(number: int, *labels: str, winner: int = 1, finished: datetime | None = None) -> SourceGame:
    """A game of the players that the labels name, which ends now or at a time."""
    seats = tuple(SourceSeat(*label.partition("-")[::2], 1000.0) for label in labels)
    outcome = Outcome((winner,), Termination.SCORE, "B+1")
    at = finished or utc_now()
    return SourceGame(number, f"contest{number}", f"r{number}_0", "go-9x9", at, outcome, seats)


def setup(label: str) -> PlayerSetup:
    """A player from its label: `NAME-VERSION` or `NAME`."""
    name, _, version = label.partition("-")
    return replace(player(name), version=version)


def play(
    series: Series, game_id: str, labels: Sequence[str], winners: Sequence[int], elo: dict[str, float]
) -> None:
    """Store a game as a run does, with LUDAE's Elo, which `elo` keeps by label."""
    outcome = Outcome(tuple(winners), Termination.SCORE, "B+1")
    before = tuple(elo.get(label, RULES.start) for label in labels)
    after = RULES.rate_outcome(labels, before, outcome)
    elo.update(zip(labels, after, strict=True))
    planned = PlannedGame("AvB", list(map(setup, labels)))
    play_game(series, planned, result(game_id, outcome), (before, after))


def competition(database: ResultsDatabase, name: str, labels: Sequence[str]) -> Series:
    """A competition between players."""
    with database.engine.connect() as connection:
        # A test's files need not outlast the machine.
        connection.exec_driver_sql("PRAGMA synchronous = OFF")
    return registered(database, heading(list(map(setup, labels)), name=name))


def filled(path: Path, games: int, seed: int = 1, name: str = "cup") -> Path:
    """A results database of a competition of four players, of whom the later ones are stronger."""
    chance, names, elo = random.Random(seed), ("a", "b", "c", "d"), dict[str, float]()
    with closing(ResultsDatabase.open(sqlite_url(path))) as database:
        series = competition(database, name, names)
        for number in range(games):
            first, second = chance.sample(names, 2)
            better = 1 if first > second else 2
            winners = (1, 2) if chance.random() < 0.1 else (better if chance.random() < 0.8 else 3 - better,)
            play(series, f"AvB_{number}", (first, second), winners, elo)
    return path


def contents(league: LeagueDatabase) -> dict[str, list[dict[str, Any]]]:
    """All that a league holds, but for times and keys that are its own."""
    with league.transaction() as connection:
        return {
            table.name: sorted(
                (
                    {name: value for name, value in row.items() if name not in _OWN}
                    for row in map(dict, connection.execute(select(table)).mappings())
                ),
                key=str,
            )
            for table in METADATA.sorted_tables
        }
