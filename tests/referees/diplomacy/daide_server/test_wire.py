"""One client's connection, and the bounds on what it may do."""

import socket
import time
from collections.abc import Iterator

import pytest

from referees.diplomacy.daide.frames import final_frame, initial_frame, message_frame
from referees.diplomacy.daide.tokens import Tokens
from referees.diplomacy.daide_server.connection import ClientConnection, ConnectionHungError, DaideLimits
from tests.referees.diplomacy.daide.words import STANDARD, tokens

NOW = message_frame(tokens("NOW"))


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def received(wire: ClientConnection) -> list[Tokens]:
    return [frame.tokens for frame in wire.receive()]


def test_messages_come_whole_and_nothing_is_waited_for(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    wire = ClientConnection(ours, STANDARD, DaideLimits(), b"")
    assert wire.receive() == []
    theirs.sendall(NOW[:3])
    assert wire.receive() == [] and wire.rest == NOW[:3]
    theirs.sendall(NOW[3:] + NOW)
    assert received(wire) == [tokens("NOW")] * 2
    wire.check()


def test_bytes_that_another_has_read_come_first(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    wire = ClientConnection(ours, STANDARD, DaideLimits(), NOW + NOW[:3])
    assert received(wire) == [tokens("NOW")]
    theirs.sendall(NOW[3:])
    assert received(wire) == [tokens("NOW")]


def test_messages_before_an_error_are_answered_first(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    wire = ClientConnection(ours, STANDARD, DaideLimits())
    theirs.sendall(initial_frame() + NOW + bytes.fromhex("02 00 0002 5F00") + NOW)
    assert len(wire.receive()) == 2
    wire.say(tokens("GOF"))
    with pytest.raises(ConnectionHungError, match="0x5f00 is not a token"):
        wire.check()
    assert theirs.recv(100) == message_frame(tokens("GOF")) + bytes.fromhex("04 00 0002 000E")


@pytest.mark.parametrize(
    ("sent", "why"),
    [(final_frame(), "announced"), (bytes.fromhex("04 00 0002 000E"), "sent the error 14")],
)
def test_a_client_that_goes_is_gone(pair: tuple[socket.socket, socket.socket], sent: bytes, why: str) -> None:
    ours, theirs = pair
    wire = ClientConnection(ours, STANDARD, DaideLimits(), b"")
    theirs.sendall(sent)
    assert wire.receive() == []
    with pytest.raises(ConnectionHungError, match=why):
        wire.check()
    wire.say(tokens("OFF"))
    wire.close()
    assert theirs.recv(100) == b""


def test_a_client_sent_away_for_another_reason_gets_the_final_message_once(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = pair
    wire = ClientConnection(ours, STANDARD, DaideLimits(), b"")
    theirs.sendall(NOW[:3])
    wire.say(tokens("OFF"))
    wire.say_goodbye()
    wire.say(tokens("NOW"))
    wire.close()
    heard = b""
    while data := theirs.recv(100):
        heard += data
    assert heard == message_frame(tokens("OFF")) + final_frame()


def test_a_closed_connection_is_noticed(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    wire = ClientConnection(ours, STANDARD, DaideLimits(), b"")
    theirs.sendall(NOW)
    theirs.close()
    assert received(wire) == [tokens("NOW")] and wire.receive() == []
    with pytest.raises(ConnectionHungError, match="closed its connection"):
        wire.check()


def test_half_a_message_is_not_waited_for_for_ever(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    wire = ClientConnection(ours, STANDARD, DaideLimits(greeting_seconds=0.0), b"")
    theirs.sendall(NOW[:5])
    wire.receive()
    with pytest.raises(ConnectionHungError, match="unfinished"):
        wire.check()


def test_a_client_that_was_silent_may_send_a_message_in_pieces(
    pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = pair
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    wire = ClientConnection(ours, STANDARD, DaideLimits(greeting_seconds=0.5), b"")
    theirs.sendall(NOW)
    assert received(wire) == [tokens("NOW")]
    now += 0.6
    theirs.sendall(NOW[:4])
    assert wire.receive() == []
    wire.check()
    # Each further piece wins no time.
    now += 0.6
    theirs.sendall(NOW[4:5])
    assert wire.receive() == []
    with pytest.raises(ConnectionHungError, match="unfinished"):
        wire.check()


def test_a_burst_is_taken_and_a_flood_is_not(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    wire = ClientConnection(ours, STANDARD, DaideLimits(messages_per_second=0.001, message_burst=10), b"")
    theirs.sendall(NOW * 10)
    assert len(wire.receive()) == 10
    wire.check()
    theirs.sendall(NOW * 10)
    assert wire.receive() == []
    with pytest.raises(ConnectionHungError, match="messages a second"):
        wire.check()
    assert theirs.recv(100) == final_frame()


def test_a_caller_that_reads_nothing_is_given_up(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, _ = pair
    slow = ClientConnection(ours, STANDARD, DaideLimits(write_seconds=0.0), b"")
    while not slow.unsent:
        slow.say(tokens("NOW") * 1000)
    with pytest.raises(ConnectionHungError, match="took nothing"):
        slow.check()


def test_a_client_that_leaves_too_much_unread_is_sent_away(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, _ = pair
    wire = ClientConnection(ours, STANDARD, DaideLimits(unsent_bytes=10_000), b"")
    for _ in range(1000):
        wire.say(tokens("NOW") * 1000)
    with pytest.raises(ConnectionHungError, match="unread"):
        wire.check()
    assert not wire.unsent
