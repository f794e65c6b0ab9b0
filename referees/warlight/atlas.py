"""The maps a game can be played on: those of this package by name, others by their file."""

import hashlib
from importlib import resources
from pathlib import Path
from typing import Final

from referees.warlight.map_text import MAX_CHARACTERS, read_map
from referees.warlight.maps import InvalidMapError, WarMap

_FOLDER: Final = resources.files("referees.warlight") / "map_files"


def map_names() -> tuple[str, ...]:
    """The names of the package's own maps."""
    return tuple(
        sorted(entry.name.removesuffix(".txt") for entry in _FOLDER.iterdir() if entry.name.endswith(".txt"))
    )


def is_file(name: str) -> bool:
    """Whether a map of that name would be in a file of its own."""
    return name not in map_names() and Path(name).suffix == ".txt"


def load_map(name: str) -> WarMap:
    """The map of that name, or in the file of that name, which then ends in `.txt`. Raises InvalidMapError.

    A file's map is called by the file's name and the beginning of its content's SHA-256, so that two
    maps are never taken for one.
    """
    if name in map_names():
        return read_map((_FOLDER / f"{name}.txt").read_text(encoding="utf-8"), name)
    path = Path(name)
    if not is_file(name):
        raise InvalidMapError(
            f"there is no map {name[:80]!r}: there are {', '.join(map_names())}, and files that end in .txt"
        )
    try:
        with path.open("rb") as file:
            content = file.read(4 * MAX_CHARACTERS + 1)
        # Some editors begin a file with a mark of its encoding.
        text = content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidMapError(f"the map's file {name!r} cannot be read: {error}") from None
    return read_map(text, f"{path.stem}-{hashlib.sha256(content).hexdigest()[:8]}")
