"""The log of a server: one line an event, for people on a terminal, as JSON elsewhere."""

import logging
import sys
from contextlib import suppress
from typing import Final, Literal

import structlog

LEVELS: Final = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
# Events below are not sent: looked at where making one costs.
level = logging.DEBUG
Level = Literal["debug", "info", "warning", "error"]
Format = Literal["auto", "console", "json"]


class _Forwarder(logging.Handler):
    """Sends what other modules log by `logging` the same way."""

    def emit(self, record: logging.LogRecord) -> None:
        """Send a record as an event."""
        try:
            # structlog knows the named levels alone.
            named = max(logging.DEBUG, min(logging.CRITICAL, record.levelno // 10 * 10))
            structlog.get_logger().log(named, record.getMessage(), exc_info=record.exc_info)
        except Exception:
            # As every handler of `logging` does: no line of a log ends the call that wrote it.
            self.handleError(record)


class _Lines:
    """Writes lines to standard error. Those that a full disk or a closed pipe does not take are lost.

    A server is not to end, nor to refuse calls, for want of a log.
    """

    def __init__(self) -> None:
        self._out = sys.stderr

    def msg(self, message: str) -> None:
        """Write a line."""
        with suppress(OSError, ValueError):
            self._out.write(f"{message}\n")
            self._out.flush()

    log = debug = info = warn = warning = error = err = critical = fatal = failure = exception = msg


_FORWARDER: Final = _Forwarder()


def configure(lowest: Level, form: Format = "auto") -> None:
    """Send events of a level and above to standard error.

    Tracebacks show no values of variables: tokens may be among them.
    """
    global level
    level = LEVELS[lowest]
    console = form == "console" or (form == "auto" and sys.stderr.isatty())
    renderers: list[structlog.typing.Processor] = (
        [
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
            )
        ]
        if console
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    )
    lines = _Lines()
    # Threads that begin later have no context: what is bound by now is in each line.
    bound = structlog.contextvars.get_contextvars()
    structlog.configure(
        processors=[
            lambda _logger, _level, event: {**bound, **event},
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *renderers,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda *_: lines,
        cache_logger_on_first_use=False,
    )
    logging.getLogger().addHandler(_FORWARDER)
    logging.getLogger("academy").setLevel(min(level, logging.WARNING))
