"""Questions that arrive together are answered together, and callers take turns.

`RequestBatcher` collects the pattern questions of one turn of the event loop into one call of the matching
kernel. `FairScheduler` splits long work into parts: one part at a time, one caller after another.
"""

import asyncio
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Any, Final

from academy.matching.matches import Matches
from academy.service.cost import cost_of_board, cost_of_position
from academy.service.queries import PatternAnswer, PatternCall
from academy.v1 import consultation_pb2 as messages

Answer = PatternAnswer[messages.MatchPatternsResponse]


class FairScheduler:
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


# How many positions are answered before the first answer is sent, where a large board counts as several, and
# how many placements they may ask for.
_POSITIONS_AT_ONCE: Final = 16
_PLACEMENTS_AT_ONCE: Final = 4_096
# Where nobody else asks waiting is of no use: so many questions do not wait after one that did in vain.
_NOT_WAITING: Final = 15
# A call that counts as more questions is matched by itself in its caller's turns, in parts of so many.
_QUESTIONS_GATHERED: Final = 2
_QUESTIONS_OF_PART: Final = 8


@dataclass(slots=True, eq=False)
class _Waiting:
    """A call that waits, and what has become of it."""

    call: PatternCall
    task: asyncio.Task[Any]
    taken: bool = False
    answer: Answer | None = None
    fault: Exception | None = None

    @property
    def positions(self) -> int:
        return len(self.call.questions) * cost_of_board(self.call.spec.geometry.size)

    @property
    def placements(self) -> int:
        return sum(question.max_matches for question in self.call.questions)

    def answer_alone(self) -> None:
        try:
            self.answer = self.call.answer()
        except Exception as fault:
            # Whatever it is, it is for the call's own task to raise, not for the one that answers it.
            self.fault = fault

    def result(self) -> Answer:
        if self.fault is not None:
            raise self.fault
        assert self.answer is not None, "who takes a call answers it"
        return self.answer


class RequestBatcher:
    """Answers the calls of one event loop, each as if it were alone: nothing but their time is shared."""

    def __init__(self, turns: FairScheduler) -> None:
        self._turns = turns
        self._waiting: deque[_Waiting] = deque()
        self._not_waiting = 0

    async def answered(self, call: PatternCall, caller: str) -> Answer:
        """Have a caller's call answered. Raises InvalidBoardError.

        One that is cancelled while it waits is not answered.
        """
        board = cost_of_board(call.spec.geometry.size)
        of_position = cost_of_position(board, call.questions[0].max_matches, call.both_players)
        if len(call.questions) * of_position > _QUESTIONS_GATHERED:
            return await self._in_parts(call, caller, max(1, _QUESTIONS_OF_PART // of_position))
        if self._not_waiting:
            self._not_waiting -= 1
            return call.answer()
        task = asyncio.current_task()
        assert task is not None, "a call is answered by a task"
        waiting = _Waiting(call, task)
        self._waiting.append(waiting)
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            if not waiting.taken:
                self._waiting.remove(waiting)
            raise
        if not waiting.taken:
            taken = self._taken_with(waiting)
            if len(taken) == 1 and not self._waiting:
                self._not_waiting = _NOT_WAITING
            for each in taken:
                each.answer_alone()
        return waiting.result()

    async def _in_parts(self, call: PatternCall, caller: str, positions: int) -> Answer:
        found: list[Matches] = []
        while len(found) < len(call.questions):
            await self._turns.wait(caller)
            part = call.questions[len(found) : len(found) + positions]
            found += call.match(part)
        return call.encode(found)

    def _taken_with(self, first: _Waiting) -> list[_Waiting]:
        """Take a waiting call, and the oldest others that there is room for beside it."""
        taken, positions, placements = [first], first.positions, first.placements
        for each in self._waiting:
            # Who was cancelled may not have been told so yet.
            if each is first or each.task.cancelling():
                continue
            positions += each.positions
            placements += each.placements
            if positions > _POSITIONS_AT_ONCE or placements > _PLACEMENTS_AT_ONCE:
                break
            taken.append(each)
        for each in taken:
            each.taken = True
            self._waiting.remove(each)
        return taken
