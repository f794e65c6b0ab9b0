"""Competitions, their players, series and platforms, entered into the database or found there again."""

import json
import os
import platform
import shlex
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from arena.control.changed_settings import REMEDY, changed
from arena.control.database_urls import shown
from arena.control.plans import GameSettings, MarsSeries
from arena.jobs import PlayerSetup
from arena.results import own_tables as own
from arena.results import schema as saga
from arena.results.database import NoResultsYetError, ResultsError, add, find_or_add, utc_now
from arena.results.game_settings import GameSetting, SettingKeys, check_variant, enter_setting


@dataclass(frozen=True)
class Platform:
    """A platform: `fraction` of the time (0 to 1) that bots run at normal priority, and how free of
    other work it is: `quality` 1 (significant interference), 2 (modest) or 3 (dedicated)."""

    name: str
    fraction: float
    quality: int


def this_platform() -> Platform:
    """This machine, judged by its present load: measure it before games are started."""
    cores = os.cpu_count() or 1
    name = f"{platform.node()} ({platform.system()} {platform.machine()}, {cores} cores)"
    # Players inherit the arena's priority, which a user can only have lowered.
    fraction = 1.0 if os.getpriority(os.PRIO_PROCESS, 0) <= 0 else 0.0
    return Platform(name, fraction, quality_of(os.getloadavg()[0] / cores))


def quality_of(load: float) -> int:
    """SAGA's Quality of a machine whose cores are in use by others for the share `load` of the time."""
    if load < 0.1:
        return 3
    return 2 if load < 0.5 else 1


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
    family = player.family or (original if original in listed else "candidate")
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
        "Release": player.version,
    }
    contestant = {
        "Options": "".join(f"{command}#" for command in player.parameters.get("startup_commands", ())),
        "FinishTime": round(player.exit_seconds * 1000),
    }
    return client, contestant


def _competitor(connection: Connection, series_id: int, player: PlayerSetup) -> int:
    """Enter a control file's competitor, or find it again; return its ContestantId.

    A changed command is a new contestant under the same name; its forerunner is superseded.
    """
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
    # Each player that dials in is a client of its own.
    family = (player.family if player.command else None) or player.name
    personality = "" if family == player.name else player.name
    key = _contestant(connection, series_id, family, client, {**contestant, "Personality": personality})
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


@dataclass(frozen=True)
class SeriesHeading:
    """A series of a mission, with its selector and settings as the database stores them."""

    series: MarsSeries
    selector: str
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
    """Enter a series of a mission, or find it again, and store its present settings.

    `contestants` and `players` are the mission's by name.
    """
    series = heading.series
    series_id = _series_id(connection, mission_id, series.name)
    games = _games(connection, series_id)
    if not games:
        # It is frozen only when it has begun.
        for table in (saga.SERIES_CONTESTANT, saga.SERIES_SETTING):
            connection.execute(delete(table).filter_by(SeriesId=series_id))
    done = series.complete or (series.games is not None and games >= series.games)
    connection.execute(
        update(saga.SERIES)
        .filter_by(SeriesId=series_id)
        .values(
            State=2 if done else 1 if games else 0,
            Weight=series.weight,
            Pure=series.pure,
            Selector=heading.selector,
            GameLim=series.games,
            Notes=series.notes,
        )
    )
    for name, weight in series.contestants.items():
        pair = {"SeriesId": series_id, "ContestantId": contestants[name]}
        find_or_add(connection, saga.SERIES_CONTESTANT, pair, {"Weight": weight})
    playing = [players[name] for name in series.contestants]
    settings = {
        setting.whole: enter_setting(connection, series_id, platform_id, setting, playing)
        for setting in heading.settings
    }
    return MissionSeries(series_id, settings)


def series_of(connection: Connection, mission_id: int) -> list[int]:
    """The keys of a mission's series; none for other competitions."""
    query = select(own.MISSION_SERIES.c.SeriesId).filter_by(MissionId=mission_id)
    return [int(key) for key in connection.execute(query).scalars()]


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


@dataclass(frozen=True)
class Heading:
    """A competition, as the database stores it before its first game.

    `setting` is of games that have none of their own, `players` are all competitors in their order,
    `games` how many it has in all (None: no end). `ordered` competitions name games by their players'
    places, so that players may only be added at the end. Where games have settings of their own
    (`own_settings`), those of the heading may change. A mission has `series`.
    """

    name: str
    kind: str
    description: str
    selector: str
    games: int | None
    setting: GameSetting
    players: Sequence[PlayerSetup]
    ordered: bool = True
    own_settings: bool = False
    series: Sequence[SeriesHeading] = ()
    platform: Platform = field(default_factory=this_platform)


@dataclass(frozen=True)
class Registration:
    """The database's own key of a competition, and its name in the world."""

    series_id: int
    uuid: str


@dataclass(frozen=True)
class Entered:
    """The database's own keys of what a competition consists of: contestants and series by name.

    `setting` is that of games that have none of their own.
    """

    setting: GameSetting
    platform_id: int
    contestants: Mapping[str, int]
    series: Mapping[str, MissionSeries]


def register(connection: Connection, heading: Heading) -> Registration:
    """Enter a competition's name and terms, or find it again.

    Raises ResultsError if its games would not be the same.
    """
    series, competition = saga.SERIES.c, own.COMPETITION.c
    query = select(series.SeriesId, competition.Uuid).outerjoin_from(saga.SERIES, own.COMPETITION)
    known = connection.execute(query.where(series.Name == heading.name)).first()
    if known is None:
        return _enter(connection, heading)
    if known.Uuid is None:
        raise ResultsError(
            f"the series {heading.name!r} in {shown(connection.engine.url)} was imported, and its games "
            "are not this competition's; rename the control file, or keep the results in another "
            "database (--results)"
        )
    terms = competition_terms(connection, known.SeriesId)
    terms.check(heading.kind, heading.setting.game, heading.own_settings)
    check_variant(connection, known.SeriesId, heading.setting)
    if heading.ordered:
        check_order(connection, known.SeriesId, heading.players)
    return Registration(known.SeriesId, known.Uuid)


def _enter(connection: Connection, heading: Heading) -> Registration:
    series_id = add(connection, saga.SERIES, {"Name": heading.name, **_series_columns(heading)})
    identity, game = uuid.uuid4().hex, heading.setting.game
    row = {
        "SeriesId": series_id,
        "Uuid": identity,
        "Created": utc_now(),
        "Kind": heading.kind,
        "Game": game.name,
        "Settings": json.dumps(game.settings, sort_keys=True, default=str),
        "MoveLimit": game.move_limit,
        "Scorer": game.scorer,
    }
    connection.execute(insert(own.COMPETITION).values(row))
    return Registration(series_id, identity)


def describe(connection: Connection, series_id: int, heading: Heading) -> Entered:
    """Store what the competition is now, and that it is running."""
    connection.execute(
        update(saga.SERIES).filter_by(SeriesId=series_id).values({**_series_columns(heading), "State": 1})
    )
    machine = heading.platform
    platform_id = find_or_add(
        connection,
        saga.PLATFORM,
        {"Name": machine.name, "Fraction": machine.fraction, "Quality": machine.quality},
    )
    contestants = {player.name: _competitor(connection, series_id, player) for player in heading.players}
    players = {player.name: player for player in heading.players}
    return Entered(
        heading.setting,
        platform_id,
        contestants,
        {
            entry.series.name: enter_series(connection, series_id, platform_id, entry, contestants, players)
            for entry in heading.series
        },
    )


def find_competition(connection: Connection, name: str) -> int:
    """The series of a competition. Raises NoResultsYetError if it has not been run.

    A series of its name that came in from elsewhere is not a competition of the arena's.
    """
    series_id = find_series(connection, name)
    own_series = select(own.COMPETITION.c.SeriesId).filter_by(SeriesId=series_id)
    if connection.execute(own_series).first() is None:
        raise NoResultsYetError(
            f"there are no results of {name!r} yet: the series of this name was imported, and is there for "
            "SQL and export"
        )
    return series_id


def find_series(connection: Connection, name: str) -> int:
    """The series of this name, a competition or imported. Raises NoResultsYetError if it is missing."""
    series_id = connection.execute(select(saga.SERIES.c.SeriesId).filter_by(Name=name)).scalar()
    if series_id is None:
        raise NoResultsYetError(f"there are no results of {name!r} yet")
    return int(series_id)


def _series_columns(heading: Heading) -> dict[str, Any]:
    return {
        "Pure": all(entry.series.pure for entry in heading.series),
        "Selector": heading.selector,
        "GameLim": heading.games,
        "Notes": heading.description,
    }


@dataclass(frozen=True)
class CompetitionTerms:
    """What a competition with games may not change: its kind and its game."""

    kind: str
    game: GameSettings

    def check(self, kind: str, game: GameSettings, own_settings: bool) -> None:
        """Raise ResultsError, naming the setting, if a control file has another kind or game now.

        With `own_settings` games have settings of their own, and those of the competition may change.
        """
        before, after = self.game.terms, game.terms
        names = ["name"] if own_settings else [*{**before, **after}]
        unset = "its default"
        pairs = {f"game.{name}": (before.get(name, unset), after.get(name, unset)) for name in names}
        for setting, (known, given) in {"competition.kind": (self.kind, kind), **pairs}.items():
            if known != given:
                raise ResultsError(changed(setting, known, given))


def competition_terms(connection: Connection, series_id: int) -> CompetitionTerms:
    """The terms that a competition began with."""
    row = connection.execute(select(own.COMPETITION).filter_by(SeriesId=series_id)).one()
    return CompetitionTerms(
        row.Kind, GameSettings(row.Game, json.loads(row.Settings), row.MoveLimit, row.Scorer)
    )
