"""The command line: `academy serve | games | patterns | openings | ...`.

Exit codes: 0 done; 1 refused or failed; 2 wrong usage; 3 no server answers; 4 `check` found faults.
"""

import gc

# Searches for cycles among what is imported would be a seventh of the time until a command begins.
gc.disable()
try:
    from academy.cli.app import main
finally:
    gc.enable()

__all__ = ["main"]
