"""The lines of a game's protocols, as they went over the channels."""

from pathlib import Path
from types import TracebackType
from typing import Self


class Transcript:
    """A file of what was said to each player (`>>`) and by it (`<<`), written as it happens.

    An older file of the same name is replaced. Raises OSError where the file can't be written.
    """

    def __init__(self, path: str | Path) -> None:
        self._file = Path(path).open("w", encoding="utf-8", buffering=1)  # noqa: SIM115 - closed by __exit__

    def told(self, label: str, line: str) -> None:
        """Note a line that a player was sent."""
        self._file.write(f">> {label}: {line}\n")

    def said(self, label: str, text: str) -> None:
        """Note a player's answer, of one line or several."""
        for line in text.split("\n"):
            self._file.write(f"<< {label}: {line}\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
