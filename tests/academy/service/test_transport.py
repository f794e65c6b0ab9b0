"""TLS, mutual TLS, Unix sockets, and where a server refuses to listen."""

import socket
import stat
from pathlib import Path

import grpc
import pytest

from academy.service.server import AcademyServer, ServerSettings
from academy.store.library_store import Store
from academy.store.tokens import Role
from academy.v1 import contests_pb2
from academy.wire.addresses import InvalidAddressError, ServerAddress
from academy.wire.tls import Certificates
from tests.academy.service.certificates import authority, signed
from tests.academy.service.running import LOCAL, Client, Running, serving

GAMES = contests_pb2.ListGamesRequest()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("certificates")


@pytest.fixture(scope="module")
def ours(folder: Path) -> Path:
    return authority(folder, "ours")


def asks(academy: Running, certificates: Certificates) -> grpc.StatusCode:
    credentials = certificates.channel_credentials()
    with grpc.secure_channel(f"localhost:{academy.address.port}", credentials) as channel:
        try:
            Client(channel, academy.token("ann")).contests.ListGames(GAMES, timeout=180)
        except grpc.RpcError as error:
            return error.code()
        return grpc.StatusCode.OK


def test_with_tls_the_client_checks_the_server(folder: Path, ours: Path, tmp_path: Path) -> None:
    theirs = authority(tmp_path, "theirs")
    settings = ServerSettings(address=LOCAL, certificates=signed(folder, "server", ours))
    with serving(tmp_path / "data", settings) as academy:
        assert asks(academy, Certificates(authority=ours)) is grpc.StatusCode.OK
        assert asks(academy, Certificates(authority=theirs)) is grpc.StatusCode.UNAVAILABLE
        # Without TLS nothing is answered.
        with pytest.raises(grpc.RpcError) as caught:
            academy.bot("ann").contests.ListGames(GAMES, timeout=180)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


def test_with_mutual_tls_the_server_checks_the_client_too(folder: Path, ours: Path, tmp_path: Path) -> None:
    server = signed(folder, "mutual", ours)
    client = signed(folder, "client", ours)
    theirs = authority(tmp_path, "theirs")
    stranger = signed(tmp_path, "stranger", theirs)
    settings = ServerSettings(
        address=LOCAL, certificates=Certificates(server.certificate, server.key, authority=ours)
    )
    with serving(tmp_path / "data", settings) as academy:
        known = Certificates(client.certificate, client.key, authority=ours)
        assert asks(academy, known) is grpc.StatusCode.OK
        assert asks(academy, Certificates(authority=ours)) is grpc.StatusCode.UNAVAILABLE
        wrong = Certificates(stranger.certificate, stranger.key, authority=ours)
        assert asks(academy, wrong) is grpc.StatusCode.UNAVAILABLE
        # A certificate does not stand for a token.
        with grpc.secure_channel(f"localhost:{academy.address.port}", known.channel_credentials()) as channel:
            with pytest.raises(grpc.RpcError) as caught:
                Client(channel, "").contests.ListGames(GAMES, timeout=180)
            assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0"])
@pytest.mark.threat("access")
def test_without_tls_only_this_machine_is_listened_to(tmp_path: Path, address: str) -> None:
    with Store(tmp_path) as store, pytest.raises(InvalidAddressError, match="--insecure"):
        AcademyServer(store, ServerSettings(address=ServerAddress.parse(address)))


def test_with_insecure_a_server_listens_beyond_this_machine_without_tls(tmp_path: Path) -> None:
    settings = ServerSettings(address=ServerAddress.parse("0.0.0.0:0"), insecure=True)
    with serving(tmp_path, settings) as academy:
        channel = grpc.insecure_channel(f"127.0.0.1:{academy.address.port}")
        Client(channel, academy.token("ann", Role.BOT)).contests.ListGames(GAMES)
        channel.close()


def test_a_unix_socket_is_its_users_alone_and_goes_with_the_server(tmp_path: Path) -> None:
    path = tmp_path / "academy.sock"
    with serving(tmp_path / "data", ServerSettings(address=ServerAddress.parse(f"unix:{path}"))) as academy:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
        academy.bot("ann").contests.ListGames(GAMES)
    assert not path.exists()


def test_a_socket_left_behind_is_taken_over_and_one_in_use_is_not(tmp_path: Path) -> None:
    path = tmp_path / "academy.sock"
    settings = ServerSettings(address=ServerAddress.parse(f"unix:{path}"))
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(path))
    assert path.exists()
    with serving(tmp_path / "data", settings) as academy:
        refused = pytest.raises(InvalidAddressError, match="another server listens there")
        with refused, serving(tmp_path / "other", settings):
            pass
        academy.bot("ann").contests.ListGames(GAMES)


@pytest.mark.parametrize("kind", ["file", "no folder"])
def test_where_no_socket_can_be_made_its_path_is_named_and_no_file_is_lost(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "missing" / "socket"
    if kind == "file":
        path = tmp_path / "file"
        path.write_text("precious")
    settings = ServerSettings(address=ServerAddress.parse(f"unix:{path}"))
    with pytest.raises(InvalidAddressError, match=str(path)), serving(tmp_path / "data", settings):
        pass
    assert kind != "file" or path.read_text() == "precious"


def test_a_port_in_use_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as academy:
        settings = ServerSettings(address=academy.address)
        refused = pytest.raises(InvalidAddressError, match="cannot listen there")
        with refused, serving(tmp_path / "other", settings):
            pass
