"""The maps a game can be played on: those of this package by name, others by their file."""

import hashlib
from pathlib import Path

from referees.diplomacy.drawing import check_drawing
from referees.diplomacy.position import InvalidPositionError, Position
from referees.diplomacy.provinces import InvalidMapError, Map, read_map, shipped_map, shipped_maps
from referees.toml_text import MAX_CHARACTERS


def is_file(name: str) -> bool:
    """Whether a map of that name would be in a file of its own."""
    return name not in shipped_maps() and Path(name).suffix == ".toml"


def load_map(name: str) -> Map:
    """The map of that name, or in the file of that name, which then ends in `.toml`.

    Raises InvalidMapError, which names the file, the entry and the rule.
    """
    if name in shipped_maps():
        return shipped_map(name)
    if not is_file(name):
        known = ", ".join(map(repr, shipped_maps()))
        raise InvalidMapError(f"{name[:80]!r} is none of {known}, and no file that ends in .toml")
    try:
        with Path(name).open("rb") as file:
            text = file.read(4 * MAX_CHARACTERS + 1).decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidMapError(f"the map's file {name!r} cannot be read: {error}") from None
    try:
        board = read_map(text)
        Position.start(board)
        check_drawing(board)
    except (InvalidMapError, InvalidPositionError) as error:
        raise InvalidMapError(f"the map's file {name!r}: {error}") from None
    if board.name in shipped_maps() and board is not shipped_map(board.name):
        raise InvalidMapError(
            f"the map's file {name!r}: the name {board.name!r} is another map's; take another"
        )
    return board


def map_id(board: Map) -> str:
    """A map's name; of one from a file with the beginning of its content's SHA-256.

    So two maps are never taken for one.
    """
    if board.name in shipped_maps():
        return board.name
    return f"{board.name}-{hashlib.sha256(board.text.encode()).hexdigest()[:8]}"
