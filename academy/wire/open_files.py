"""How many files this process may have open, which servers and runs raise as far as they need."""

import resource
import sys

__all__ = ["allow_open_files"]


def allow_open_files(wanted: int) -> int:
    """Raise this process's limit of open files where it is below `wanted`, as far as the hard limit lets it.

    Returns how many may be open now, which can be less or more. Programs that are started inherit the limit,
    so ask for no more than is needed.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return sys.maxsize
    raised = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft >= raised:
        return soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    return raised
