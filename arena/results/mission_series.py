"""The series of a mission: each has a row, contestants and settings of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from arena.jobs import PlayerSetup
from arena.results import own_tables as own
from arena.results import schema as saga
from arena.results.game_settings import GameSetting, SettingKeys, enter_setting
from arena.results.rows import add, find_or_add


@dataclass(frozen=True)
class SeriesHeading:
    """What the database is told of one series of a mission.

    `games` is how many are to be played (None: no end), `weight` its chance among the others to be run; a
    `complete` one is never run. `contestants` have weights.
    """

    name: str
    selector: str
    games: int | None
    weight: float
    pure: bool
    complete: bool
    notes: str
    contestants: Mapping[str, float]
    settings: Sequence[GameSetting]


@dataclass(frozen=True)
class MissionSeries:
    """The database's own keys of a series; settings by all that they consist of."""

    series_id: int
    settings: Mapping[str, SettingKeys]


def enter_series(
    connection: Connection,
    mission_id: int,
    platform_id: int,
    heading: SeriesHeading,
    contestants: Mapping[str, int],
    players: Mapping[str, PlayerSetup],
) -> MissionSeries:
    """Enter a series of a mission, or find it again, and have it say what it is now.

    `contestants` and `players` are the mission's by name.
    """
    series_id = _series_id(connection, mission_id, heading.name)
    games = _games(connection, series_id)
    if not games:
        # It is frozen only when it has begun.
        for table in (saga.SERIES_CONTESTANT, saga.SERIES_SETTING):
            connection.execute(delete(table).filter_by(SeriesId=series_id))
    done = heading.complete or (heading.games is not None and games >= heading.games)
    connection.execute(
        update(saga.SERIES)
        .filter_by(SeriesId=series_id)
        .values(
            State=2 if done else 1 if games else 0,
            Weight=heading.weight,
            Pure=heading.pure,
            Selector=heading.selector,
            GameLim=heading.games,
            Notes=heading.notes,
        )
    )
    for name, weight in heading.contestants.items():
        pair = {"SeriesId": series_id, "ContestantId": contestants[name]}
        find_or_add(connection, saga.SERIES_CONTESTANT, pair, {"Weight": weight})
    playing = [players[name] for name in heading.contestants]
    settings = {
        setting.whole: enter_setting(connection, series_id, platform_id, setting, playing)
        for setting in heading.settings
    }
    return MissionSeries(series_id, settings)


def series_of(connection: Connection, mission_id: int) -> list[int]:
    """The keys of a mission's series; none for other competitions."""
    query = select(own.MISSION_SERIES.c.SeriesId).filter_by(MissionId=mission_id)
    return [int(key) for key in connection.execute(query).scalars()]


def note_begun(connection: Connection, series_id: int) -> None:
    """Have a series say that it has begun."""
    connection.execute(update(saga.SERIES).filter_by(SeriesId=series_id, State=0).values(State=1))


def note_complete(connection: Connection, mission_id: int) -> None:
    """Have the series of a mission that have all their games say so."""
    for series_id in series_of(connection, mission_id):
        enough = saga.SERIES.c.GameLim <= _games(connection, series_id)
        connection.execute(update(saga.SERIES).filter_by(SeriesId=series_id).where(enough).values(State=2))


def _series_id(connection: Connection, mission_id: int, name: str) -> int:
    table = own.MISSION_SERIES
    query = select(table.c.SeriesId).filter_by(MissionId=mission_id, Name=name)
    known = connection.execute(query).scalar()
    if known is not None:
        return int(known)
    mission = connection.execute(select(saga.SERIES.c.Name).filter_by(SeriesId=mission_id)).scalar_one()
    key = add(connection, saga.SERIES, {"Name": f"{mission}/{name}", "Selector": "~"})
    row: dict[str, Any] = {"SeriesId": key, "MissionId": mission_id, "Name": name}
    add(connection, table, row)
    return key


def _games(connection: Connection, series_id: int) -> int:
    query = select(func.count()).select_from(saga.GAME).filter_by(SeriesId=series_id)
    return int(connection.execute(query).scalar_one())
