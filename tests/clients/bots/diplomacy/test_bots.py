"""What every bot for Diplomacy keeps to."""

import pytest

from clients.bots.diplomacy.bot import Bot
from clients.bots.diplomacy.bots import BOTS, UnknownBotError, bot
from referees.api import Termination
from referees.diplomacy import OrderKind, Phase, adjustment, legal_orders
from tests.clients.bots.diplomacy.games import POWERS, play
from tests.referees.diplomacy.positions import position


@pytest.mark.parametrize("name", BOTS)
def test_a_bots_orders_are_legal_where_nothing_else_is_accepted(name: str) -> None:
    seats = [bot(name if seat % 2 else "random", seat) for seat in range(POWERS)]
    last = play(seats, year_limit=6, aoa=False)[-1]
    assert last.outcome is not None


@pytest.mark.parametrize("name", BOTS)
def test_every_unit_is_ordered_and_every_adjustment_made(name: str) -> None:
    seats: list[Bot] = [bot(name if seat % 2 else "random", seat) for seat in range(POWERS)]
    for game in play(seats, year_limit=4):
        for power in range(1, POWERS, 2):
            orders = seats[power].orders(game.position, power)
            if game.position.phase is Phase.BUILDS:
                assert len(orders) == abs(adjustment(game.position, power))
            else:
                assert len(orders) == len(legal_orders(game.position, power))


@pytest.mark.parametrize("name", BOTS)
def test_games_repeat_with_their_seed(name: str) -> None:
    games = [play([bot(name, f"{seat}") for seat in range(POWERS)], year_limit=3) for _ in range(2)]
    assert games[0] == games[1]


def test_the_hold_bot_never_moves_and_agrees_to_any_draw() -> None:
    start = position("AUS A VIE, F TRI")
    orders = bot("hold").orders(start, 0)
    assert [order.kind for order in orders] == [OrderKind.HOLD, OrderKind.HOLD]
    last = play([bot("hold") for _ in range(POWERS)])[-1]
    assert last.outcome is not None
    assert last.outcome.termination is Termination.AGREEMENT


def test_an_unknown_bot_is_named_with_those_there_are() -> None:
    with pytest.raises(UnknownBotError, match="no bot 'genius'; there are hold, random, tactical"):
        bot("genius")
