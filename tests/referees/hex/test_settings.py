"""Settings of Hex: read with their defaults, refused with the rule."""

import pytest

from referees.api import InvalidSettingError
from referees.hex import HexSettings


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"board_size": 11}, HexSettings(11, 11, swap=False)),
        ({"board_size": 2}, HexSettings(2, 2)),
        ({"board_size": 26, "swap": True}, HexSettings(26, 26, swap=True)),
        ({"board_size": 9, "columns": 11}, HexSettings(9, 11)),
        ({"board_size": 9, "columns": 9, "swap": True}, HexSettings(9, 9, swap=True)),
    ],
)
def test_settings_are_read(settings: dict[str, object], expected: HexSettings) -> None:
    assert HexSettings.read(settings) == expected


@pytest.mark.parametrize(
    ("settings", "setting", "why"),
    [
        ({}, "board_size", "is missing: give a size from 2 to 26"),
        ({"board_size": 1}, "board_size", "1 is not a whole number from 2 to 26"),
        ({"board_size": 27}, "board_size", "27 is not"),
        ({"board_size": "11"}, "board_size", "'11' is not"),
        ({"board_size": True}, "board_size", "True is not"),
        ({"board_size": 11.0}, "board_size", "11.0 is not"),
        ({"board_size": 5, "columns": 0}, "columns", "0 is not"),
        ({"board_size": 5, "swap": "yes"}, "swap", "'yes' is neither true nor false"),
        ({"board_size": 5, "columns": 6, "swap": True}, "swap", "5 rows and 6 columns has no mirror"),
        ({"board_size": 5, "colums": 6}, "colums", "did you mean 'columns'"),
        ({"board_size": 5, "komi": 7.5}, "komi", "there are board_size, columns, swap"),
    ],
)
def test_a_wrong_setting_is_named_with_the_rule(settings: dict[str, object], setting: str, why: str) -> None:
    with pytest.raises(InvalidSettingError, match=why) as refusal:
        HexSettings.read(settings)
    assert refusal.value.setting == setting
