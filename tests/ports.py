"""Ports for servers that tests start."""

import random
import socket
from contextlib import ExitStack, suppress


def free_ports(count: int) -> list[int]:
    """Different ports that nobody listens on, below those that the system gives out by itself."""
    ports: list[int] = []
    with ExitStack() as held:
        while len(ports) < count:
            # Tests may have seeded the usual generator alike in several processes.
            port = random.SystemRandom().randrange(10_000, 32_000)
            with suppress(OSError):
                held.enter_context(socket.create_server(("127.0.0.1", port)))
                ports.append(port)
    return ports
