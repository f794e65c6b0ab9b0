"""What installed packages offer, by their entry points."""

import sys
from functools import lru_cache
from importlib.metadata import EntryPoints, entry_points


def list_entry_points(group: str) -> EntryPoints:
    """Return the entry points of a group in the packages along `sys.path`."""
    return _offered(group, tuple(sys.path))


# A look through all installed packages takes longer than a short game.
@lru_cache(maxsize=32)
def _offered(group: str, _path: tuple[str, ...]) -> EntryPoints:
    return entry_points(group=group)
