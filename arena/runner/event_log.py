"""A competition's event log: one line an event, time first, then `name=value` pairs."""

from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import structlog

# Without structlog's loggers around it: they take longer than all else that is done for a line.
_as_line: Final = structlog.processors.LogfmtRenderer(
    key_order=["timestamp", "event", "game"], drop_missing=True
)


def _printable(line: str) -> str:
    """A line without what would steer the reader's terminal: clients on the network name themselves."""
    if line.isprintable():
        return line
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in line
    )


class EventLog(AbstractContextManager["EventLog"]):
    """Appends to a file that players' standard error may go to as well. Threads may share it."""

    def __init__(self, path: Path) -> None:
        """Open the file. Raises OSError."""
        # Each line in one go, so that no other's comes between.
        self._file = path.open("ab", buffering=0)

    def add(self, event: str, **values: object) -> None:
        """Write an event, with what belongs to it."""
        now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        line = _as_line(None, "info", {"timestamp": now, "event": event, **values})
        self._file.write(f"{_printable(line)}\n".encode())

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __exit__(self, *error: object) -> None:
        self.close()
