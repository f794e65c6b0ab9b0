"""The command `arena`: run competitions, look at them, stop them.

An action imports what it works with when it is carried out, so that `--help` takes no longer than it must.

Exit status: 0 the run ended as it should; 1 an error; 2 wrong usage; 3 interrupted by Ctrl-C, SIGTERM
or the terminal's end; 4 halted by void games, or because no missing game can be played; 5 as 0,
but reports to ACADEMY, or games for the league, still wait; 6 completed, except for games of
players or matchups that are left out.
"""

import atexit
import gc
import sys
from importlib.util import find_spec

from academy.wire import interrupts, standard_streams

__all__ = ["main"]

_NEW_OBJECTS = 200_000


def main() -> None:
    """Run the command; the console's entry point."""
    standard_streams.open_closed()
    if missing := [name for name in ("typer", "pydantic", "sqlalchemy") if find_spec(name) is None]:
        sys.exit(f"arena: {', '.join(missing)} not installed; install academy-arena[arena]")
    # What a start loads stays: looking through it again and again takes a tenth of the time.
    gc.set_threshold(_NEW_OBJECTS)
    # Once more, as the process ends, would be a fifth of a short command's time.
    atexit.register(gc.freeze)
    with interrupts.ending_the_process():
        from arena.cli.app import main as run

    run()
