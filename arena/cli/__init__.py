"""The command `arena`: run competitions, look at them, stop them.

Exit status: 0 the run ended as it should; 1 an error; 2 wrong usage; 3 interrupted by Ctrl-C, SIGTERM
or the terminal's end; 4 halted by void games; 5 as 0, but ACADEMY could not be told of all games yet;
6 completed but for players or matchups that are left out.
"""

import arena.cli.silent_grpc  # noqa: F401 - before all that loads gRPC
from arena.cli.app import main

__all__ = ["main"]
