"""gRPC messages: any bytes sent to any method of a real server are answered, or refused for a reason."""

import atexit
import tempfile
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import grpc

from academy.service.permissions import ROLES
from academy.v1 import contests_pb2
from tests.academy.service.examples import contest, tiny_go
from tests.academy.service.running import Client, serving
from tests.academy.service.test_authorisation import CONTEST, GAME, QUESTIONS, STREAMED
from tests.fuzz.targets import Target

_SECONDS = 30
# It lasts until its caller ends it, so what comes at once is read.
_WATCH, _WATCH_SECONDS = "WatchLibrary", 0.5
# The server's own mistakes: everything else is an answer or a refusal that it means.
_MISTAKES = {grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.DEADLINE_EXCEEDED}
# The message was read: what it asks for is missing, or wants a server that is set up for it.
_READ = {grpc.StatusCode.NOT_FOUND, grpc.StatusCode.FAILED_PRECONDITION}
_METHODS = {method.rpartition("/")[2]: method for method in ROLES}


@cache
def _clients() -> list[Client]:
    """An admin, and a player in a contest, of a server that runs until this process ends."""
    stack = ExitStack()
    atexit.register(stack.close)
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="academy-fuzz-"))
    running = stack.enter_context(serving(Path(folder) / "data"))
    arena = running.arena().contests
    arena.RegisterGame(contests_pb2.RegisterGameRequest(game=tiny_go(GAME)))
    request = contests_pb2.OpenContestRequest(contest=contest(CONTEST, GAME))
    ticket = arena.OpenContest(request).tickets[0]
    return [running.admin(), running.client(ticket)]


def _call(data: bytes) -> bool:
    """The first line is the method's name, the rest one message."""
    name, _, message = data.partition(b"\n")
    method = _METHODS.get(name.decode(errors="replace"))
    if method is None:
        return False
    was_read = False
    streamed, watches = name.decode() in STREAMED, name.decode() == _WATCH
    seconds = _WATCH_SECONDS if watches else _SECONDS
    for client in _clients():
        call: Any = (client.channel.stream_stream if streamed else client.channel.unary_stream)(method)
        try:
            for _ in call(iter([message]) if streamed else message, timeout=seconds):
                pass
            was_read = True
        except grpc.RpcError as error:
            if watches and error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                was_read = True
                continue
            assert error.code() not in _MISTAKES, f"{name!r}: {error.code()} {error.details()}"
            was_read |= error.code() in _READ
    return was_read


def _samples() -> list[bytes]:
    return [name.encode() + b"\n" + message.SerializeToString() for name, message in QUESTIONS.items()]


SERVED = Target("message", _call, _samples)
