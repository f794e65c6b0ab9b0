"""What a map's file consists of: which entries there must and may be, and of what kind they are."""

import re
from collections.abc import Container, Mapping
from typing import Any, Final

from referees.diplomacy.order_spellings import SPELLINGS

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
    """Raise InvalidMapError, which names the entry and the rule, for what is no map's file."""
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
                raise InvalidMapError(f"{entry}.coasts: {coast!r} is none of {', '.join(_COASTS)}")
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
        raise InvalidMapError(f"{entry}: {content!r:.60} is no table")
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
