"""Moves, supports and convoys: what becomes of each order, and the reason given."""

from itertools import pairwise

import pytest

from referees.diplomacy import (
    EDITIONS,
    AdjacentConvoy,
    Choices,
    Order,
    OrderKind,
    OrderOutcome,
    Position,
    adjudicate,
    read_map,
)
from referees.diplomacy.map import bits
from tests.referees.diplomacy.positions import STANDARD, outcomes, play, position, reasons

O = OrderOutcome  # noqa: E741


def test_each_order_says_who_stood_against_it() -> None:
    done = play(
        "AUS A VIE, A BOH; ITA A VEN, F TRI; GER A MUN; TUR F ION, F AEG; RUS F ADR",
        "AUS A VIE - TYR, A BOH S A VIE - TYR; GER A MUN - TYR; ITA A VEN - TYR, F TRI S F ADR;"
        "TUR F ION - ADR, F AEG S F ION - ADR",
    )
    assert reasons(done) == {
        "A VIE - TYR": "",
        "A BOH S A VIE - TYR": "",
        "A MUN - TYR": "bounced by Austria's A VIE and Italy's A VEN",
        "A VEN - TYR": "bounced by Germany's A MUN and Austria's A VIE",
        "F TRI S F ADR": "",
        "F ION - ADR": "bounced by Russia's F ADR",
        "F AEG S F ION - ADR": "void: the supporting unit could not go there itself",
        "F ADR H": "",
    }


def test_a_support_against_a_unit_of_its_own_power_says_so() -> None:
    done = play(
        "FRA A BUR, A PAR; GER A MUN, A RUH; ITA A MAR",
        "GER A MUN - BUR, A RUH S A MUN - BUR; FRA A PAR S A MUN - BUR; ITA A MAR S A BUR",
    )
    assert reasons(done) == {
        "A BUR H": "",
        "A PAR S A MUN - BUR": "not counted against France's A BUR, as no power dislodges its own units",
        "A MUN - BUR": "bounced by France's A BUR",
        "A RUH S A MUN - BUR": "",
        "A MAR S A BUR": "",
    }


def test_a_support_to_where_ones_own_unit_leaves_counts_and_needs_no_reason() -> None:
    done = play("FRA A BUR, A PAR; GER A MUN", "GER A MUN - BUR; FRA A PAR S A MUN - BUR, A BUR - GAS")
    assert set(reasons(done).values()) == {""}


@pytest.mark.parametrize(
    ("units", "orders", "of", "outcome", "reason"),
    [
        ("FRA A PAR", "FRA A PAR - MOS", "A PAR - MOS", O.VOID, "the unit cannot go there"),
        ("FRA A MAR", "FRA A MAR - NAF VIA", "A MAR - NAF VIA", O.VOID, "no chain of fleets"),
        ("FRA F MAO", "FRA F MAO - SPA", "F MAO - SPA", O.VOID, "to which coast"),
        ("FRA F BRE", "FRA F BRE C A PAR - LON", "F BRE C PAR - LON", O.VOID, "only fleets on seas"),
        (
            "FRA A PAR; ENG F NTH",
            "FRA A PAR C A BUR - LON",
            "A PAR C BUR - LON",
            O.VOID,
            "only fleets on seas",
        ),
        ("ENG F ECH", "ENG F ECH C A PIC - LON", "F ECH C PIC - LON", O.VOID, "no unit that it could help"),
        ("FRA F BRE", "FRA F BRE - MOS", "F BRE - MOS", O.VOID, "the unit cannot go there"),
        ("FRA A PAR", "FRA A PAR S A MAR - BUR", "A PAR S MAR - BUR", O.VOID, "no unit that it could help"),
        ("FRA F BRE", "FRA F BRE - BRE", "F BRE - BRE", O.VOID, "cannot go to its own province"),
        (
            "FRA A BRE; ENG F ECH",
            "FRA A BRE - BRE; ENG F ECH C A BRE - BRE",
            "A BRE - BRE",
            O.VOID,
            "cannot go to its own province",
        ),
        ("FRA A PAR", "FRA A PAR S A PAR", "A PAR S A PAR", O.VOID, "or help itself"),
        ("ENG F LON", "ENG F LON - NTH VIA", "F LON - NTH VIA", O.VOID, "the unit cannot go there"),
        ("GER A MUN", "GER A MUN B", "A MUN B", O.VOID, "an order of another phase"),
        (
            "ENG F EDI, F NTH",
            "ENG F EDI - YOR, F NTH C F EDI - YOR",
            "F NTH C F EDI - YOR",
            O.VOID,
            "was not ordered so",
        ),
        (
            "FRA F POR, F MAO",
            "FRA F POR S F MAO - SPA/SC, F MAO - SPA/NC",
            "F POR S F MAO - SPA/SC",
            O.VOID,
            "was not ordered so",
        ),
        (
            "GER A MUN, A BER; RUS A PRU, A SIL",
            "GER A MUN - BER; RUS A PRU S A MUN - BER, A SIL S A MUN - BER",
            "A MUN - BER",
            O.BOUNCED,
            "Germany's A BER of its own power stayed",
        ),
        ("FRA A PAR", "FRA A PAR S A BUR", "A PAR S BUR", O.VOID, "no unit that it could help"),
        (
            "FRA A PAR, A BUR",
            "FRA A PAR S A BUR, A BUR - MUN",
            "A PAR S A BUR",
            O.VOID,
            "was ordered to move",
        ),
        ("FRA A PAR, A MAR", "FRA A PAR S A MAR - BUR, A MAR H", "A PAR S A MAR - BUR", O.VOID, "ordered so"),
        ("FRA A PAR, A BUR", "FRA A PAR - BUR, A BUR H", "A PAR - BUR", O.BOUNCED, "of its own power stayed"),
        (
            "FRA A PAR, A MAR; GER A BUR, A GAS",
            "FRA A PAR S A MAR - BUR, A MAR - BUR; GER A BUR H, A GAS - PAR",
            "A PAR S A MAR - BUR",
            O.CUT,
            "cut by Germany's A GAS",
        ),
        (
            "FRA F MAO, F IRI; ENG F ECH, A LON",
            "FRA F MAO - ECH, F IRI S F MAO - ECH; ENG A LON - BRE, F ECH C A LON - BRE",
            "A LON - BRE VIA",
            O.DISRUPTED,
            "convoy disrupted: England's F ECH",
        ),
        (
            "FRA F MAO, F IRI; ENG F ECH, A LON",
            "FRA F MAO - ECH, F IRI S F MAO - ECH; ENG A LON - BRE, F ECH C A LON - BRE",
            "F ECH C A LON - BRE",
            O.DISLODGED,
            "dislodged by France's F MAO",
        ),
        (
            "ENG F ECH, A LON",
            "ENG A LON - BRE, F ECH H",
            "A LON - BRE VIA",
            O.DISRUPTED,
            "make no chain",
        ),
        (
            "ENG F LON, F WAL; FRA A BRE, F ECH",
            "ENG F LON S F WAL - ECH, F WAL - ECH; FRA A BRE - LON, F ECH C A BRE - LON",
            "A BRE - LON VIA",
            O.DISRUPTED,
            "France's F ECH",
        ),
        *[
            (
                "ENG F LON, F WAL; FRA A BRE, F ECH; GER F NTH, F BEL",
                "ENG F LON S F WAL - ECH, F WAL - ECH; FRA A BRE - LON, F ECH C A BRE - LON;"
                "GER F NTH S F BEL - ECH, F BEL - ECH",
                of,
                O.DISRUPTED,
                reason,
            )
            for of, reason in (
                ("F ECH C A BRE - LON", "a paradox (Szykman's rule)"),
                ("A BRE - LON VIA", "convoy disrupted: France's F ECH"),
            )
        ],
    ],
)
def test_orders_that_fail_say_why(
    units: str, orders: str, of: str, outcome: OrderOutcome, reason: str
) -> None:
    done = play(units, orders)
    assert outcomes(done)[of] is outcome
    assert reason in reasons(done)[of]


def test_orders_for_foreign_units_and_none_are_void_and_the_last_of_two_counts() -> None:
    done = play("FRA A PAR; GER A MUN", "FRA A PAR - BUR, A PAR - PIC, A MUN H, A ROM H")
    reasons = [(result.outcome, result.reason) for result in done.results]
    assert (O.SUCCEEDED, "") in reasons
    assert (O.VOID, "void: a later order for the unit took its place") in reasons
    assert (O.VOID, "void: the unit is another power's") in reasons
    assert (O.VOID, "void: no unit is there") in reasons
    assert {unit.location for unit in done.after.units} == {
        done.position.map.location("PIC"),
        done.position.map.location("MUN"),
    }


@pytest.mark.parametrize(("lenient", "place"), [(True, "MAO"), (False, "SPA/NC")])
def test_a_fleet_that_is_ordered_as_if_on_another_coast_sails_only_where_coasts_are_lenient(
    lenient: bool, place: str
) -> None:
    done = play("FRA F SPA/NC", "FRA F SPA/SC - MAO", Choices(lenient_coasts=lenient))
    assert [unit.location for unit in done.after.units] == [done.position.map.location(place)]
    assert ("void: the unit stands on another coast" in reasons(done).values()) is not lenient
    assert ("F SPA/NC - MAO" in reasons(done)) is lenient


@pytest.mark.parametrize(
    ("unit", "named", "lenient", "place"),
    [
        ("F GOL", "SPA", True, "SPA/SC"),
        ("F GOL", "SPA", False, "GOL"),
        ("F MAO", "SPA", True, "MAO"),
        ("F GAS", "SPA/SC", True, "GAS"),
        ("A GAS", "SPA/SC", True, "SPA"),
        ("A GAS", "SPA/SC", False, "GAS"),
    ],
)
def test_a_move_names_the_coast_that_it_needs_but_where_coasts_are_lenient_and_only_one_fits(
    unit: str, named: str, lenient: bool, place: str
) -> None:
    """Orders as values: reading them as text fills coasts in before."""
    start = position(f"FRA {unit}")
    (standing,) = start.units
    board = start.map
    move = Order(OrderKind.MOVE, standing.location, board.location(named))
    done = adjudicate(start, {standing.power: [move]}, Choices(lenient_coasts=lenient))
    assert [board.location_codes[unit.location] for unit in done.after.units] == [place]


@pytest.mark.parametrize(
    ("supported", "reason"),
    [
        ("F BEL - ECH", "convoy disrupted: England's F ECH"),
        ("F WES - MAO", "convoy disrupted: England's F MAO"),
        ("F PIC", ""),
    ],
)
def test_a_convoy_of_several_fleets_fails_where_any_that_it_needs_is_dislodged(
    supported: str, reason: str
) -> None:
    done = play(
        "ENG A LON, F ECH, F MAO; GER F BEL, F WES, F BRE, F PIC",
        f"ENG A LON - POR, F ECH C A LON - POR, F MAO C A LON - POR;"
        f"GER F BEL - ECH, F WES - MAO, F BRE S {supported}",
    )
    assert reasons(done)["A LON - POR VIA"] == reason


def test_a_beleaguered_garrison_on_a_coast_stays_whichever_coasts_are_attacked() -> None:
    done = play(
        "ITA F SPA/SC; FRA F MAO, F GAS, A MAR; ENG F WES, F GOL",
        "FRA F MAO S F GAS - SPA/NC, F GAS - SPA/NC; ENG F WES - SPA/SC, F GOL S F WES - SPA/SC",
    )
    assert outcomes(done)["F GAS - SPA/NC"] is O.BOUNCED
    assert outcomes(done)["F WES - SPA/SC"] is O.BOUNCED
    assert not done.after.dislodged


@pytest.mark.parametrize(
    ("adjacent", "convoyer", "swapped"),
    [
        (AdjacentConvoy.EXPLICIT, "ENG", False),
        (AdjacentConvoy.INTENT, "ENG", True),
        (AdjacentConvoy.INTENT, "GER", False),
        (AdjacentConvoy.ANY_FLEET, "GER", True),
    ],
)
def test_armies_swap_places_by_a_convoy_that_the_choices_see(
    adjacent: AdjacentConvoy, convoyer: str, swapped: bool
) -> None:
    done = play(
        f"ENG A NWY; RUS A SWE; {convoyer} F SKA",
        f"ENG A NWY - SWE; RUS A SWE - NWY; {convoyer} F SKA C A NWY - SWE",
        Choices(adjacent_convoy=adjacent),
    )
    assert outcomes(done)["A NWY - SWE"] is (O.SUCCEEDED if swapped else O.BOUNCED)


@pytest.mark.parametrize(
    ("edition", "swapped"), [("1971", True), ("1982", False), ("2023", False), ("dptg", False)]
)
def test_a_fleet_that_no_route_could_need_tells_no_intent(edition: str, swapped: bool) -> None:
    """DATC 6.G.19: every route from Marseilles begins in the Gulf of Lyon, which touches Spain."""
    done = play(
        "FRA A MAR, F WES; ITA F GOL, A SPA",
        "FRA A MAR - SPA, F WES C A MAR - SPA; ITA F GOL C A MAR - SPA, A SPA - MAR",
        EDITIONS[edition],
    )
    assert outcomes(done)["A MAR - SPA"] is (O.SUCCEEDED if swapped else O.BOUNCED)
    assert outcomes(done)["A SPA - MAR"] is (O.SUCCEEDED if swapped else O.BOUNCED)
    if edition == "2023":
        assert reasons(done)["F WES C A MAR - SPA"] == "void: no route of the convoy could need this fleet"


@pytest.mark.parametrize(
    ("adjacent", "fleet", "source", "target", "outcome"),
    [
        (AdjacentConvoy.ANY_FLEET, "F WES", "MAR", "SPA", O.DISRUPTED),
        (AdjacentConvoy.INTENT, "F WES", "MAR", "SPA", O.SUCCEEDED),
        # It touches one of the two coasts alone, and no fleet that touches the other.
        (AdjacentConvoy.ANY_FLEET, "F BAR", "NWY", "SWE", O.SUCCEEDED),
        (AdjacentConvoy.ANY_FLEET, "F BAR", "SWE", "NWY", O.SUCCEEDED),
    ],
)
def test_an_army_goes_by_sea_for_a_fleet_that_cannot_convoy_it_only_where_any_in_the_chain_counts(
    adjacent: AdjacentConvoy, fleet: str, source: str, target: str, outcome: OrderOutcome
) -> None:
    done = play(
        f"FRA A {source}, {fleet}; ITA F GOL, F SKA",
        f"FRA A {source} - {target}, {fleet} C A {source} - {target}",
        Choices(adjacent_convoy=adjacent),
    )
    assert outcomes(done)[f"A {source} - {target}"] is outcome


@pytest.mark.parametrize(
    ("fleet", "land_route_left", "outcome"),
    [
        ("ECH", False, O.DISRUPTED),
        ("ECH", True, O.SUCCEEDED),
        ("TYS", False, O.VOID),
        ("TYS", True, O.SUCCEEDED),
    ],
)
def test_a_move_by_convoy_goes_over_land_only_where_the_choices_allow(
    fleet: str, land_route_left: bool, outcome: OrderOutcome
) -> None:
    done = play(
        f"FRA A PIC; ENG F {fleet}",
        "FRA A PIC - BEL VIA",
        Choices(land_route_left=land_route_left),
    )
    assert outcomes(done)["A PIC - BEL VIA"] is outcome


@pytest.mark.parametrize(
    ("edition", "outcome"),
    [
        ("1971", O.SUCCEEDED),
        ("1982", O.DISRUPTED),
        ("2000", O.DISRUPTED),
        ("2023", O.DISRUPTED),
        ("deepmind", O.SUCCEEDED),
    ],
)
def test_an_army_with_the_intent_to_go_by_sea_falls_back_to_land_only_under_the_rules_of_1971(
    edition: str, outcome: OrderOutcome
) -> None:
    """DATC 4.A.3; under DeepMind's rules only `VIA` goes by sea, so that the army walks."""
    done = play(
        "ENG A PIC, F ECH; FRA F BRE, F MAO",
        "ENG A PIC - BEL, F ECH C A PIC - BEL; FRA F BRE - ECH, F MAO S F BRE - ECH",
        EDITIONS[edition],
    )
    assert outcomes(done)["A PIC - BEL"] is outcome


@pytest.mark.parametrize(
    ("units", "attack", "options"),
    [
        ("A NWY, F SKA, A FIN", "A NWY - SWE VIA, F SKA C A NWY - SWE", ["DEN", "NWY"]),
        ("A NWY, A FIN", "A NWY - SWE", ["DEN"]),
    ],
    ids=["by convoy", "over land"],
)
def test_a_supported_attack_dislodges_and_only_from_the_sea_leaves_the_way_to_where_it_began(
    units: str, attack: str, options: list[str]
) -> None:
    done = play(f"ENG {units}; RUS A SWE", f"ENG {attack}, A FIN S A NWY - SWE")
    codes = done.position.map.location_codes
    assert [codes[place] for place in done.after.dislodged[0].options] == options


def test_a_fleet_is_dislodged_with_the_coasts_that_it_can_reach_as_options() -> None:
    done = play(
        "FRA F MAO; ENG F NAO, F ECH, A PIC",
        "ENG F NAO - MAO, F ECH S F NAO - MAO",
    )
    codes = done.position.map.location_codes
    options = [codes[place] for place in done.after.dislodged[0].options]
    assert options == ["IRI", "WES", "GAS", "NAF", "BRE", "POR", "SPA/NC", "SPA/SC"]


def test_no_unit_retreats_to_a_province_that_a_standoff_left_empty() -> None:
    done = play(
        "GER A MUN; FRA A BUR, A RUH; ITA A TYR; AUS A VIE, A BOH; RUS A WAR",
        "FRA A BUR - MUN, A RUH S A BUR - MUN; AUS A BOH - SIL; RUS A WAR - SIL",
    )
    codes = done.position.map.location_codes
    assert [codes[place] for place in done.after.dislodged[0].options] == ["BER", "KIE"]


@pytest.mark.parametrize(("closed", "moved"), [(True, 200), (False, 0)])
def test_the_longest_file_of_units_resolves(closed: bool, moved: int) -> None:
    codes = [f"P{number:03}" for number in range(200)]
    provinces = "\n".join(f'{code} = {{ kind = "land", name = "Land {code}" }}' for code in codes)
    borders = ", ".join(f'"{code} {after}"' for code, after in pairwise([*codes, codes[0]]))
    ring = read_map(
        f'name = "ring"\nfirst_year = 1\ncentres_to_win = 2\nneutral_centres = "P001"\n'
        '[[powers]]\nname = "One"\ncode = "ONE"\ncentres = "P000"\n'
        f'units = "{", ".join("A " + c for c in codes)}"\n'
        f"[provinces]\n{provinces}\n[borders]\narmy = [{borders}]\nfleet = []\n"
    )
    start = Position.start(ring)
    marching = [
        Order(OrderKind.MOVE, place, (place + 1) % 200) for place in range(200) if closed or place != 199
    ]
    done = adjudicate(start, {0: marching})
    assert sum(result.succeeded and result.order.kind is OrderKind.MOVE for result in done.results) == moved


def test_a_convoy_through_every_sea_is_found_without_listing_routes() -> None:
    seas = [STANDARD.codes[sea] for sea in bits(STANDARD.seas)]
    units = "ENG A SYR, " + ", ".join(f"F {sea}" for sea in seas)
    convoys = ", ".join(f"F {sea} C A SYR - STP" for sea in seas)
    done = play(units, f"ENG A SYR - STP, {convoys}")
    assert outcomes(done)["A SYR - STP VIA"] is O.SUCCEEDED
    broken = play(units, f"ENG A SYR - STP, {convoys.replace('F MAO C A SYR - STP', 'F MAO H')}")
    assert outcomes(broken)["A SYR - STP VIA"] is O.DISRUPTED
