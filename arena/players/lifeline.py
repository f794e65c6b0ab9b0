"""Ending a process group when its parent ends, however the parent ends, without code between fork and exec.

Such code (`preexec_fn`) would make Python fork instead of vfork, which is slower and, where other
threads are at work in gRPC, ends the child.
"""

import fcntl
import os
import signal
from typing import Final

# Not in Python's fcntl; the same on all architectures of Linux. See fcntl(2).
_F_SETSIG: Final = 10


class Lifeline:
    """A pipe whose reading end the children hold and whose writing end only this process has.

    Nothing is ever written. When the writing end is gone, which no way to end this process prevents,
    the kernel tells the owner of the reading end that there is input: by SIGKILL, as is arranged here,
    to a whole process group. A group of which no process has kept the reading end is not reached.
    """

    def __init__(self) -> None:
        self.descriptor, self._ours = os.pipe()
        fcntl.fcntl(self.descriptor, _F_SETSIG, int(signal.SIGKILL))

    def hold(self, group: int) -> None:
        """Kill this group when the time comes; it was started with `descriptor` passed on."""
        fcntl.fcntl(self.descriptor, fcntl.F_SETOWN, -group)
        fcntl.fcntl(self.descriptor, fcntl.F_SETFL, fcntl.fcntl(self.descriptor, fcntl.F_GETFL) | os.O_ASYNC)
        os.close(self.descriptor)

    def abandon(self) -> None:
        """Close both ends where no group was started."""
        os.close(self.descriptor)
        os.close(self._ours)

    def cut(self) -> None:
        """Kill what is left of the group. Its number is not used, so it may have passed to others."""
        os.close(self._ours)
