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
_chosen = logging.DEBUG
Format = Literal["auto", "console", "json"]


def configure(level: str, form: Format = "auto") -> None:
    """Send events of `level` and above to standard error."""
    global _chosen
    _chosen = LEVELS[level]
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
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )


def tells(level: str) -> bool:
    """Whether events of a level are sent anywhere: cheaper to ask than to make one that is not."""
    return LEVELS[level] >= _chosen
