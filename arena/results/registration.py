"""A competition's entry in the database: its series, platform, setting and contestants."""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, insert, select, update

from arena.control.changed_settings import changed
from arena.control.game import GameSettings
from arena.jobs import PlayerSetup
from arena.results import own_tables as own
from arena.results import schema as saga
from arena.results.contestants import check_order, enter_competitors
from arena.results.database import NoResultsYet, ResultsError, utc_now
from arena.results.game_settings import GameSetting
from arena.results.platforms import Platform, enter_platform, this_platform
from arena.results.rows import add
from referees.api import VariantFacts


@dataclass(frozen=True)
class Heading:
    """What the database is told of a competition before its first game.

    `variant` is the game id its referee gives ACADEMY, `seats` what players call the seats,
    `players` all competitors in their order, `games` how many are to be played (None: no end).

    `ordered` competitions name games by their players' places, so that players may only be added at
    the end. `weight` is the chance of a series among others to be run, `weights` those of players
    (1 where not given). `pure` series choose games by nothing but their own earlier ones. Where games
    have settings of their own (`own_settings`), those of the heading may change.
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
    ordered: bool = True
    pure: bool = True
    own_settings: bool = False
    facts: VariantFacts = field(default_factory=VariantFacts)
    weight: float = 1.0
    weights: Mapping[str, float] = field(default_factory=dict)
    platform: Platform = field(default_factory=this_platform)

    @property
    def terms(self) -> "CompetitionTerms":
        """What may not change once there are games."""
        game = GameSettings(self.game, self.settings, self.move_limit, self.scorer)
        return CompetitionTerms(self.kind, game)

    @property
    def setting(self) -> GameSetting:
        """The setting of games that have none of their own."""
        return GameSetting(
            game=self.game,
            settings=self.settings,
            move_limit=self.move_limit,
            scorer=self.scorer,
            variant=self.variant,
            seats=tuple(self.seats),
            facts=self.facts,
        )


@dataclass(frozen=True)
class Registration:
    """The database's own keys of a competition: contestants by name."""

    series_id: int
    uuid: str
    platform_id: int
    setting: GameSetting
    contestants: Mapping[str, int]


def register(connection: Connection, heading: Heading) -> Registration:
    """Enter a competition, or find it again. Raises ResultsError if its games would not be the same."""
    series_id = _series(connection, heading)
    identity = _identity(connection, series_id, heading)
    if heading.ordered:
        check_order(connection, series_id, heading.players)
    contestants = enter_competitors(connection, series_id, heading.players, heading.weights)
    platform_id = enter_platform(connection, heading.platform)
    return Registration(series_id, identity, platform_id, heading.setting, contestants)


def find_series(connection: Connection, name: str) -> int:
    """The series of a competition. Raises NoResultsYet if it has not been run."""
    series_id = connection.execute(select(saga.SERIES.c.SeriesId).filter_by(Name=name)).scalar()
    if series_id is None:
        raise NoResultsYet(f"there are no results of {name!r} yet")
    return int(series_id)


def _series(connection: Connection, heading: Heading) -> int:
    table = saga.SERIES
    known = connection.execute(select(table).filter_by(Name=heading.name)).mappings().first()
    if known is None:
        return add(connection, table, {"Name": heading.name, **_described(heading)})
    return int(known["SeriesId"])


def describe(connection: Connection, series_id: int, heading: Heading) -> None:
    """Have the series say what it is now, and that it is running."""
    connection.execute(update(saga.SERIES).filter_by(SeriesId=series_id).values(_described(heading)))


def _described(heading: Heading) -> dict[str, Any]:
    return {
        "State": 1,
        "Weight": heading.weight,
        "Pure": heading.pure,
        "Selector": heading.selector,
        "GameLim": heading.games,
        "Notes": heading.description,
    }


def _identity(connection: Connection, series_id: int, heading: Heading) -> str:
    table = own.COMPETITION
    known = connection.execute(select(table.c.Uuid).filter_by(SeriesId=series_id)).scalar()
    if known is not None:
        competition_terms(connection, series_id).check(heading.terms, heading.own_settings)
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
