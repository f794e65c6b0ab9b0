"""Retreats, builds, removals and civil disorder."""

import pytest

from referees.diplomacy import (
    Choices,
    DiplomacySettings,
    OrderOutcome,
    Phase,
    RemovalDistance,
    RemovalRoute,
    Season,
    UnitKind,
    adjudicate,
    adjustments,
)
from referees.diplomacy.adjustments import civil_disorder_order, distances
from referees.diplomacy.settings import EDITIONS
from tests.referees.diplomacy.positions import STANDARD, orders, outcomes, play, position, reasons


def test_two_units_that_retreat_to_one_province_disband_and_say_so() -> None:
    done = play(
        "AUS A VIE, A BUD; ITA A TYR, A BOH; TUR A SER, A RUM",
        "ITA A TYR - VIE, A BOH S A TYR - VIE; TUR A RUM - BUD, A SER S A RUM - BUD",
    )
    retreats = done.after
    assert retreats.name == "S1901R"
    over = adjudicate(retreats, orders(retreats, "AUS A VIE R TRI, A BUD R TRI"))
    assert set(outcomes(over).values()) == {OrderOutcome.CLASHED}
    assert reasons(over)["A VIE R TRI"] == "disbanded: Austria's A BUD retreated there too"
    assert over.after.units_of(0) == []


def test_dislodged_units_that_say_nothing_or_nonsense_disband() -> None:
    done = play("ITA A VEN; AUS A TRI, A TYR", "AUS A TRI - VEN, A TYR S A TRI - VEN")
    for order in ("", "ITA A VEN R TRI", "ITA A VEN H", "AUS A VEN R ROM"):
        over = adjudicate(done.after, orders(done.after, order))
        assert over.after.units_of(4) == []
        assert any(result.outcome is OrderOutcome.VOID for result in over.results) == bool(order)


def test_in_autumn_every_centre_becomes_the_power_s_whose_unit_is_there() -> None:
    units = ", ".join(f"A {STANDARD.codes[centre]}" for centre in STANDARD.centres)
    start = position(f"TUR {units}", season=Season.AUTUMN)
    assert adjudicate(start, {}).after.owners == (STANDARD.power("TUR"),) * 34


@pytest.mark.parametrize(
    ("units", "owned", "number"),
    [
        ("RUS A MOS", "RUS MOS STP SEV WAR", 3),
        ("RUS A MOS, A WAR, F SEV", "RUS MOS STP SEV WAR RUM", 1),
        ("RUS A MOS, A WAR, F SEV, F STP/SC", "RUS MOS STP SEV WAR RUM", 0),
        ("RUS A UKR, A GAL; TUR A MOS", "RUS MOS; TUR WAR", -1),
        ("RUS A UKR; TUR A CON", "RUS BUL GRE; TUR MOS", 0),
    ],
)
def test_a_power_may_build_as_many_units_as_it_has_room_for(units: str, owned: str, number: int) -> None:
    start = position(units, Phase.BUILDS, Season.AUTUMN, owned)
    assert adjustments(start)[STANDARD.power("RUS")] == number


@pytest.mark.parametrize(
    ("order", "outcome", "reason"),
    [
        ("F STP/NC B", OrderOutcome.SUCCEEDED, ""),
        ("F STP B", OrderOutcome.VOID, "void: it must say on which coast"),
        ("F MOS B", OrderOutcome.VOID, "void: such a unit cannot be there"),
        ("A RUM B", OrderOutcome.VOID, "void: it is not a home centre of the power"),
        ("A SEV B", OrderOutcome.VOID, "void: the centre is another power's or a unit stands in it"),
        ("A WAR B", OrderOutcome.VOID, "void: the centre is another power's or a unit stands in it"),
        ("WAIVE", OrderOutcome.SUCCEEDED, ""),
        ("A SEV D", OrderOutcome.VOID, "void: the power may build, not remove"),
    ],
)
def test_builds_say_why_they_fail(order: str, outcome: OrderOutcome, reason: str) -> None:
    start = position("RUS A SEV; GER A LVN", Phase.BUILDS, Season.AUTUMN, "RUS MOS STP SEV RUM; GER WAR")
    done = adjudicate(start, orders(start, f"RUS {order}"))
    reasons = [(result.outcome, result.reason) for result in done.results if result.reason != "not ordered"]
    assert (outcome, reason) in reasons


def test_builds_that_are_not_ordered_are_waived() -> None:
    start = position("RUS A SEV", Phase.BUILDS, Season.AUTUMN, "RUS MOS STP SEV RUM")
    done = adjudicate(start, {})
    assert done.after.units == start.units
    assert [result.reason for result in done.results] == ["not ordered"] * 2
    assert done.after.name == "S1902M"


def test_a_centre_builds_one_unit_and_the_other_builds_are_waived() -> None:
    start = position("", Phase.BUILDS, Season.AUTUMN, "RUS MOS STP SEV WAR")
    done = adjudicate(start, orders(start, "RUS A MOS B, A MOS B"))
    assert [(result.outcome, result.reason) for result in done.results] == [
        (OrderOutcome.SUCCEEDED, ""),
        (OrderOutcome.VOID, "void: the centre is another power's or a unit stands in it"),
        *[(OrderOutcome.SUCCEEDED, "not ordered")] * 3,
    ]
    assert [STANDARD.location_codes[unit.location] for unit in done.after.units] == ["MOS"]


def test_a_power_builds_no_more_than_it_has_room_for() -> None:
    start = position("RUS A UKR, A GAL, A SIL", Phase.BUILDS, Season.AUTUMN, "RUS MOS STP SEV WAR")
    done = adjudicate(start, orders(start, "RUS A MOS B, A WAR B, F SEV B"))
    assert [(result.outcome, result.reason) for result in done.results] == [
        (OrderOutcome.SUCCEEDED, ""),
        *[(OrderOutcome.SURPLUS, "the power has only 1 to build")] * 2,
    ]


@pytest.mark.parametrize(
    ("ordered", "outcome", "reason", "left"),
    [
        ("A TUS D, A TUS D", OrderOutcome.VOID, "void: no unit of the power is left there", "ION PIE"),
        # The farthest is gone already: the next one follows.
        ("A UKR D", OrderOutcome.SUCCEEDED, "civil disorder: not ordered", "ION TUS"),
        ("A TUS D, A PIE B", OrderOutcome.VOID, "void: the power must remove, not build", "ION PIE"),
    ],
)
def test_a_unit_is_removed_once_and_the_farthest_of_the_others_follow(
    ordered: str, outcome: OrderOutcome, reason: str, left: str
) -> None:
    start = position("ITA A PIE, A TUS, F ION, A UKR", Phase.BUILDS, Season.AUTUMN, "ITA ROM NAP")
    done = adjudicate(start, orders(start, f"ITA {ordered}"))
    assert (done.results[1].outcome, done.results[1].reason) == (outcome, reason)
    assert sorted(STANDARD.location_codes[unit.location] for unit in done.after.units) == left.split()


def test_the_first_removals_count_and_the_rest_is_civil_disorder() -> None:
    start = position("ITA A PIE, A TUS, F ION, A UKR", Phase.BUILDS, Season.AUTUMN, "ITA ROM NAP")
    done = adjudicate(start, orders(start, "ITA A TUS D"))
    assert outcomes(done) == {"A TUS D": OrderOutcome.SUCCEEDED, "A UKR D": OrderOutcome.SUCCEEDED}
    assert reasons(done)["A UKR D"] == "civil disorder: not ordered"
    many = adjudicate(start, orders(start, "ITA A TUS D, A PIE D, F ION D, A UKR D"))
    assert [result.outcome for result in many.results].count(OrderOutcome.SURPLUS) == 2


@pytest.mark.parametrize(
    ("units", "owned", "distance", "first"),
    [
        ("ITA A WAR, A TUS", "ITA WAR", RemovalDistance.OWNED_CENTRES, "A TUS"),
        ("ITA A WAR, A TUS", "ITA WAR", RemovalDistance.HOME_CENTRES, "A WAR"),
        # From the nearest of several centres.
        ("ITA A PIE, A TUS, A GAL", "ITA ROM WAR", RemovalDistance.OWNED_CENTRES, "A PIE"),
        # Equally far: fleets before armies, then by name.
        ("ITA A TUS, F TYS", "ITA ROM", RemovalDistance.OWNED_CENTRES, "F TYS"),
        ("ITA A TUS, A APU", "ITA ROM", RemovalDistance.OWNED_CENTRES, "A APU"),
        ("ITA A ALB, A PIE", "ITA NAP", RemovalDistance.OWNED_CENTRES, "A PIE"),
        # Marseilles comes before Mid-Atlantic Ocean; their codes stand the other way round.
        ("ITA F MAO, F MAR", "ITA SPA", RemovalDistance.OWNED_CENTRES, "F MAR"),
        ("ITA A TUS, A UKR", "AUS VIE", RemovalDistance.OWNED_CENTRES, "A TUS"),
    ],
)
def test_civil_disorder_removes_the_farthest_first(
    units: str, owned: str, distance: RemovalDistance, first: str
) -> None:
    start = position(units, Phase.BUILDS, Season.AUTUMN, owned)
    lost = civil_disorder_order(start, STANDARD.power("ITA"), Choices(removal_distance=distance))[0]
    assert f"{lost.kind.letter} {STANDARD.location_codes[lost.location]}" == first


@pytest.mark.parametrize(
    ("edition", "route", "first"),
    [
        # From Venice over land to Rome the fleet is one province away; by ADR, ION and TYS it is farther.
        ("2023", None, "A PIE"),
        ("2000", None, "F VEN"),
        ("2023", "own moves", "F VEN"),
        ("2000", "land and sea", "A PIE"),
    ],
)
def test_over_what_a_distance_is_counted_is_the_editions_or_a_setting(
    edition: str, route: str | None, first: str
) -> None:
    start = position("ITA A PIE, F VEN", Phase.BUILDS, Season.AUTUMN, "ITA ROM")
    settings = {"edition": edition, "removal_distance": "owned centres"} | (
        {"removal_route": route} if route else {}
    )
    choices = DiplomacySettings.read(settings).choices
    done = adjudicate(start, {}, choices)
    assert [order.split(" D")[0] for order, why in reasons(done).items() if why] == [first]


@pytest.mark.parametrize("edition", ["1971", "1982", "2000", "dptg", "deepmind"])
def test_a_fleet_does_not_count_a_step_inland(edition: str) -> None:
    """DATC 6.J.6 before 2023: both are three from St. Petersburg, and Warsaw does not count."""
    start = position("RUS F BER, F HEL", Phase.BUILDS, Season.AUTUMN, "RUS WAR STP")
    lost = civil_disorder_order(start, STANDARD.power("RUS"), EDITIONS[edition])
    assert [STANDARD.location_codes[unit.location] for unit in lost] == ["BER", "HEL"]
    # 6.J.5: Skagerrak is two from there.
    start = position("RUS F BER, F SKA", Phase.BUILDS, Season.AUTUMN, "RUS WAR STP")
    lost = civil_disorder_order(start, STANDARD.power("RUS"), EDITIONS[edition])
    assert [STANDARD.location_codes[unit.location] for unit in lost] == ["BER", "SKA"]


def test_a_fleet_that_reaches_no_centre_is_the_farthest() -> None:
    start = position("RUS A MUN, F SEV", Phase.BUILDS, Season.AUTUMN, "RUS MOS")
    lost = civil_disorder_order(start, STANDARD.power("RUS"), EDITIONS["dptg"])
    assert [STANDARD.location_codes[unit.location] for unit in lost] == ["SEV", "MUN"]


@pytest.mark.parametrize("route", RemovalRoute)
def test_armies_count_over_land_and_sea_by_either_way(route: RemovalRoute) -> None:
    start = position("ITA A ALB, A PIE", Phase.BUILDS, Season.AUTUMN, "ITA NAP")
    lost = civil_disorder_order(start, STANDARD.power("ITA"), Choices(removal_route=route))
    assert [STANDARD.location_codes[unit.location] for unit in lost] == ["PIE", "ALB"]


def test_a_fleet_cannot_take_the_way_over_land_that_an_army_can() -> None:
    venice, rome = STANDARD.location("VEN"), STANDARD.province("ROM")
    assert distances(STANDARD, UnitKind.ARMY, venice)[rome] == 1
    # By APU, NAP and so on, or round by ADR, ION and TYS.
    assert distances(STANDARD, UnitKind.FLEET, venice)[rome] == 3


@pytest.mark.parametrize("sea", ["BAR", "BOT"])
def test_a_fleet_goes_to_the_coast_that_is_nearest(sea: str) -> None:
    assert distances(STANDARD, UnitKind.FLEET, STANDARD.location(sea))[STANDARD.province("STP")] == 1


def test_centres_change_hands_in_the_autumn_alone() -> None:
    start = position("GER F KIE", owned="GER KIE BER MUN")
    spring = adjudicate(start, orders(start, "GER F KIE - DEN")).after
    assert spring.owners == start.owners
    winter = adjudicate(spring, {}).after
    assert winter.name == "W1901A"
    assert STANDARD.province("DEN") in winter.centres_of(STANDARD.power("GER"))
