"""Limits, each a field of a dataclass that says what it bounds."""

from dataclasses import field
from typing import TypeVar

_Number = TypeVar("_Number", int, float)


def limit(default: _Number, meaning: str) -> _Number:
    """Make a field; `docs/generate.py` reads its meaning for the reference of limits."""
    return field(default=default, metadata={"meaning": meaning})
