"""The series of a MARS mission, as a TOML control file says them."""

from typing import Final, Literal, cast

from arena.control import game_table, values
from arena.control.draft import Draft
from arena.control.plans import Average, LineUpRule, MarsPlan, MarsSeries, MarsSetting
from arena.control.table import TomlTable

MAX_SERIES: Final = 1000
_WEIGHT: Final = values.number(0, 1e9)


def mars(draft: Draft) -> MarsPlan:
    """The plan of a mission. Raises ControlError."""
    tables = draft.file.array("series")
    if not 1 <= len(tables) <= MAX_SERIES:
        draft.file.fail("series", f"has {len(tables)} tables, from 1 to {MAX_SERIES} are allowed")
    series: dict[str, MarsSeries] = {}
    for table in tables:
        one = _series(draft, table)
        if one.name in series:
            table.fail("name", f"another series is called {one.name!r}")
        series[one.name] = one
    return MarsPlan(tuple(series.values()))


def _series(draft: Draft, table: TomlTable) -> MarsSeries:
    name = table.need("name", values.identifier)
    rule = _rule(draft, table)
    contestants = _contestants(draft, table, rule)
    series = MarsSeries(
        name=name,
        rule=rule,
        contestants=contestants,
        settings=_settings(draft, table),
        weight=table.take("weight", _WEIGHT, 1.0),
        complete=table.take("state", values.choice("open", "complete"), "open") == "complete",
        pure=table.take("pure", values.flag, True),
        games=table.take("games", values.whole(1, 10_000_000), None),
        notes=table.take("notes", values.text, ""),
    )
    table.finish()
    return series


def _rule(draft: Draft, table: TomlTable) -> LineUpRule:
    name = table.take("selector", values.choice("weighted", "least-played", "slow-knockout"), "weighted")
    by = table.take("by", values.choice("strength", "tenacity", "fitness"), "fitness")
    clones = table.take("clones", values.flag, True)
    kinds = table.take("kinds", values.several(values.whole(1, 100), 100), ())
    if kinds and sum(kinds) != draft.seats:
        table.fail("kinds", f"{' + '.join(map(str, kinds))} is not {draft.seats}, the seats of a game")
    return LineUpRule(
        cast(Literal["weighted", "least-played", "slow-knockout"], name), cast(Average, by), clones, kinds
    )


def _contestants(draft: Draft, table: TomlTable, rule: LineUpRule) -> dict[str, float]:
    given = table.take("contestants", values.by_name(_WEIGHT), dict.fromkeys(draft.players, 1.0))
    for name in given:
        if name not in draft.players:
            table.fail("contestants", f"{name!r} has no table [players.{name}]")
    needed = len(rule.kinds) if rule.kinds else 1 if rule.clones else draft.seats
    able = sum(weight > 0 for weight in given.values())
    if able < needed:
        table.fail("contestants", f"{able} have a weight above 0, its games need {needed} different ones")
    return given


def _settings(draft: Draft, table: TomlTable) -> tuple[MarsSetting, ...]:
    settings: dict[str, MarsSetting] = {}
    for place, setting in enumerate(table.array("settings")):
        name = setting.take("name", values.identifier, str(place))
        weight = setting.take("weight", _WEIGHT, 1.0)
        own_game = setting.table("game")
        setting.finish()
        if name in settings:
            setting.fail("name", f"another setting is called {name!r}")
        game = draft.game if own_game is None else game_table.game(own_game, draft.folder, draft.game)
        settings[name] = MarsSetting(name, game, weight)
    if not settings:
        return (MarsSetting("0", draft.game),)
    if not any(setting.weight for setting in settings.values()):
        table.fail("settings", "none has a weight above 0")
    return tuple(settings.values())
