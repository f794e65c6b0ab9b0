"""Whose call goes on next, where one call takes long: callers have turns."""

import asyncio
from collections import OrderedDict, deque
from typing import Final

from academy.matching.matches import Matches
from academy.service.answers import MatchAnswer, PatternCall
from academy.v1 import consultation_pb2 as messages

Answer = MatchAnswer[messages.MatchPatternsResponse]

# A call that costs more questions is answered in its caller's turns, in parts.
QUESTIONS_AT_ONCE: Final = 2
_QUESTIONS_OF_PART: Final = 8


class FairScheduler:
    """Decides which caller works next in one event loop."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._scheduled = False

    async def answer(self, call: PatternCall, caller: str, position_cost: int) -> Answer:
        """Answer a call in its caller's turns, in each as many questions as one turn has room for.

        A position counts as `position_cost` questions. Raises InvalidBoardError.
        """
        positions = max(1, _QUESTIONS_OF_PART // position_cost)
        matches: list[Matches] = []
        while len(matches) < len(call.questions):
            await self.wait(caller)
            matches += call.match(call.questions[len(matches) : len(matches) + positions])
        return call.encode(matches)

    async def wait(self, caller: str) -> None:
        """Wait for a caller's next turn, which lasts until its next await.

        Callers have turns one after the other, and each caller's own work is done in the order it came.
        """
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.setdefault(caller, deque()).append(turn)
        if not self._scheduled:
            self._scheduled = True
            loop.call_soon(self._give_turn)
        await turn

    def _give_turn(self) -> None:
        """Give the next turn, and schedule the one after it."""
        while self._waiting:
            caller, own = next(iter(self._waiting.items()))
            turn = own.popleft()
            if own:
                self._waiting.move_to_end(caller)
            else:
                del self._waiting[caller]
            # A cancelled caller needs no turn.
            if not turn.done():
                turn.set_result(None)
                # Runs after the task that was woken.
                asyncio.get_running_loop().call_soon(self._give_turn)
                return
        self._scheduled = False
