"""What the kernel says of processes."""

import gc
import time
from contextlib import suppress
from pathlib import Path


def children(pid: int) -> list[int]:
    """The processes that a process has started, whichever of its threads did."""
    processes: list[int] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        # A thread may end while this reads.
        with suppress(FileNotFoundError, ProcessLookupError):
            processes += map(int, file.read_text().split())
    return processes


def spawned(pid: int) -> list[int]:
    """The processes that multiprocessing started for a process, without those of its own."""
    processes = []
    for child in children(pid):
        # A process may end while this reads.
        with suppress(FileNotFoundError, ProcessLookupError):
            if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text():
                processes.append(child)
    return processes


def alive(pid: int) -> bool:
    """Whether it runs; one that has ended may be there until its parent takes note of it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except (FileNotFoundError, ProcessLookupError):
        return False


def asleep(pid: int) -> bool:
    """Whether its first thread waits for something."""
    return Path(f"/proc/{pid}/task/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"


def running(pids: list[int]) -> list[int]:
    """Those of the processes that still run."""
    return [pid for pid in pids if alive(pid)]


def left_running(pids: list[int], seconds: float = 180.0) -> list[int]:
    """Those that still run after some time for the killed ones to end."""
    deadline = time.monotonic() + seconds
    while running(pids) and time.monotonic() < deadline:
        time.sleep(0.01)
    return running(pids)


def waits_for_a_lock(pid: int) -> bool:
    """Whether it waits for a lock on a file."""
    lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    # 1: -> FLOCK  ADVISORY  WRITE PID ...
    return any(line[1] == "->" and line[5] == str(pid) for line in lines)


def open_files() -> int:
    """How many descriptors this process has, without those that a collection of lost objects closes."""
    gc.collect()
    return len([*Path("/proc/self/fd").iterdir()])
