"""Files of lines that runs append to, to go on where they ended."""

from pathlib import Path


def read_whole_lines(file: Path) -> list[str]:
    """Return a file's lines, none if there is no file.

    A last line that an interrupted run left unfinished is cut off the file.
    """
    held = file.read_bytes() if file.exists() else b""
    whole = held.rfind(b"\n") + 1
    if whole < len(held):
        with file.open("r+b") as damaged:
            damaged.truncate(whole)
    return held[:whole].decode().splitlines()
