"""Small maps and standings for tests."""

from collections.abc import Mapping
from pathlib import Path

from referees.warlight import WarLight, WarPosition
from referees.warlight.maps import WarMap, read_map
from referees.warlight.position import NEUTRAL


def chain_of(*names: str) -> WarMap:
    """Territories in a row, ids from 1, all of them one bonus of 3 armies."""
    last = len(names)
    lines = [
        f"TerritoryDefinition {id_} {name} "
        + " ".join(str(near) for near in (id_ - 1, id_ + 1) if 1 <= near <= last)
        for id_, name in enumerate(names, start=1)
    ]
    lines.append("BonusDefinition 3 All " + " ".join(map(str, range(1, last + 1))))
    return read_map("\n".join(lines), "chain")


def on_map(folder: Path, text: str, **settings: object) -> WarLight:
    """The game on a map that is written into a file of the folder, with one start for each seat."""
    file = folder / "map.txt"
    file.write_text(text)
    return WarLight.from_settings({"map": str(file), "starts": 1, **settings})


def standing(rules: WarLight, held: Mapping[int, tuple[int, int]], turn: int = 1) -> WarPosition:
    """The position with the given owners and armies by id, and neutral territories of 2 armies."""
    owners, armies = bytearray(len(rules.map.territories)), [2] * len(rules.map.territories)
    assert NEUTRAL == 0
    for id_, (owner, count) in held.items():
        owners[rules.map.index[id_]], armies[rules.map.index[id_]] = owner, count
    return WarPosition(turn, bytes(owners), tuple(armies), seed=1)
