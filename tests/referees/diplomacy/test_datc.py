"""Every case of the DATC under its edition: what becomes of each order, and where the units end."""

import pytest

from referees.diplomacy.notation import read_order
from referees.diplomacy.orders import OrderKind
from tests.referees.diplomacy.datc import FILE, Case, load, read_unit, split

CASES, IGNORED = load()
# Where the file's expectation is not that of the test case it stands for.
DIFFERENT = {
    "t6a05_move_to_own_sector_with_convoy": (
        "ENG: A lvp supports A yor -> yor",
        "the case says that the support of an illegal move is illegal; the file counts it as not cut",
    ),
    "t6j09_civil_disorder_must_be_counted_from_both_coasts_second_scenario": (
        "RUS: F ska",
        "from the north coast SKA is 2 away (by NWY), ALB is 3 from SEV: with both coasts the army goes",
    ),
}
pytestmark = pytest.mark.skipif(
    not CASES, reason=f"the DATC cases are not at {FILE}; DATC_JSON names another place"
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}-{case.edition}")
def test_orders_of_a_case_come_out_as_it_says(case: Case) -> None:
    adjudication = case.run()
    position = adjudication.position
    found = {(result.power, result.order): result for result in adjudication.results}
    outcomes = {}
    expected = case.expected()
    if case.name in DIFFERENT and expected.pop(DIFFERENT[case.name][0], None) is not None:
        assert expected, "the case tells nothing else"
    for text in expected:
        power, order_text = split(text)
        result = found[power, read_order(position, order_text, lenient_coasts=False)]
        outcomes[text] = result.succeeded
        assert result.succeeded or result.reason, f"{text} failed without a reason"
    assert outcomes == expected


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}-{case.edition}")
def test_units_of_a_case_end_where_its_orders_say(case: Case) -> None:
    adjudication = case.run()
    position, after = adjudication.position, adjudication.after
    moved = {unit.location for unit in after.units}
    provinces = [position.map.province_of[place] for place in moved]
    assert len(provinces) == len(set(provinces)) == len(after.units)
    for result in adjudication.results:
        if result.succeeded and result.order.kind in (OrderKind.MOVE, OrderKind.CONVOYED_MOVE):
            assert result.order.target in moved
    lost = set(position.units) - set(after.units)
    for text in case.content.get("civil_disorder", ()):
        assert (read_unit(text) in lost) is (text != DIFFERENT.get(case.name, ("",))[0])


def test_ignored_cases_say_why() -> None:
    assert len({name.rpartition("-")[0] for name in IGNORED}) == 6
    assert all(IGNORED.values())
