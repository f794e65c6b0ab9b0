"""Which coasts fleets link, and which of them a convoy needs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referees.diplomacy.convoys import are_linked, chains, needs_fleet
from referees.diplomacy.map import bits, mask_of, shipped_map

STANDARD = shipped_map("standard")
SEAS = bits(STANDARD.seas)
COASTS = [number for number in range(len(STANDARD.codes)) if STANDARD.sea_access[number]]
fleets = st.sets(st.sampled_from(SEAS)).map(mask_of)
two_coasts = st.lists(st.sampled_from(COASTS), min_size=2, max_size=2, unique=True)


@pytest.mark.parametrize(
    ("source", "target", "sea", "is_needed"),
    [
        ("MAR", "SPA", "GOL", True),
        ("MAR", "SPA", "WES", False),
        ("MAR", "TUN", "WES", True),
        ("LON", "BRE", "ECH", True),
        ("LON", "BRE", "MAO", True),
        ("LON", "BEL", "NWG", False),
        ("ANK", "SEV", "AEG", False),
        # A route by WES passes TYS and GOL, which touch each other.
        ("ALB", "PIE", "WES", False),
    ],
)
def test_fleets_that_a_route_could_need(source: str, target: str, sea: str, is_needed: bool) -> None:
    assert needs_fleet(STANDARD, *(STANDARD.province(code) for code in (source, target, sea))) is is_needed


@given(two_coasts, fleets, st.sampled_from(SEAS))
def test_without_a_fleet_that_is_not_needed_the_same_coasts_are_linked(
    coasts: list[int], there: int, sea: int
) -> None:
    source, target = coasts
    with_it, without = there | 1 << sea, there & ~(1 << sea)
    if are_linked(STANDARD, source, target, with_it) != are_linked(STANDARD, source, target, without):
        assert needs_fleet(STANDARD, source, target, sea)


@given(two_coasts, st.sampled_from(SEAS))
def test_a_fleet_is_needed_one_way_as_the_other(coasts: list[int], sea: int) -> None:
    source, target = coasts
    assert needs_fleet(STANDARD, source, target, sea) == needs_fleet(STANDARD, target, source, sea)


@given(two_coasts, fleets)
def test_two_coasts_are_linked_if_one_chain_touches_both(coasts: list[int], there: int) -> None:
    source, target = coasts
    touching = [shores for _, shores in chains(STANDARD, there) if shores >> source & 1]
    assert are_linked(STANDARD, source, target, there) == any(shores >> target & 1 for shores in touching)
