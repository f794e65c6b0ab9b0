"""The settings of a game of Diplomacy: the edition's choices, the map, and what control files give."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Final, Self

from referees.api import InvalidSettingError
from referees.diplomacy.drawing import check_drawing
from referees.diplomacy.map import InvalidMapError, Map, read_map, shipped_map, shipped_maps
from referees.diplomacy.position import InvalidPositionError, Position
from referees.settings import Check, read_choice, read_enum, read_flag, read_settings, read_whole_number
from referees.toml_text import MAX_CHARACTERS


class AdjacentConvoy(StrEnum):
    """When an army that is ordered to a province beside its own goes by sea, without saying so (4.A.3)."""

    EXPLICIT = "explicit"
    """Never: it must be ordered to."""
    INTENT = "intent"
    """When a fleet of its own power, which a route could need, is ordered to convoy it there."""
    ANY_FLEET = "any fleet"
    """When any fleet is ordered to convoy it there, and the other unit comes the opposite way or by land."""


class RemovalDistance(StrEnum):
    """From where the distance of a unit is counted that a power forgot to remove (4.D.8)."""

    OWNED_CENTRES = "owned centres"
    HOME_CENTRES = "home centres"


class RemovalRoute(StrEnum):
    """Over what the distance of a unit is counted that a power forgot to remove (4.D.8)."""

    LAND_AND_SEA = "land and sea"
    """Over all provinces that touch, for armies and fleets alike."""
    OWN_MOVES = "own moves"
    """Armies over all provinces, as they may be convoyed; fleets where they sail, never inland (6.J.6)."""


@dataclass(frozen=True)
class Choices:
    """How open questions are answered; the defaults are what DATC 3.0 recommends.

    `adjacent_convoy`: see AdjacentConvoy. `land_route_left`: whether a move ordered by convoy goes over land
    when the convoy fails; `unsaid_land_route_left`: whether one that goes by convoy without saying so, under
    `adjacent_convoy`, does. `removal_distance`, `removal_route`: see RemovalDistance and RemovalRoute.
    `lenient_coasts`: whether a coast is filled in where only one fits, ignored in orders for armies, and
    ignored where the ordered unit stands on another one; else such an order is void.
    """

    adjacent_convoy: AdjacentConvoy = AdjacentConvoy.INTENT
    land_route_left: bool = False
    unsaid_land_route_left: bool = False
    removal_distance: RemovalDistance = RemovalDistance.OWNED_CENTRES
    removal_route: RemovalRoute = RemovalRoute.LAND_AND_SEA
    lenient_coasts: bool = True


EDITIONS: Final = {
    "1971": Choices(
        AdjacentConvoy.ANY_FLEET,
        unsaid_land_route_left=True,
        removal_distance=RemovalDistance.HOME_CENTRES,
        removal_route=RemovalRoute.OWN_MOVES,
    ),
    "1982": Choices(removal_distance=RemovalDistance.HOME_CENTRES, removal_route=RemovalRoute.OWN_MOVES),
    "2000": Choices(removal_distance=RemovalDistance.HOME_CENTRES, removal_route=RemovalRoute.OWN_MOVES),
    "2023": Choices(),
    "dptg": Choices(removal_route=RemovalRoute.OWN_MOVES),
    "deepmind": Choices(AdjacentConvoy.EXPLICIT, removal_route=RemovalRoute.OWN_MOVES),
}


def is_file(name: str) -> bool:
    """Whether a map of that name would be in a file of its own."""
    return name not in shipped_maps() and Path(name).suffix == ".toml"


def load_map(name: str) -> Map:
    """The map of that name, or in the file of that name, which then ends in `.toml`.

    Raises InvalidMapError, which names the file, the entry and the rule.
    """
    if name in shipped_maps():
        return shipped_map(name)
    if not is_file(name):
        known = ", ".join(map(repr, shipped_maps()))
        raise InvalidMapError(f"{name[:80]!r} is not one of {known}, and no file that ends in .toml")
    try:
        with Path(name).open("rb") as file:
            text = file.read(4 * MAX_CHARACTERS + 1).decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidMapError(f"the map's file {name!r} cannot be read: {error}") from None
    try:
        board = read_map(text)
        Position.start(board)
        check_drawing(board)
    except (InvalidMapError, InvalidPositionError) as error:
        raise InvalidMapError(f"the map's file {name!r}: {error}") from None
    if board.name in shipped_maps() and board is not shipped_map(board.name):
        raise InvalidMapError(
            f"the map's file {name!r}: the name {board.name!r} is another map's; take another"
        )
    return board


def map_id(board: Map) -> str:
    """A map's name; of one from a file with the beginning of its content's SHA-256.

    So two maps are never taken for one.
    """
    if board.name in shipped_maps():
        return board.name
    return f"{board.name}-{hashlib.sha256(board.text.encode()).hexdigest()[:8]}"


MAX_YEARS: Final = 1000
_SECONDS: Final = ("mtl", "rtl", "btl", "ptl")
# Those that DAIDE's syntax defines, the last being free text; and DAIDE's greatest number.
PRESS_LEVELS: Final = (*range(0, 140, 10), 8000)
MAX_SECONDS: Final = 8191


@dataclass(frozen=True)
class DiplomacySettings:
    """What a game of Diplomacy is played under.

    `stasis_limit` and `impasse_limit` are years without a change in anyone's number of centres, and without
    an elimination, after which all survivors draw; 0 means never. So they do after `year_limit` years.
    `aoa`: whether orders that cannot be carried out are accepted, and do nothing. `pda`: whether some of the
    survivors may draw without the others.

    The others are for players that speak DAIDE: the `level` of their press, 0 for none; the seconds for moves
    (`mtl`), retreats (`rtl`) and builds (`btl`), None for what the player has anyway; `ptl`, how many seconds
    before the end of a phase of moves press must stop; `npr` and `npb`, no press in retreats and builds;
    `dsd`, whether the clock stops while a player that must still order is disconnected.
    """

    map: Map
    edition: str = "2023"
    choices: Choices = EDITIONS["2023"]
    stasis_limit: int = 0
    impasse_limit: int = 0
    year_limit: int = 35
    aoa: bool = True
    pda: bool = False
    level: int = 0
    mtl: int | None = None
    rtl: int | None = None
    btl: int | None = None
    ptl: int | None = None
    dsd: bool = False
    npr: bool = False
    npb: bool = False

    @classmethod
    def read(cls, settings: Mapping[str, object]) -> Self:
        """Check every setting.

        Raises InvalidSettingError, which names the setting, its value and the rule.
        """
        read = read_settings("Diplomacy", settings, SETTINGS)
        for setting, field in (("sl", "stasis_limit"), ("il", "impasse_limit")):
            if setting in read:
                read[field] = read.pop(setting)
        edition = read.get("edition", "2023")
        chosen = {field.name: read.pop(field.name) for field in fields(Choices) if field.name in read}
        return cls(
            **{"map": shipped_map("standard"), **read, "choices": replace(EDITIONS[edition], **chosen)}
        )

    def in_force(self) -> dict[str, int | None]:
        """The settings of time, press, orders and draws by their names, defaults included; None: no limit."""
        plain = ("level", *_SECONDS, "aoa", "pda", "npr", "npb")
        limits = {"sl": self.stasis_limit or None, "il": self.impasse_limit or None}
        return {**{name: getattr(self, name) for name in plain}, **limits}


def _read_map(setting: str, value: object) -> Map:
    if not isinstance(value, str):
        raise InvalidSettingError(setting, f"{value!r:.80} is not text")
    try:
        return load_map(value)
    except InvalidMapError as error:
        raise InvalidSettingError(setting, str(error)) from None


def _read_level(setting: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value not in PRESS_LEVELS:
        known = ", ".join(map(str, PRESS_LEVELS))
        raise InvalidSettingError(setting, f"{value!r} is not a level of DAIDE's press; those are {known}")
    return value


_YEARS: Final = partial(read_whole_number, least=0, most=MAX_YEARS, what="a whole number of years")
SETTINGS: Final[Mapping[str, Check]] = {
    "map": _read_map,
    "edition": partial(read_choice, choices={edition: edition for edition in EDITIONS}),
    "level": _read_level,
    "sl": _YEARS,
    "il": _YEARS,
    "year_limit": partial(_YEARS, least=1),
    **dict.fromkeys(
        _SECONDS, partial(read_whole_number, least=1, most=MAX_SECONDS, what="a whole number of seconds")
    ),
    **dict.fromkeys(("aoa", "pda", "dsd", "npr", "npb"), read_flag),
    **dict.fromkeys(("land_route_left", "unsaid_land_route_left", "lenient_coasts"), read_flag),
    "adjacent_convoy": partial(read_enum, kind=AdjacentConvoy),
    "removal_distance": partial(read_enum, kind=RemovalDistance),
    "removal_route": partial(read_enum, kind=RemovalRoute),
}
