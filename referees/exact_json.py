"""Integers as JSON that every reader reads exactly.

Most readers of JSON, browsers among them, take numbers for doubles: integers beyond 2^53 - 1 lose their last
digits there (RFC 8259, section 6). Such integers are written as text.
"""

from typing import Any, Final

MOST_EXACT: Final = 2**53 - 1


def exact(value: Any) -> Any:
    """The value, as `json.dumps` takes it, with all integers that doubles do not hold as text."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if -MOST_EXACT <= value <= MOST_EXACT else str(value)
    if isinstance(value, dict):
        return {name: exact(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [exact(part) for part in value]
    return value
