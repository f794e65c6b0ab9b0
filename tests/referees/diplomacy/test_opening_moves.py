"""A power's orders as ACADEMY's opening trees know them."""

import random

import pytest

from referees.diplomacy import Diplomacy, Phase, Season, adjudicate, read_map, shipped_map
from referees.diplomacy.game import GamePosition, begin
from referees.diplomacy.openings import MAX_LENGTH, opening_move, read_opening_move
from referees.diplomacy.power_orders import PowerOrders
from tests.referees.diplomacy.positions import orders, position

JUDGE = Diplomacy.from_settings({})
FRANCE = 3


def known_as(game: GamePosition, seat: int, orders: str) -> str:
    return JUDGE.opening_move(game, seat, JUDGE.read_move(game, seat, orders))


@pytest.mark.parametrize(
    "orders",
    [
        "A MAR - SPA, A PAR - BUR, F BRE - MAO",
        "F BRE - MAO, A PAR - BUR, A MAR - SPA",
        "F Brest -> mid-atlantic ocean; Paris M BUR; mar-spa",
        "F BRE - MAO, A PAR - BUR, A MAR - SPA, DRAW",
    ],
)
def test_a_node_is_all_of_a_powers_orders_however_they_are_written(orders: str) -> None:
    assert known_as(JUDGE.start(0), FRANCE, orders) == "A PAR - BUR, F BRE - MAO, A MAR - SPA"


@pytest.mark.parametrize(
    ("orders", "same_as"),
    [
        ("A PAR - BUR", "A PAR - BUR, A MAR H, F BRE H"),
        ("A PAR - MOS, A MAR S A BUR - MUN, F BRE - PAR", "NONE"),
        ("A PAR C A MAR - BUR", "NONE"),
    ],
)
def test_units_without_an_order_that_can_be_carried_out_hold(orders: str, same_as: str) -> None:
    assert known_as(JUDGE.start(0), FRANCE, orders) == known_as(JUDGE.start(0), FRANCE, same_as)


def test_the_coast_that_a_support_names_makes_no_other_opening() -> None:
    game = begin(position("FRA F POR, F MAO"))
    with_coast, without = (
        known_as(game, FRANCE, f"F MAO - SPA/NC, F POR S F MAO - SPA{coast}") for coast in ("/NC", "")
    )
    assert with_coast == without == "[F MAO, F POR] F MAO - SPA/NC, F POR S F MAO - SPA"


@pytest.mark.parametrize(
    ("others", "seen"),
    [
        ("", ""),
        ("; ENG F ECH", "; ENG ECH"),
        ("; ITA A PIE; GER A RUH, A PAR", "; GER PAR; ITA PIE"),
        ("; ENG F NTH; RUS A GAL, F BLA", ""),
    ],
)
def test_later_nodes_say_where_ones_units_stand_and_who_has_come_near_ones_homes(
    others: str, seen: str
) -> None:
    game = begin(position("FRA A BUR, A MAR, F MAO" + others, season=Season.AUTUMN))
    known = known_as(game, FRANCE, "A BUR - BEL, F MAO - POR, A MAR - SPA")
    assert read_opening_move(known) == (
        f"A BUR, F MAO, A MAR{seen}", "A BUR - BEL, F MAO - POR, A MAR - SPA"
    )  # fmt: skip


def test_retreats_say_which_unit_was_dislodged() -> None:
    start = position("FRA A BUR, A MAR; GER A MUN, A RUH")
    after = adjudicate(start, orders(start, "GER A MUN - BUR, A RUH S A MUN - BUR")).after
    known = known_as(begin(after), FRANCE, "A BUR R GAS")
    assert known == "[A MAR, A BUR dislodged; GER BUR] A BUR R GAS"
    assert known_as(begin(after), FRANCE, "NONE").endswith("] A BUR D")


@pytest.mark.parametrize(
    ("units", "owned", "orders", "known"),
    [
        ("FRA A SPA", "FRA PAR MAR SPA", "A PAR B", "[3 centres] A PAR B, WAIVE"),
        ("FRA A SPA", "FRA PAR MAR SPA", "WAIVE", "[3 centres] WAIVE, WAIVE"),
        ("FRA A SPA", "FRA PAR MAR SPA", "F MAR B, A PAR B", "[3 centres] A PAR B, F MAR B"),
        ("FRA A SPA, A POR, F MAO", "FRA PAR", "A SPA D, F MAO D", "[1 centres] F MAO D, A SPA D"),
    ],
)
def test_builds_depend_on_the_number_of_centres(units: str, owned: str, orders: str, known: str) -> None:
    game = begin(position(units, Phase.BUILDS, Season.AUTUMN, owned))
    assert known_as(game, FRANCE, orders) == known


def test_the_same_orders_are_another_node_where_the_situation_is_another() -> None:
    orders = "A BUR H"
    alone = begin(position("FRA A BUR", season=Season.AUTUMN))
    beset = begin(position("FRA A BUR; GER A GAS", season=Season.AUTUMN))
    far = begin(position("FRA A BUR; GER A MOS", season=Season.AUTUMN))
    assert known_as(alone, FRANCE, orders) == known_as(far, FRANCE, orders) != known_as(beset, FRANCE, orders)


def test_a_power_with_centres_and_no_units_has_a_node_too() -> None:
    game = begin(position("GER A MUN", owned="FRA PAR"))
    assert known_as(game, FRANCE, "NONE") == "[no units] -"


def test_whatever_is_ordered_it_is_one_line_that_academy_takes_and_reads_back() -> None:
    judge, chance = Diplomacy.from_settings({"year_limit": 4}), random.Random(8)
    game = judge.start(0)
    while seats := judge.to_move(game):
        moves = {seat: judge.random_move(game, seat, chance) for seat in seats}
        for seat, move in moves.items():
            known = judge.opening_move(game, seat, move)
            assert known.isprintable() and len(known) <= MAX_LENGTH
            ordered = read_opening_move(known)[1]
            if ordered != "-":
                again = PowerOrders.read(game.position, ordered)
                assert judge.opening_move(game, seat, again) == known
        game = judge.play(game, moves)


def test_orders_too_long_for_academy_are_shortened_and_stay_different() -> None:
    capes = "".join(f'X{n:02} = {{ kind = "land", name = "Cape {n}" }}\n' for n in range(70))
    large = read_map(shipped_map("straits").text.replace("[borders]", f"{capes}\n[borders]"))
    units = [f"A X{n:02}" for n in range(70)]
    known = [
        opening_move(position("NOR " + ", ".join([*units, last]), board=large, season=Season.AUTUMN), 0, ())
        for last in ("A SCA", "A NCA", "A NCA")
    ]
    assert [len(name) for name in known] == [MAX_LENGTH] * 3
    assert known[0] != known[1] == known[2]
