"""The lines of a game's protocols, as they went over the channels."""

import re
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from referees.legible_text import legible

TRANSCRIPT_LIMIT: Final = 16 << 20
# All but the tab: they would look like ends of lines, or steer the terminal of who reads the file.
_CONTROL: Final = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f]")


def one_line(text: str) -> str:
    """A text as one line: what steers terminals or turns text round, but the tab, as escapes like `\\x0d`."""
    return legible(_CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text))


class Transcript:
    """A file of what was said to each player (`>>`) and by it (`<<`), written as it happens.

    An older file of the same name is replaced. Of what a player says `limit` characters are kept, and so of
    what it is told; then the file says once that more was dropped. Raises OSError where the file can't be
    written.
    """

    def __init__(self, path: str | Path, limit: int = TRANSCRIPT_LIMIT) -> None:
        self._file = Path(path).open("w", encoding="utf-8", buffering=1, newline="\n")  # noqa: SIM115 - closed by __exit__
        self._limit = limit
        self._sizes: dict[str, int] = {}

    def told(self, label: str, line: str) -> None:
        """Note a line that a player was sent."""
        self._write(f">> {label}", line)

    def said(self, label: str, text: str) -> None:
        """Note a player's answer, of one line or several."""
        for line in text.split("\n"):
            self._write(f"<< {label}", line)

    def _write(self, part: str, line: str) -> None:
        before = self._sizes.get(part, 0)
        if before > self._limit:
            return
        self._sizes[part] = before + len(line) + 1
        if self._sizes[part] > self._limit:
            line = "(more than fits in the log: what follows is dropped)"
        self._file.write(f"{part}: {one_line(line)}\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
