"""Several listeners on one port are one server to those who call."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc import aio

from academy.service.limits import Limits
from academy.service.server import MultiListenerServer, channel_options
from academy.v1 import contests_pb2
from tests.academy.service.examples import tiny_go
from tests.academy.service.running import serving
from tests.waiting import until

CONNECTIONS = 48


def saying(text: bytes) -> aio.Server:
    """A server that answers every call with the same."""

    async def answer(request: bytes, context: object) -> bytes:
        return text

    server = aio.server(options=channel_options(Limits(), shared_port=True))
    handlers: dict[str, Any] = {"Say": grpc.unary_unary_rpc_method_handler(answer)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("test.Listener", handlers),))
    return server


@asynccontextmanager
async def listening(count: int, port: int = 0) -> AsyncIterator[tuple[MultiListenerServer, int]]:
    numbers = iter(range(count))
    listeners = MultiListenerServer(count, lambda: saying(b"%d" % next(numbers)))
    port = listeners.add_insecure_port(f"127.0.0.1:{port}")
    await listeners.start()
    try:
        yield listeners, port
    finally:
        await listeners.stop(None)


async def answer_from(port: int) -> bytes:
    """What one says who calls on a connection of its own."""
    options = [("grpc.use_local_subchannel_pool", 1)]
    async with aio.insecure_channel(f"127.0.0.1:{port}", options=options) as channel:
        say: Any = channel.unary_unary("/test.Listener/Say")
        return bytes(await say(b"", timeout=180))


@pytest.mark.parametrize("count", [1, 4])
def test_every_connection_is_answered_by_one_process(count: int) -> None:
    async def ask() -> set[bytes]:
        async with listening(count) as (_, port):
            return set(await asyncio.gather(*(answer_from(port) for _ in range(CONNECTIONS))))

    answers = asyncio.run(ask())

    assert answers <= {b"0", b"1", b"2", b"3"}
    # The system chooses, and not one of four 48 times.
    assert (len(answers) > 1) == (count > 1)


def is_free(port: int) -> bool:
    with socket.socket() as another:
        another.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            # Not to be shared.
            another.bind(("127.0.0.1", port))
            another.listen()
        except OSError:
            return False
        return True


def test_a_stopped_server_frees_its_port_with_all_listeners() -> None:
    async def ask() -> int:
        async with listening(4) as (listeners, port):
            await answer_from(port)
            assert not is_free(port)
            waiting = asyncio.create_task(listeners.wait_for_termination())
            await listeners.stop(None)
            assert not await waiting
        return port

    port = asyncio.run(ask())
    # gRPC closes its sockets a moment later.
    until(lambda: is_free(port))


def test_a_port_that_another_has_is_refused() -> None:
    async def listen(port: int) -> None:
        async with listening(2, port):
            pass

    with socket.socket() as another:
        another.bind(("127.0.0.1", 0))
        another.listen()
        with pytest.raises(RuntimeError):
            asyncio.run(listen(another.getsockname()[1]))


def test_a_server_is_one_to_all_of_its_connections(tmp_path: Path) -> None:
    """What one connection has written is what any other one reads."""
    with serving(tmp_path) as academy:
        bots = [academy.bot("reader") for _ in range(CONNECTIONS)]
        answers = [bot.contests.ListGames(contests_pb2.ListGamesRequest()) for bot in bots]
        assert not any(answer.games for answer in answers)

        academy.register(tiny_go("go"))
        answers = [bot.contests.ListGames(contests_pb2.ListGamesRequest()) for bot in bots]

    assert [[game.game_id for game in answer.games] for answer in answers] == [["go"]] * CONNECTIONS
