"""How many connections one address may have: the latest beyond that are closed.

gRPC takes connections in by itself and tells nobody of them, so the process's own open files are looked
through now and then. A connection is ended as its peer could have ended it, and gRPC tidies it away.
"""

import asyncio
import ipaddress
import os
import socket
import stat
from collections import Counter
from contextlib import suppress
from typing import Final

import structlog

_FILES: Final = "/dev/fd"
_SECONDS: Final = 1.0
# Whoever has one address of the sixth version has all that begin alike.
_PREFIX: Final = 64
_log = structlog.get_logger()


class Connections:
    """The connections taken in at a port, at most `each` of one address. For one thread at a time."""

    def __init__(self, port: int, each: int) -> None:
        self._port = port
        self._each = each
        # By the socket's number in the system, the longest known first; empty for what is no such connection.
        self._holders: dict[int, str] = {}
        self.count = 0

    async def keep_few(self) -> None:
        """Look every second. Never returns."""
        while True:
            await asyncio.sleep(_SECONDS)
            closed = await asyncio.to_thread(self.look)
            if closed:
                address, count = closed.most_common(1)[0]
                _log.warning(
                    "connections closed",
                    count=closed.total(),
                    addresses=len(closed),
                    most_of=address,
                    of_it=count,
                    limit=self._each,
                )

    def look(self) -> Counter[str]:
        """Close what is too much; return how many connections of which address that were."""
        files = _sockets()
        known = {number: holder for number, holder in self._holders.items() if number in files}
        for number, file in files.items():
            if number not in known:
                known[number] = self._holder(file)
        self._holders = known
        self.count = sum(map(bool, known.values()))
        held: Counter[str] = Counter()
        closed: Counter[str] = Counter()
        for number, holder in known.items():
            held[holder] += 1
            if holder and held[holder] > self._each and _ended(files[number], number):
                closed[holder] += 1
        return closed

    def _holder(self, file: int) -> str:
        """The address whose connection a file is; empty where it is none that was taken in at the port."""
        try:
            opened = socket.socket(fileno=file)
        except OSError:
            return ""
        try:
            if opened.family not in (socket.AF_INET, socket.AF_INET6):
                return ""
            return holder(opened.getpeername()[0]) if opened.getsockname()[1] == self._port else ""
        except OSError:
            # It listens, or has ended.
            return ""
        finally:
            # It stays gRPC's.
            opened.detach()


def holder(address: str) -> str:
    """Whose connections are counted together: an address, of version 6 its first 64 bits."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(found), _PREFIX), strict=False))


def _sockets() -> dict[int, int]:
    """The process's open files that are sockets, by the socket's number in the system."""
    found = {}
    with os.scandir(_FILES) as files:
        for each in files:
            # What was listed may be closed by now.
            with suppress(OSError):
                status = os.fstat(int(each.name))
                if stat.S_ISSOCK(status.st_mode):
                    found[status.st_ino] = int(each.name)
    return found


def _ended(file: int, number: int) -> bool:
    """End a connection, unless the file has become another one meanwhile."""
    try:
        with socket.socket(fileno=os.dup(file)) as own:
            if os.fstat(own.fileno()).st_ino != number:
                return False
            own.shutdown(socket.SHUT_RDWR)
            return True
    except OSError:
        return False
