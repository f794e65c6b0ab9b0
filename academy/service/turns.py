"""Long work is done in parts, and callers take turns: one part at a time, whoever has more to do.

All work is done by one event loop. Between two parts it looks at what has come in meanwhile, so that a short
question waits for one part, not for all that somebody else has asked for.
"""

import asyncio
from collections import OrderedDict, deque


class Turns:
    """Who works next in one event loop."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._giving = False

    async def wait(self, caller: str) -> None:
        """Wait for a caller's next turn, which lasts until something else is awaited.

        Callers have turns one after the other, and each caller's own work is done in the order it came.
        """
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.setdefault(caller, deque()).append(turn)
        if not self._giving:
            self._giving = True
            loop.call_soon(self._give)
        await turn

    def _give(self) -> None:
        """Give the next turn, and come again when it is over."""
        while self._waiting:
            caller, own = next(iter(self._waiting.items()))
            turn = own.popleft()
            if own:
                self._waiting.move_to_end(caller)
            else:
                del self._waiting[caller]
            # Who was cancelled needs none.
            if not turn.done():
                turn.set_result(None)
                # After the task that was woken.
                asyncio.get_running_loop().call_soon(self._give)
                return
        self._giving = False
