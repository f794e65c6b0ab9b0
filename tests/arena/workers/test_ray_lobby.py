"""The way between a game on a node and the arena's lobby, with calls in the place of Ray's."""

import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from arena.workers.ray_lobby import ArenaEnd, NodeLobby, Piece

SECONDS = 60


class NodeLostError(RuntimeError):
    """As Ray reports of calls to an actor that has gone."""


@dataclass
class Scene:
    lobby: socket.socket
    node: NodeLobby
    arena: ArenaEnd
    lost: threading.Event

    def game(self) -> socket.socket:
        """A game's connection to the lobby, as its process makes it."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(SECONDS)
        connection.connect(str(self.node.path))
        return connection

    def accept(self) -> socket.socket:
        """The same at the lobby."""
        connection, _ = self.lobby.accept()
        connection.settimeout(SECONDS)
        return connection


@contextmanager
def listening() -> Iterator[socket.socket]:
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as lobby:
        lobby.settimeout(SECONDS)
        lobby.bind(f"{folder}/lobby")
        lobby.listen()
        yield lobby


@pytest.fixture
def scene() -> Iterator[Scene]:
    lost = threading.Event()
    with listening() as lobby, tempfile.TemporaryDirectory() as folder:
        node = NodeLobby(Path(folder))

        def take() -> list[Piece]:
            if lost.is_set():
                raise NodeLostError
            return node.take(0.1)

        arena = ArenaEnd(lobby.getsockname(), take, node.give)
        yield Scene(lobby, node, arena, lost)
        arena.close()


def received(connection: socket.socket, size: int) -> bytes:
    content = b""
    while len(content) < size and (piece := connection.recv(size - len(content))):
        content += piece
    return content


def test_what_is_sent_arrives_in_order_on_both_ways(scene: Scene) -> None:
    game = scene.game()
    sent = bytes(range(256)) * 8_000
    threading.Thread(target=partial(game.sendall, sent)).start()
    lobby = scene.accept()
    assert received(lobby, len(sent)) == sent
    threading.Thread(target=partial(lobby.sendall, sent[::-1])).start()
    assert received(game, len(sent)) == sent[::-1]


def test_each_seat_has_a_connection_of_its_own(scene: Scene) -> None:
    seats = []
    for name in (b"one", b"two"):
        seats.append((scene.game(), name))
        seats[-1][0].sendall(name)
        lobby = scene.accept()
        assert received(lobby, 3) == name
        lobby.sendall(name.upper())
    assert [received(game, 3) for game, _ in seats] == [b"ONE", b"TWO"]


def test_the_last_words_of_a_game_arrive_before_it_is_over(scene: Scene) -> None:
    game = scene.game()
    game.sendall(b"the end")
    game.close()
    scene.node.close()
    lobby = scene.accept()
    assert received(lobby, 100) == b"the end"


@pytest.mark.parametrize("how", ["over", "lost"])
def test_the_lobby_hears_that_a_game_is_over_or_its_node_lost(scene: Scene, how: str) -> None:
    scene.game().sendall(b"hello")
    lobby = scene.accept()
    assert received(lobby, 5) == b"hello"
    if how == "lost":
        scene.lost.set()
    else:
        scene.arena.close()
    assert lobby.recv(1) == b""


def test_a_game_hears_that_the_lobby_is_gone(scene: Scene) -> None:
    game = scene.game()
    game.sendall(b"hello")
    lobby = scene.accept()
    received(lobby, 5)
    lobby.close()
    assert game.recv(1) == b""
    scene.lobby.close()
    late = scene.game()
    late.sendall(b"hello")
    assert late.recv(1) == b""
