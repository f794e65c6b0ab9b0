"""A clock that goes by processor time: other work on the machine does not make it go faster."""

import ctypes
import os
import time


class ProcessorClock:
    """Seconds of processor time that this process and another one, which answers it, have taken together."""

    def __init__(self, answering: int) -> None:
        """Count for the process of this id too. Raises OSError where there is none."""
        clock = ctypes.c_int()
        error = ctypes.CDLL(None).clock_getcpuclockid(answering, ctypes.byref(clock))
        if error:
            raise OSError(error, os.strerror(error), f"process {answering}")
        self._answering = clock.value

    def __call__(self) -> float:
        """The seconds so far."""
        return time.process_time() + time.clock_gettime(self._answering)
