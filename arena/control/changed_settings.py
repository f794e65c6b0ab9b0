"""The refusal of a setting that changed between runs, so that it does not fit the games so far."""

import hashlib
from typing import Final

REMEDY: Final = (
    "put it back, delete the games with `arena reset --really`, "
    "or give the changed competition a control file of its own"
)
_MOST_SHOWN: Final = 200


def changed(setting: str, before: object, now: object) -> str:
    """The refusal of a changed setting: its path in the control file, its values, and what to do."""
    return f"{setting}: the games so far were played with {before}, the control file now has {now}; {REMEDY}"


def abridge(text: str) -> str:
    """A value that is kept with every game: a long one by its beginning, length and check sum."""
    if len(text) <= _MOST_SHOWN:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    return f"{text[:_MOST_SHOWN]}... ({len(text)} characters, check sum {digest})"
