"""Boards as graphs: the provinces of a map, what lies beside what, and the tables that a map's file holds."""

import re
from collections.abc import Container, Mapping
from enum import IntEnum
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from referees.toml_text import InvalidTomlError, read_toml

SPELLINGS: Final = {
    word: spelling
    for spelling, words in {
        "A": "A ARMY AMY",
        "F": "F FLEET FLT",
        "H": "H HOLD HOLDS HLD STAND STANDS",
        "-": "- M MOVE MOVES MTO CTO TO",
        "S": "S SH SUPPORT SUPPORTS SUP",
        "C": "C CONVOY CONVOYS CVY",
        "R": "R RETREAT RETREATS RTO",
        "D": "D DISBAND DISBANDS DSB DESTROY REMOVE REMOVES REM",
        "B": "B BUILD BUILDS BLD",
        "WAIVE": "W WAIVE WAIVES WVE",
        "VIA": "VIA VC BY",
        "FROM": "FROM",
        "": "THE AN AT IN UNIT",
    }.items()
    for word in words.split()
}


_WHOLE: Final[Mapping[str, type]] = {
    "name": str,
    "first_year": int,
    "centres_to_win": int,
    "neutral_centres": str,
    "powers": list,
    "provinces": dict,
    "borders": dict,
}
_POWER: Final[Mapping[str, type]] = {"name": str, "code": str, "centres": str, "units": str}
_PROVINCE: Final[Mapping[str, type]] = {"kind": str, "name": str}
_KINDS: Final = {str: "a text", int: "a whole number", list: "a list", dict: "a table"}
_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,40}")
_CODE: Final = re.compile(r"[A-Z][A-Z0-9]{1,9}")
# A thousand years of play later, years still have four digits, as in DAIDE and in what keeps the results.
_LAST_FIRST_YEAR: Final = 7000
_COASTS: Final = ("NC", "SC", "EC", "WC")


class InvalidMapError(ValueError):
    """A map's file that cannot be read, or whose parts do not fit."""


def check_entries(content: Mapping[str, Any]) -> None:
    """Raise InvalidMapError, which names the entry and the rule, for what is not a map's file."""
    _check("a map", content, _WHOLE, {"drawing": dict})
    if not _NAME.fullmatch(content["name"]):
        raise InvalidMapError(f"name {content['name'][:60]!r}: 1 to 40 letters, digits, and . _ -")
    if not 1 <= content["first_year"] <= _LAST_FIRST_YEAR:
        raise InvalidMapError(f"first_year {content['first_year']!r:.24}: from 1 to {_LAST_FIRST_YEAR}")
    for number, power in enumerate(content["powers"], start=1):
        _check(f"powers, number {number}", power, _POWER, {})
        _check_code(f"powers, number {number}", power["code"])
    for code, province in content["provinces"].items():
        entry = f"provinces.{code}"
        _check_code(entry, code)
        _check(entry, province, _PROVINCE, {"mila": str, "aliases": list, "coasts": list})
        _check_texts(f"{entry}.aliases", province.get("aliases", []))
        _check_texts(f"{entry}.coasts", province.get("coasts", []))
        for coast in province.get("coasts", []):
            if coast not in _COASTS:
                raise InvalidMapError(f"{entry}.coasts: {coast!r} is not one of {', '.join(_COASTS)}")
    _check("borders", content["borders"], {"army": list, "fleet": list}, {})
    for kind in ("army", "fleet"):
        _check_texts(f"borders.{kind}", content["borders"][kind])


def check_name(entry: str, name: str, codes: Container[str]) -> None:
    """Raise InvalidMapError for a place's name, in upper case, that orders would be mistaken for."""
    first, *others = name.replace("/", " ").split()
    if SPELLINGS.get(first) in ("A", "F") and (not others or others[0] in codes):
        raise InvalidMapError(f"{entry}: the name {name[:40]!r} reads as an order to a unit; take another")


def _check(entry: str, content: Any, needed: Mapping[str, type], other: Mapping[str, type]) -> None:
    if not isinstance(content, dict):
        raise InvalidMapError(f"{entry}: {content!r:.60} is not a table")
    known = {**needed, **other}
    for key, value in content.items():
        if key not in known:
            raise InvalidMapError(f"{entry}: it has no {key!r:.60}; there are {', '.join(known)}")
        if not isinstance(value, known[key]) or isinstance(value, bool):
            raise InvalidMapError(f"{entry}: {key} is {value!r:.60}, and must be {_KINDS[known[key]]}")
    for key in needed:
        if key not in content:
            raise InvalidMapError(f"{entry} needs {key!r}")
    if "name" in needed:
        _check_texts(f"{entry}: name", [content["name"]])


def _check_texts(entry: str, values: list[Any]) -> None:
    for value in values:
        if not isinstance(value, str) or not value.isprintable() or not any(map(str.isalnum, value)):
            raise InvalidMapError(f"{entry}: {value!r:.60} must be a text with a letter or a digit")


def _check_code(entry: str, code: str) -> None:
    if not _CODE.fullmatch(code):
        raise InvalidMapError(f"{entry}: the code {code[:20]!r} must be 2 to 10 capital letters and digits")
    if code in SPELLINGS:
        raise InvalidMapError(f"{entry}: the code {code!r} is a word of orders; take another")


MAX_PROVINCES: Final = 200
MAX_POWERS: Final = 32
NOBODY: Final = -1


class UnknownPlaceError(ValueError):
    """A code that names no province, coast or power of the map."""


class Terrain(IntEnum):
    """What kind of province it is; only fleets on seas convoy."""

    LAND = 0
    SEA = 1
    COAST = 2


class UnitKind(IntEnum):
    """Army or fleet."""

    ARMY = 0
    FLEET = 1

    @property
    def letter(self) -> str:
        """`A` or `F`."""
        return "AF"[self]


class Unit(NamedTuple):
    """A unit: the number of its power, its kind, and its location."""

    power: int
    kind: UnitKind
    location: int


class Power(NamedTuple):
    """A power: its name, DAIDE code, home centres (provinces) and first units."""

    name: str
    code: str
    homes: tuple[int, ...]
    units: tuple[Unit, ...]


class Map:
    """The tables of one map. Made by `read_map`; equal only to itself, and pickled by its text.

    Tables by kind of unit and location: `reach[kind][location]`, the locations it can move to;
    `reach_mask[kind][location]`, their provinces as bits. Tables by province: `places` (its locations, the
    main one first), `neighbours` (the provinces that any unit reaches from it), `sea_borders` (seas beside a
    sea), `sea_access` (seas from which a coast is reached), the last two as bits.
    """

    def __init__(self, text: str, content: Mapping[str, Any]) -> None:
        self.text = text
        self.name: str = content["name"]
        self.first_year: int = content["first_year"]
        provinces: Mapping[str, Mapping[str, Any]] = content["provinces"]
        if not 1 <= len(provinces) <= MAX_PROVINCES:
            raise InvalidMapError(f"{len(provinces)} provinces: a map has 1 to {MAX_PROVINCES}")
        self.codes = tuple(provinces)
        self.names = tuple(str(province["name"]) for province in provinces.values())
        self.terrain = tuple(_terrain(code, province) for code, province in provinces.items())
        self.aliases: dict[str, int] = {}
        self._number_locations(provinces)
        self._read_borders(content["borders"])
        self._read_powers(content)
        self._find_seas()

    def _number_locations(self, provinces: Mapping[str, Mapping[str, Any]]) -> None:
        self.location_codes = tuple(
            location
            for code, province in provinces.items()
            for location in (code, *(f"{code}/{coast}" for coast in province.get("coasts", ())))
        )
        self.location_numbers = {code: number for number, code in enumerate(self.location_codes)}
        numbers = {code: number for number, code in enumerate(provinces)}
        self.province_of = tuple(numbers[location.partition("/")[0]] for location in self.location_codes)
        places: list[list[int]] = [[] for _ in provinces]
        for location, province_number in enumerate(self.province_of):
            places[province_number].append(location)
        self.places = tuple(map(tuple, places))
        self.main_location = tuple(main for main, *_ in places)
        self.coasts = tuple(tuple(coasts) for _, *coasts in places)
        self.mila_codes = tuple(
            "/".join([provinces[province].get("mila", province), *coast])
            for province, *coast in (code.split("/") for code in self.location_codes)
        )
        for number, (code, province) in enumerate(provinces.items()):
            also = (province["mila"],) if "mila" in province else ()
            for alias in (province["name"], *also, *province.get("aliases", ())):
                name = alias.upper()
                check_name(f"provinces.{code}", name, provinces)
                if self.aliases.setdefault(name, number) != number or name in self.location_numbers:
                    raise InvalidMapError(f"the name {alias!r} of {code} is another province's")

    def _read_borders(self, borders: Mapping[str, Any]) -> None:
        reach: list[list[set[int]]] = [[set() for _ in self.location_codes] for _ in UnitKind]
        for kind in UnitKind:
            entry = kind.name.lower()
            for line in borders[entry]:
                try:
                    first, *others = (self.location(code) for code in line.split())
                except UnknownPlaceError as error:
                    raise InvalidMapError(f"borders.{entry}, {line[:60]!r}: {error}") from None
                if not others:
                    raise InvalidMapError(
                        f"borders.{entry}, {line[:60]!r}: a border is between two places or more"
                    )
                for other in others:
                    self._check_border(kind, first, other)
                    reach[kind][first].add(other)
                    reach[kind][other].add(first)
        self.reach = tuple(tuple(tuple(sorted(near)) for near in by_place) for by_place in reach)
        self.reach_mask = tuple(
            tuple(mask_of(self.province_of[place] for place in near) for near in by_place)
            for by_place in self.reach
        )
        beside = [0] * len(self.codes)
        for masks in self.reach_mask:
            for place, mask in enumerate(masks):
                beside[self.province_of[place]] |= mask
        self.neighbours = tuple(map(bits, beside))

    def _check_border(self, kind: UnitKind, first: int, other: int) -> None:
        if self.province_of[first] == self.province_of[other]:
            code = self.codes[self.province_of[first]]
            raise InvalidMapError(
                f"borders.{kind.name.lower()}: {code} borders itself; name each place once a line"
            )
        for place in (first, other):
            terrain = self.terrain[self.province_of[place]]
            code = self.location_codes[place]
            if kind is UnitKind.ARMY and (terrain is Terrain.SEA or "/" in code):
                raise InvalidMapError(f"an army's border at {code}: armies stand in whole land provinces")
            if kind is UnitKind.FLEET and (
                terrain is Terrain.LAND or (self.coasts[self.province_of[place]] and "/" not in code)
            ):
                raise InvalidMapError(
                    f"a fleet's border at {code}: fleets stand on seas and on single coasts"
                )

    def _read_powers(self, content: Mapping[str, Any]) -> None:
        if not 1 <= len(content["powers"]) <= MAX_POWERS:
            raise InvalidMapError(f"{len(content['powers'])} powers: a map has 1 to {MAX_POWERS}")
        powers = []
        for number, power in enumerate(content["powers"]):
            try:
                homes = tuple(self.province(code) for code in power["centres"].split())
                units = tuple(self.unit(number, text.strip()) for text in power["units"].split(","))
            except UnknownPlaceError as error:
                raise InvalidMapError(f"powers, {power['code']}: {error}") from None
            powers.append(Power(power["name"], power["code"], homes, units))
        self.powers: tuple[Power, ...] = tuple(powers)
        for names in ([power.code for power in powers], [power.name for power in powers]):
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise InvalidMapError(f"powers: two are called {twice[:40]!r}")
        try:
            neutral = [self.province(code) for code in content["neutral_centres"].split()]
        except UnknownPlaceError as error:
            raise InvalidMapError(f"neutral_centres: {error}") from None
        centres = sorted([*neutral, *(home for power in powers for home in power.homes)])
        if len(set(centres)) != len(centres):
            raise InvalidMapError("a supply centre belongs to two powers")
        self.centres = tuple(centres)
        self.first_owners = tuple(
            next((n for n, power in enumerate(powers) if centre in power.homes), NOBODY) for centre in centres
        )
        self.centres_to_win: int = content["centres_to_win"]
        if not 1 <= self.centres_to_win <= len(centres):
            raise InvalidMapError(
                f"centres_to_win {self.centres_to_win}: from 1 to {len(centres)}, all centres"
            )

    def _find_seas(self) -> None:
        seas = [terrain is Terrain.SEA for terrain in self.terrain]
        self.seas = mask_of(number for number, sea in enumerate(seas) if sea)
        borders = [0] * len(self.codes)
        for place, near in enumerate(self.reach_mask[UnitKind.FLEET]):
            borders[self.province_of[place]] |= near & self.seas
        self.sea_borders = tuple(near if seas[number] else 0 for number, near in enumerate(borders))
        self.sea_access = tuple(
            near if terrain is Terrain.COAST else 0
            for near, terrain in zip(borders, self.terrain, strict=True)
        )
        shores = [0] * len(self.codes)
        for number, near in enumerate(self.sea_access):
            for sea in bits(near):
                shores[sea] |= 1 << number
        self.shores = tuple(shores)

    def location(self, code: str) -> int:
        """The location of a code or name: `STP/SC`, `stp(sc)`, `St Petersburg`. Raises UnknownPlaceError."""
        name = code.strip().upper().replace("(", "/").replace(")", "").replace(" /", "/").replace("/ ", "/")
        number = self.location_numbers.get(name)
        if number is not None:
            return number
        stem, _, coast = name.partition("/")
        province = self.aliases.get(stem)
        if province is not None:
            number = self.location_numbers.get(self.codes[province] + ("/" + coast if coast else ""))
            if number is not None:
                return number
        if stem in self.location_numbers or province is not None:
            stem = self.codes[province] if province is not None else stem
            coasts = [self.location_codes[place] for place in self.coasts[self.codes.index(stem)]]
            which = f"it has {' and '.join(coasts)}" if coasts else "it has only one"
            raise UnknownPlaceError(f"{code[:30]!r}: {stem} has no coast {coast[:10]!r}; {which}")
        raise UnknownPlaceError(f"{code[:30]!r} is not a province of the map {self.name!r}")

    def province(self, code: str) -> int:
        """The province of a code, with any coast. Raises UnknownPlaceError."""
        return self.province_of[self.location(code)]

    def power(self, name: str) -> int:
        """The number of a power by its name or code, in upper or lower case. Raises UnknownPlaceError."""
        for number, power in enumerate(self.powers):
            if name.strip().upper() in (power.name.upper(), power.code.upper()):
                return number
        known = ", ".join(f"{power.name} ({power.code})" for power in self.powers)
        raise UnknownPlaceError(f"{name[:30]!r} is not a power of the map {self.name!r}; there are {known}")

    def unit(self, power: int, text: str) -> Unit:
        """A unit as text (`F STP/SC`) of a power. Raises UnknownPlaceError."""
        letter, _, place = text.strip().partition(" ")
        if letter.upper() not in ("A", "F"):
            raise UnknownPlaceError(f"{text[:30]!r}: a unit begins with A or F")
        kind = UnitKind.ARMY if letter.upper() == "A" else UnitKind.FLEET
        location = self.location(place)
        if not self.can_stand(kind, location):
            raise UnknownPlaceError(
                f"{text[:30]!r}: {'an army' if kind is UnitKind.ARMY else 'a fleet'} can't be there"
            )
        return Unit(power, kind, location)

    def unit_text(self, unit: Unit) -> str:
        """A unit as `unit` reads it."""
        return f"{unit.kind.letter} {self.location_codes[unit.location]}"

    def owned_unit_text(self, unit: Unit) -> str:
        """`Austria's A VIE`."""
        return f"{self.powers[unit.power].name}'s {self.unit_text(unit)}"

    def can_stand(self, kind: UnitKind, location: int) -> bool:
        """Whether a unit of a kind can be at a location: armies on no sea and coast, fleets in no inland."""
        terrain = self.terrain[self.province_of[location]]
        if kind is UnitKind.ARMY:
            return terrain is not Terrain.SEA and self.main_location[self.province_of[location]] == location
        several = self.coasts[self.province_of[location]]
        return terrain is not Terrain.LAND and (not several or location in several)

    def __reduce__(self) -> tuple[Any, ...]:
        return read_map, (self.text,)

    def __repr__(self) -> str:
        return f"<Map {self.name}>"


def mask_of(provinces: Any) -> int:
    """The set of some provinces as bits."""
    mask = 0
    for province in provinces:
        mask |= 1 << province
    return mask


def bits(mask: int) -> list[int]:
    """The provinces of a mask, in order."""
    numbers = []
    while mask:
        low = mask & -mask
        numbers.append(low.bit_length() - 1)
        mask ^= low
    return numbers


def _terrain(code: str, province: Mapping[str, Any]) -> Terrain:
    try:
        return Terrain[str(province["kind"]).upper()]
    except KeyError:
        raise InvalidMapError(f"provinces.{code}: kind is one of land, sea, coast") from None


@cache
def read_map(text: str) -> Map:
    """The map that a TOML text describes; the same text gives the same object. Raises InvalidMapError."""
    try:
        content = read_toml(text)
    except InvalidTomlError as error:
        raise InvalidMapError(f"a map is a TOML file: {error}") from None
    check_entries(content)
    return Map(text, content)


_FOLDER: Final = files("referees.diplomacy") / "maps"


def shipped_maps() -> tuple[str, ...]:
    """The names of the maps that come with the package."""
    return tuple(sorted(file.name.removesuffix(".toml") for file in _FOLDER.iterdir()))


def shipped_map(name: str) -> Map:
    """A map that comes with the package. Raises UnknownPlaceError."""
    if name not in shipped_maps():
        raise UnknownPlaceError(f"no map {name[:40]!r}; there are {', '.join(shipped_maps())}")
    return read_map((_FOLDER / f"{name}.toml").read_text("utf-8"))
