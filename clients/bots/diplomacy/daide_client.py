"""A connection to a DAIDE server: tokens out, tokens in."""

import socket
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

from referees.diplomacy import InvalidMapError, shipped_map, shipped_maps
from referees.diplomacy.daide.frames import (
    DaideProtocolError,
    FrameReader,
    FrameType,
    error_frame,
    final_frame,
    initial_frame,
    message_frame,
    represented,
)
from referees.diplomacy.daide.tokens import Tokens, Vocabulary, vocabulary

DEFAULT_PORT: Final = 16713
_CHUNK: Final = 1 << 15


class ServerDisconnectedError(ConnectionError):
    """The server has closed the connection, or broke the protocol."""


class UnknownMapError(ValueError):
    """A map that this client has no file of, or whose tokens the server numbers otherwise."""


class DaideClient:
    """One connection to a DAIDE server, which waits in all it does; use it in a `with` block.

    `connect_seconds` is how long connecting, and each sending, may take. Raises OSError where there is no
    server.
    """

    def __init__(self, host: str, port: int, connect_seconds: float = 10.0) -> None:
        self._socket = socket.create_connection((host, port), timeout=connect_seconds)
        self._connect_seconds = connect_seconds
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._reader = FrameReader(at_server=False)
        self._messages: list[Tokens] = []
        self._represented: dict[str, int] = {}
        # After a final or an error message, whoever sent it, nothing more is sent.
        self._over = False
        self._send(initial_frame())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def send(self, tokens: Sequence[int]) -> None:
        """Send a message. Raises ServerDisconnectedError."""
        self._send(message_frame(tokens))

    def receive(self, seconds: float | None = None) -> Tokens:
        """The next message, within so many seconds (None: ever).

        Raises TimeoutError and ServerDisconnectedError.
        """
        self._socket.settimeout(seconds)
        while not self._messages:
            try:
                data = self._socket.recv(_CHUNK)
            except TimeoutError:
                raise
            except OSError as error:
                raise ServerDisconnectedError(f"the connection broke: {error}") from error
            if not data:
                raise ServerDisconnectedError("the server closed the connection")
            self._read(data)
        return self._messages.pop(0)

    def _read(self, data: bytes) -> None:
        try:
            for frame in self._reader.feed(data):
                if frame.type is FrameType.REPRESENTATION:
                    self._represented = represented(frame)
                elif frame.type is FrameType.DIPLOMACY:
                    self._messages.append(frame.tokens)
                elif frame.type is FrameType.ERROR:
                    self._over = True
                    code = int.from_bytes(frame.content[:2])
                    raise ServerDisconnectedError(
                        f"the server says that this client broke the protocol: error {code}"
                    )
                else:
                    self._over = True
                    if not self._messages:
                        raise ServerDisconnectedError("the server said that it goes")
        except DaideProtocolError as error:
            if error.code is not None:
                self._send(error_frame(error.code))
                self._over = True
            raise ServerDisconnectedError(f"the server broke the protocol: {error}") from error

    def words(self, map_name: str) -> Vocabulary:
        """The tokens of the map that the server named. Raises UnknownMapError."""
        name = map_name.lower()
        if name not in shipped_maps():
            raise UnknownMapError(f"no map {map_name!r}; there are {', '.join(shipped_maps())}")
        try:
            words = vocabulary(shipped_map(name))
        except InvalidMapError as error:
            raise UnknownMapError(f"{map_name!r}: {error}") from None
        if self._represented not in ({}, {name: token for token, name in words.own}):
            raise UnknownMapError(f"{map_name!r}: the server numbers its powers or provinces otherwise")
        self._reader.words = words
        return words

    def _send(self, frame: bytes) -> None:
        if self._over:
            return
        try:
            self._socket.settimeout(self._connect_seconds)
            self._socket.sendall(frame)
        except OSError as error:
            raise ServerDisconnectedError(f"the connection broke: {error}") from error

    def close(self) -> None:
        """Say that this client goes, and close the connection."""
        # It may have been closed at the other side.
        with suppress(ServerDisconnectedError):
            self._send(final_frame())
        self._socket.close()
