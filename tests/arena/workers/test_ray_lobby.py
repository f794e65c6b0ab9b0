"""The way between a game on a node and the arena's lobby, with calls in the place of Ray's."""

import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest

from arena.workers.ray_lobby import LobbyLink, NodeLobby, Piece, start_loop

SECONDS = 60
T = TypeVar("T")


class NodeLostError(RuntimeError):
    """As Ray reports of calls to an actor that has gone."""


@dataclass
class Scene:
    lobby: socket.socket
    node: NodeLobby
    calls: ThreadPoolExecutor
    lost: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    failed: "Future[Exception]" = field(default_factory=Future)
    calling: Any = field(default_factory=threading.Lock)

    def link(self) -> LobbyLink:
        return LobbyLink(
            self.lobby.getsockname(),
            lambda: self.calls.submit(self._called, self._receive),
            lambda pieces: self.calls.submit(self._called, partial(self.node.send, pieces)),
            self.failed.set_result,
            start_loop("link"),
        )

    def _receive(self) -> Sequence[Piece] | None:
        pieces = self.node.receive(0.1)
        if pieces is None:
            self.over.set()
        return pieces

    def _called(self, call: Callable[[], T]) -> T:
        with self.calling:
            if self.lost.is_set():
                raise NodeLostError
            return call()

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

    def greeted(self, words: bytes = b"hello") -> tuple[socket.socket, socket.socket]:
        """A game's connection, by which its words have arrived, and that of the lobby."""
        game = self.game()
        game.sendall(words)
        lobby = self.accept()
        assert received(lobby, len(words)) == words
        return game, lobby


@contextmanager
def listening() -> Iterator[socket.socket]:
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as lobby:
        lobby.settimeout(SECONDS)
        lobby.bind(f"{folder}/lobby")
        lobby.listen()
        yield lobby


@pytest.fixture
def scene() -> Iterator[Scene]:
    # One call for each way at a time: an actor has two threads for them.
    with listening() as lobby, tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as calls:
        yield Scene(lobby, NodeLobby(Path(folder), start_loop("node")), calls)


def received(connection: socket.socket, size: int) -> bytes:
    content = b""
    while len(content) < size and (piece := connection.recv(size - len(content))):
        content += piece
    return content


def over(scene: Scene, link: LobbyLink) -> Sequence[Piece]:
    """End a game as the node and the arena do."""
    left = scene.node.end()
    link.end(left)
    return left


def test_bytes_arrive_in_order_on_both_ways(scene: Scene) -> None:
    link, game = scene.link(), scene.game()
    sent = bytes(range(256)) * 8_000
    threading.Thread(target=partial(game.sendall, sent)).start()
    lobby = scene.accept()
    assert received(lobby, len(sent)) == sent
    threading.Thread(target=partial(lobby.sendall, sent[::-1])).start()
    assert received(game, len(sent)) == sent[::-1]
    game.close()
    over(scene, link)
    assert not scene.failed.done()


def test_each_seat_has_a_connection_of_its_own(scene: Scene) -> None:
    scene.link()
    seats = []
    for number in range(7):
        name = f"seat {number}".encode()
        game, lobby = scene.greeted(name)
        seats.append((game, name))
        lobby.sendall(name.upper())
    assert [received(game, len(name)) for game, name in seats] == [name.upper() for _, name in seats]


def test_a_player_whose_words_nobody_reads_holds_up_no_other_and_is_cut_off(scene: Scene) -> None:
    scene.link()
    # Nobody reads what the first game receives; it stays open.
    (_talkative, unread), (quiet, lobby) = scene.greeted(b"talkative"), scene.greeted(b"quiet")
    unread.sendall(bytes(1 << 20))
    lobby.sendall(b"my move")
    assert received(quiet, 7) == b"my move"
    with pytest.raises(OSError, match=r"Broken pipe|reset"):
        unread.sendall(bytes(64 << 20))
    lobby.sendall(b"another")
    assert received(quiet, 7) == b"another"


def test_the_last_words_of_a_game_arrive_however_late_they_are_fetched(scene: Scene) -> None:
    link = scene.link()
    game, lobby = scene.greeted()
    # No call fetches what comes now.
    with scene.calling:
        game.sendall(b"the end")
        game.close()
        left = scene.node.end()
    assert b"".join(piece.content for piece in left) == b"the end"
    link.end(left)
    assert received(lobby, 100) == b"the end"
    assert not scene.failed.done()


def test_the_last_words_of_a_game_arrive_in_order_where_they_are_fetched_while_it_ends(scene: Scene) -> None:
    link = scene.link()
    game, lobby = scene.greeted()
    ending = threading.Thread(target=over, args=(scene, link))
    ending.start()
    words = [f"{number:03} ".encode() for number in range(200)]
    for word in words:
        game.sendall(word)
        time.sleep(0.002)
    game.close()
    assert received(lobby, 1_000) == b"".join(words)
    ending.join()


def test_the_lobby_hears_that_a_game_is_over(scene: Scene) -> None:
    link = scene.link()
    game, lobby = scene.greeted()
    game.close()
    assert lobby.recv(1) == b""
    over(scene, link)


@pytest.mark.parametrize("begun", [True, False])
def test_where_the_way_fails_the_game_is_given_up_and_the_lobby_hears_it(scene: Scene, begun: bool) -> None:
    if not begun:
        scene.lost.set()
    link = scene.link()
    if begun:
        _, lobby = scene.greeted()
        scene.lost.set()
        assert lobby.recv(1) == b""
    assert isinstance(scene.failed.result(SECONDS), NodeLostError)
    link.end()


def test_a_game_whose_node_is_lost_before_its_result_arrives_is_given_up(scene: Scene) -> None:
    link = scene.link()
    game, lobby = scene.greeted()
    # No call fetches that the game's connection has ended.
    with scene.calling:
        game.close()
        scene.node.end()
    assert scene.over.wait(SECONDS)
    scene.lost.set()
    lobby.sendall(b"late")
    assert isinstance(scene.failed.result(SECONDS), NodeLostError)
    assert lobby.recv(1) == b""
    link.end()


def test_a_game_hears_that_the_lobby_is_gone(scene: Scene) -> None:
    scene.link()
    game, lobby = scene.greeted()
    lobby.close()
    assert game.recv(1) == b""
    scene.lobby.close()
    late = scene.game()
    late.sendall(b"hello")
    assert late.recv(1) == b""
    assert not scene.failed.done()


def test_a_game_whose_connections_stay_open_ends_all_the_same(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.workers.ray_lobby._ENDING_SECONDS", 0.5)
    link = scene.link()
    strange, _ = scene.greeted()
    over(scene, link)
    assert strange.recv(1) == b""
