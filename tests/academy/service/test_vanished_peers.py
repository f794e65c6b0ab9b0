"""Peers that are gone without having closed their connections: their connections and streams end."""

import socket
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from academy.store.tokens import Role
from academy.v1 import consultation_pb2
from benchmarks.load.wire import Bot
from tests.academy.service import examples
from tests.academy.service.running import Running, limited
from tests.waiting import until

SECONDS = 60.0
QUESTION = consultation_pb2.LookUpOpeningRequest(game_id="go", player=1)
PLAY = "/academy.v1.ConsultationService/Play"
LOOK_UP = "/academy.v1.ConsultationService/LookUpOpening"


@pytest.fixture(scope="module")
def academy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with limited(tmp_path_factory.mktemp("data"), ping_seconds=1.0, pong_seconds=6.0) as running:
        running.register(examples.tiny_go("go"))
        yield running


def answered(academy: Running, path: str, question: bytes, streaming: bool) -> Bot:
    """A bot that has been answered once. It answers no ping."""
    port = academy.address.port
    bot = Bot(port, path, academy.token("ann", Role.BOT), [question], streaming)
    bot.socket.settimeout(SECONDS)
    bot.ask()
    while not bot.take():
        pass
    return bot


def closed(connection: socket.socket) -> bool:
    """Read on without a word, for so long as anything comes."""
    try:
        while connection.recv(65_536):
            pass
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False
    return True


@pytest.mark.threat("held_places")
def test_a_peer_that_vanishes_is_dropped(academy: Running) -> None:
    request = consultation_pb2.PlayRequest(request_id=1, opening=QUESTION).SerializeToString()
    on_a_stream = answered(academy, PLAY, request, streaming=True)
    between_calls = answered(academy, LOOK_UP, QUESTION.SerializeToString(), streaming=False)
    with socket.create_connection(("127.0.0.1", academy.address.port)) as without_a_word:
        without_a_word.settimeout(SECONDS)
        assert academy.playing() == 1
        for gone in (on_a_stream.socket, between_calls.socket, without_a_word):
            assert closed(gone)
            gone.close()
    until(lambda: academy.playing() == 0)


def test_peer_that_answers_pings_stays_connected(academy: Running) -> None:
    bot = answered(academy, LOOK_UP, QUESTION.SerializeToString(), streaming=False)
    pings = 0
    while pings < 2:
        # Pings are answered by the way, and nothing else comes.
        assert not bot.take()
        pings += 1
    bot.ask()
    while not bot.take():
        pass
    bot.socket.close()


@pytest.mark.threat("held_places")
def test_a_connection_without_calls_is_closed(tmp_path: Path) -> None:
    with limited(tmp_path, idle_stream_seconds=1.0) as running:
        running.register(examples.tiny_go("go"))
        bot = answered(running, LOOK_UP, QUESTION.SerializeToString(), streaming=False)
        assert closed(bot.socket)
        bot.socket.close()
        # A client connects again by itself.
        client = running.bot("bob")
        client.consultation.LookUpOpening(QUESTION)
        states: list[grpc.ChannelConnectivity] = []
        client.channel.subscribe(states.append)
        until(lambda: states[-1:] == [grpc.ChannelConnectivity.IDLE])
        client.consultation.LookUpOpening(QUESTION)
