"""What openings are called: data that reads, names for orders, and names in records."""

import json

import pytest

from referees.api import GameRecord, PlayedMove
from referees.diplomacy import Diplomacy, OrderKind, Position, legal_orders, shipped_map
from referees.diplomacy.openings import opening_name, opening_names, standard_names
from referees.diplomacy.power_orders import PowerOrders

STANDARD = shipped_map("standard")
START = Position.start(STANDARD)


@pytest.mark.parametrize("power", range(7), ids=[power.code for power in STANDARD.powers])
def test_every_name_is_of_orders_that_the_power_can_give_in_the_first_spring(power: int) -> None:
    names = opening_names(STANDARD, power)
    legal = [order for orders in legal_orders(START, power).values() for order in orders]
    assert names
    for name, orders in names:
        assert orders and orders <= set(legal), name
        assert len({order.location for order in orders}) == len(orders), name
        assert OrderKind.CONVOYED_MOVE not in {order.kind for order in orders}, name
    sets = [orders for _, orders in names]
    assert len(set(sets)) == len(sets)


@pytest.mark.parametrize(
    ("power", "orders", "name"),
    [
        ("FRA", "F BRE - MAO, A PAR - BUR, A MAR S A PAR - BUR", "Maginot Opening"),
        ("FRA", "F BRE - MAO, A PAR - BUR, A MAR H", "Atlantic Opening"),
        ("FRA", "F BRE - GAS", ""),
        ("ENG", "A LVP - EDI, F LON - NTH, F EDI - NWG", "Northern Opening, Churchill Opening"),
        ("ENG", "F LON - NTH, F EDI - NWG", "Northern Opening"),
        ("GER", "F KIE - DEN, A BER - KIE, A MUN - RUH", "Blitzkrieg, Danish Variation"),
        ("GER", "A BER - KIE", "Anschluss"),
        ("RUS", "A MOS - STP, A WAR - GAL, F SEV - BLA, F STP/SC - GOB", "Northern System, Octopus"),
        ("RUS", "A MOS - UKR, A WAR - GAL, F SEV - RUM, F STP - FIN", "Ukraine System, Lapland Lurch"),
        ("TUR", "A CON - BUL, A SMY - ARM, F ANK - CON", "Turkish Hedgehog"),
        ("GER", "F KIE - BAL, A MUN - BUR", "Burgundy Opening / Baltic Opening"),
    ],
)
def test_the_name_with_the_most_orders_is_meant(power: str, orders: str, name: str) -> None:
    number = STANDARD.power(power)
    assert opening_name(START, number, PowerOrders.read(START, orders).orders) == name


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ((), ""),
        (("player 3",), "France"),
        (("player 8",), ""),
        (("e4",), ""),
        (("player 3", "A PAR - BUR, F BRE - MAO, A MAR S A PAR - BUR"), "Maginot Opening"),
        (("player 3", "[A BUR] A BUR - BEL"), ""),
        (("player 3", "no orders of this game"), ""),
        (("player 3", "A PAR - BUR", "[A BUR] A BUR - BEL"), ""),
    ],
)
def test_lines_of_the_opening_tree_have_names(line: tuple[str, ...], name: str) -> None:
    assert standard_names(line) == name


def test_a_map_without_named_openings_has_none() -> None:
    straits = shipped_map("straits")
    assert opening_names(straits, 0) == ()
    assert opening_name(Position.start(straits), 0, ()) == ""


@pytest.mark.parametrize(
    ("orders", "names"),
    [("A CON - BUL, A SMY - ARM, F ANK - CON", "Turkish Hedgehog"), ("A CON - BUL", None)],
)
def test_records_tell_the_openings_names(orders: str, names: str | None) -> None:
    judge = Diplomacy.from_settings({})
    start = judge.start(0)
    moves = [
        PlayedMove(seat, move, move.text)
        for seat in judge.to_move(start)
        for move in [judge.read_move(start, seat, orders if seat == 7 else "NONE")]
    ]
    record = json.loads(judge.record(GameRecord("0_0", "", "", tuple("abcdefg"), moves, None, 0)))
    openings = record["phases"][0]["openings"]
    assert openings.get("TUR") == names
    assert openings["AUS"] == "Houseboat", "units without orders hold"
