"""Maps of WarLight: territories and bonuses, their text, the shipped ones, and mirrored maps."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Final

from referees.graph_layout import reachable

MAX_TERRITORIES: Final = 4000
MAX_ID: Final = 1_000_000
MAX_BONUSES: Final = 4000
MAX_BONUS_ARMIES: Final = 10_000


class InvalidMapError(ValueError):
    """A map that breaks a rule; the message names the territory or bonus and the rule."""


@dataclass(frozen=True)
class Territory:
    """A territory: `neighbours` are ids; `place` is where it is drawn, to the right and down, 0 to 1000."""

    id: int
    name: str
    neighbours: tuple[int, ...]
    place: tuple[float, float] | None = None


@dataclass(frozen=True)
class Bonus:
    """A region: the owner of all its `territories` (ids) has `armies` more armies each turn."""

    name: str
    armies: int
    territories: tuple[int, ...]


@dataclass(frozen=True)
class WarMap:
    """A connected map; `territories` are in the order of their ids. Raises InvalidMapError.

    A territory may belong to no bonus or to several. `index` and what follows it count territories from
    0 in that order: ids may have gaps.
    """

    name: str
    territories: tuple[Territory, ...]
    bonuses: tuple[Bonus, ...] = ()

    def __post_init__(self) -> None:
        if not 2 <= len(self.territories) <= MAX_TERRITORIES:
            raise InvalidMapError(
                f"a map of {len(self.territories)} territories: there must be 2 to {MAX_TERRITORIES}"
            )
        if len(self.bonuses) > MAX_BONUSES:
            raise InvalidMapError(f"a map of {len(self.bonuses)} bonuses: there can be {MAX_BONUSES}")
        self._check_territories()
        for bonus in self.bonuses:
            self._check_bonus(bonus)

    def _check_territories(self) -> None:
        before = 0
        for territory in self.territories:
            called = f"territory {territory.id}"
            if not 1 <= territory.id <= MAX_ID:
                raise InvalidMapError(f"{called}: ids are from 1 to {MAX_ID}")
            if territory.id <= before:
                raise InvalidMapError(f"{called} comes after {before}: ids must differ and ascend")
            before = territory.id
            _check_name(territory.name, called)
            if len(set(territory.neighbours)) != len(territory.neighbours):
                raise InvalidMapError(f"{called} names a neighbour twice")
            for neighbour in territory.neighbours:
                if neighbour == territory.id or neighbour not in self.index:
                    raise InvalidMapError(
                        f"{called} has the neighbour {neighbour}, which is no other territory"
                    )
                if territory.id not in self.territories[self.index[neighbour]].neighbours:
                    raise InvalidMapError(
                        f"{called} has the neighbour {neighbour}, but not the other way round: name both"
                    )
        reached = reachable(self.neighbours, 0)
        if len(reached) < len(self.territories):
            lost = next(at for at in range(len(self.territories)) if at not in reached)
            raise InvalidMapError(
                f"territory {self.territories[lost].id} cannot be reached from {self.territories[0].id}: "
                "a map must be connected"
            )

    def _check_bonus(self, bonus: Bonus) -> None:
        called = f"bonus {bonus.name}"
        _check_name(bonus.name, called)
        if not 0 <= bonus.armies <= MAX_BONUS_ARMIES:
            raise InvalidMapError(
                f"{called} is worth {bonus.armies} armies: it must be 0 to {MAX_BONUS_ARMIES}"
            )
        if not bonus.territories or len(set(bonus.territories)) != len(bonus.territories):
            raise InvalidMapError(f"{called} must have a territory, and none twice")
        for id_ in bonus.territories:
            if id_ not in self.index:
                raise InvalidMapError(f"{called} has the territory {id_}, which the map does not have")

    @cached_property
    def index(self) -> dict[int, int]:
        """The index of each territory, by its id."""
        return {territory.id: at for at, territory in enumerate(self.territories)}

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """The indices of each territory's neighbours."""
        return tuple(
            tuple(map(self.index.__getitem__, territory.neighbours)) for territory in self.territories
        )

    @cached_property
    def adjacent(self) -> tuple[frozenset[int], ...]:
        """The same to look up in."""
        return tuple(map(frozenset, self.neighbours))

    @cached_property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """All pairs of neighbours by index, the lesser first."""
        return tuple((at, near) for at, nears in enumerate(self.neighbours) for near in nears if at < near)

    @cached_property
    def regions(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """For each bonus its armies and the indices of its territories."""
        return tuple(
            (bonus.armies, tuple(map(self.index.__getitem__, bonus.territories))) for bonus in self.bonuses
        )

    def income(self, owners: bytes | bytearray, seat: int, base: int) -> int:
        """The armies that a seat can deploy, which owns what `owners` has for each index."""
        return base + sum(
            armies
            for armies, region in self.regions
            if owners[region[0]] == seat and all(owners[at] == seat for at in region)
        )


def _check_name(name: str, called: str) -> None:
    if not name.isprintable() or not 1 <= len(name) <= 100 or any(letter.isspace() for letter in name):
        raise InvalidMapError(f"{called}: the name {name[:100]!r} must be 1 to 100 letters without blanks")


MAX_CHARACTERS: Final = 4_000_000
_FRAME: Final = ("Map", "EndMap")
_FORMS: Final = {
    "TerritoryDefinition": "a territory is written TerritoryDefinition ID NAME NEIGHBOURS",
    "BonusDefinition": "a bonus is written BonusDefinition ARMIES NAME TERRITORIES",
}


def read_map(text: str, name: str) -> WarMap:
    """Read a map; what is not a line of the protocol is refused.

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
                    territories.append(Territory(_whole(id_), called, tuple(map(_whole, neighbours))))
                case ["BonusDefinition", armies, called, *members]:
                    bonuses.append(Bonus(called, _whole(armies), tuple(map(_whole, members))))
                case ["#", "Place", id_, *place] if id_.isdecimal():
                    places[int(id_)] = _place(place)
                case []:
                    pass
                case [word, *rest] if not word.startswith("#") and (rest or word not in _FRAME):
                    raise ValueError(_FORMS.get(word) or f"{word[:40]!r} begins no line of a map")
        except ValueError as error:
            raise InvalidMapError(f"line {number}: {error}") from None
    if unknown := places.keys() - {territory.id for territory in territories}:
        raise InvalidMapError(f"a place for territory {min(unknown)}, which the map does not have")
    placed = [replace(territory, place=places.get(territory.id)) for territory in territories]
    return WarMap(name, tuple(placed), tuple(bonuses))


def _whole(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise ValueError(f"{word[:40]!r} is not a whole number") from None


def _place(words: Sequence[str]) -> tuple[float, float]:
    try:
        right, down = map(float, words)
    except ValueError:
        raise ValueError(f"{' '.join(words)[:40]!r}: a place is written # Place ID X Y") from None
    if not (0 <= right <= 1000 and 0 <= down <= 1000):
        raise ValueError(f"the place {right:g} {down:g}: both numbers must be 0 to 1000")
    return right, down


def protocol_lines(war_map: WarMap) -> Iterator[str]:
    """The map as a bot is sent it, from `Map` to `EndMap`."""
    yield "Map"
    for territory in war_map.territories:
        yield " ".join(
            ("TerritoryDefinition", str(territory.id), territory.name, *map(str, territory.neighbours))
        )
    for bonus in war_map.bonuses:
        yield " ".join(("BonusDefinition", str(bonus.armies), bonus.name, *map(str, bonus.territories)))
    yield "EndMap"


def write_map(war_map: WarMap) -> str:
    """The map as a file: `read_map` gives it back, its places included."""
    notes = [
        f"# Place {territory.id} {territory.place[0]:g} {territory.place[1]:g}"
        for territory in war_map.territories
        if territory.place
    ]
    return "\n".join((*protocol_lines(war_map), *notes)) + "\n"


_FOLDER: Final = resources.files("referees.warlight") / "map_files"


def map_names() -> tuple[str, ...]:
    """The names of the package's own maps."""
    return tuple(
        sorted(entry.name.removesuffix(".txt") for entry in _FOLDER.iterdir() if entry.name.endswith(".txt"))
    )


def is_file(name: str) -> bool:
    """Whether a map of that name would be in a file of its own."""
    return Path(name).suffix == ".txt"


def load_map(name: str) -> WarMap:
    """The map of that name, or in the file of that name, which then ends in `.txt`. Raises InvalidMapError.

    A file's map is called by the file's name and the beginning of its content's SHA-256, so that two
    maps are never taken for one.
    """
    if name in map_names():
        return read_map((_FOLDER / f"{name}.txt").read_text(encoding="utf-8"), name)
    path = Path(name)
    if not is_file(name):
        raise InvalidMapError(
            f"there is no map {name[:80]!r}: there are {', '.join(map_names())}, and files that end in .txt"
        )
    try:
        with path.open("rb") as file:
            content = file.read(4 * MAX_CHARACTERS + 1)
        # Some editors begin a file with a mark of its encoding.
        text = content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidMapError(f"the map's file {name!r} cannot be read: {error}") from None
    return read_map(text, f"{path.stem}-{hashlib.sha256(content).hexdigest()[:8]}")


NORTH, SOUTH = "N", "S"
# Between the two halves of a drawing, of its height.
_GAP = 0.06


def mirror_of(war_map: WarMap) -> tuple[int, ...] | None:
    """The index of each territory's image, or None of a map without a mirror.

    Images bear the same name but for the last letter. Neighbours' images must be neighbours, and a
    bonus's image a bonus of as many armies.
    """
    named = {territory.name: at for at, territory in enumerate(war_map.territories)}
    if len(named) < len(war_map.territories):
        return None
    image = []
    for territory in war_map.territories:
        other = {NORTH: SOUTH, SOUTH: NORTH}.get(territory.name[-1], "")
        partner = named.get(territory.name[:-1] + other) if other else None
        if partner is None:
            return None
        image.append(partner)
    adjacent = war_map.adjacent
    if any(adjacent[image[at]] != {image[near] for near in nears} for at, nears in enumerate(adjacent)):
        return None
    regions = sorted((armies, sorted(region)) for armies, region in war_map.regions)
    images = sorted((armies, sorted(image[at] for at in region)) for armies, region in war_map.regions)
    return tuple(image) if regions == images else None


def northern(war_map: WarMap) -> list[int]:
    """The indices of the northern half of a map that has a mirror."""
    return [at for at, territory in enumerate(war_map.territories) if territory.name[-1] == NORTH]


def double(half: WarMap, offset: int, bridges: Sequence[int], name: str) -> WarMap:
    """Mirror a map: one half keeps its ids, the other's are `offset` higher.

    A bridge links a territory, by its id, with its own image. Drawn, the halves lie one above the
    other, the lower one upside down, and a little apart however high the half is. Raises InvalidMapError.
    """
    highest = half.territories[-1].id
    if offset < highest:
        raise InvalidMapError(f"offset {offset}: it must be at least {highest}, the highest id")
    if not bridges:
        raise InvalidMapError("no bridges: the two halves must be linked somewhere")
    shared, times = Counter(territory.name for territory in half.territories).most_common(1)[0]
    if times > 1:
        raise InvalidMapError(
            f"{times} territories are called {shared}: a territory's image is found by its name"
        )
    for bridge in bridges:
        if bridge not in half.index:
            raise InvalidMapError(f"a bridge at {bridge}, which is not a territory")

    lowest = max(
        [territory.place[1] for territory in half.territories if territory.place is not None], default=0.0
    )
    height = 500 * (1 - _GAP) / lowest if lowest else 0.0

    north, south = [], []
    for territory in half.territories:
        above = below = None
        if territory.place is not None:
            right, down = territory.place[0], territory.place[1] * height
            above, below = (right, round(down, 1)), (right, round(1000 - down, 1))
        over = (territory.id,) if territory.id in bridges else ()
        across = tuple(id_ + offset for id_ in over)
        ways = tuple(near + offset for near in territory.neighbours)
        north.append(Territory(territory.id, territory.name + NORTH, territory.neighbours + across, above))
        south.append(Territory(territory.id + offset, territory.name + SOUTH, over + ways, below))
    bonuses = [
        Bonus(bonus.name + letter, bonus.armies, tuple(id_ + shift for id_ in bonus.territories))
        for letter, shift in ((NORTH, 0), (SOUTH, offset))
        for bonus in half.bonuses
    ]
    return WarMap(name, (*north, *south), tuple(bonuses))
