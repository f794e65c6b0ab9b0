"""Maps as text: the lines that the game's own protocol describes a map by.

    TerritoryDefinition ID NAME NEIGHBOUR ...
    BonusDefinition ARMIES NAME TERRITORY ...

Files may hold blank lines and notes that begin with `#`; the notes `# Place ID X Y` say where a
territory is drawn.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from referees.warlight.maps import Bonus, InvalidMapError, Territory, WarMap

MAX_CHARACTERS: Final = 4_000_000
_FRAME: Final = ("Map", "EndMap")


def read_map(text: str, name: str) -> WarMap:
    """Read a map; what is no line of the protocol is refused.

    Raises InvalidMapError, which names the line.
    """
    if len(text) > MAX_CHARACTERS:
        raise InvalidMapError(f"a map of {len(text)} characters: there can be {MAX_CHARACTERS}")
    territories: list[Territory] = []
    bonuses: list[Bonus] = []
    places: dict[int, tuple[float, float]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        try:
            match words:
                case ["TerritoryDefinition", id_, called, *neighbours]:
                    territories.append(Territory(int(id_), called, tuple(map(int, neighbours))))
                case ["BonusDefinition", armies, called, *members]:
                    bonuses.append(Bonus(called, int(armies), tuple(map(int, members))))
                case ["#", "Place", id_, right, down]:
                    places[int(id_)] = _place(right, down)
                case []:
                    pass
                case [word, *rest] if not word.startswith("#") and (rest or word not in _FRAME):
                    raise ValueError(f"{word[:40]!r} begins no line of a map")
        except ValueError as error:
            raise InvalidMapError(f"line {number}: {error}") from None
    if unknown := places.keys() - {each.id for each in territories}:
        raise InvalidMapError(f"a place for territory {min(unknown)}, which the map does not have")
    return WarMap(name, tuple(_placed(each, places) for each in territories), tuple(bonuses))


def _place(right: str, down: str) -> tuple[float, float]:
    place = float(right), float(down)
    if not all(0 <= number <= 1000 for number in place):
        raise ValueError(f"the place {right} {down}: both numbers must be 0 to 1000")
    return place


def _placed(territory: Territory, places: Mapping[int, tuple[float, float]]) -> Territory:
    return Territory(territory.id, territory.name, territory.neighbours, places.get(territory.id))


def protocol_lines(war_map: WarMap) -> Iterator[str]:
    """The map as a bot is sent it, from `Map` to `EndMap`."""
    yield "Map"
    for each in war_map.territories:
        yield " ".join(("TerritoryDefinition", str(each.id), each.name, *map(str, each.neighbours)))
    for bonus in war_map.bonuses:
        yield " ".join(("BonusDefinition", str(bonus.armies), bonus.name, *map(str, bonus.territories)))
    yield "EndMap"


def write_map(war_map: WarMap) -> str:
    """The map as a file: `read_map` gives it back, its places included."""
    notes = [
        f"# Place {each.id} {each.place[0]:g} {each.place[1]:g}" for each in war_map.territories if each.place
    ]
    return "\n".join((*protocol_lines(war_map), *notes)) + "\n"
