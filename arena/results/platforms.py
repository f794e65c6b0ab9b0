"""The machine that games are played on, as SAGA describes platforms."""

import os
import platform
from dataclasses import dataclass

from sqlalchemy import Connection

from arena.results import schema as saga
from arena.results.rows import find_or_add


@dataclass(frozen=True)
class Platform:
    """A platform: `fraction` of the time (0 to 1) that bots run at normal priority, and how free of
    other work it is: `quality` 1 (significant interference), 2 (modest) or 3 (dedicated)."""

    name: str
    fraction: float
    quality: int


def this_platform() -> Platform:
    """This machine, judged by its present load: measure it before games are started."""
    cores = os.cpu_count() or 1
    name = f"{platform.node()} ({platform.system()} {platform.machine()}, {cores} cores)"
    # Players inherit the arena's priority, which a user can only have lowered.
    fraction = 1.0 if os.getpriority(os.PRIO_PROCESS, 0) <= 0 else 0.0
    return Platform(name, fraction, quality_of(os.getloadavg()[0] / cores))


def quality_of(load: float) -> int:
    """SAGA's Quality of a machine whose cores are in use by others for the share `load` of the time."""
    if load < 0.1:
        return 3
    return 2 if load < 0.5 else 1


def enter_platform(connection: Connection, machine: Platform) -> int:
    """Enter a platform or find it again; return its PlatformId."""
    return find_or_add(
        connection,
        saga.PLATFORM,
        {"Name": machine.name, "Fraction": machine.fraction, "Quality": machine.quality},
    )
