"""A competition's entry in the database: its series, platform, setting and contestants."""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, insert, select, update

from arena.control.changed_settings import changed
from arena.control.database_urls import shown
from arena.control.plans import GameSettings
from arena.jobs import PlayerSetup
from arena.results import own_tables as own
from arena.results import schema as saga
from arena.results.contestants import check_order, enter_competitors
from arena.results.database import NoResultsYetError, ResultsError, utc_now
from arena.results.game_settings import GameSetting, check_variant
from arena.results.mission_series import MissionSeries, SeriesHeading, enter_series
from arena.results.platforms import Platform, enter_platform, this_platform
from arena.results.rows import add


@dataclass(frozen=True)
class Heading:
    """What the database is told of a competition before its first game.

    `setting` is of games that have none of their own, `players` are all competitors in their order,
    `games` how many are to be played (None: no end). `ordered` competitions name games by their players'
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

    @property
    def terms(self) -> "CompetitionTerms":
        """What may not change once there are games."""
        return CompetitionTerms(self.kind, self.setting.game)


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
    series_id = _series(connection, heading)
    identity = _identity(connection, series_id, heading)
    if heading.ordered:
        check_order(connection, series_id, heading.players)
    return Registration(series_id, identity)


def describe(connection: Connection, series_id: int, heading: Heading) -> Entered:
    """Have the database say what the competition is now, and that it is running."""
    connection.execute(
        update(saga.SERIES).filter_by(SeriesId=series_id).values({**_described(heading), "State": 1})
    )
    platform_id = enter_platform(connection, heading.platform)
    contestants = enter_competitors(connection, series_id, heading.players)
    players = {player.name: player for player in heading.players}
    return Entered(
        heading.setting,
        platform_id,
        contestants,
        {
            one.name: enter_series(connection, series_id, platform_id, one, contestants, players)
            for one in heading.series
        },
    )


def find_competition(connection: Connection, name: str) -> int:
    """The series of a competition. Raises NoResultsYetError if it has not been run.

    A series of its name that came in from elsewhere is no competition of the arena's.
    """
    series_id = find_series(connection, name)
    if not _is_own(connection, series_id):
        raise NoResultsYetError(
            f"there are no results of {name!r} yet: the series of this name was imported, and is there for "
            "SQL and export"
        )
    return series_id


def find_series(connection: Connection, name: str) -> int:
    """The series of this name, be it a competition or imported. Raises NoResultsYetError if there is none."""
    series_id = connection.execute(select(saga.SERIES.c.SeriesId).filter_by(Name=name)).scalar()
    if series_id is None:
        raise NoResultsYetError(f"there are no results of {name!r} yet")
    return int(series_id)


def _is_own(connection: Connection, series_id: int) -> bool:
    query = select(own.COMPETITION.c.SeriesId).filter_by(SeriesId=series_id)
    return connection.execute(query).first() is not None


def _series(connection: Connection, heading: Heading) -> int:
    table = saga.SERIES
    known = connection.execute(select(table.c.SeriesId).filter_by(Name=heading.name)).scalar()
    if known is not None:
        if not _is_own(connection, known):
            raise ResultsError(
                f"the series {heading.name!r} in {shown(connection.engine.url)} was imported, and its games "
                "are not this competition's; rename the control file, or keep the results in another "
                "database (--results)"
            )
        return int(known)
    return add(connection, table, {"Name": heading.name, **_described(heading)})


def _described(heading: Heading) -> dict[str, Any]:
    return {
        "Pure": all(one.pure for one in heading.series),
        "Selector": heading.selector,
        "GameLim": heading.games,
        "Notes": heading.description,
    }


def _identity(connection: Connection, series_id: int, heading: Heading) -> str:
    table = own.COMPETITION
    known = connection.execute(select(table.c.Uuid).filter_by(SeriesId=series_id)).scalar()
    if known is not None:
        competition_terms(connection, series_id).check(heading.terms, heading.own_settings)
        check_variant(connection, series_id, heading.setting)
        return str(known)
    identity = uuid.uuid4().hex
    game = heading.terms.game
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
    connection.execute(insert(table).values(row))
    return identity


@dataclass(frozen=True)
class CompetitionTerms:
    """What a competition with games may not change: its kind and its game."""

    kind: str
    game: GameSettings

    def check(self, now: "CompetitionTerms", own_settings: bool) -> None:
        """Raise ResultsError, naming the setting, if a control file has other terms now.

        With `own_settings` games have settings of their own, and those of the competition may change.
        """
        before, after = self.game.terms, now.game.terms
        names = ["name"] if own_settings else [*{**before, **after}]
        unset = "its default"
        pairs = {f"game.{name}": (before.get(name, unset), after.get(name, unset)) for name in names}
        for setting, (known, given) in {"competition.kind": (self.kind, now.kind), **pairs}.items():
            if known != given:
                raise ResultsError(changed(setting, known, given))


def competition_terms(connection: Connection, series_id: int) -> CompetitionTerms:
    """The terms that a competition began with."""
    row = connection.execute(select(own.COMPETITION).filter_by(SeriesId=series_id)).one()
    return CompetitionTerms(
        row.Kind, GameSettings(row.Game, json.loads(row.Settings), row.MoveLimit, row.Scorer)
    )
