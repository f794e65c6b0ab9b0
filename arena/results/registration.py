"""A competition's entry in the database: series, setting, variant, platform and contestants."""

import json
import math
import os
import platform
import shlex
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, func, insert, select, update

from arena.jobs import PlayerSetup
from arena.results import own_tables as own
from arena.results import schema as saga
from arena.results.database import ResultsError, utc_now


@dataclass(frozen=True)
class Heading:
    """What the database is told of a competition before its first game.

    `variant` is the game id its referee gives ACADEMY, `seats` what players call the seats,
    `players` all competitors in their order, `games` how many are to be played (None: no end).
    """

    name: str
    kind: str
    description: str
    selector: str
    games: int | None
    game: str
    settings: Mapping[str, Any]
    move_limit: int
    scorer: str
    variant: str
    seats: Sequence[str]
    players: Sequence[PlayerSetup]


@dataclass(frozen=True)
class Registration:
    """The database's own keys of a competition: powers by seat, contestants by name."""

    series_id: int
    uuid: str
    setting_id: int
    powers: tuple[int, ...]
    contestants: Mapping[str, int]


def register(connection: Connection, heading: Heading) -> Registration:
    """Enter a competition, or find it again. Raises ResultsError if its games would not be the same.

    Competitors may be added at the end; a changed command is a new contestant under the same name.
    """
    series_id = _series(connection, heading)
    identity = _identity(connection, series_id, heading)
    variant_id, powers = _variant(connection, heading)
    limits = {player.move_seconds for player in heading.players}
    setting_id = _find_or_add(
        connection,
        saga.SETTING,
        {
            "PlatformId": _platform(connection),
            "VariantId": variant_id,
            "MTL": math.ceil(limits.pop()) if len(limits) == 1 else None,
        },
    )
    _find_or_add(connection, saga.SERIES_SETTING, {"SeriesId": series_id, "SettingId": setting_id})
    _check_order(connection, series_id, heading)
    contestants = {player.name: _contestant(connection, series_id, player) for player in heading.players}
    return Registration(series_id, identity, setting_id, powers, contestants)


def find_series(connection: Connection, name: str) -> int:
    """The series of a competition. Raises ResultsError if it has not been run."""
    series_id = connection.execute(select(saga.SERIES.c.SeriesId).filter_by(Name=name)).scalar()
    if series_id is None:
        raise ResultsError(f"there are no results of {name!r} yet")
    return int(series_id)


def _add(connection: Connection, table: Table, values: Mapping[str, Any]) -> int:
    key = connection.execute(insert(table).values(values)).inserted_primary_key
    assert key is not None
    return int(key[0])


def _find_or_add(connection: Connection, table: Table, values: Mapping[str, Any]) -> int:
    key = next(iter(table.primary_key.columns))
    conditions = [table.c[name].is_not_distinct_from(value) for name, value in values.items()]
    found = connection.execute(select(key).where(*conditions)).scalar()
    return _add(connection, table, values) if found is None else int(found)


def _series(connection: Connection, heading: Heading) -> int:
    values = {
        "State": 1,
        "Selector": heading.selector,
        "GameLim": heading.games,
        "Notes": heading.description,
    }
    table = saga.SERIES
    series_id = connection.execute(select(table.c.SeriesId).filter_by(Name=heading.name)).scalar()
    if series_id is None:
        return _add(connection, table, {"Name": heading.name, **values})
    connection.execute(update(table).where(table.c.SeriesId == series_id).values(values))
    return int(series_id)


def _identity(connection: Connection, series_id: int, heading: Heading) -> str:
    table = own.COMPETITION
    fixed = {
        "Kind": heading.kind,
        "Game": heading.game,
        "Settings": json.dumps(heading.settings, sort_keys=True, default=str),
        "MoveLimit": heading.move_limit,
        "Scorer": heading.scorer,
    }
    known = connection.execute(select(table).filter_by(SeriesId=series_id)).mappings().first()
    if known is None:
        identity = uuid.uuid4().hex
        row = {"SeriesId": series_id, "Uuid": identity, "Created": utc_now(), **fixed}
        connection.execute(insert(table).values(row))
        return identity
    for column, value in fixed.items():
        if known[column] != value:
            raise ResultsError(
                f"{column}: the games so far were played with {known[column]}, the control file now has "
                f"{value}; put it back, or give the changed competition a control file of its own"
            )
    return str(known["Uuid"])


def _platform(connection: Connection) -> int:
    cores = os.cpu_count()
    name = f"{platform.node()} ({platform.system()} {platform.machine()}, {cores} cores)"
    return _find_or_add(connection, saga.PLATFORM, {"Name": name})


def _variant(connection: Connection, heading: Heading) -> tuple[int, tuple[int, ...]]:
    seats = list(heading.seats)
    variant_id = _find_or_add(connection, saga.VARIANT, {"Name": heading.variant, "Powers": len(seats)})
    powers = tuple(
        _find_or_add(connection, saga.POWER, {"VariantId": variant_id, "Code": str(seat), "Name": name})
        for seat, name in enumerate(seats, start=1)
    )
    return variant_id, powers


def _check_order(connection: Connection, series_id: int, heading: Heading) -> None:
    table = own.COMPETITOR
    first = func.min(table.c.ContestantId)
    known = list(
        connection.execute(
            select(table.c.Name).filter_by(SeriesId=series_id).group_by(table.c.Name).order_by(first)
        ).scalars()
    )
    now = [player.name for player in heading.players]
    if now[: len(known)] != known:
        raise ResultsError(
            f"competitors: the games so far are of {', '.join(known)}, in this order; the control file now "
            f"has {', '.join(now)}; competitors may be added at the end but neither removed nor moved"
        )


def _contestant(connection: Connection, series_id: int, player: PlayerSetup) -> int:
    client = {"Command": shlex.join(player.command), "WorkingDir": player.working_directory or ""}
    contestant = {
        "Options": "".join(f"{command}#" for command in player.parameters.get("startup_commands", ())),
        "FinishTime": round(player.exit_seconds * 1000),
    }
    known = connection.execute(
        select(own.COMPETITOR.c.ContestantId, saga.CLIENT, saga.CONTESTANT)
        .join_from(own.COMPETITOR, saga.CONTESTANT)
        .join(saga.CLIENT)
        .where(own.COMPETITOR.c.SeriesId == series_id, own.COMPETITOR.c.Name == player.name)
        .where(own.COMPETITOR.c.Current)
    ).first()
    if known is not None:
        if all(known._mapping[name] == value for name, value in {**client, **contestant}.items()):
            return int(known[0])
        _supersede(connection, series_id, int(known[0]))
    client_id = _find_or_add(connection, saga.CLIENT, {"Family": player.name, **client})
    key = _add(connection, saga.CONTESTANT, {"ClientId": client_id, **contestant})
    connection.execute(insert(saga.SERIES_CONTESTANT).values(SeriesId=series_id, ContestantId=key))
    connection.execute(insert(own.COMPETITOR).values(ContestantId=key, SeriesId=series_id, Name=player.name))
    return key


def _supersede(connection: Connection, series_id: int, contestant_id: int) -> None:
    for table, values in (
        (saga.CONTESTANT, {"Superseded": True}),
        (saga.SERIES_CONTESTANT, {"Weight": 0.0}),
        (own.COMPETITOR, {"Current": False}),
    ):
        connection.execute(update(table).where(table.c.ContestantId == contestant_id).values(values))
