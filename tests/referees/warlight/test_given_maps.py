"""Maps from outside of this project, where they are: they load, are written back, and can be played.

They are looked for where the environment variable WARLIGHT_MAPS says, else in a folder `shared` beside
this repository.
"""

import os
import random
from pathlib import Path

import pytest

from referees.warlight import WarLight
from referees.warlight.map_layout import with_places
from referees.warlight.maps import protocol_lines, read_map
from tests.referees.warlight.test_rules import scripted

BESIDE = Path(__file__).parents[4] / "shared" / "data" / "warlight"
FOLDER = Path(os.environ.get("WARLIGHT_MAPS") or BESIDE)

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"there is no folder {FOLDER} of maps")


@pytest.mark.parametrize(
    ("name", "territories", "bonuses", "mirrored"),
    [
        ("double_earth", 262, 46, True),
        ("double_small_earth", 84, 12, True),
        ("medium_earth", 131, 23, False),
        ("small_earth", 42, 6, False),
    ],
)
def test_a_given_map_loads_and_plays(name: str, territories: int, bonuses: int, mirrored: bool) -> None:
    file = FOLDER / f"{name}.txt"
    rules = WarLight.from_settings({"map": str(file), "turn_limit": 10})
    assert len(rules.map.territories) == territories
    assert len(rules.map.bonuses) == bonuses
    assert (rules.mirror is not None) == mirrored
    assert all(territory.place for territory in with_places(rules.map).territories)
    given = [line.strip() for line in file.read_text().splitlines() if not line.startswith("#")]
    assert list(protocol_lines(read_map(file.read_text(), name))) == [line for line in given if line]
    chance, position = random.Random(1), rules.start(1)
    for _ in range(10):
        position = rules.play(position, {seat: scripted(rules, position, seat, chance) for seat in (1, 2)})
    assert rules.outcome(position) is not None
