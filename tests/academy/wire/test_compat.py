"""Private parts of dependencies that we rely on are there, and do what we rely on them for."""

import asyncio
import inspect
from typing import Any

import grpc
from grpc import aio

from academy.wire import _compat


def test_grpcs_server_still_answers_calls_in_a_task_made_by_its_watcher() -> None:
    """Fails where grpcio has renamed or left out what `reset_call` needs."""

    async def ask() -> tuple[str, str]:
        makers: list[tuple[str, str]] = []

        async def answer(request: bytes, context: object) -> bytes:
            task: Any = asyncio.current_task()
            watcher = task.maker.get_coro()
            makers.append((watcher.__name__, watcher.cr_await.__name__))
            return request

        async with _Server(answer) as call:
            await call(b"")
        return makers[0]

    assert asyncio.run(ask()) == (_compat.GRPC_WATCHER, _compat.GRPC_WATCHING)


class _Server:
    """A server of one method, and what calls it."""

    def __init__(self, answer: Any) -> None:
        assert inspect.iscoroutinefunction(answer)
        self._answer = answer

    async def __aenter__(self) -> Any:
        _compat.remember_makers(asyncio.get_running_loop())
        self._server = aio.server()
        handlers: dict[str, Any] = {"Answer": grpc.unary_unary_rpc_method_handler(self._answer)}
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("test.Test", handlers),))
        port = self._server.add_insecure_port("127.0.0.1:0")
        await self._server.start()
        self._channel = aio.insecure_channel(f"127.0.0.1:{port}")
        return self._channel.unary_unary("/test.Test/Answer")

    async def __aexit__(self, *_: object) -> None:
        await self._channel.close()
        await self._server.stop(0)
