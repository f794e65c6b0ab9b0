"""What a worker waits for and until when: the worker notes it, the pool reads it without asking.

A worker that is stuck in a player's code answers nothing, so the note is in memory that both share.
"""

import mmap
import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, Self

# The deadline (on the system's monotonic clock, 0: none), and what it is for: stage, seat, seconds.
_DEADLINE: Final = struct.Struct("d")
_WHAT: Final = struct.Struct("iid")
_SIZE: Final = _DEADLINE.size + _WHAT.size


class Stage(IntEnum):
    """What a player is given time for."""

    START = 1
    MOVE = 2


@dataclass(frozen=True)
class Wait:
    """A wait for the player of a seat, who has so many seconds."""

    stage: Stage
    seat: int
    seconds: float


class WaitNote:
    """The note of one worker."""

    def __init__(self, descriptor: int) -> None:
        """Open the note that lies in a file of memory."""
        self.descriptor = descriptor
        self._memory = mmap.mmap(descriptor, _SIZE)

    @classmethod
    def new(cls) -> Self:
        """A note in memory of its own. Raises OSError."""
        descriptor = os.memfd_create("wait")
        os.ftruncate(descriptor, _SIZE)
        return cls(descriptor)

    def close(self) -> None:
        """Give the memory back."""
        self._memory.close()
        os.close(self.descriptor)

    @contextmanager
    def waiting(self, wait: Wait) -> Iterator[None]:
        """Note that a wait goes on while the block does."""
        _WHAT.pack_into(self._memory, _DEADLINE.size, wait.stage, wait.seat, wait.seconds)
        _DEADLINE.pack_into(self._memory, 0, time.monotonic() + wait.seconds)
        try:
            yield
        finally:
            _DEADLINE.pack_into(self._memory, 0, 0.0)

    def overdue(self, seconds: float) -> Wait | None:
        """The wait that should have been over so many seconds ago, if there is one."""
        (deadline,) = _DEADLINE.unpack_from(self._memory, 0)
        if not 0.0 < deadline < time.monotonic() - seconds:
            return None
        stage, seat, limit = _WHAT.unpack_from(self._memory, _DEADLINE.size)
        return Wait(Stage(stage), seat, limit)
