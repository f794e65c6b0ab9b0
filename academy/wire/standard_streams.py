"""Programs that are started with a closed standard stream, as by `2>&-`."""

import os
import sys
from pathlib import Path
from typing import Final

_MODES: Final = {"stdin": "r", "stdout": "w", "stderr": "w"}


def open_closed() -> None:
    """Open each closed standard stream to nowhere.

    Else the next file that is opened, such as the data, gets its number, and what libraries write to their
    standard error goes there; and Python has no stream to write to.
    """
    for number in range(len(_MODES)):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free: those below are open by now. Children have it, too.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    for name, mode in _MODES.items():
        if getattr(sys, name) is None:
            # Not by its number, which a file may have that was opened before.
            nowhere = Path(os.devnull).open(mode, encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
            setattr(sys, name, nowhere)
