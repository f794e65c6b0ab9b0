"""Whom limits by address are counted for."""

from ipaddress import IPv6Address, ip_address
from urllib.parse import unquote


def holder_of(peer: str) -> str:
    """Return whom a peer's calls are counted for: its address without the port, of IPv6 its network.

    Everybody on IPv6 has a network of 2 to the 64 addresses. gRPC writes peers as `ipv4:1.2.3.4:5678`,
    `ipv6:%5B::1%5D:5678` or `unix:`.
    """
    if not peer.startswith("ipv"):
        return peer
    host = unquote(peer).partition(":")[2].rpartition(":")[0]
    try:
        address = ip_address(host.strip("[]"))
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        # A server that listens on `::` sees callers of the fourth version so.
        mapped = address.ipv4_mapped
        return str(mapped) if mapped else f"{IPv6Address(int(address) >> 64 << 64)}/64"
    return str(address)
