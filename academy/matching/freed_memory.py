"""What becomes of memory that a query has freed.

The C library may give it back to the system, and the next query has it mapped page by page once more: that
took up to a quarter of the time of a query with thousands of matches.
"""

import ctypes
import sys
from typing import Final

_KEPT_BYTES: Final = 16 << 20
# Parameters of mallopt(3).
_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3


def keep_freed_memory() -> None:
    """Let this process keep up to 16 MiB of freed memory a thread, where its C library is glibc."""
    if sys.platform != "linux":
        return
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        library.mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
        library.mallopt(_M_MMAP_THRESHOLD, _KEPT_BYTES)
