"""Structured logs: one line an event, for people on a terminal, as JSON elsewhere."""

import logging
import sys
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
Format = Literal["auto", "console", "json"]


def configure(lowest: str, form: Format = "auto") -> None:
    """Send events of a level and above to standard error."""
    global level
    level = LEVELS[lowest]
    console = form == "console" or (form == "auto" and sys.stderr.isatty())
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer() if console else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
