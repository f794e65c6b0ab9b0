"""A competition's event log: one line an event, time first, then `name=value` pairs."""

from pathlib import Path
from types import TracebackType
from typing import Final, Self

import structlog


def _printable(_logger: object, _method: str, line: str) -> str:
    """A line without what would steer the reader's terminal: clients on the network name themselves."""
    if line.isprintable():
        return line
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in line
    )


_PROCESSORS: Final[list[structlog.typing.Processor]] = [
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.LogfmtRenderer(key_order=["timestamp", "event", "game"], drop_missing=True),
    _printable,  # type: ignore[list-item]
]


class EventLog:
    """Appends to a file that players' standard error may go to as well. Threads may share it."""

    def __init__(self, path: Path) -> None:
        """Open the file. Raises OSError."""
        self._file = path.open("a", encoding="utf-8", buffering=1)
        self._logger = structlog.wrap_logger(
            structlog.WriteLogger(self._file),
            processors=_PROCESSORS,
            # Of its own, so that what the process logs otherwise, and how, makes no difference.
            wrapper_class=structlog.make_filtering_bound_logger("info"),
            cache_logger_on_first_use=True,
        )

    def add(self, event: str, **values: object) -> None:
        """Write an event, with what belongs to it."""
        self._logger.info(event, **values)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
