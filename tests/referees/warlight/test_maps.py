"""Maps: what a map must be, the text of maps, mirrors, and the maps of the package."""

from itertools import pairwise
from pathlib import Path

import pytest

from referees.graph_layout import reachable
from referees.warlight.maps import (
    InvalidMapError,
    double,
    load_map,
    map_names,
    mirror_of,
    northern,
    protocol_lines,
    read_map,
    write_map,
)
from tests.referees.warlight.positions import chain_of

# Lines as the challenge's page shows them.
TEXT = """\
Map
TerritoryDefinition 3 PeruN 4 7
TerritoryDefinition 4 PermN 3
TerritoryDefinition 7 St.PetersburgN 3
BonusDefinition 5 CentralRussiaN 4 7
BonusDefinition 0 NothingN 3
EndMap
"""


def test_a_map_is_written_as_it_was_read() -> None:
    war_map = read_map(TEXT, "three")
    assert "\n".join(protocol_lines(war_map)) + "\n" == TEXT
    assert write_map(war_map) == TEXT
    assert war_map.territories[0].neighbours == (4, 7)
    assert war_map.neighbours == ((1, 2), (0,), (0,))
    assert war_map.regions == ((5, (1, 2)), (0, (0,)))


def test_notes_and_blank_lines_are_skipped_and_places_kept() -> None:
    war_map = read_map("# two lines\n\n" + TEXT + "# Place 4 10 20.5\n", "three")
    assert [territory.place for territory in war_map.territories] == [None, (10.0, 20.5), None]
    assert read_map(write_map(war_map), "three") == war_map


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("TerritoryDefinition 1 A\n", "1 territories: there must be 2"),
        ("TerritoryDefinition 1 A 2\nTerritoryDefinition 2 B\n", "not the other way round"),
        ("TerritoryDefinition 1 A 1\nTerritoryDefinition 2 B\n", "which is no other territory"),
        ("TerritoryDefinition 1 A 3\nTerritoryDefinition 2 B\n", "which is no other territory"),
        ("TerritoryDefinition 1 A 2 2\nTerritoryDefinition 2 B 1\n", "names a neighbour twice"),
        ("TerritoryDefinition 2 A 1\nTerritoryDefinition 1 B 2\n", "must differ and ascend"),
        ("TerritoryDefinition 1 A\nTerritoryDefinition 1 B\n", "must differ and ascend"),
        (f"TerritoryDefinition 1 {'A' * 101} 2\n" * 2, "must be 1 to 100 letters"),
        ("Map 1\n", "line 1: 'Map' begins no line of a map"),
        ("TerritoryDefinition 1 A\nTerritoryDefinition 2 B\n", "must be connected"),
        ("TerritoryDefinition 0 A 2\nTerritoryDefinition 2 B 0\n", "ids are from 1"),
        ("TerritoryDefinition one A 2\n", "line 1: 'one' is not a whole number"),
        ("TerritoryDefinition 1 A B\n", "line 1: 'B' is not a whole number"),
        ("TerritoryDefinition 1\n", "line 1: a territory is written TerritoryDefinition ID NAME NEIGHBOURS"),
        ("BonusDefinition 3\n", "line 1: a bonus is written BonusDefinition ARMIES NAME TERRITORIES"),
        ("Territory 1 A 2\n", "line 1: 'Territory' begins no line of a map"),
        (TEXT + "BonusDefinition 3 Far 8\n", "has the territory 8, which the map does not have"),
        (TEXT + "BonusDefinition 3 None\n", "must have a territory"),
        (TEXT + "BonusDefinition 3 Twice 3 3\n", "must have a territory, and none twice"),
        (TEXT + "BonusDefinition -3 Debt 3\n", "is worth -3 armies"),
        pytest.param(TEXT + "BonusDefinition 1 B 3\n" * 3999, "a map of 4001 bonuses", id="bonuses"),
        pytest.param("#" * 4_000_001, "a map of 4000001 characters", id="characters"),
        (TEXT + "# Place 3 10 1000.5\n", "both numbers must be 0 to 1000"),
        (TEXT + "# Place 3 1000.5 10\n", "both numbers must be 0 to 1000"),
        (TEXT + "# Place 3 10\n", "a place is written # Place ID X Y"),
        (TEXT + "# Place 3 10 x\n", "a place is written # Place ID X Y"),
        (TEXT + "# Place 5 10 10\n", "a place for territory 5"),
    ],
)
def test_a_map_that_breaks_a_rule_is_refused_with_the_rule(text: str, message: str) -> None:
    with pytest.raises(InvalidMapError, match=message):
        read_map(text, "broken")


def test_a_doubled_map_has_two_halves_that_are_each_others_image() -> None:
    whole = double(chain_of("A", "B", "C"), offset=10, bridges=[3], name="double")
    assert [territory.name for territory in whole.territories] == ["AN", "BN", "CN", "AS", "BS", "CS"]
    assert [territory.id for territory in whole.territories] == [1, 2, 3, 11, 12, 13]
    assert whole.edges == ((0, 1), (1, 2), (2, 5), (3, 4), (4, 5))
    assert [bonus.name for bonus in whole.bonuses] == ["AllN", "AllS"]
    assert mirror_of(whole) == (3, 4, 5, 0, 1, 2)
    assert northern(whole) == [0, 1, 2]


@pytest.mark.parametrize(("height", "lowest"), [(400.0, 470.0), (1000.0, 470.0), (0.0, 0.0)])
def test_the_halves_of_a_doubled_map_lie_close_to_each_other(height: float, lowest: float) -> None:
    text = (
        write_map(chain_of("A", "B", "C"))
        + f"\n# Place 1 0 0\n# Place 2 5 {height / 2}\n# Place 3 9 {height}\n"
    )
    whole = double(read_map(text, "chain"), offset=10, bridges=[3], name="double")
    assert whole.territories[2].place == (9.0, lowest)
    assert whole.territories[5].place == (9.0, 1000 - lowest)


@pytest.mark.parametrize(
    ("offset", "bridges", "message"),
    [(2, [3], "at least 3"), (3, [], "no bridges"), (3, [4], "which is not a territory")],
)
def test_a_map_is_doubled_only_to_a_sound_one(offset: int, bridges: list[int], message: str) -> None:
    with pytest.raises(InvalidMapError, match=message):
        double(chain_of("A", "B", "C"), offset, bridges, "double")


def test_a_map_with_two_territories_of_one_name_is_not_doubled() -> None:
    with pytest.raises(
        InvalidMapError, match=r"^2 territories are called B: a territory's image is found by"
    ):
        double(chain_of("A", "B", "C", "B"), 10, [1], "double")


@pytest.mark.parametrize(
    "names",
    [("A", "B"), ("AN", "BS"), ("AN", "BN", "AS"), ("AN", "BN", "AS", "BS"), ("AN", "AN", "AS", "AS")],
)
def test_a_map_without_a_mirror_has_none(names: tuple[str, ...]) -> None:
    assert mirror_of(chain_of(*names)) is None


@pytest.mark.parametrize(
    ("bonuses", "mirrored"), [("3 X 1|3 Y 2", True), ("3 X 1|4 Y 2", False), ("3 X 1", False)]
)
def test_only_bonuses_of_as_many_armies_are_each_others_image(bonuses: str, mirrored: bool) -> None:
    territories = "TerritoryDefinition 1 AN 2\nTerritoryDefinition 2 AS 1\n"
    text = territories + "\n".join(f"BonusDefinition {bonus}" for bonus in bonuses.split("|"))
    assert (mirror_of(read_map(text, "two")) is not None) is mirrored


def test_a_file_may_begin_with_the_mark_of_its_encoding(tmp_path: Path) -> None:
    file = tmp_path / "three.txt"
    file.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    assert load_map(str(file)).territories == read_map(TEXT, "three").territories


def test_the_package_has_its_maps() -> None:
    assert map_names() == ("double_earth", "double_small", "earth", "small_world")


@pytest.mark.parametrize(
    ("name", "half", "offset", "bridges", "least"),
    [
        ("double_earth", "earth", 200, [158, 160, 162, 163], 90),
        ("double_small", "small_world", 50, [], 40),
    ],
)
def test_the_double_maps_are_built_from_their_halves(
    name: str, half: str, offset: int, bridges: list[int], least: int
) -> None:
    single, whole = load_map(half), load_map(name)
    ends = ("Patagonia", "Cape", "NewZealand")
    bridges = bridges or [territory.id for territory in single.territories if territory.name in ends]
    assert double(single, offset, bridges, name) == whole
    assert len(single.territories) >= least
    assert mirror_of(whole) is not None
    assert all(territory.place for territory in whole.territories)
    places = sorted(territory.place for territory in whole.territories if territory.place)
    assert all(first != second for first, second in pairwise(places))


@pytest.mark.parametrize("name", map_names())
def test_every_territory_of_our_maps_is_in_one_bonus_that_hangs_together(name: str) -> None:
    war_map = load_map(name)
    members = sorted(at for _, region in war_map.regions for at in region)
    assert members == list(range(len(war_map.territories)))
    for bonus in war_map.bonuses:
        assert 1 < bonus.armies <= len(bonus.territories)
    for _, region in war_map.regions:
        inside = [[near for near in nears if near in region] for nears in war_map.neighbours]
        assert set(reachable(inside, min(region))) == set(region)


def test_a_missing_map_is_refused_with_the_names_of_the_known_ones() -> None:
    with pytest.raises(InvalidMapError, match=r"no map 'atlantis': there are double_earth, .* files"):
        load_map("atlantis")
    with pytest.raises(InvalidMapError, match="cannot be read"):
        load_map("/nowhere/atlantis.txt")
