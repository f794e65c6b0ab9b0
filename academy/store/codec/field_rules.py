"""Rules that fields of several records share."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from academy.knowledge.boards import InvalidBoardError
from academy.knowledge.patterns import InvalidPatternError
from academy.knowledge.tesujis.table import FIRST_IN_USES
from academy.knowledge.votes import MAX_ELO
from academy.store.errors import InvalidRecordError

MAX_MOVE_LENGTH: Final = 1_024
# The greatest number of an imported pattern or opening node: those that are learnt later have the next ones.
# Among the uses of patterns greater ones stand for tesujis and the evaluation.
MOST_NUMBER: Final = FIRST_IN_USES - 1


def check_elo(field: str, elo: float) -> None:
    """Raise InvalidRecordError for an Elo that is not a number, or out of range."""
    if not (math.isfinite(elo) and abs(elo) <= MAX_ELO):
        raise InvalidRecordError(field, f"{elo!r} must be a number from -{MAX_ELO:.0f} to {MAX_ELO:.0f}")


def check_most(field: str, number: int, most: int) -> None:
    """Raise InvalidRecordError for a number that is above the greatest one allowed."""
    if number > most:
        raise InvalidRecordError(field, f"{number:,} must be from 0 to {most:,}")


def check_printable(field: str, text: str) -> None:
    """Raise InvalidRecordError for text with control characters or others that cannot be seen."""
    if not text.isprintable():
        at = next(at for at, letter in enumerate(text) if not letter.isprintable())
        raise InvalidRecordError(
            field, f"character {at + 1}, {text[at]!r}, cannot be seen: only printable text is allowed"
        )


def check_value(field: str, value: float) -> float:
    """Return an expected value. Raises InvalidRecordError outside [0, 1] and for not-a-number."""
    if not 0.0 <= value <= 1.0:
        raise InvalidRecordError(field, f"{value!r} must be a number from 0 to 1")
    return value


@contextmanager
def naming(field: str) -> Iterator[None]:
    """Raise InvalidRecordError that names a field for a pattern or board which breaks a rule."""
    try:
        yield
    except (InvalidPatternError, InvalidBoardError) as error:
        raise InvalidRecordError(field, str(error)) from error
