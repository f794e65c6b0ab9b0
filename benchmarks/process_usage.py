"""What a process has used of the machine: its processor time, its memory and its children, by /proc."""

import os
from pathlib import Path


def processor_seconds(process: int) -> float:
    """The processor time that a process has used, without its children's."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_bytes(process: int) -> int:
    """The memory that a process has, shared pages included."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def own_bytes(process: int) -> int:
    """The memory that a process has for itself, without mapped files as a data folder's; 0 once it ended."""
    status = Path(f"/proc/{process}/status").read_text()
    return sum(1024 * int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon:"))


def children(process: int) -> list[int]:
    """The processes that a process has started and that have not been waited for."""
    return list(map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split()))
