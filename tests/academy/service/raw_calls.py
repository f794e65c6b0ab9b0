"""Calls made frame by frame, by somebody who keeps to HTTP/2 and to nothing else.

Messages may never be sent, answers never be read: the windows begin with nothing and grow only on request.
"""

import socket
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Final, Self

from academy.wire.addresses import ServerAddress

_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, RESET, _SETTINGS, _PING, _GO_AWAY, _WINDOW = 0, 1, 3, 4, 6, 7, 8
_END_STREAM, _END_HEADERS, _ACK = 1, 4, 1
SECONDS: Final = 90.0


class RawCalls:
    """One connection; `ended` are the numbers of its calls that the server has ended, in whatever way."""

    def __init__(self, address: ServerAddress, token: str = "", *, source: str = "") -> None:
        self._socket = socket.create_connection((address.host, address.port), SECONDS, (source, 0))
        self._token = token
        self._next = 1
        self._buffer = b""
        self.ended: set[int] = set()
        self.reset: set[int] = set()
        self.headers: dict[int, bytes] = {}
        no_window = (4).to_bytes(2) + (0).to_bytes(4)
        self._socket.sendall(_PREFACE + _frame(_SETTINGS, 0, 0, no_window))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def begin(self, path: str, message: bytes | None = None, *, more: bool = False) -> int:
        """Call a method, and send its message if there is one; return the call's number."""
        number, self._next = self._next, self._next + 2
        headers = {
            ":method": "POST",
            ":scheme": "http",
            ":path": path,
            ":authority": "academy",
            "content-type": "application/grpc",
            "te": "trailers",
        }
        if self._token:
            headers["authorization"] = f"Bearer {self._token}"
        # Literals that stay out of the table of headers.
        packed = b"".join(b"\0" + _text(name) + _text(value) for name, value in headers.items())
        self._socket.sendall(_frame(_HEADERS, _END_HEADERS, number, packed))
        if message is not None:
            self.say(number, message, more=more)
        return number

    def say(self, number: int, message: bytes, *, more: bool = True) -> None:
        """Send a message of a call, the last one unless there are more."""
        data = b"\0" + len(message).to_bytes(4) + message
        self._socket.sendall(_frame(_DATA, 0 if more else _END_STREAM, number, data))

    def announce(self, number: int, size: int) -> None:
        """Say how long a call's message is going to be, and send nothing of it."""
        self._socket.sendall(_frame(_DATA, 0, number, b"\0" + size.to_bytes(4)))

    def abandon(self, number: int) -> None:
        """Reset a call."""
        self._socket.sendall(_frame(RESET, 0, number, (8).to_bytes(4)))

    def read(self, number: int, most: int) -> None:
        """Allow this many more bytes of a call's answers."""
        for stream in (0, number):
            self._socket.sendall(_frame(_WINDOW, 0, stream, most.to_bytes(4)))

    def until(self, holds: Callable[[], bool]) -> None:
        """Take in what comes until something holds. Raises TimeoutError and ConnectionError."""
        while not holds():
            data = self._socket.recv(65_536)
            if not data:
                raise ConnectionError("the server closed the connection")
            self._buffer += data
            for kind, flags, stream, body in self._frames():
                if kind == RESET:
                    self.reset.add(stream)
                    self.ended.add(stream)
                elif kind in (_HEADERS, _DATA) and flags & _END_STREAM:
                    self.ended.add(stream)
                if kind == _HEADERS:
                    self.headers[stream] = self.headers.get(stream, b"") + body
                elif kind in (_SETTINGS, _PING) and not flags & _ACK:
                    self._socket.sendall(_frame(kind, _ACK, 0, body if kind == _PING else b""))

    def _frames(self) -> Iterator[tuple[int, int, int, bytes]]:
        while len(self._buffer) >= 9:
            length = int.from_bytes(self._buffer[:3])
            if len(self._buffer) < 9 + length:
                return
            head, body = self._buffer[:9], self._buffer[9 : 9 + length]
            self._buffer = self._buffer[9 + length :]
            yield head[3], head[4], int.from_bytes(head[5:]), body


def _frame(kind: int, flags: int, stream: int, body: bytes = b"") -> bytes:
    return len(body).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + body


def _text(text: str) -> bytes:
    raw = text.encode()
    length = bytes([len(raw)]) if len(raw) < 127 else bytes([127, len(raw) - 127])
    return length + raw
