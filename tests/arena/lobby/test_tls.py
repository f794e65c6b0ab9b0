"""A lobby with TLS: players check that it is the arena, and nobody reads along."""

from pathlib import Path

import grpc
import pytest

from academy.wire.addresses import InvalidAddressError, ServerAddress
from academy.wire.tls import Certificates, Endpoint
from arena.match.game import play
from clients.connection import AcademyUnavailableError
from referees.api import Termination
from tests.academy.service.certificates import authority, signed
from tests.arena.engines import python_player
from tests.arena.lobby.rooms import DialledIn, RawStream, job, open_lobby, remote

LOCAL = ServerAddress.parse("127.0.0.1:0")


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return authority(tmp_path_factory.mktemp("certificates"), "ours")


@pytest.fixture(scope="module")
def endpoint(ours: Path) -> Endpoint:
    pair = signed(ours.parent, "arena", by=ours)
    return Endpoint(LOCAL, Certificates(pair.certificate, pair.key))


def test_players_dial_in_over_tls(endpoint: Endpoint, ours: Path) -> None:
    with open_lobby(endpoint=endpoint) as lobby:
        bot = DialledIn(lobby, "one", lambda game: lambda turn: "pass", ca=ours)
        result = play(job(remote(lobby, "one"), python_player("other")))
    assert result.outcome is not None and result.outcome.termination is Termination.SCORE
    assert bot.ended() == 1


def test_a_player_that_expects_another_authority_stays_away(endpoint: Endpoint, ours: Path) -> None:
    theirs = authority(ours.parent, "theirs")
    with open_lobby(endpoint=endpoint) as lobby:
        assert isinstance(
            DialledIn(lobby, "one", lambda game: lambda turn: "pass", ca=theirs).ended(),
            AcademyUnavailableError,
        )


def test_a_client_without_tls_is_rejected(endpoint: Endpoint) -> None:
    with open_lobby(endpoint=endpoint) as lobby:
        stream = RawStream(lobby)
        stream.hello("one")
        with pytest.raises(grpc.RpcError) as error:
            stream.hear()
        assert error.value.code() is grpc.StatusCode.UNAVAILABLE


@pytest.mark.parametrize(
    ("endpoint", "why"),
    [
        (Endpoint(LOCAL, Certificates(Path("no.pem"), Path("no.key"))), r"no\.key: cannot be read"),
        (Endpoint(ServerAddress.parse("0.0.0.0:0")), "without TLS tokens could be read"),
    ],
)
def test_an_unsafe_address_is_refused(endpoint: Endpoint, why: str) -> None:
    with pytest.raises(InvalidAddressError, match=why), open_lobby(endpoint=endpoint):
        pass
