"""Versions of the records' schema, and what is said of a folder of another than this program's."""

from pathlib import Path
from typing import Final

from academy.store.errors import SchemaMismatchError, SchemaOutdatedError

SCHEMA_VERSION: Final = 3
# `academy.store.maintenance.upgrade` has a step from each that is older.
_OLDEST: Final = 1


def stored(version: int) -> bytes:
    """Return a version as a folder names it."""
    return b"%d" % version


def mismatch(folder: Path, found: bytes | None) -> SchemaMismatchError:
    """Return what to raise for a folder that names this version (None: it names none) and is to be read."""
    written = "?" if found is None else found.decode("ascii", "replace")
    what = f"{folder}: written under schema version {written}, this program reads {SCHEMA_VERSION}"
    for version in range(_OLDEST, SCHEMA_VERSION):
        if found == stored(version):
            remedy = "serve it once, which brings it up to date, or restore it into an empty folder"
            return SchemaOutdatedError(f"{what}; {remedy}", version)
    return SchemaMismatchError(
        f"{what}; export the libraries with the program that wrote them, import them here"
    )
