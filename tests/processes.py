"""What the kernel says of processes."""

from contextlib import suppress
from pathlib import Path


def children(first: int) -> list[int]:
    """The processes that multiprocessing started for this one, without those of its own."""
    processes = []
    for pid in Path(f"/proc/{first}/task/{first}/children").read_text().split():
        # A process may end while this reads.
        with suppress(FileNotFoundError, ProcessLookupError):
            if "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text():
                processes.append(int(pid))
    return processes


def alive(pid: int) -> bool:
    """Whether it runs; one that has ended may be there until its parent takes note of it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def waits_for_a_lock(pid: int) -> bool:
    """Whether it waits for a lock on a file."""
    lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    # 1: -> FLOCK  ADVISORY  WRITE PID ...
    return any(line[1] == "->" and line[5] == str(pid) for line in lines)
