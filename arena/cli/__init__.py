"""The command `arena`: run competitions, look at them, stop them.

An action imports what it works with when it is carried out, so that `--help` takes no longer than it must.

Exit status: 0 the run ended as it should; 1 an error; 2 wrong usage; 3 interrupted by Ctrl-C, SIGTERM
or the terminal's end; 4 halted by void games; 5 as 0, but some reports still wait for ACADEMY;
6 completed but for players or matchups that are left out.
"""

from arena.cli.app import main

__all__ = ["main"]
