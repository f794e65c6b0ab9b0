"""SAGA's columns of games of Diplomacy, checked by hand against its definitions."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Row, select

from arena.control.plans import GameSettings
from arena.jobs import GameJob, GameResult, PlayerSetup
from arena.match.game import play
from arena.results import schema as saga
from arena.results.database import ResultsDatabase
from arena.results.game_settings import GameSetting
from arena.results.series import PlannedGame
from referees.api import Outcome, Termination
from referees.diplomacy import Diplomacy
from tests.arena.results.examples import heading, play_game, registered, result

POWERS = ("AUS", "ENG", "FRA", "GER", "ITA", "RUS", "TUR")
NAMES = ("Austria", "England", "France", "Germany", "Italy", "Russia", "Turkey")
SETTINGS: dict[str, object] = {"sl": 4, "pda": False, "aoa": True}
# Austria's army in Rumania is dislodged by Russia, so that the first year ends with retreats and builds.
# France fails in the second spring; the others offer a draw in the second autumn, which nobody is there to
# accept for France, and after four years without change all survivors draw.
SCRIPT: dict[str, dict[str, str]] = {
    "S1901M": {
        "AUS": "A BUD - RUM",
        "RUS": "A WAR - UKR, A MOS H, F SEV H, F STP/SC H",
    },
    "F1901M": {
        "AUS": "A RUM H",
        "RUS": "F SEV - RUM, A UKR S F SEV - RUM",
        "ENG": "F EDI - NWG",
    },
    "F1901R": {"AUS": "A RUM R BUL"},
    "W1901A": {"AUS": "A BUD B", "RUS": "A WAR B"},
    "F1902M": dict.fromkeys(POWERS, "DRAW"),
}


def scripted(judge: Diplomacy, seat: int, seed: int) -> Callable[[Any], str]:
    """Orders by the script; France fails in the second spring."""
    code = POWERS[seat - 1]

    def choose(view: Any) -> str:
        phase = view.position.name
        if code == "FRA" and phase == "S1902M":
            raise ZeroDivisionError("a bug")
        return SCRIPT.get(phase, {}).get(code, "NONE")

    return choose


def entered(
    database: ResultsDatabase, players: tuple[PlayerSetup, ...], game: GameResult
) -> tuple[Row[Any], list[Row[Any]]]:
    """SAGA's row of a game, and its players' by seat."""
    rules = Diplomacy.from_settings(SETTINGS)
    game_settings = GameSettings("diplomacy", SETTINGS)
    setting = GameSetting(game_settings, "diplomacy-standard", NAMES, facts=rules.variant_facts())
    series = registered(database, heading(players, setting=setting))
    assert play_game(series, PlannedGame("seven", players), game)
    with database.transaction() as connection:
        rows = connection.execute(select(saga.PLAYER).order_by(saga.PLAYER.c.PowerId)).all()
        return connection.execute(select(saga.GAME)).one(), list(rows)


def column(rows: list[Row[Any]], name: str) -> list[Any]:
    return [getattr(row, name) for row in rows]


def test_a_game_made_by_hand(database: ResultsDatabase) -> None:
    players = tuple(PlayerSetup(code, (f"{__name__}:scripted",), protocol="python") for code in POWERS)
    played = play(GameJob("0_0", "diplomacy", SETTINGS, players, seed=1, move_limit=2000))
    assert played.outcome is not None
    game, rows = entered(database, players, played)
    # The phases of 1901 are moves, moves, retreats, builds; then comes the spring in which France fails.
    assert column(rows, "Problem") == [0, 0, 2, 0, 0, 0, 0]
    assert column(rows, "Disorder") == [None, None, 4, None, None, None, None]
    # Austria has taken Bulgaria, Russia Rumania.
    assert column(rows, "Supplies") == [4, 3, 3, 3, 3, 5, 3]
    assert column(rows, "Grade") == [4, 3, 3, 3, 3, 5, 3]
    assert column(rows, "Rank") == [2, 3, 3, 3, 3, 1, 3]
    assert column(rows, "Elimination") == [None] * 7
    # In a draw that includes all survivors everybody wins, a stand-in too.
    assert column(rows, "Winner") == [1] * 7
    assert all(seconds is not None and seconds >= 0 for seconds in column(rows, "Cpu"))
    assert (game.Termination, game.Years, game.Survivors) == (4, 5, 7)
    assert (game.Leaders, game.Winners, game.MaxSupplies) == (1, 7, 5)
    assert 0 < game.PlayTime <= game.TotalTime
    assert game.SetupTime + game.PlayTime == pytest.approx(game.TotalTime)
    with database.transaction() as connection:
        powers = connection.execute(select(saga.POWER.c.Code, saga.POWER.c.Name)).all()
        variant = connection.execute(select(saga.VARIANT)).one()
        setting = connection.execute(select(saga.SETTING)).one()
    assert [tuple(power) for power in powers] == list(zip(POWERS, NAMES, strict=True))
    assert (variant.Powers, variant.Supplies, variant.FirstYear, variant.FirstSeason) == (7, 34, 1901, "SPR")
    assert (setting.SL, setting.IL, setting.AOA, setting.PDA, setting.Level) == (4, None, True, False, 0)
    # These are the defaults, and the players' own limit.
    assert (setting.NPR, setting.NPB, setting.PTL) == (False, False, None)
    limit = math.ceil(players[0].move_seconds)
    assert {setting.MTL, setting.RTL, setting.BTL} == {limit}


def test_a_game_that_saga_itself_recorded(database: ResultsDatabase) -> None:
    """Seven Alberts, drawn in autumn 1907: Germany eliminated in 1906, Turkey in the last year."""
    outcome = Outcome(
        winners=(1, 2, 3, 5, 6),
        termination=Termination.AGREEMENT,
        summary="draw 1907",
        points=(7, 7, 9, 0, 2, 9, 0),
        eliminated=(None, None, None, 5, None, None, 6),
        rounds=7,
    )
    players = tuple(PlayerSetup(f"albert-{code}", ("albert",)) for code in POWERS)
    usage = tuple(result().usage[0] for _ in POWERS)
    game, rows = entered(database, players, result("0_0", outcome, usage=usage))
    assert (game.Termination, game.Years, game.Survivors) == (3, 7, 5)
    assert (game.Leaders, game.Winners, game.MaxSupplies) == (2, 5, 9)
    assert column(rows, "Supplies") == [7, 7, 9, 0, 2, 9, 0]
    assert column(rows, "Elimination") == [None, None, None, 5, None, None, 6]
    assert column(rows, "Grade") == [7, 7, 9, -1, 2, 9, 0]
    assert column(rows, "Rank") == [3, 3, 1, 7, 5, 1, 6]
    assert column(rows, "Winner") == [1, 1, 1, 0, 1, 1, 0]
