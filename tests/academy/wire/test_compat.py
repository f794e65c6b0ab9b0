"""The private parts of dependencies that are relied on are still there, and do what they are relied on for."""

import asyncio
import inspect
from typing import Any, cast

import grpc
import pytest
from grpc import aio

from academy.wire import _compat

SECONDS = 60.0


def test_grpcs_server_still_answers_calls_in_a_task_made_by_its_watcher() -> None:
    """Fails where grpcio has renamed or left out what `reset_call` needs: see the versions in `_compat`."""

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


def test_a_call_that_is_reset_ends_for_its_caller_without_a_status_of_the_server() -> None:
    async def ask() -> grpc.StatusCode:
        tasks: list[asyncio.Task[Any]] = []

        async def answer(request: bytes, context: object) -> bytes:
            tasks.append(cast("asyncio.Task[Any]", asyncio.current_task()))
            await asyncio.Event().wait()
            return request

        async with _Server(answer) as call:
            calling = asyncio.ensure_future(call(b""))
            while not tasks:
                await asyncio.sleep(0.01)
            # Whoever keeps a task keeps its call.
            _compat.reset_call(tasks.pop())
            with pytest.raises(aio.AioRpcError) as error:
                await calling
            return error.value.code()

    assert asyncio.run(asyncio.wait_for(ask(), SECONDS)) in (
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.UNKNOWN,
    )


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
