"""A client's connection: messages in, messages out, and no wait for anybody."""

import selectors
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from academy.wire.rates import Bucket
from referees.diplomacy.daide.frames import (
    DaideProtocolError,
    ErrorCode,
    Frame,
    FrameReader,
    FrameType,
    error_frame,
    final_frame,
    message_frame,
)
from referees.diplomacy.daide.tokens import Vocabulary
from referees.diplomacy.daide_server.settings import MAX_NAME_CHARACTERS

# What was read of a connection goes to its game in one message of at most 64 KiB, as hexadecimals.
_CHUNK: Final = 1 << 14
_MOST_LAST_CHUNKS: Final = 8


@dataclass(frozen=True)
class DaideLimits:
    """Every bound on what comes from outside. Times are in seconds, sizes in bytes or items.

    `clients` wait at the listener at a time, `clients_of_name` of them with the same name; `observers` are
    those of the listener, and of each game.
    `greeting_seconds` is how long a client may take to say who it is and that it plays the map, and how long
    half a message may lie about; `write_seconds` how long it may take nothing of what is sent to it, and
    `unsent_bytes` how much of that may wait. Messages above `messages_per_second` are for
    `message_burst` of them in advance. After `wrong_passcodes` for one power of a game nobody comes back to
    it: there are no more than 8,191 passcodes, which a program could try.
    """

    clients: int = 256
    clients_of_name: int = 64
    observers: int = 32
    message_bytes: int = 16 * 1024
    messages_per_second: float = 200.0
    message_burst: float = 2_000.0
    unsent_bytes: int = 4 * 1024 * 1024
    name_characters: int = MAX_NAME_CHARACTERS
    wrong_passcodes: int = 8
    greeting_seconds: float = 30.0
    write_seconds: float = 30.0


class ConnectionHungError(ConnectionError):
    """A client that has gone, or must be sent away; the message says why."""


class ClientConnection:
    """One connection, which is never waited for.

    `rest` is what another process has read of it and not understood; None where it begins here.

    `flush` sends what could not be sent at once. The owner closes a connection when `check` raises
    ConnectionHungError. After a final or an error message of either side nothing more is sent.
    """

    def __init__(
        self, client_socket: socket.socket, words: Vocabulary, limits: DaideLimits, rest: bytes | None = None
    ) -> None:
        client_socket.setblocking(False)
        with suppress(OSError):
            client_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            # A machine that has vanished says nothing more: this finds it out.
            client_socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            client_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 20)
            client_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 5)
            client_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 4)
        self.socket = client_socket
        self._limits = limits
        self._reader = FrameReader(at_server=True, longest=limits.message_bytes, begun=rest is not None)
        self._reader.words = words
        self._before = rest or b""
        self._out = bytearray()
        self._messages = Bucket(limits.messages_per_second, limits.message_burst)
        self._moved = self._half_since = time.monotonic()
        self._broken: str | None = None
        self._ending: tuple[str, bytes] | None = None
        self._over = False

    @property
    def unsent(self) -> bool:
        """Whether something waits to be sent."""
        return bool(self._out)

    def wait_in(self, selector: selectors.BaseSelector, data: object) -> None:
        """Have a selector, which knows the connection, wait for what can be read and sent."""
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._out else 0)
        if selector.get_key(self.socket).events != wanted:
            selector.modify(self.socket, wanted, data)

    @property
    def rest(self) -> bytes:
        """The beginning of a message whose end has not come."""
        return self._reader.rest

    def receive(self) -> list[Frame]:
        """The messages that have come, without waiting.

        `check` reports the end of the messages, and a client that breaks the protocol, which gets an error
        message.
        """
        if self._ending is not None:
            return []
        try:
            data = self.socket.recv(_CHUNK)
        except BlockingIOError:
            if not self._before:
                return []
            data = b""
        except OSError as error:
            self._broken = f"its connection broke: {error.strerror}"
            return []
        if not data and not self._before:
            self._broken = "it closed its connection"
            return []
        # When the connection was closed meanwhile, it is seen the next time.
        data, self._before = self._before + data, b""
        begins = not self._reader.rest
        frames: list[Frame] = []
        try:
            for frame in self._reader.feed(data):
                if not self._accept(frame):
                    return frames
                frames.append(frame)
        except DaideProtocolError as error:
            last = final_frame() if error.code is None else error_frame(error.code)
            self._end(f"it broke the protocol: {error}", last)
        if frames or begins:
            self._half_since = time.monotonic()
        return frames

    def _accept(self, frame: Frame) -> bool:
        """Whether the client goes on with this message; else the connection ends."""
        if frame.type is FrameType.FINAL:
            self._end("it announced that it goes")
        elif frame.type is FrameType.ERROR:
            self._end(f"it sent the error {int.from_bytes(frame.content[:2])}")
        elif not self._messages.use():
            rate = self._limits.messages_per_second
            self._end(f"it sent more than {rate:g} messages a second", final_frame())
        else:
            return True
        return False

    def _end(self, why: str, last_words: bytes = b"") -> None:
        """What came before is answered first."""
        self._ending = self._ending or (why, last_words)

    def check(self) -> None:
        """Raises ConnectionHungError for a client that has gone, must be sent away, or is too slow."""
        limits, now = self._limits, time.monotonic()
        if self._broken is not None:
            raise ConnectionHungError(self._broken)
        if self._ending is not None:
            why, last_words = self._ending
            self._send_last(last_words)
            raise ConnectionHungError(why)
        if self._out and now - self._moved > limits.write_seconds:
            raise ConnectionHungError(f"it took nothing of what it was sent for {limits.write_seconds:g} s")
        if self._reader.rest and now - self._half_since > limits.greeting_seconds:
            raise ConnectionHungError(f"it left a message unfinished for {limits.greeting_seconds:g} s")

    def say(self, tokens: Sequence[int]) -> None:
        """Send a message, or keep it to be sent. `check` finds a client that leaves too much unread."""
        self.send(message_frame(tokens))

    def send(self, frame: bytes) -> None:
        """The same with a message's bytes."""
        if self._broken is not None or self._over:
            return
        if not self._out:
            self._moved = time.monotonic()
        self._out += frame
        if len(self._out) > self._limits.unsent_bytes:
            self._broken = f"it left {len(self._out)} bytes unread"
            self._out.clear()
            return
        self.flush()

    def flush(self) -> None:
        """Send what can be sent."""
        while self._out:
            try:
                sent = self.socket.send(self._out)
            except BlockingIOError:
                return
            except OSError as error:
                self._broken = f"its connection broke: {error.strerror}"
                self._out.clear()
                return
            self._moved = time.monotonic()
            del self._out[:sent]

    def say_goodbye(self) -> None:
        """Send the final message."""
        self._send_last(final_frame())

    def complain(self, code: ErrorCode) -> None:
        """Send an error message."""
        self._send_last(error_frame(code))

    def _send_last(self, frame: bytes) -> None:
        self.send(frame)
        self._over = True
        if not self._out:
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_WR)

    def drained(self) -> bool:
        """Whether the client has closed its side; what it still says is dropped."""
        try:
            if self._out:
                self.flush()
                if not self._out:
                    self.socket.shutdown(socket.SHUT_WR)
            return self.socket.recv(_CHUNK) == b""
        except BlockingIOError:
            return self._broken is not None
        except OSError:
            return True

    def pass_on(self) -> None:
        """Close this process's side of a connection that another process goes on with."""
        self.socket.close()

    def close(self) -> None:
        """Close the connection, with the final message where nothing else has ended it."""
        self.say_goodbye()
        # A connection that is closed unread is reset, and the client could lose the last message; one that
        # sends without end is not listened to for ever.
        with suppress(OSError):
            for _ in range(_MOST_LAST_CHUNKS):
                if not self.socket.recv(_CHUNK):
                    break
        self.socket.close()
