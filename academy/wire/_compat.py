"""Private parts of dependencies that have no public counterpart. Each names the versions it was tested with.

grpcio 1.85.0 to 1.85.1: `reset_call`. gRPC's server for asyncio has no way to end a call that its caller
leaves unread: `abort` sends a status after what is still to be sent, a context has no `cancel`, and
cancelling only the answering task makes gRPC send a status too. But the server answers each call in a task,
which another task made that watches over the call. Once both are cancelled nothing keeps the call: the core
resets it and frees what was still to be sent. `tests/academy/wire/test_compat.py` fails where that changes.
"""

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any, Final, TypeAlias

# The private method of grpcio whose coroutine makes the answering tasks.
GRPC_WATCHER: Final = "_schedule_rpc_coro"
# The watcher is in this one until the call ends. Then it waits for the answering task, and prints a traceback
# if either of the two is cancelled.
GRPC_WATCHING: Final = "_handle_cancellation_from_core"
_Work: TypeAlias = "Coroutine[Any, Any, Any] | Generator[Any, None, Any]"


class _TaskWithMaker(asyncio.Task[Any]):
    """A task that knows the task that created it."""

    __slots__ = ("maker",)

    maker: "asyncio.Task[Any] | None"


def remember_makers(loop: asyncio.AbstractEventLoop) -> None:
    """Make every new task of a loop remember its maker, for `reset_call`."""

    def make(loop: asyncio.AbstractEventLoop, work: _Work, **options: Any) -> _TaskWithMaker:
        task = _TaskWithMaker(work, loop=loop, **options)
        task.maker = asyncio.current_task(loop)
        return task

    loop.set_task_factory(make)


def reset_call(answering: "asyncio.Task[Any]") -> None:
    """End the call that a task answers, with unsent data; no effect after its end."""
    # A task that resets its own call ends by itself.
    if answering is not asyncio.current_task():
        answering.cancel()
    maker = getattr(answering, "maker", None)
    # No other task may end, such as the one that accepts calls.
    if maker is not None and _watches(maker.get_coro()):
        maker.cancel()


def reset_call_later(seconds: float) -> None:
    """End the call that the current task answers after `seconds`, unless it is over by then."""
    answering = asyncio.current_task()
    assert answering is not None
    timer = asyncio.get_running_loop().call_later(seconds, reset_call, answering)
    # Otherwise the timer would keep the call's memory.
    answering.add_done_callback(lambda _: timer.cancel())


def _watches(work: object) -> bool:
    """Whether a coroutine is a watcher of a running call."""
    return _name(work) == GRPC_WATCHER and _name(getattr(work, "cr_await", None)) == GRPC_WATCHING


def _name(work: object) -> str:
    return getattr(work, "__name__", "")
