"""The command line: `academy serve | games | patterns | openings | ...`.

Exit status: 0 done; 1 refused or failed; 2 wrong usage; 3 no server answers, or it
cannot do it now; 4 the data are damaged.
"""

import atexit
import gc
import sys

from academy.wire import interrupts, standard_streams

__all__ = ["main"]


def main() -> None:
    """Run the command; the console's entry point."""
    standard_streams.open_closed()
    # Searches for cycles among what is imported would be a seventh of the time until a command begins.
    gc.disable()
    # A last one, as the process ends, would be a fifth of a short command's time.
    atexit.register(gc.freeze)
    try:
        with interrupts.ending_the_process():
            from academy.cli.app import main as run
    except ModuleNotFoundError as missing:
        sys.exit(f"academy: {missing.name} is not installed; install academy-arena[server]")
    finally:
        gc.enable()
    run()
