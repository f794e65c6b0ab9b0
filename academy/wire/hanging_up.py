"""Ending a call that its caller leaves lying: gRPC's server for asyncio has no word for that.

It answers each call in a task, which another one made that watches over the call. Once both are cancelled
nobody holds the call any more: gRPC's core resets it, and frees what was still to be sent.
"""

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any, Final, TypeAlias

# The method that makes those tasks is private, and there is no public way: `abort` sends a status after what
# is still to be sent, and so never where nobody reads; a servicer's context has no `cancel`, and cancelling
# the answering task alone makes gRPC send a status too.
_WATCHER: Final = "_schedule_rpc_coro"
# Until the call ends the watcher is in here. After that it waits for the answering task, and prints a
# traceback if either of the two is cancelled.
_WATCHING: Final = "_handle_cancellation_from_core"
_Work: TypeAlias = "Coroutine[Any, Any, Any] | Generator[Any, None, Any]"


class _Made(asyncio.Task[Any]):
    """A task that knows which one made it."""

    __slots__ = ("maker",)

    maker: "asyncio.Task[Any] | None"


def remember_makers(loop: asyncio.AbstractEventLoop) -> None:
    """Have every task that is made in a loop from now on know its maker."""

    def make(loop: asyncio.AbstractEventLoop, work: _Work, **more: Any) -> _Made:
        task = _Made(work, loop=loop, **more)
        task.maker = asyncio.current_task(loop)
        return task

    loop.set_task_factory(make)


def reset_call(answering: "asyncio.Task[Any]") -> None:
    """End the call that a task answers, whatever it still has to send; nothing for one that is over."""
    # A task that hangs up by itself ends by itself.
    if answering is not asyncio.current_task():
        answering.cancel()
    maker = getattr(answering, "maker", None)
    # Any other task, like the one that takes calls in, is not ours to end.
    if maker is not None and _watches(maker.get_coro()):
        maker.cancel()


def _watches(work: object) -> bool:
    """Whether a coroutine is a watcher whose call has not ended."""
    return _name(work) == _WATCHER and _name(getattr(work, "cr_await", None)) == _WATCHING


def _name(work: object) -> str:
    return getattr(work, "__name__", "")


def hang_up_later(answering: "asyncio.Task[Any]", seconds: float) -> None:
    """End the call that a task answers after so many seconds, unless it is over by then."""
    timer = asyncio.get_running_loop().call_later(seconds, reset_call, answering)
    # Else it would keep the call's memory until then.
    answering.add_done_callback(lambda _: timer.cancel())
