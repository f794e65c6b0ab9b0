"""Games of many and of two, entered into SAGA's tables as they are."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, insert

from arena.jobs import PlayerUsage
from arena.results import own_tables as own
from arena.results import schema as saga
from arena.results.database import utc_now
from arena.results.game_rows import Entry, add_game
from arena.results.game_settings import SettingKeys
from referees.api import Outcome, Termination
from tests.arena.results.examples import result

NAMES: Final = ("Austria", "England", "France", "Germany", "Italy", "Russia", "Turkey")
SEATS: Final = range(1, 8)

DIPLOMACY: Final = [
    # A solo: the second has nearly as many centres as the winner.
    Outcome((3,), Termination.SCORE, "", (0, 0, 18, 0, 16, 0, 0), eliminated=(4, 5, None, 2, None, 6, 3)),
    # A draw of all survivors.
    Outcome(
        (1, 5, 7), Termination.SCORE, "", (12, 0, 0, 0, 12, 0, 10), eliminated=(None, 2, 2, 9, None, 1, None)
    ),
    # The same bots in other powers; everybody survives.
    Outcome(tuple(SEATS), Termination.SCORE, "", (5, 5, 5, 5, 5, 5, 4)),
    # Stopped: void.
    Outcome((), Termination.UNKNOWN, "", (5, 5, 5, 5, 5, 5, 4)),
]
TWO: Final = [
    Outcome((1,), Termination.SCORE, "B+3.5", (43.0, 39.5)),
    Outcome((2,), Termination.RESIGNATION, "W+R"),
    Outcome((1, 2), Termination.SCORE, "0", (40.5, 40.5)),
    Outcome((), Termination.MOVE_LIMIT, "?"),
    Outcome((2,), Termination.SCORE, "W+20", (30.5, 50.5)),
]

CLOCKS = ("1 s a move",) * 7


def play(connection: Connection, outcomes: Sequence[Outcome], seats: int, supplies: int | None) -> None:
    """Enter games of as many bots as seats, who move on by one seat from game to game."""
    for table, row in (
        (saga.VARIANT, {"VariantId": 1, "Name": "a game", "Powers": seats, "Supplies": supplies}),
        (saga.SERIES, {"SeriesId": 1, "Name": "cup", "Selector": "~"}),
        (saga.SETTING, {"SettingId": 1, "VariantId": 1, "SL": 10, "Level": 0}),
    ):
        connection.execute(insert(table).values(row))
    for seat in range(1, seats + 1):
        for table, row in (
            (saga.POWER, {"PowerId": seat, "VariantId": 1, "Code": NAMES[seat - 1][:3].upper(), "Name": "x"}),
            (
                saga.CLIENT,
                {"ClientId": seat, "Family": f"bot{seat}", "Command": "x", "Name": "Bot", "Version": "1"},
            ),
            (saga.CONTESTANT, {"ContestantId": seat, "ClientId": seat}),
        ):
            connection.execute(insert(table).values(row))
    for number, outcome in enumerate(outcomes):
        bots = line_up(number, seats)
        names = tuple(f"bot{bot}" for bot in bots)
        entry = Entry(1, SettingKeys(1, tuple(range(1, seats + 1))), names, bots, CLOCKS[:seats])
        add(connection, entry, outcome, number)


def line_up(number: int, seats: int) -> tuple[int, ...]:
    """The bots by seat in a game."""
    return tuple((seat + number) % seats + 1 for seat in range(seats))


def add(connection: Connection, entry: Entry, outcome: Outcome, number: int) -> None:
    attempt = {"SeriesId": entry.series_id, "Name": str(number), "Attempt": 1}
    connection.execute(
        insert(own.ATTEMPT).values(
            **attempt, ContestId=str(number), Matchup="m", Players="[]", Detail="", Started=utc_now()
        )
    )
    detail = {**attempt, "Matchup": "m", "Seed": 1, "ContestId": str(number), "Voids": 0}
    seats = len(entry.contestants)
    game = result(str(number), outcome, usage=(PlayerUsage(),) * seats)
    add_game(connection, entry, game, 9.0, detail)
