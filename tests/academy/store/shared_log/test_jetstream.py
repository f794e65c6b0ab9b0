"""The stream of NATS that servers share, by itself."""

import asyncio
import threading

from academy.store.shared_log.address import LogAddress
from academy.store.shared_log.jetstream import JetStreamLog


def test_a_server_stops_though_a_cancel_is_lost_as_python_3_11_may_lose_it(log: LogAddress) -> None:
    # A fake of what a race does in one of some 300 closings: `asyncio.wait_for` loses the cancel that comes
    # together with an answer, and its caller asks again.
    async def ask_on() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.Event().wait()

    async def begin() -> asyncio.Task[None]:
        task = asyncio.create_task(ask_on())
        await asyncio.sleep(0)
        return task

    stream = JetStreamLog(log)
    task = stream.run(begin())
    closing = threading.Thread(target=stream.close, daemon=True)
    closing.start()
    closing.join(20)
    assert not closing.is_alive() and task.done()
