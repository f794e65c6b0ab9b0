"""Connections of one address are bounded, however little is asked on them."""

import select
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import grpc
import pytest

from academy.service.addresses import ServerAddress
from academy.service.limits import Limits
from academy.service.server import ServerSettings
from academy.service.transport import Connections, connections_per_address, holder
from academy.v1 import contests_pb2
from tests.academy.service.running import Running, serving

SECONDS = 90.0
GAMES = contests_pb2.ListGamesRequest()
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)


class Port:
    """A port of this process, and the connections that were taken in there."""

    def __init__(self, within: ExitStack) -> None:
        self._within = within
        self._listening = within.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.number = self._listening.getsockname()[1]
        self._taken: list[socket.socket] = []

    def connected(self, source: str, count: int) -> list[socket.socket]:
        """Connect so often from an address; return the peers' ends."""
        found = []
        for _ in range(count):
            peer = socket.create_connection(("127.0.0.1", self.number), SECONDS, (source, 0))
            found.append(self._within.enter_context(peer))
            self._taken.append(self._within.enter_context(self._listening.accept()[0]))
        return found

    def end_last(self) -> None:
        """Close the connection taken in last at this end."""
        self._taken[-1].close()


@pytest.fixture
def port() -> Iterator[Port]:
    with ExitStack() as within:
        yield Port(within)


def is_open(peer: socket.socket) -> bool:
    """Whether it has not been ended; what comes is passed over."""
    while select.select([peer], [], [], 0)[0]:
        try:
            if not peer.recv(65_536):
                return False
        except ConnectionResetError:
            return False
    return True


def opened(peers: list[socket.socket]) -> list[bool]:
    return [is_open(peer) for peer in peers]


def test_the_latest_of_an_address_are_closed(port: Port) -> None:
    connections = Connections(port.number, 3)
    first = port.connected("127.0.0.1", 2)
    assert not connections.look()
    later = port.connected("127.0.0.1", 4)
    others = port.connected("127.0.0.2", 3)
    assert connections.look() == {"127.0.0.1": 3}
    assert opened(first) == [True, True]
    assert sorted(opened(later)) == [False, False, False, True]
    assert opened(others) == [True, True, True]


def test_who_closes_one_may_open_another(port: Port) -> None:
    connections = Connections(port.number, 2)
    port.connected("127.0.0.1", 1)
    for _ in range(3):
        (peer,) = port.connected("127.0.0.1", 1)
        assert not connections.look()
        peer.close()
        port.end_last()
    assert not connections.look()


def test_other_sockets_of_the_process_are_left_alone(port: Port) -> None:
    peers = port.connected("127.0.0.1", 4)
    assert not Connections(port.number + 1, 1).look()
    pair = socket.socketpair()
    assert Connections(port.number, 4).look() == {}
    assert opened([*peers, *pair]) == [True] * 6
    for each in pair:
        each.close()


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ("::1", "::/64"),
        ("fe80::1%eth0", "fe80::/64"),
    ],
)
def test_whose_connections_are_counted_together(address: str, counted: str) -> None:
    assert holder(address) == counted


def test_where_there_are_few_connections_an_address_has_few() -> None:
    assert connections_per_address(Limits(connections=40, connections_per_address=10)) == 10
    assert connections_per_address(Limits(connections=10**9, connections_per_address=1)) == 1


@pytest.fixture
def academy(tmp_path: Path) -> Iterator[Running]:
    limits = Limits(connections_per_address=4)
    with serving(
        tmp_path, ServerSettings(address=ServerAddress.parse("127.0.0.1:0"), limits=limits)
    ) as running:
        yield running


def test_one_address_cannot_keep_all_connections(academy: Running) -> None:
    where = (academy.address.host, academy.address.port)
    with ExitStack() as within:
        greedy = []
        for _ in range(12):
            peer = within.enter_context(socket.create_connection(where, SECONDS, ("127.0.0.2", 0)))
            peer.sendall(PREFACE)
            greedy.append(peer)
        until = time.monotonic() + SECONDS
        while sum(opened(greedy)) > 4 and time.monotonic() < until:
            time.sleep(0.05)
        assert 1 <= sum(opened(greedy)) <= 4
        # From another address there is room, and a client that was closed connects again.
        assert not academy.admin().contests.ListGames(GAMES, wait_for_ready=True, timeout=SECONDS).games


def test_who_keeps_within_the_limit_is_not_disturbed(academy: Running) -> None:
    clients = [academy.admin() for _ in range(4)]
    # Looked at once a second.
    until = time.monotonic() + 2.5
    while time.monotonic() < until:
        for client in clients:
            try:
                client.contests.ListGames(GAMES, timeout=SECONDS)
            except grpc.RpcError as fault:
                pytest.fail(f"a connection was ended: {fault}")
        time.sleep(0.1)
