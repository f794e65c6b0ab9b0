"""The settings of draughts."""

from pathlib import Path

import pytest

from referees.api import InvalidSettingError
from referees.draughts import VARIANTS, Draughts, DraughtsSettings

GUIDE = (Path(__file__).parents[3] / "docs" / "reference" / "games.md").read_text(encoding="utf-8")


def test_defaults() -> None:
    settings = Draughts.from_settings({"variant": "international"}).settings
    assert settings == DraughtsSettings(VARIANTS["international"], 3, 25, True)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "'variant': is missing: give one of 'english', 'international', 'brazilian', 'russian'"),
        ({"variant": "chess"}, "'variant': 'chess' is not one of"),
        ({"variant": 8}, "'variant': 8 is not one of"),
        ({"variant": "english", "varaint": 1}, "draughts has no such setting; did you mean 'variant'"),
        ({"variant": "english", "komi": 1}, "there are variant, repetition, king_moves, king_endings"),
        ({"variant": "english", "repetition": 1}, "1 would end every game at once"),
        ({"variant": "english", "repetition": -1}, "-1 is not a whole number .* from 0 to 100"),
        ({"variant": "english", "repetition": True}, "True is not a whole number"),
        ({"variant": "english", "king_moves": 2.5}, "2.5 is not a whole number .* from 0 to 1000"),
        ({"variant": "english", "king_moves": 1001}, "1001 is not a whole number"),
        ({"variant": "english", "king_endings": 1}, "1 is neither true nor false"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidSettingError, match=message):
        Draughts.from_settings(settings)


def test_the_guide_names_all_settings_and_variants() -> None:
    section = GUIDE[GUIDE.index("## Draughts") :]
    assert all(f"| `{setting}` |" in section for setting in DraughtsSettings.__dataclass_fields__)
    assert all(f'"{variant}"' in section for variant in VARIANTS)
