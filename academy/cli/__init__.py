"""The command line: `academy serve | games | patterns | openings | ...`.

Exit codes: 0 done; 1 refused or failed; 2 wrong usage; 3 no server answers; 4 `check` found faults.
"""

from academy.service.gc_tuning import without_searches

# Searches among what is imported would be a seventh of the time until a command begins.
with without_searches():
    from academy.cli.app import main

__all__ = ["main"]
