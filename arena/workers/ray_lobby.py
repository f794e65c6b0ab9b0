"""The way between a game on a node of a Ray cluster and the arena's lobby, where players have dialled in.

The game finds a socket on its node, as it finds the lobby's on the arena's machine. What goes through it is
carried by calls of Ray's, so it needs no port and no rights but the cluster's own.
"""

import contextlib
import socket
import threading
from collections import deque
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple

_PIECE_BYTES: Final = 1 << 16
_MOST_PIECES: Final = 64
_CLOSING_SECONDS: Final = 5.0


class Piece(NamedTuple):
    """Bytes of one of a game's connections to the lobby; none: it has ended."""

    connection: int
    content: bytes


class NodeLobby:
    """The socket on the node, in a folder of this user's."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "lobby"
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(self.path))
        self._listener.listen()
        self._changed = threading.Condition()
        self._pieces: deque[Piece] = deque()
        self._connections: dict[int, socket.socket] = {}
        self._open = 0
        self._is_carried = True
        threading.Thread(target=self._accept, name="lobby", daemon=True).start()

    def take(self, seconds: float) -> list[Piece]:
        """What the game has sent since the last call, after whose pieces it comes; it may wait for some."""
        with self._changed:
            self._is_carried = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: bool(self._pieces), seconds)
            pieces = list(self._pieces)
            self._pieces.clear()
            self._is_carried = not pieces
            self._changed.notify_all()
            return pieces

    def give(self, piece: Piece) -> None:
        """Hand the game what the lobby sent."""
        connection = self._connections[piece.connection]
        # The game may have closed it.
        with contextlib.suppress(OSError):
            if piece.content:
                connection.sendall(piece.content)
            else:
                connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Wait a while until the lobby has what the game sent at its end."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._is_carried and not (self._pieces or self._open), _CLOSING_SECONDS
            )
        for opened in (self._listener, *self._connections.values()):
            _end(opened)

    def _accept(self) -> None:
        for number in count():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._changed:
                self._connections[number] = connection
                self._open += 1
            read = threading.Thread(target=self._read, args=(number, connection), daemon=True)
            read.start()

    def _read(self, number: int, connection: socket.socket) -> None:
        content = b"."
        while content:
            content = _received(connection)
            with self._changed:
                self._changed.wait_for(lambda: len(self._pieces) < _MOST_PIECES)
                self._pieces.append(Piece(number, content))
                self._open -= not content
                self._changed.notify_all()


class ArenaEnd:
    """The other end, on the arena's machine: connects to the lobby for each connection of the game.

    `take` and `give` are those of the `NodeLobby`, each of which may fail with any error once the node is
    lost. They are called in threads.
    """

    def __init__(
        self, lobby: str, take: Callable[[], Sequence[Piece]], give: Callable[[Piece], object]
    ) -> None:
        self._lobby, self._take, self._give = lobby, take, give
        self._connections: dict[int, socket.socket] = {}
        self._is_closed = threading.Event()
        threading.Thread(target=self._carry, name="to-lobby", daemon=True).start()

    def close(self) -> None:
        """Carry nothing from now on, as the game is over; the lobby hears that it is."""
        self._is_closed.set()

    def _carry(self) -> None:
        try:
            while not self._is_closed.is_set():
                for piece in self._take():
                    self._pass_on(piece)
        except Exception:  # The node is lost, which the pool finds out by the game.
            pass
        finally:
            for connection in self._connections.values():
                _end(connection)

    def _pass_on(self, piece: Piece) -> None:
        if piece.connection not in self._connections:
            self._connections[piece.connection] = self._connect(piece.connection)
        connection = self._connections[piece.connection]
        with contextlib.suppress(OSError):
            if piece.content:
                connection.sendall(piece.content)
            else:
                connection.shutdown(socket.SHUT_WR)

    def _connect(self, number: int) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # Where the lobby is gone the game hears it from a connection that has ended.
        with contextlib.suppress(OSError):
            connection.connect(self._lobby)
        threading.Thread(target=self._hear, args=(number, connection), daemon=True).start()
        return connection

    def _hear(self, number: int, connection: socket.socket) -> None:
        content = b"."
        while content:
            content = _received(connection)
            try:
                self._give(Piece(number, content))
            except Exception:  # As above.
                self.close()
                return


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(_PIECE_BYTES)
    except OSError:
        return b""


def _end(opened: socket.socket) -> None:
    # Closing alone wakes nobody who waits for it in another thread.
    with contextlib.suppress(OSError):
        opened.shutdown(socket.SHUT_RDWR)
    opened.close()
