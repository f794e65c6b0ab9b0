"""The core that a worker keeps to: one that the fewest workers keep to, of all runs on the machine."""

import errno
import os
import re
import socket
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Final

# Begins the names of sockets without files: a name ends with the process that has it, however that ends.
_PREFIX: Final = "academy-arena/core"
_SOCKETS: Final = Path("/proc/net/unix")


class Core:
    """One of those that this process may use, taken until `close` or the end of this process."""

    def __init__(self) -> None:
        """Take the first of the least taken ones. Raises OSError."""
        self._name = socket.socket(socket.AF_UNIX)
        try:
            self.number = self._take()
        except OSError:
            self.close()
            raise

    def _take(self) -> int:
        taken: set[tuple[int, int]] = set()
        while True:
            taken |= _taken()
            workers = Counter(core for core, _ in taken)
            core = min(sorted(os.sched_getaffinity(0)), key=lambda core: workers[core])
            place = next(place for place in count() if (core, place) not in taken)
            try:
                self._name.bind(f"\0{_PREFIX}/{core}/{place}")
            except OSError as error:
                # Another worker has just taken this place.
                if error.errno != errno.EADDRINUSE:
                    raise
                taken.add((core, place))
            else:
                return core

    def close(self) -> None:
        """Leave the core to others."""
        self._name.close()


def _taken() -> set[tuple[int, int]]:
    """Cores that workers keep to, with each worker's place there; none where the list cannot be read."""
    try:
        sockets = _SOCKETS.read_text(errors="replace")
    except (FileNotFoundError, PermissionError):
        # As in some containers: each place is tried then.
        return set()
    names = re.findall(rf"@{_PREFIX}/(\d+)/(\d+)$", sockets, re.MULTILINE)
    return {(int(core), int(place)) for core, place in names}
