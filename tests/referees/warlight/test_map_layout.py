"""Places for maps that have none, and the commands for maps."""

from itertools import combinations
from math import dist
from pathlib import Path

import pytest

from referees.warlight.__main__ import main
from referees.warlight.map_layout import with_places
from referees.warlight.maps import WarMap, double, load_map, mirror_of, read_map, write_map
from tests.referees.warlight.positions import chain_of


def places(war_map: WarMap) -> list[tuple[float, float]]:
    listed = [territory.place for territory in war_map.territories if territory.place]
    assert len(listed) == len(war_map.territories)
    return listed


def test_territories_lie_on_the_drawing_apart_from_each_other_and_neighbours_together() -> None:
    laid = places(with_places(chain_of(*"ABCDEFGH")))
    assert all(0 <= number <= 1000 for place in laid for number in place)
    assert min(dist(first, second) for first, second in combinations(laid, 2)) > 20
    assert dist(laid[0], laid[1]) < dist(laid[0], laid[7])


def test_the_southern_half_is_drawn_below_as_the_image_of_the_northern() -> None:
    whole = with_places(double(chain_of("A", "B", "C", "D"), 10, [1], "whole"))
    image, laid = mirror_of(whole), places(whole)
    assert image is not None
    for at, (right, down) in enumerate(laid):
        assert laid[image[at]] == pytest.approx((right, 1000 - down))
        assert (down < 500) == whole.territories[at].name.endswith("N")


def test_the_layout_is_the_same_each_time_and_places_that_are_given_stay() -> None:
    once = with_places(chain_of(*"ABCDE"))
    assert once == with_places(chain_of(*"ABCDE"))
    assert with_places(once) is once


def test_very_large_maps_are_drawn_in_rows() -> None:
    laid = places(with_places(chain_of(*[f"T{number}" for number in range(900)])))
    assert len(set(laid)) == 900


def test_a_map_is_doubled_and_shown_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "row.txt").write_text(write_map(chain_of("A", "B", "C")))
    assert main(["double", str(tmp_path / "row.txt"), "--offset", "10", "--bridges", "2", "3"]) == 0
    text = capsys.readouterr().out
    whole = read_map(text, "whole")
    assert mirror_of(whole) == (3, 4, 5, 0, 1, 2)
    (tmp_path / "whole.txt").write_text(text)
    assert main(["show", str(tmp_path / "whole.txt")]) == 0
    shown = capsys.readouterr().out
    assert "6 territories, 6 pairs of neighbours, 2 bonuses of 6 armies in all, two halves" in shown


@pytest.mark.parametrize(
    "arguments", [["show", "atlantis"], ["double", "earth", "--offset", "9", "--bridges", "1"]]
)
def test_the_command_line_says_what_is_wrong(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 1
    assert f"{arguments[1]}: " in capsys.readouterr().err


def test_a_file_with_a_mark_of_its_encoding_and_some_places_is_drawn_whole(tmp_path: Path) -> None:
    file = tmp_path / "island.txt"
    lines = [f"TerritoryDefinition {id_} T{id_} {near}" for id_, near in ((1, 2), (2, "1 3"), (3, 2))]
    file.write_text("\n".join(["Map", *lines, "EndMap", "# Place 1 500 500"]), encoding="utf-8-sig")
    read = load_map(str(file))
    assert [territory.place for territory in read.territories] == [(500, 500), None, None], (
        "laid out only to be drawn"
    )
    places = [territory.place for territory in with_places(read).territories]
    assert None not in places
    assert len(set(places)) == 3
