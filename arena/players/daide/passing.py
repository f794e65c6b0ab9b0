"""What the door and a game tell each other, over a Unix socket that keeps messages whole.

A game says whom it seeks; the door passes connections, each with who it is.
"""

import array
import json
import os
import socket
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any, Final

MAX_BYTES: Final = 64 * 1024


class BrokenLinkError(ConnectionError):
    """The other side has gone."""


@dataclass(frozen=True)
class Seek:
    """A game wants clients: for each seat the name of its client, `*` for any that nobody else wants."""

    game_id: str
    seats: dict[int, str]


class Part(Enum):
    """What a client that is passed comes for."""

    PLAY = "play"
    RETURN = "return"
    OBSERVE = "observe"


@dataclass(frozen=True)
class Passed:
    """A client whose connection comes with this. `rest` is the beginning of a message, as hexadecimals."""

    part: Part
    seat: int = 0
    passcode: int = 0
    name: str = ""
    version: str = ""
    rest: str = ""


def send_seek(link: socket.socket, seek: Seek) -> None:
    """Say whom a game wants. Raises BrokenLinkError."""
    _send(link, asdict(seek))


def send_passed(link: socket.socket, passed: Passed, connection: socket.socket) -> None:
    """Pass a connection, which the caller closes afterwards. Raises BrokenLinkError."""
    _send(link, {**asdict(passed), "part": passed.part.value}, connection)


def _send(link: socket.socket, content: dict[str, Any], connection: socket.socket | None = None) -> None:
    rights = []
    if connection is not None:
        rights.append((socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [connection.fileno()])))
    try:
        link.sendmsg([json.dumps(content).encode()], rights)
    except OSError as error:
        raise BrokenLinkError(f"the other side has gone: {error}") from error


def receive_seek(link: socket.socket) -> Seek:
    """Whom a game wants. Raises BrokenLinkError when it has gone, and BlockingIOError."""
    content, descriptors = _receive(link)
    _close(descriptors)
    return Seek(content["game_id"], {int(seat): client for seat, client in content["seats"].items()})


def receive_passed(link: socket.socket) -> tuple[Passed, socket.socket]:
    """A client and its connection. Raises BrokenLinkError when the door has gone, and BlockingIOError."""
    content, descriptors = _receive(link)
    if len(descriptors) != 1:
        _close(descriptors)
        raise BrokenLinkError("a client came without its connection")
    passed = Passed(**{**content, "part": Part(content["part"])})
    return passed, socket.socket(fileno=descriptors[0])


def _receive(link: socket.socket) -> tuple[dict[str, Any], list[int]]:
    try:
        # Programs that are started later must not hold connections open.
        data, rights, _, _ = link.recvmsg(
            MAX_BYTES, socket.CMSG_SPACE(array.array("i").itemsize), socket.MSG_CMSG_CLOEXEC
        )
    except BlockingIOError:
        raise
    except OSError as error:
        raise BrokenLinkError(f"the other side has gone: {error}") from error
    descriptors = array.array("i")
    for level, kind, content in rights:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(content[: len(content) - len(content) % descriptors.itemsize])
    if not data:
        _close(list(descriptors))
        raise BrokenLinkError("the other side has gone")
    return json.loads(data), list(descriptors)


def _close(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
