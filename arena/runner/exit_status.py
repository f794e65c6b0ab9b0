"""The exit statuses of the command."""

from enum import IntEnum
from typing import Final


class ExitStatus(IntEnum):
    """The exit status of the command; 2, wrong usage, comes from the parsing of the command line."""

    DONE = 0
    ERROR = 1
    INTERRUPTED = 3
    HALTED = 4
    UNDELIVERED = 5
    WITHOUT_SOME = 6


# What is printed with ExitStatus.INTERRUPTED.
INTERRUPTION: Final = "interrupted; games in progress will be played again"
