"""Whom limits by address are counted for."""

import pytest

from academy.wire.peers import holder_of


@pytest.mark.parametrize(
    ("peer", "holder"),
    [
        ("ipv4:192.0.2.7:50123", "192.0.2.7"),
        ("ipv6:%5B::ffff:192.0.2.7%5D:50123", "192.0.2.7"),
        ("ipv6:[2001:db8:0:1::2]:50123", "2001:db8:0:1::/64"),
        ("ipv6:%5Bfe80::1%25eth0%5D:50123", "fe80::/64"),
        ("ipv6:unreadable:50123", "unreadable"),
        ("unix:", "unix:"),
        ("", ""),
    ],
)
def test_a_peer_is_counted_by_its_address(peer: str, holder: str) -> None:
    assert holder_of(peer) == holder


@pytest.mark.threat("flood")
def test_the_addresses_of_one_network_are_one_holder() -> None:
    peers = [f"ipv6:%5B2001:db8:0:1::{number:x}%5D:{number}" for number in range(1, 100)]
    assert len(set(map(holder_of, peers))) == 1
    assert holder_of("ipv6:%5B2001:db8:0:2::1%5D:1") not in map(holder_of, peers)
