"""The bot that fights: what it sees in single phases, and how it does against others."""

import random
from dataclasses import replace

import pytest

from clients.bots.diplomacy.bots import bot
from clients.bots.diplomacy.tactical import TacticalBot
from referees.diplomacy import Dislodged, OrderKind, Phase, Position, Season, adjudicate, order_text
from tests.clients.bots.diplomacy.games import POWERS, play
from tests.referees.diplomacy.positions import position

MOVING = (OrderKind.MOVE, OrderKind.CONVOYED_MOVE)


def ordered(start: Position, power: str, seed: int = 1) -> set[str]:
    """What the bot orders, as text."""
    orders = TacticalBot(random.Random(seed)).orders(start, start.map.power(power))
    return {order_text(start, order) for order in orders}


@pytest.mark.parametrize("seed", range(5))
def test_the_tactical_bot_takes_a_centre_that_nobody_guards(seed: int) -> None:
    start = position(
        "AUS A BUD; TUR A SMY", season=Season.AUTUMN, owned="AUS VIE BUD TRI; TUR SMY CON ANK BUL"
    )
    assert ordered(start, "AUS", seed) & {"A BUD - SER", "A BUD - RUM"}


@pytest.mark.parametrize("seed", range(5))
def test_the_tactical_bot_supports_an_attack_that_would_fail_alone(seed: int) -> None:
    start = position(
        "FRA A BUR, A RUH; GER A MUN", season=Season.AUTUMN, owned="FRA PAR MAR BRE BEL HOL KIE BER; GER MUN"
    )
    orders = ordered(start, "FRA", seed)
    assert orders in (
        {"A BUR - MUN", "A RUH S A BUR - MUN"},
        {"A RUH - MUN", "A BUR S A RUH - MUN"},
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_tactical_bot_convoys_an_army_off_its_island(seed: int) -> None:
    start = position(
        "ENG A LON, F NTH; GER A MUN", season=Season.AUTUMN, owned="ENG LON EDI LVP; GER MUN BER KIE"
    )
    orders = ordered(start, "ENG", seed)
    target = next(order.split(" - ")[1].split()[0] for order in orders if order.startswith("A LON - "))
    assert f"F NTH C A LON - {target}" in orders
    assert start.map.province(target) in start.map.centres


def test_the_tactical_bot_never_sends_two_units_to_one_place_or_against_each_other() -> None:
    for seed in range(3):
        for game in play([bot("tactical", f"{seed}/{power}") for power in range(POWERS)], year_limit=4):
            position = game.position
            if position.phase is not Phase.MOVES:
                continue
            for power in range(POWERS):
                orders = TacticalBot(random.Random(seed)).orders(position, power)
                going = [position.map.province_of[order.target] for order in orders if order.kind in MOVING]
                assert len(set(going)) == len(going)
                # Alone on the board, all its moves succeed.
                only = replace(position, units=tuple(position.units_of(power)))
                for result in adjudicate(only, {power: orders}).results:
                    if result.power == power and result.order.kind in MOVING:
                        assert result.succeeded, result


def test_the_tactical_bot_retreats_to_its_centre_and_never_two_units_to_one_province() -> None:
    start = position("GER A MUN, A TYR; ITA A VEN", owned="AUS VIE BUD TRI; GER MUN", season=Season.AUTUMN)
    board = start.map
    units = [board.unit(board.power("AUS"), text) for text in ("A BOH", "A GAL")]
    options = tuple(sorted(board.location(code) for code in ("VIE", "SIL")))
    dislodged = tuple(Dislodged(unit, options) for unit in sorted(units, key=lambda unit: unit.location))
    retreats = Position(
        board, start.year, start.season, Phase.RETREATS, start.units, dislodged, start.owners
    ).checked()
    orders = ordered(retreats, "AUS")
    assert {order.split(" R ")[1] for order in orders} == {"VIE", "SIL"}


def test_the_tactical_bot_builds_where_the_enemy_is_and_waives_nothing_that_it_could_build() -> None:
    start = position(
        "FRA A PIC; GER A BUR",
        phase=Phase.BUILDS,
        season=Season.AUTUMN,
        owned="FRA PAR MAR BRE; GER MUN BER KIE",
    )
    orders = ordered(start, "FRA")
    assert len(orders) == 2
    assert any(order in orders for order in ("A PAR B", "A MAR B"))


def test_the_tactical_bot_wins_alone_against_six_that_play_at_random() -> None:
    for seed, power in enumerate((0, 2, 6)):
        seats = [bot("tactical" if seat == power else "random", f"{seed}/{seat}") for seat in range(POWERS)]
        outcome = play(seats, year_limit=25)[-1].outcome
        assert outcome is not None
        assert outcome.winners == (power + 1,)


def test_the_tactical_bot_would_draw_when_nothing_has_changed_for_years() -> None:
    player = TacticalBot(random.Random(1))
    start = position("AUS A VIE; ITA A VEN")
    votes = [player.draws(replace(start, year=year), 0) for year in range(1901, 1906)]
    assert votes == [False, False, False, True, True]
