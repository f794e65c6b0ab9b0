"""Questions that arrive together are answered together, and callers take turns.

`RequestBatcher` collects the pattern questions of one turn of the event loop into one call of the matching
kernel. `FairScheduler` splits long work into parts: one part at a time, one caller after another.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from academy.matching.matches import Matches
from academy.service.cost import cost_of_board
from academy.service.queries import PatternCall, WrittenAnswer, answered_together


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
            # A cancelled caller needs none.
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
_QUESTIONS_BATCHED: Final = 2
_QUESTIONS_OF_PART: Final = 8


@dataclass(slots=True, eq=False)
class _Waiting:
    """A call that waits, and what has become of it."""

    call: PatternCall
    task: asyncio.Task[Any]
    taken: bool = False
    answer: WrittenAnswer | None = None
    fault: Exception | None = None

    @property
    def positions(self) -> int:
        return len(self.call.questions) * cost_of_board(self.call.spec.geometry.size)

    @property
    def placements(self) -> int:
        return sum(question.max_matches for question in self.call.questions)

    def answer_alone(self) -> None:
        try:
            self.answer = self.call.answered()
        except Exception as fault:
            # Whatever it is, it is for the call's own task to raise, not for the one that answers it.
            self.fault = fault

    def result(self) -> WrittenAnswer:
        if self.fault is not None:
            raise self.fault
        assert self.answer is not None, "who takes a call answers it"
        return self.answer


class RequestBatcher:
    """Answers the calls of one event loop, each as if it were alone: nothing but their time is shared."""

    def __init__(self, scheduler: FairScheduler) -> None:
        self._scheduler = scheduler
        self._waiting: deque[_Waiting] = deque()
        self._not_waiting = 0

    async def answer(self, call: PatternCall, caller: str, position_cost: int) -> WrittenAnswer:
        """Answer a call, of which each position counts as so many questions. Raises InvalidBoardError.

        One that is cancelled while it waits is not answered.
        """
        if len(call.questions) * position_cost > _QUESTIONS_BATCHED:
            return await self._answer_in_parts(call, caller, max(1, _QUESTIONS_OF_PART // position_cost))
        if self._not_waiting:
            self._not_waiting -= 1
            return call.answered()
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
            taken = self._take_with(waiting)
            if len(taken) == 1 and not self._waiting:
                self._not_waiting = _NOT_WAITING
            _answer(taken)
        return waiting.result()

    async def _answer_in_parts(self, call: PatternCall, caller: str, positions: int) -> WrittenAnswer:
        matches: list[Matches] = []
        while len(matches) < len(call.questions):
            await self._scheduler.wait(caller)
            part = call.questions[len(matches) : len(matches) + positions]
            matches += call.ranked.match_each(call.wishes(part))
        return call.written(matches)

    def _take_with(self, first: _Waiting) -> list[_Waiting]:
        """Take a waiting call, and the oldest others that there is room for beside it."""
        taken, positions, placements = [first], first.positions, first.placements
        for waiting in self._waiting:
            # A cancelled task may not have run since.
            if waiting is first or waiting.task.cancelling():
                continue
            positions += waiting.positions
            placements += waiting.placements
            if positions > _POSITIONS_AT_ONCE or placements > _PLACEMENTS_AT_ONCE:
                break
            taken.append(waiting)
        for waiting in taken:
            waiting.taken = True
            self._waiting.remove(waiting)
        return taken


def _answer(taken: Sequence[_Waiting]) -> None:
    if len(taken) == 1:
        taken[0].answer_alone()
        return
    try:
        answers = answered_together([each.call for each in taken])
    except Exception:
        # One of them cannot be answered, whatever the reason: each is told of its own.
        for each in taken:
            each.answer_alone()
        return
    for each, answer in zip(taken, answers, strict=True):
        each.answer = answer
