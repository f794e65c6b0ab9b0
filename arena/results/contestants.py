"""Players as SAGA's clients and contestants."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from arena.control.changed_settings import REMEDY
from arena.jobs import PlayerSetup
from arena.results import own_tables as own
from arena.results import schema as saga
from arena.results.database import ResultsError
from arena.results.rows import add, find_or_add


def enter_competitors(
    connection: Connection, series_id: int, players: Sequence[PlayerSetup]
) -> dict[str, int]:
    """Enter a control file's competitors, or find them again; return ContestantIds by name.

    A changed command is a new contestant under the same name; its forerunner is superseded.
    """
    return {player.name: _competitor(connection, series_id, player) for player in players}


def enter_made_player(
    connection: Connection, series_id: int, player: PlayerSetup, listed: Mapping[str, int]
) -> int:
    """Enter a player that was made for a game (a tuner's candidate, a clone); return its ContestantId.

    A clone is the contestant it was cloned from; candidates of equal parameters are one contestant.
    """
    client, contestant = _rows(player)
    known = connection.execute(
        select(saga.CONTESTANT.c.ContestantId)
        .join_from(saga.CONTESTANT, saga.CLIENT)
        .join(saga.SERIES_CONTESTANT)
        .where(saga.SERIES_CONTESTANT.c.SeriesId == series_id)
        .where(*(saga.CLIENT.c[name] == value for name, value in client.items()))
        .where(*(saga.CONTESTANT.c[name] == value for name, value in contestant.items()))
        .order_by(saga.CONTESTANT.c.Superseded, saga.CONTESTANT.c.ContestantId)
    ).scalar()
    if known is not None:
        return int(known)
    original = player.name.partition("#")[0]
    family = original if original in listed else "candidate"
    return _contestant(connection, series_id, family, client, {**contestant, "Personality": player.name})


def check_order(connection: Connection, series_id: int, players: Sequence[PlayerSetup]) -> None:
    """Raise ResultsError unless these are the known competitors in their order, or more at the end."""
    table = own.COMPETITOR
    first = func.min(table.c.ContestantId)
    known = list(
        connection.execute(
            select(table.c.Name).filter_by(SeriesId=series_id).group_by(table.c.Name).order_by(first)
        ).scalars()
    )
    now = [player.name for player in players]
    if now[: len(known)] != known:
        raise ResultsError(
            f"competition.competitors: the games so far were played with {', '.join(known)}, in this order; "
            f"the control file now has {', '.join(now)}; competitors may be added at the end but neither "
            f"removed nor moved: {REMEDY}"
        )


def _rows(player: PlayerSetup) -> tuple[dict[str, Any], dict[str, Any]]:
    client = {
        # Players that dial in have no command of ours.
        "Command": shlex.join(player.command) or f"{player.protocol}:",
        "WorkingDir": player.working_directory or "",
    }
    contestant = {
        "Options": "".join(f"{command}#" for command in player.parameters.get("startup_commands", ())),
        "FinishTime": round(player.exit_seconds * 1000),
    }
    return client, contestant


def _competitor(connection: Connection, series_id: int, player: PlayerSetup) -> int:
    client, contestant = _rows(player)
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
        _supersede(connection, int(known[0]))
    key = _contestant(connection, series_id, player.name, client, contestant)
    connection.execute(insert(own.COMPETITOR).values(ContestantId=key, SeriesId=series_id, Name=player.name))
    return key


def _contestant(
    connection: Connection,
    series_id: int,
    family: str,
    client: Mapping[str, Any],
    contestant: Mapping[str, Any],
) -> int:
    client_id = find_or_add(connection, saga.CLIENT, {"Family": family, **client})
    key = add(connection, saga.CONTESTANT, {"ClientId": client_id, **contestant})
    row = {"SeriesId": series_id, "ContestantId": key}
    connection.execute(insert(saga.SERIES_CONTESTANT).values(row))
    return key


def _supersede(connection: Connection, contestant_id: int) -> None:
    for table, values in (
        (saga.CONTESTANT, {"Superseded": True}),
        (saga.SERIES_CONTESTANT, {"Weight": 0.0}),
        (own.COMPETITOR, {"Current": False}),
    ):
        connection.execute(update(table).where(table.c.ContestantId == contestant_id).values(values))
