"""Paths of files as control files name them."""

from pathlib import Path


def path_from(folder: Path, name: str) -> Path:
    """A file's path from a folder, `~` being the user's home. Raises ValueError."""
    try:
        return folder / Path(name).expanduser()
    except RuntimeError:
        raise ValueError(
            f"{name!r}: there is no user of this name; ./ before it makes it the name of a file"
        ) from None
