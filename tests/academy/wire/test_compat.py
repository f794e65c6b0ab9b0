"""Private parts of dependencies that we rely on are there, and do what we rely on them for."""

import asyncio
from typing import Any

import grpc
from grpc import aio

from academy.wire import _compat


def test_grpcs_server_still_answers_calls_in_a_task_made_by_its_watcher() -> None:
    """Fails where grpcio has renamed or left out what `reset_call` needs."""
    makers: list[tuple[str, str]] = []

    async def answer(request: bytes, context: object) -> bytes:
        task: Any = asyncio.current_task()
        watcher = task.maker.get_coro()
        makers.append((watcher.__name__, watcher.cr_await.__name__))
        return request

    async def ask() -> None:
        _compat.remember_makers(asyncio.get_running_loop())
        server = aio.server()
        handlers: dict[str, Any] = {"Answer": grpc.unary_unary_rpc_method_handler(answer)}
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("test.Test", handlers),))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        async with aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            call: Any = channel.unary_unary("/test.Test/Answer")
            await call(b"")
        await server.stop(0)

    asyncio.run(ask())
    assert makers == [(_compat.GRPC_WATCHER, _compat.GRPC_WATCHING)]
