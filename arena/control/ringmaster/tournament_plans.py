"""The ringmaster's tournaments: playoffs and all-play-alls."""

from collections.abc import Mapping
from typing import Any, Final

from arena.control import values
from arena.control.plan_tables import MAX_MATCHUPS
from arena.control.plans import AllPlayAllPlan, Matchup, PlayoffPlan
from arena.control.ringmaster import go_settings
from arena.control.ringmaster.definitions import Definition
from arena.control.ringmaster.settings_table import SettingsTable, arguments, or_none
from arena.jobs import PlayerSetup

_GAMES: Final = or_none(values.whole(0, 10_000_000))


def playoff(table: SettingsTable, players: Mapping[str, PlayerSetup]) -> PlayoffPlan:
    """The plan of a playoff. Raises ControlError."""
    defaults = go_settings.given(table)
    # Those of the file are what is wrong where they are, before any matchup is looked at.
    table.take("alternating", values.flag, False)
    table.take("number_of_games", _GAMES, None)
    definitions = table.definition("matchups")
    if not isinstance(definitions, list) or not 1 <= len(definitions) <= MAX_MATCHUPS:
        table.fail("matchups", f"must be a list of 1 to {MAX_MATCHUPS} Matchups")
    matchups: dict[str, Matchup] = {}
    for place, definition in enumerate(definitions):
        given = arguments(definition, "Matchup", f"matchup {place}")
        matchup = _matchup(table, given, place, players, defaults)
        if matchup.matchup_id in matchups:
            table.fail("matchups", f"duplicate matchup id '{matchup.matchup_id}'")
        matchups[matchup.matchup_id] = matchup
    return PlayoffPlan(tuple(matchups.values()))


def _matchup(
    file: SettingsTable,
    table: SettingsTable,
    place: int,
    players: Mapping[str, PlayerSetup],
    defaults: Mapping[str, Any],
) -> Matchup:
    line_up = tuple(_player(table, setting, players) for setting in ("player_1", "player_2"))
    identifier = table.take("id", or_none(values.identifier), None) or str(place)
    table.call(f"matchup {identifier}")
    own = go_settings.given(table)
    table.call(f"matchup {place}")
    matchup = Matchup(
        matchup_id=identifier,
        players=line_up,
        game=go_settings.game(file, defaults, own, f"matchup {identifier}"),
        name=table.take("name", or_none(values.text), None) or "",
        alternating=table.take("alternating", values.flag, file.take("alternating", values.flag, False)),
        games=table.take("number_of_games", _GAMES, file.take("number_of_games", _GAMES, None)),
    )
    table.finish()
    return matchup


def all_play_all(table: SettingsTable, players: Mapping[str, PlayerSetup]) -> AllPlayAllPlan:
    """The plan of an all-play-all. Raises ControlError."""
    definitions = table.definition("competitors")
    if not isinstance(definitions, list) or not 2 <= len(definitions) <= 702:
        table.fail("competitors", "must be a list of 2 to 702 players")
    names: list[str] = []
    for place, definition in enumerate(definitions):
        given = {"player": definition} if not isinstance(definition, Definition) else None
        competitor = (
            SettingsTable(given, f"competitor {place}")
            if given is not None
            else arguments(definition, "Competitor", f"competitor {place}")
        )
        name = _player(competitor, "player", players)
        competitor.finish()
        if name in names:
            table.fail("competitors", f"duplicate competitor: {name}")
        names.append(name)
    rounds = table.take("rounds", or_none(values.whole(1, 10_000_000)), None)
    return AllPlayAllPlan(tuple(names), rounds)


def _player(table: SettingsTable, setting: str, players: Mapping[str, PlayerSetup]) -> str:
    name = table.need(setting, values.text)
    if name not in players:
        table.fail(setting, f"unknown player {name}")
    return name
