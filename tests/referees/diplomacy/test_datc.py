"""Every case of the DATC under its edition: what becomes of each order, and where the units end."""

import json

import pytest

from referees.diplomacy.adjudication import PhaseAdjudication
from referees.diplomacy.map import Unit, UnitKind
from referees.diplomacy.notation import read_order
from referees.diplomacy.orders import OrderKind
from referees.diplomacy.position import Phase
from referees.diplomacy.results import OrderOutcome
from tests.referees.diplomacy.datc import BY_THE_TEXT, FILE, Case, load, read_unit, split

CASES = load()
MOVES = (OrderKind.MOVE, OrderKind.CONVOYED_MOVE)
BUILDS = {OrderKind.BUILD_ARMY: UnitKind.ARMY, OrderKind.BUILD_FLEET: UnitKind.FLEET}
# Where the file's expectation is not that of the test case it stands for: what is expected instead, and why.
DIFFERENT = {
    "t6a05_move_to_own_sector_with_convoy": (
        {"ENG: A lvp supports A yor -> yor": False},
        "the case says that the support of an illegal move is illegal; the file counts it as not cut",
    ),
    "t6g11_a_convoy_to_an_adjacent_place_with_a_paradox-2023": (
        {"ENG: F nth -> ska": True, "RUS: A swe -> nwy": False},
        "the file lets the army fall back to land, as in 1971; its own fleet convoys it, so it goes by sea",
    ),
}
REMOVED_INSTEAD = {
    "t6j09_civil_disorder_must_be_counted_from_both_coasts_second_scenario": (
        ["RUS: A alb"],
        "from the north coast SKA is 2 away (by NWY), ALB is 3 from SEV: with both coasts the army goes",
    ),
}
pytestmark = pytest.mark.skipif(
    not CASES, reason=f"the DATC cases are not at {FILE}; DATC_JSON names another place"
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}-{case.edition}")
def test_a_case_comes_out_as_it_says(case: Case) -> None:
    adjudication = case.run()
    check_orders(case, adjudication)
    check_units(case, adjudication)
    check_reasons(adjudication)


def check_orders(case: Case, adjudication: PhaseAdjudication) -> None:
    """Each order succeeds or fails as the case says."""
    position = adjudication.position
    results = {(result.power, result.order): result for result in adjudication.results}
    outcomes = {}
    expected = case.expected()
    for name in (case.name, f"{case.name}-{case.edition}"):
        other = DIFFERENT.get(name, ({}, ""))[0]
        assert all(expected[text] is not outcome for text, outcome in other.items()), "no longer different"
        expected |= other
    for text in expected:
        power, order_text = split(text)
        result = results[power, read_order(position, order_text, lenient_coasts=False)]
        outcomes[text] = result.succeeded
    assert outcomes == expected


def check_units(case: Case, adjudication: PhaseAdjudication) -> None:
    """The units end where their orders say."""
    position, after = adjudication.position, adjudication.after
    province_of = position.map.province_of
    done = {result.order.location: result.order for result in adjudication.results if result.succeeded}
    staying, dislodged = set(position.units), set()
    if position.phase is Phase.MOVES:
        arrived = {
            unit._replace(location=done[unit.location].target)
            for unit in position.units
            if unit.location in done and done[unit.location].kind in MOVES
        }
        staying = {
            unit
            for unit in position.units
            if unit.location not in done or done[unit.location].kind not in MOVES
        }
        entered = {province_of[unit.location] for unit in arrived}
        dislodged = {unit for unit in staying if province_of[unit.location] in entered}
        expected = (staying - dislodged) | arrived
    elif position.phase is Phase.RETREATS:
        retreating = {entry.unit for entry in position.dislodged}
        expected = staying | {
            unit._replace(location=done[unit.location].target)
            for unit in retreating
            if unit.location in done and done[unit.location].kind is OrderKind.RETREAT
        }
    else:
        lost = REMOVED_INSTEAD.get(case.name, (case.content.get("civil_disorder", ()), ""))[0]
        expected = staying - {read_unit(text) for text in lost}
        for result in adjudication.results:
            if result.succeeded and result.order.kind is OrderKind.REMOVE and not lost:
                expected -= {unit for unit in staying if unit.location == result.order.location}
            elif result.succeeded and result.order.kind in BUILDS:
                expected.add(Unit(result.power, BUILDS[result.order.kind], result.order.location))
    assert set(after.units) == expected
    assert len(after.units) == len(expected)
    assert {entry.unit for entry in after.dislodged} == dislodged


def check_reasons(adjudication: PhaseAdjudication) -> None:
    """Each order that fails says why."""
    for result in adjudication.results:
        # A reason that names units ends with the last of them.
        assert result.succeeded or len(result.reason.split()) > 2, result
        assert not result.reason.endswith((" by ", ": ")), result
        assert result.succeeded == (result.outcome is OrderOutcome.SUCCEEDED)


def test_all_cases_of_the_file_are_run() -> None:
    names = {case.name for case in CASES}
    assert names >= BY_THE_TEXT.keys()
    assert names == {content["name"] for content in json.loads(FILE.read_text("utf-8"))["cases"]}
