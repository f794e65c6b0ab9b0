"""A form that was refused: what it held comes back, so that only what is wrong is written again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request

from web.failures import PageError

__all__ = ["SENT", "RefusedForm", "find_refused_form"]

# Where a request's scope has what a form held that was sent.
SENT: Final = "web.sent"
_CORRECTABLE: Final = (400, 409)
_LONGEST_LINE: Final = 200


@dataclass(frozen=True)
class RefusedField:
    """A field that is shown.

    Attributes:
        name: Its name in the form.
        label: Its name for people.
        value: What it held.
        wrong: Whether it is known to be the wrong one.
        is_long: Whether it has several lines.
    """

    name: str
    label: str
    value: str
    wrong: bool
    is_long: bool


@dataclass(frozen=True)
class RefusedForm:
    """A form to correct, and how and where it is sent.

    `shown` are the fields that may be corrected: the wrong one, or all where that is not known; `kept` are
    the others.
    """

    method: str
    address: str
    shown: Sequence[RefusedField]
    kept: Sequence[tuple[str, str]]


def find_refused_form(request: Request, error: PageError) -> RefusedForm | None:
    """Return the form that an error is about; None where nothing can be corrected."""
    sent: Sequence[tuple[str, str]] | None = request.scope.get(SENT)
    method = "get" if sent is None else "post"
    fields = request.query_params.multi_items() if sent is None else sent
    is_known = error.field in [name for name, _ in fields]
    if error.status not in _CORRECTABLE or not fields or (sent is None and not is_known):
        return None
    shown = [
        RefusedField(
            name,
            name.replace("_", " ").capitalize(),
            value,
            name == error.field,
            "\n" in value or len(value) > _LONGEST_LINE,
        )
        for name, value in fields
        if not is_known or name == error.field
    ]
    kept = [(name, value) for name, value in fields if is_known and name != error.field]
    return RefusedForm(method, request.url.path, shown, kept)
