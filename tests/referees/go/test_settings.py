"""Which settings Go accepts, and what it says of the others."""

import math

import pytest

from referees.api import InvalidSettingError
from referees.go.settings import Compensation, GoSettings, HandicapStyle, Ko


def test_defaults() -> None:
    assert GoSettings.read({"board_size": 9}) == GoSettings(
        board_size=9,
        komi=7.5,
        handicap=None,
        handicap_style=HandicapStyle.FIXED,
        handicap_compensation=Compensation.FULL,
        ko=Ko.SIMPLE,
        self_capture=True,
    )


def test_every_setting_is_read() -> None:
    settings = {
        "board_size": 13,
        "komi": -3,
        "handicap": 5,
        "handicap_style": "fixed",
        "handicap_compensation": "short",
        "ko": "positional_superko",
        "self_capture": False,
    }
    assert GoSettings.read(settings) == GoSettings(
        13, -3.0, 5, HandicapStyle.FIXED, Compensation.SHORT, Ko.POSITIONAL_SUPERKO, False
    )


@pytest.mark.parametrize(
    ("stones", "style", "points"),
    [(0, "full", 0), (0, "short", 0), (4, "no", 0), (4, "full", 4), (4, "short", 3)],
)
def test_compensation_in_points(stones: int, style: str, points: int) -> None:
    settings = {"board_size": 9, "handicap": 5, "handicap_compensation": style}
    assert GoSettings.read(settings).compensation(stones) == points


@pytest.mark.parametrize(("size", "most"), [(2, 3), (7, 48), (8, 63)])
def test_a_free_handicap_leaves_one_point_for_the_first_move(size: int, most: int) -> None:
    free = {"board_size": size, "handicap_style": "free"}
    assert GoSettings.read({**free, "handicap": most}).free_handicap == most
    for stones in (1, most + 1):
        with pytest.raises(InvalidSettingError, match=f"{stones} stones: .* allows 2 to {most} free stones"):
            GoSettings.read({**free, "handicap": stones})


@pytest.mark.parametrize(
    ("setting", "value", "why"),
    [
        ("board_size", 1, "1 is not a whole number from 2 to 25"),
        ("board_size", 26, "26 is not"),
        ("board_size", 9.0, "9.0 is not"),
        ("board_size", "9", "'9' is not"),
        ("board_size", True, "True is not"),
        ("komi", math.nan, "nan is not a finite number"),
        ("komi", -math.inf, "-inf is not"),
        ("komi", 10**400, "is not a finite number"),
        ("komi", "6.5", "'6.5' is not"),
        ("komi", False, "False is not"),
        ("handicap", 1, "1 stones: a board of size 9 allows 2 to 9 stones"),
        ("handicap", 10, "10 stones"),
        ("handicap", 2.0, "2.0 is not a whole number"),
        ("handicap", True, "True is not a whole number"),
        ("handicap_style", "own", "'own' is not one of 'fixed', 'free'"),
        ("handicap_compensation", None, "None is not one of 'no', 'full', 'short'"),
        ("ko", "superko", "'superko' is not one of 'simple', 'positional_superko'"),
        ("self_capture", 1, "1 is neither true nor false"),
        ("komis", 6.5, "no such setting; did you mean 'komi'?"),
        ("colour", "blue", "no such setting; there are board_size, komi"),
    ],
)
def test_a_bad_setting_is_named_with_its_value_and_the_rule(setting: str, value: object, why: str) -> None:
    with pytest.raises(InvalidSettingError) as refused:
        GoSettings.read({"board_size": 9, setting: value})
    assert refused.value.setting == setting
    assert str(refused.value).startswith(f"{setting!r}: ") and why in str(refused.value)


def test_the_board_size_must_be_given() -> None:
    with pytest.raises(InvalidSettingError, match="'board_size': is missing"):
        GoSettings.read({"komi": 6.5})
