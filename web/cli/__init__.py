"""The command line: `academy-web`.

Exit codes: 0 done; 1 failed; 2 wrong usage.
"""

import atexit
import gc
import sys

from academy.wire import interrupts, standard_streams

__all__ = ["main"]


def main() -> None:
    """Run the command; the console's entry point."""
    standard_streams.open_closed()
    # The processor has better to do, as the process ends, than to search all that was loaded for cycles.
    atexit.register(gc.freeze)
    try:
        with interrupts.ending_the_process():
            from typer.main import get_command

            from web.cli.app import application

            command = get_command(application)
    except ModuleNotFoundError as missing:
        sys.exit(f"academy-web: {missing.name} is not installed; install academy-arena[web]")
    # `python -m web.cli`, which `academy web` is, would be the name.
    command(prog_name="academy-web")
