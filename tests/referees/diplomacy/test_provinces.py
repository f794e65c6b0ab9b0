"""Maps as files: the standard one, and what is wrong with others."""

import pickle
import random

import pytest

from referees.diplomacy import (
    InvalidMapError,
    UnitKind,
    UnknownPlaceError,
    read_map,
    shipped_map,
    shipped_maps,
)
from referees.diplomacy.convoys import chains, ways_round
from referees.diplomacy.map import bits, mask_of

STANDARD = shipped_map("standard")


def test_the_standard_map_has_the_provinces_and_borders_of_daide() -> None:
    assert (len(STANDARD.codes), len(STANDARD.location_codes), len(STANDARD.centres)) == (75, 81, 34)
    coasts = "BUL BUL/EC BUL/SC SPA SPA/NC SPA/SC STP STP/NC STP/SC"
    assert STANDARD.location_codes[72:] == tuple(coasts.split())
    edges = {kind: sum(map(len, STANDARD.reach[kind])) // 2 for kind in UnitKind}
    assert edges == {UnitKind.ARMY: 111, UnitKind.FLEET: 141}
    assert sum(len(power.units) for power in STANDARD.powers) == 22


def test_maps_are_one_object_each_and_survive_pickling() -> None:
    assert shipped_maps() == ("standard", "straits")
    assert pickle.loads(pickle.dumps(STANDARD)) is STANDARD


@pytest.mark.parametrize(
    ("name", "code"),
    [("stp(sc)", "STP/SC"), ("St Petersburg", "STP"), ("eng", "ECH"), ("lyo", "GOL"), ("spain/nc", "SPA/NC")],
)
def test_places_are_found_by_code_name_and_other_codes(name: str, code: str) -> None:
    assert STANDARD.location_codes[STANDARD.location(name)] == code


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('kind = "sea", name = "Strait"', 'kind = "air", name = "Strait"', "kind is one of land, sea, coast"),
        ('"NMO MID"', '"NMO WSE"', "an army's border at WSE"),
        ('"NPO NMO",\n  "SPO', '"NPO NCA",\n  "SPO', "a fleet's border at NCA"),
        ('"NMO MID/EC"', '"NMO MID"', "a fleet's border at MID"),
        ('centres = "SCA SPO"', 'centres = "SCA NPO"', "belongs to two powers"),
        ('units = "A SCA, F SPO"', 'units = "F SCA"', "a fleet can't be there"),
        ('units = "A SCA, F SPO"', 'units = "B SCA"', "begins with A or F"),
        ('"NCA NPO NMO"', '"NCA NCA NPO NMO"', "borders.army: NCA borders itself"),
        ('"NMO MID/EC"', '"NMO MID/EC", "MID/EC MID/WC"', "borders.fleet: MID borders itself"),
        ('"NCA NPO NMO"', '"NCA"', "borders.army, 'NCA': a border is between two places"),
        (
            "first_year = 1\n",
            "first_year = 99999999999999999999\n",
            "first_year 99999999999999999999: from 1 to 7000",
        ),
        ("first_year = 1\n", "first_year = 0\n", "first_year 0: from 1 to 7000"),
        ("first_year = 1\n", "first_year = -5\n", "first_year -5: from 1 to 7000"),
        ('name = "Southern Moor"', 'name = "A NCA"', "'A NCA' reads as an order"),
        ('name = "Southern Moor"', 'name = "fleet MID/EC H"', "'FLEET MID/EC H' reads as an order"),
        ('name = "Southern Moor"', 'name = "South", aliases = ["A"]', "'A' reads as an order"),
        ('name = "Southern Moor"', 'name = "Island"', "is another province's"),
    ],
)
def test_a_map_that_does_not_fit_says_where(old: str, new: str, why: str) -> None:
    text = shipped_map("straits").text
    assert old in text
    with pytest.raises(InvalidMapError) as raised:
        read_map(text.replace(old, new, 1))
    assert why in str(raised.value)


@pytest.mark.parametrize(
    ("limit", "why"),
    [
        ("MAX_PROVINCES", "a map has 1 to 1$"),
        ("MAX_POWERS", "2 powers: a map has 1 to 1$"),
    ],
)
def test_a_map_that_is_too_large_is_refused_with_the_limit(
    limit: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = shipped_map("straits").text
    monkeypatch.setattr(f"referees.diplomacy.map.{limit}", 1)
    with pytest.raises(InvalidMapError, match=why):
        # A map that has been read is kept.
        read_map(f"{text}\n# {limit}\n")


def test_errors_about_unknown_maps_and_powers_list_the_known_ones() -> None:
    with pytest.raises(UnknownPlaceError, match="there are standard, straits"):
        shipped_map("world")
    with pytest.raises(UnknownPlaceError, match="Austria"):
        STANDARD.power("ESP")


def _is_on_a_route(chain: int, fleet: int, source: int, target: int) -> bool:
    def walk(last: int, seen: int) -> bool:
        if STANDARD.sea_access[target] >> last & 1 and seen >> fleet & 1:
            return True
        return any(walk(sea, seen | 1 << sea) for sea in bits(STANDARD.sea_borders[last] & chain & ~seen))

    return any(walk(sea, 1 << sea) for sea in bits(STANDARD.sea_access[source] & chain))


def test_a_fleet_can_convoy_where_a_route_without_returns_leads_through_it() -> None:
    chance = random.Random(1)
    both = set()
    for _ in range(40):
        fleets = mask_of(chance.sample(bits(STANDARD.seas), chance.randint(2, 9)))
        for chain, coasts in chains(STANDARD, fleets):
            for fleet in bits(chain):
                source, target = chance.sample(bits(coasts), 2)
                sets = ways_round(STANDARD, chain, fleet)
                on_all = all(touched >> source & 1 or touched >> target & 1 for touched in sets)
                assert on_all == _is_on_a_route(chain, fleet, source, target)
                both.add(on_all)
    assert both == {True, False}
