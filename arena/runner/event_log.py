"""A competition's event log: one line an event, time first, then `name=value` pairs."""

import re
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

_QUOTED: Final = re.compile('[ ="]')


def _value(value: object) -> str:
    """A value in logfmt: in quotes where it has a space, an equals sign or a quote."""
    if value is None:
        return ""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if _QUOTED.search(text) is None:
        return text.replace("\n", "\\n")
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'


def _printable(line: str) -> str:
    """A line without what would steer the reader's terminal: clients on the network name themselves."""
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
        pairs = {"timestamp": now, "event": event, **values}
        line = " ".join(f"{name}={_value(value)}" for name, value in pairs.items())
        self._file.write(f"{_printable(line)}\n".encode())

    def __exit__(self, *error: object) -> None:
        self._file.close()
