"""Maps as shapes: cells of points, the shipped drawing, and layouts of maps without one."""

import math
from collections import defaultdict
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referees.diplomacy import InvalidMapError, Map, Terrain, read_map, shipped_map
from referees.diplomacy.drawing import Drawing, drawing_of
from referees.drawing import Point
from referees.map_cells import FRAME, Side, cells

STANDARD = shipped_map("standard")
STRAITS = shipped_map("straits")
WIDTH, HEIGHT = 100.0, 60.0
POINTS = st.lists(
    st.tuples(st.integers(1, 99), st.integers(1, 59)).map(lambda at: (float(at[0]), float(at[1]))),
    min_size=1,
    max_size=25,
    unique=True,
)


def area(sides: list[Side]) -> float:
    corners = [side.corner for side in sides]
    around = zip(corners, corners[1:] + corners[:1], strict=True)
    return abs(sum(x * v - u * y for (x, y), (u, v) in around)) / 2


@settings(max_examples=60, deadline=None)
@given(POINTS)
def test_cells_share_out_the_frame_and_each_corner_is_nearest_to_its_own_points(points: list[Point]) -> None:
    shapes = cells(points, WIDTH, HEIGHT)
    assert sum(map(area, shapes)) == pytest.approx(WIDTH * HEIGHT)
    for point, sides in zip(points, shapes, strict=True):
        for side in sides:
            nearest = min(math.dist(side.corner, other) for other in points)
            assert math.dist(side.corner, point) == pytest.approx(nearest, abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(POINTS)
def test_a_point_beyond_a_side_has_the_same_side(points: list[Point]) -> None:
    shapes = cells(points, WIDTH, HEIGHT)
    for number, sides in enumerate(shapes):
        for side, after in zip(sides, [*sides[1:], *sides[:1]], strict=True):
            # Where several cells meet in a point, a side may be as good as nothing.
            if side.beyond != FRAME and math.dist(side.corner, after.corner) > 1e-6:
                assert number in [other.beyond for other in shapes[side.beyond]]


def bordering(board: Map) -> set[tuple[int, int]]:
    return {
        (min(pair), max(pair))
        for reach in board.reach
        for place, near in enumerate(reach)
        for pair in ((board.province_of[place], board.province_of[there]) for there in near)
    }


def touching(drawing: Drawing) -> set[tuple[int, int]]:
    """The provinces that have a side in common, the lesser one first."""
    beside: defaultdict[frozenset[tuple[float, float]], set[int]] = defaultdict(set)
    for province, shapes in enumerate(drawing.shapes):
        for shape in shapes:
            corners = [(round(x, 6), round(y, 6)) for x, y in shape]
            for side in pairwise([*corners, corners[0]]):
                beside[frozenset(side)].add(province)
    return {(min(pair), max(pair)) for pair in beside.values() if len(pair) == 2}


def test_on_the_standard_map_provinces_touch_exactly_where_they_border_each_other() -> None:
    assert touching(drawing_of(STANDARD)) == bordering(STANDARD)


def test_units_have_room_on_the_standard_map() -> None:
    drawing = drawing_of(STANDARD)
    assert min(math.dist(first, other) for first, other in combinations(drawing.places, 2)) > 25
    assert all(20 < x < drawing.width - 20 and 20 < y < drawing.height - 20 for x, y in drawing.places)


def inside(point: Point, polygon: tuple[Point, ...]) -> bool:
    turns = [
        (v - y) * (point[0] - x) - (u - x) * (point[1] - y)
        for (x, y), (u, v) in zip(polygon, polygon[1:] + polygon[:1], strict=True)
    ]
    return all(turn >= -1e-6 for turn in turns) or all(turn <= 1e-6 for turn in turns)


@pytest.mark.parametrize("board", [STANDARD, STRAITS], ids=lambda board: board.name)
def test_each_unit_stands_in_its_province(board: Map) -> None:
    drawing = drawing_of(board)
    for province, place in enumerate(board.main_location):
        assert any(inside(drawing.places[place], shape) for shape in drawing.shapes[province])


def test_the_standard_map_has_land_of_nobody_and_no_links() -> None:
    assert len(drawing_of(STANDARD).impassable) > 10
    assert drawing_of(STANDARD).links == ()


def test_a_map_without_a_drawing_is_laid_out_by_its_borders() -> None:
    drawing = drawing_of(STRAITS)
    distances = {
        pair: math.dist(*(drawing.places[STRAITS.main_location[province]] for province in pair))
        for pair in combinations(range(len(STRAITS.codes)), 2)
    }
    near = [distances[pair] for pair in bordering(STRAITS)]
    far = [distance for pair, distance in distances.items() if pair not in bordering(STRAITS)]
    assert sum(near) / len(near) < 0.7 * sum(far) / len(far)
    # What does not touch is joined by a line.
    assert len(drawing.links) == len(bordering(STRAITS) - touching(drawing))
    assert len({drawing.places[coast] for coast in STRAITS.coasts[STRAITS.province("MID")]}) == 2


def drawn(part: str) -> Drawing:
    return drawing_of(read_map(f"{STRAITS.text}\n[drawing]\n{part}"))


PLACES = "\n".join(f'{code} = "{10 + 80 * number},50"' for number, code in enumerate(STRAITS.codes))


def test_a_map_may_bring_its_own_drawing() -> None:
    drawing = drawn(
        'size = [900, 100]\nimpassable = "450,90"\n[drawing.colours]\nSOU = "#123456"\n'
        f'[drawing.points]\n{PLACES}\n"MID/EC" = "600,20"'
    )
    assert (drawing.width, drawing.height, len(drawing.impassable)) == (900, 100, 1)
    assert drawing.places[STRAITS.location("MID/EC")] == (600, 20)
    assert drawing.places[STRAITS.location("NPO")] == (90, 50)
    assert STRAITS.terrain[STRAITS.province("STR")] is Terrain.SEA


@pytest.mark.parametrize(
    ("part", "complaint"),
    [
        ("scale = 3", "drawing: it has no 'scale'"),
        ("size = [900]", r"drawing.size: \[900\] is not a width and a height"),
        ("size = [10, nan]", "drawing.size"),
        ("size = [900, 100]", "drawing.points: there is no point for NCA"),
        ('size = [900, 100]\n[drawing.points]\nNCA = "1,1"', "there is no point for NPO"),
        ('size = [900, 100]\n[drawing.points]\nNOWHERE = "1,1"', "'NOWHERE' is not a province"),
        (f"size = [900, 100]\n[drawing.points]\n{PLACES}".replace("90,50", "10,50"), "all different"),
        (
            f"size = [900, 100]\n[drawing.points]\n{PLACES}".replace("90,50", "90"),
            "drawing.points.NPO: '90' are not points",
        ),
        (f"size = [900, 40]\n[drawing.points]\n{PLACES}", "outside of the map, which is 900 by 40"),
        ('size = [900, 100]\npoints = "red"', "drawing.points: 'red' is not a table"),
        ('size = [90, 90]\npoints = { NCA = "1;1" }', "drawing.points.NCA: '1;1' are not points"),
        ('size = [90, 90]\npoints = { "MID/EC" = "" }', "drawing.points.MID/EC: '' are not points"),
    ],
)
def test_drawings_that_cannot_be_read_say_why(part: str, complaint: str) -> None:
    with pytest.raises(InvalidMapError, match=complaint):
        drawn(part)
