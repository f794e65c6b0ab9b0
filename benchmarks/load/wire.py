"""A load generator that costs next to nothing a call: HTTP/2 frames made once, sent over plain sockets.

It speaks just as much HTTP/2 and gRPC as it takes to ask a server of ours without TLS, one question in flight
on each connection, as bots ask.
"""

import argparse
import json
import os
import selectors
import socket
import struct
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Final

_HOST: Final = "127.0.0.1"
_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, _RESET, _SETTINGS, _PING, _GOAWAY, _WINDOW = 0, 1, 3, 4, 6, 7, 8
_END_STREAM, _END_HEADERS, _ACK = 1, 4, 1
_LARGEST_WINDOW: Final = 2**31 - 1
_FIRST_DYNAMIC: Final = 62
# A round in which nothing has been answered yet goes on for so long: a disk may be busy with other work.
PATIENCE_SECONDS: Final = 60.0


class ServerRefusedError(RuntimeError):
    """A call ended without an answer."""


def _frame(kind: int, flags: int, stream: int, body: bytes = b"") -> bytes:
    return len(body).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + body


def _text(text: str) -> bytes:
    raw = text.encode()
    length = bytes([len(raw)]) if len(raw) < 127 else bytes([127, len(raw) - 127])
    return length + raw


@dataclass
class Bot:
    """One connection, one question in flight; `seconds` are the times between question and answer."""

    port: int
    path: str
    token: str
    questions: Sequence[bytes]
    streaming: bool
    seconds: list[float] = field(default_factory=list)
    received: int = 0

    def __post_init__(self) -> None:
        self.socket = socket.create_connection((_HOST, self.port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        window = struct.pack(">HI", 4, _LARGEST_WINDOW)
        more = (_LARGEST_WINDOW - 65_535).to_bytes(4)
        self.socket.sendall(_PREFACE + _frame(_SETTINGS, 0, 0, window) + _frame(_WINDOW, 0, 0, more))
        headers = [
            (":method", "POST"),
            (":scheme", "http"),
            (":path", self.path),
            (":authority", f"{_HOST}:{self.port}"),
            ("content-type", "application/grpc"),
            ("te", "trailers"),
        ]
        if self.token:
            headers.append(("authorization", f"Bearer {self.token}"))
        # Sent in full once, by their places in the table of headers from then on.
        self._first_headers = b"".join(b"\x40" + _text(key) + _text(value) for key, value in headers)
        self._headers = bytes(0x80 | (_FIRST_DYNAMIC + place) for place in reversed(range(len(headers))))
        self._stream = -1
        self._buffer = b""
        self._got_data = False
        messages = [b"\0" + len(question).to_bytes(4) + question for question in self.questions]
        self._messages = cycle(messages)
        self._asked = 0.0

    def ask(self) -> None:
        """Send the next question."""
        message = next(self._messages)
        frames = b""
        if self._stream < 0 or not self.streaming:
            fresh = self._stream < 0
            self._stream = 1 if fresh else self._stream + 2
            frames = _frame(
                _HEADERS, _END_HEADERS, self._stream, self._first_headers if fresh else self._headers
            )
        # Frames hold 16 KiB at most.
        for start in range(0, len(message), 16_384):
            end = start + 16_384
            last = not self.streaming and end >= len(message)
            frames += _frame(_DATA, _END_STREAM if last else 0, self._stream, message[start:end])
        self._got_data = False
        self._wanted = -1
        self._asked = time.perf_counter()
        self.socket.sendall(frames)

    def take(self) -> bool:  # noqa: C901 - one loop over frames, which must cost next to nothing
        """Take what has come; return whether the answer is complete. Raises ServerRefusedError."""
        data = self.socket.recv(262_144)
        if not data:
            raise ServerRefusedError(f"{self.path}: the connection was closed")
        self.received += len(data)
        buffer = self._buffer + data if self._buffer else data
        at, end = 0, len(buffer)
        complete = False
        while end - at >= 9:
            length = int.from_bytes(buffer[at : at + 3])
            if end - at < 9 + length:
                break
            kind, flags = buffer[at + 3], buffer[at + 4]
            body = at + 9
            at = body + length
            if kind == _DATA:
                if self._wanted < 0 and length >= 5:
                    self._wanted = 5 + int.from_bytes(buffer[body + 1 : body + 5])
                self._wanted -= length
                self._got_data = True
                if self.streaming and self._wanted == 0:
                    complete = True
            elif kind == _HEADERS and flags & _END_STREAM:
                if not self._got_data or self.streaming:
                    raise ServerRefusedError(f"{self.path}: {buffer[body:at]!r}")
                complete = True
            elif kind == _RESET and not complete:
                raise ServerRefusedError(f"{self.path}: reset {buffer[body:at].hex()}")
            elif kind == _GOAWAY:
                raise ServerRefusedError(f"{self.path}: the server goes away")
            elif kind == _PING and not flags & _ACK:
                self.socket.sendall(_frame(_PING, _ACK, 0, buffer[body:at]))
            elif kind == _SETTINGS and not flags & _ACK:
                self.socket.sendall(_frame(_SETTINGS, _ACK, 0))
        self._buffer = buffer[at:]
        if complete:
            self.seconds.append(time.perf_counter() - self._asked)
        return complete


@dataclass(frozen=True)
class Load:
    """What came of it: answers a second, quantiles of their times in seconds, bytes an answer."""

    rate: float
    p50: float
    p99: float
    answer_bytes: float


def _has_answer(crowd: list[Bot]) -> bool:
    return any(bot.seconds for bot in crowd)


def load(  # noqa: C901, PLR0913 - one loop, and the fields of the order in JSON
    port: int,
    path: str,
    token: str,
    questions: Sequence[bytes],
    *,
    bots: int,
    streaming: bool,
    seconds: float,
    rate: float = 0.0,
) -> Load:
    """Ask for some seconds, with no pause or `rate` questions a second, after a warm-up."""
    crowd = [
        Bot(port, path, token, [*questions[place:], *questions[:place]], streaming)
        for place in (number * len(questions) // bots for number in range(bots))
    ]
    with selectors.DefaultSelector() as selector:
        for bot in crowd:
            selector.register(bot.socket, selectors.EVENT_READ, bot)
            bot.ask()
        begin = time.perf_counter() + seconds / 5
        end = begin + seconds
        waiting: list[Bot] = []
        warm = False
        due = begin
        while (now := time.perf_counter()) < end or (now < end + PATIENCE_SECONDS and not _has_answer(crowd)):
            if not warm and now >= begin:
                warm = True
                for bot in crowd:
                    bot.seconds.clear()
                    bot.received = 0
            while waiting and (not rate or now >= due):
                waiting.pop().ask()
                due = max(due + 1 / rate, now - 0.1) if rate else due
            timeout = 0.5 if not waiting else max(0.0, due - now)
            for key, _ in selector.select(timeout):
                bot = key.data
                if bot.take():
                    if rate:
                        waiting.insert(0, bot)
                    else:
                        bot.ask()
        taken = time.perf_counter() - begin
    for bot in crowd:
        bot.socket.close()
    times = sorted(seconds_taken for bot in crowd for seconds_taken in bot.seconds)
    received = sum(bot.received for bot in crowd)
    if not times:
        raise ServerRefusedError(f"{path}: no answer in {seconds + PATIENCE_SECONDS} s")
    return Load(
        len(times) / taken, times[len(times) // 2], times[len(times) * 99 // 100], received / len(times)
    )


def main() -> None:
    """Read what to do as JSON from standard input, do it, and print what came of it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--core", type=int, default=-1, help="the core to run on")
    options = parser.parse_args()
    if options.core >= 0:
        os.sched_setaffinity(0, {options.core})
    for line in sys.stdin:
        order = json.loads(line)
        order["questions"] = [bytes.fromhex(question) for question in order["questions"]]
        print(json.dumps(vars(load(**order))), flush=True)


if __name__ == "__main__":
    main()
