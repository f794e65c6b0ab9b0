"""What docs/reference/warlight.md says is so."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from referees.warlight.maps import load_map, map_names, protocol_lines
from referees.warlight.settings import MOVE_ORDERS, ROUNDINGS, WarSettings

TEXT = (Path(__file__).parents[3] / "docs" / "reference" / "warlight.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("setting", fields(WarSettings), ids=lambda field: field.name)
def test_every_setting_is_described(setting: object) -> None:
    assert f"`{getattr(setting, 'name', '')}`" in TEXT.split("## Rules")[0]


@pytest.mark.parametrize("word", (*ROUNDINGS, *MOVE_ORDERS))
def test_every_choice_is_described(word: str) -> None:
    assert f'`"{word}"`' in TEXT


@pytest.mark.parametrize("name", map_names())
def test_every_map_is_described_by_its_size(name: str) -> None:
    assert f"`{name}`" in TEXT
    half = load_map({"double_earth": "earth", "double_small": "small_world"}.get(name, name))
    assert f"{len(half.territories)} territories and {len(half.bonuses)} bonuses" in TEXT


def test_the_map_in_its_dialogue_begins_as_our_small_one() -> None:
    shown = re.findall(r"^TerritoryDefinition [^\n]*?(?=  |$)", TEXT, re.MULTILINE)
    lines = list(protocol_lines(load_map("double_small")))
    assert len(shown) == 2
    assert all(line in lines for line in shown)
