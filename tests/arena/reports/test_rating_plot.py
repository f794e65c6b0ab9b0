"""The picture of ratings: marks at their places, whiskers as long as the errors."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.reports.plots import Bar, rating_plot, ticks


def places(picture: str) -> list[float]:
    return [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', picture)]


def test_marks_stand_in_proportion_and_whiskers_reach_as_far() -> None:
    picture = rating_plot([Bar("a", 1200.0, 100.0), Bar("b", 1100.0, None), Bar("c", 1000.0, 50.0)], "Elo")
    a, b, c = places(picture)
    assert a - b == pytest.approx(b - c, abs=0.2)
    first, *_ = re.findall(r'class="error" x1="([\d.]+)" y1="\d+" x2="([\d.]+)"', picture)
    assert [float(end) for end in first] == pytest.approx([a - (a - b), a + (a - b)], abs=0.2)
    # c has a whisker of a line and two ends, b has none
    assert picture.count('class="error"') == 6


def test_names_are_escaped_and_the_picture_is_well_formed() -> None:
    picture = rating_plot([Bar("<a & b>", 3.0, 0.0)], "Elo")
    svg = ElementTree.fromstring(picture)
    assert [title.text for title in svg.iter("title")] == ["<a & b>: 3.0 ± 0.0"]


def test_no_players_no_picture() -> None:
    assert rating_plot([], "Elo") == ""


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (596.0, 1324.0, [600, 700, 800, 900, 1000, 1100, 1200, 1300]),
        (-10.0, 10.0, [-10, -5, 0, 5, 10]),
        (0.93, 1.02, [0.93, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 1.0, 1.01, 1.02]),
    ],
)
def test_ticks_are_round(low: float, high: float, expected: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(expected)


@given(st.floats(-5000, 5000), st.floats(0.5, 10000))
def test_there_are_neither_too_few_nor_too_many_ticks(low: float, width: float) -> None:
    marks = ticks(low, low + width)
    assert 3 <= len(marks) <= 11
    assert all(low - width / 1e6 <= tick <= low + width * (1 + 1e-6) for tick in marks)
