"""The state of a page as it stands in its address: read with limits, written for links."""

import math
import re
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Final, TypeVar
from urllib.parse import quote, urlencode

from starlette.datastructures import QueryParams

from academy.knowledge.spec import GAME_ID
from web.failures import PageError

__all__ = ["LONGEST_TEXT", "Query", "check_game_id", "link", "wrong_field"]

LONGEST_TEXT: Final = 4_096
_DATE: Final = re.compile(r"(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}")
# Digits in one way only: to try two on a long text would hold up all visitors.
_NUMBER: Final = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
_FIX: Final = "Correct the address or the form, or begin again from the list of games."
Value = TypeVar("Value")


def link(path: str, parameters: Iterable[tuple[str, object]] | Mapping[str, object] = ()) -> str:
    """Write the address of an unquoted path on this site, without parameters that are None or ""."""
    pairs = parameters.items() if isinstance(parameters, Mapping) else parameters
    query = urlencode([(name, str(value)) for name, value in pairs if value is not None and value != ""])
    return quote(path) + ("?" + query if query else "")


def check_game_id(game_id: str) -> str:
    """Return a game's id from a path. Raises PageError for what cannot be one."""
    if not GAME_ID.fullmatch(game_id):
        why = f"{game_id[:80]!r} cannot be a game's id."
        raise PageError(404, "No such game", why, "Choose one from the list of games.")
    return game_id


class Query:
    """The parameters of an address.

    Raises PageError for one that is not `known`, or longer than `longest`.
    """

    def __init__(self, parameters: QueryParams, known: Collection[str], longest: int = LONGEST_TEXT) -> None:
        self._parameters = parameters
        for name, value in parameters.multi_items():
            if name not in known:
                names = ", ".join(sorted(known)) or "none"
                why = f"this page has no such parameter; it has {names}"
                raise wrong_field(name[:80], why, may_be_corrected=False)
            if len(value) > longest:
                why = f"a text of {len(value):,} characters; at most {longest:,} can be read"
                raise wrong_field(name, why, may_be_corrected=False)

    @property
    def items(self) -> list[tuple[str, str]]:
        """All names with their values, in their order."""
        return self._parameters.multi_items()

    def text(self, name: str) -> str:
        """Return a text without blanks around it; "" where there is none. Raises PageError for several."""
        texts = self._parameters.getlist(name)
        if len(texts) > 1:
            raise wrong_field(name, f"it stands {len(texts)} times: once is enough", may_be_corrected=False)
        return "".join(texts).strip()

    def texts(self, name: str, most: int) -> list[str]:
        """Return all texts of one name, in their order.

        Raises PageError for more than `most`, or an empty one.
        """
        texts = self._parameters.getlist(name)
        if len(texts) > most:
            raise wrong_field(name, f"{len(texts)} of them; there may be {most}")
        if not all(texts):
            raise wrong_field(name, "one of them is empty")
        return texts

    def choice(self, name: str, choices: Mapping[str, Value], default: str) -> tuple[str, Value]:
        """Return the name and the value of a choice, `default` where the address has none.

        Raises PageError.
        """
        chosen = self.text(name) or default
        if chosen not in choices:
            raise wrong_field(name, f"{chosen[:80]!r} is none of {', '.join(filter(None, choices))}")
        return chosen, choices[chosen]

    def whole(self, name: str, least: int, most: int) -> int | None:
        """Return a whole number; None where there is none. Raises PageError for one out of range."""
        text = self.text(name)
        if not text:
            return None
        if not (text.isascii() and text.isdigit() and len(text) <= 20 and least <= int(text) <= most):
            raise wrong_field(name, f"{text[:80]!r} is not a whole number from {least:,} to {most:,}")
        return int(text)

    def number(self, name: str, least: float, most: float) -> float | None:
        """Return a number; None where there is none. Raises PageError for one out of range."""
        text = self.text(name)
        if not text:
            return None
        number = float(text) if _NUMBER.fullmatch(text) else math.nan
        if not least <= number <= most:
            raise wrong_field(name, f"{text[:80]!r} is not a number from {least:g} to {most:g}")
        return number

    def date(self, name: str) -> datetime | None:
        """Return the beginning of a day in UTC; None where there is none. Raises PageError."""
        text = self.text(name)
        if not text:
            return None
        try:
            # The day after it must be a date too.
            if not _DATE.fullmatch(text) or text == "9999-12-31":
                raise ValueError(text)
            return datetime.fromisoformat(text).replace(tzinfo=UTC)
        except ValueError:
            raise wrong_field(name, f"{text[:80]!r} is not a date such as 2026-01-31") from None


def wrong_field(name: str, why: str, *, may_be_corrected: bool = True) -> PageError:
    """Return the error for a parameter of an address, or a field of a form.

    The form is shown again with a field that may be corrected.
    """
    field = name if may_be_corrected else ""
    return PageError(400, "This address or form cannot be read", f"{name}: {why}.", _FIX, field=field)
