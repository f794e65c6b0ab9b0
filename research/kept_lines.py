"""Files of lines that runs append to, to go on where they ended."""

from pathlib import Path


def kept_lines(file: Path) -> list[str]:
    """Read a file, if it is there. What an interrupted run wrote of a last line is cut off."""
    held = file.read_bytes() if file.exists() else b""
    whole = held.rfind(b"\n") + 1
    if whole < len(held):
        with file.open("r+b") as damaged:
            damaged.truncate(whole)
    return held[:whole].decode().splitlines()
