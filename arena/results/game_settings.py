"""The game and all that its play depends on, as SAGA's variants, powers and settings."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Final

from sqlalchemy import Connection, select, update

from arena.control.changed_settings import changed
from arena.control.plans import GameSettings
from arena.jobs import PlayerSetup, TimeControl
from arena.players.clock import describe_clock
from arena.results import schema as saga
from arena.results.database import ResultsError, add, find_or_add, lock_for_changes
from referees.api import VariantFacts

# SAGA's columns that a referee may have settings for, and what DAIDE calls them.
_LIMITS: Final = {name.lower(): name for name in ("SL", "IL", "PTL", "MTL", "RTL", "BTL")}
_RULES: Final = {name.lower(): name for name in ("AOA", "PDA", "NPR", "NPB")}
# The part of a setting's notes that has the clocks.
_CLOCKS: Final = "clocks"


@dataclass(frozen=True)
class GameSetting:
    """A setting that games are played in.

    `variant` is the game id its referee gives ACADEMY, `seats` what players call the seats, `facts` what
    else SAGA knows of the variant. `weight` is its share among the settings of a series.
    """

    game: GameSettings
    variant: str
    seats: Sequence[str]
    weight: float = 1.0
    facts: VariantFacts = field(default_factory=VariantFacts)

    @cached_property
    def whole(self) -> str:
        """What distinguishes games that are played to the same clocks, as JSON."""
        return _json(self._parts)

    def notes(self, clocks: Iterable[str]) -> str:
        """What distinguishes settings of equal columns, as JSON; `clocks` are those of the players."""
        return _json({**self._parts, _CLOCKS: sorted(set(clocks))})

    @property
    def _parts(self) -> dict[str, Any]:
        game = self.game
        return {
            "game": game.name,
            "settings": dict(game.settings),
            "move_limit": game.move_limit,
            "scorer": game.scorer,
        }


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _without_clocks(notes: str) -> str:
    """What `whole` was of the setting with these notes; other texts as they are."""
    try:
        parts = json.loads(notes)
    except ValueError:
        return notes
    if isinstance(parts, dict):
        parts.pop(_CLOCKS, None)
    return _json(parts)


@cache
def game_of(notes: str) -> GameSettings | None:
    """The game that a setting's `Notes` describe; None where they hold something else."""
    try:
        whole = json.loads(notes)
        return GameSettings(whole["game"], whole["settings"], whole["move_limit"], whole["scorer"])
    except (ValueError, LookupError, TypeError):
        return None


@dataclass(frozen=True)
class SettingKeys:
    """The database's own keys of a setting: powers are by seat."""

    setting_id: int
    powers: tuple[int, ...]


def check_variant(connection: Connection, series_id: int, setting: GameSetting) -> None:
    """Raise ResultsError if games of a series had these settings, to any clocks, and another variant.

    What a setting names may have changed: the file of a map, say.
    """
    games = select(saga.GAME.c.GameId).where(
        saga.GAME.c.SeriesId == series_id, saga.GAME.c.SettingId == saga.SETTING.c.SettingId
    )
    query = (
        select(saga.SETTING.c.Notes, saga.VARIANT.c.Name)
        .join(saga.VARIANT, saga.SETTING.c.VariantId == saga.VARIANT.c.VariantId)
        .where(saga.VARIANT.c.Name != setting.variant, games.exists())
    )
    for notes, variant in connection.execute(query):
        if _without_clocks(notes) == setting.whole:
            raise ResultsError(changed("game", variant, setting.variant))


def enter_setting(
    connection: Connection,
    series_id: int,
    platform_id: int,
    setting: GameSetting,
    players: Iterable[PlayerSetup],
) -> SettingKeys:
    """Enter a setting of a series, or find it again and give it its weight.

    What SAGA has no column for stands in `Notes` as JSON, the players' clocks included: games to other
    clocks are of another setting. A referee's settings called `level` (of press), `sl`, `il`, `ptl`, `mtl`,
    `rtl`, `btl`, `aoa`, `pda`, `npr` and `npb` fill SAGA's columns of these names, also those in force by
    default that the setting's `facts` name, and limits of time that are the players' own; a game that has no
    such settings has no press, level 0. Raises ResultsError (see `check_variant`).
    """
    check_variant(connection, series_id, setting)
    playing = list(players)
    seats = list(setting.seats)
    variant_id = find_or_add(
        connection,
        saga.VARIANT,
        {"Name": setting.variant, "Powers": len(seats)},
        {
            "Supplies": setting.facts.supplies,
            "FirstYear": setting.facts.first_year,
            "FirstSeason": setting.facts.first_season,
        },
    )
    powers = enter_powers(connection, variant_id, seats, setting.facts.codes)
    setting_id = find_or_add(
        connection,
        saga.SETTING,
        {
            "PlatformId": platform_id,
            "VariantId": variant_id,
            **_columns({**setting.game.settings, **setting.facts.settings}, playing),
            "Notes": setting.notes({*map(describe_clock, playing)}),
        },
    )
    pair = {"SeriesId": series_id, "SettingId": setting_id}
    find_or_add(connection, saga.SERIES_SETTING, pair, {"Weight": setting.weight})
    connection.execute(update(saga.SERIES_SETTING).filter_by(**pair).values(Weight=setting.weight))
    return SettingKeys(setting_id, powers)


def _columns(settings: Mapping[str, Any], players: Iterable[PlayerSetup]) -> dict[str, Any]:
    limits = {_move_limit(player) for player in players}
    seconds = limits.pop() if len(limits) == 1 else None
    limit = None if seconds is None else math.ceil(seconds)
    columns: dict[str, Any] = {"Level": 0, "MTL": limit}
    columns |= {name.upper(): limit for name in ("rtl", "btl") if name in settings and settings[name] is None}
    for name, value in settings.items():
        column = {**_LIMITS, **_RULES, "level": "Level"}.get(name.lower())
        if column is not None and isinstance(value, bool if name.lower() in _RULES else int):
            columns[column] = value
    return columns


def _move_limit(player: PlayerSetup) -> float | None:
    """The seconds that each move of a player may take; None where its clock is no such limit."""
    control = player.time_control
    if control is None:
        return player.move_seconds
    per_move = TimeControl(byo_yomi_seconds=control.byo_yomi_seconds, margin_seconds=control.margin_seconds)
    return control.byo_yomi_seconds if control == per_move else None


def enter_powers(
    connection: Connection, variant_id: int, names: Sequence[str], codes: Sequence[str] = ()
) -> tuple[int, ...]:
    """The keys of a variant's powers by seat, entered where there are none; without codes names are codes.

    A power that is there under the seat's number or another code, as earlier releases and imports may have
    called it, is the one of this name, and gets its code.
    """
    table = saga.POWER
    query = select(table).filter_by(VariantId=variant_id)
    known = connection.execute(query).all()
    if not {*(codes or names)} <= {row.Code for row in known}:
        # Another competition of the same database may be about to enter the same.
        lock_for_changes(connection)
        known = connection.execute(query).all()
    keys = []
    for code, name in zip(codes or names, names, strict=True):
        same = [row for row in known if row.Code == code] or [row for row in known if row.Name == name]
        if not same:
            keys.append(add(connection, table, {"VariantId": variant_id, "Code": code, "Name": name}))
            continue
        keys.append(same[0].PowerId)
        if same[0].Code != code:
            connection.execute(update(table).filter_by(PowerId=same[0].PowerId).values(Code=code))
    return tuple(keys)
