"""Questions that come together are answered together.

On a server all code is cold for a question that is answered by itself, and takes several times as long as for
the second of two in a row. So a question waits for one turn of the event loop, in which others come in; the
first to go on answers the oldest of them with its own.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from academy.service.pattern_answers import PatternAnswer, PatternQuestion
from academy.service.written_answers import WrittenAnswer

# How many positions are answered before the first answer is sent, and how many placements they may ask for.
_POSITIONS_AT_ONCE: Final = 16
_PLACEMENTS_AT_ONCE: Final = 4_096
# Where nobody else asks waiting is of no use: so many questions do not wait after one that did in vain.
_NOT_WAITING: Final = 15
# A call of more positions is warm by itself; others are let in after so many of them.
_POSITIONS_OF_PART: Final = 8


@dataclass(slots=True, eq=False)
class _Call:
    """A call's questions, and what has become of it."""

    answer: PatternAnswer
    questions: Sequence[PatternQuestion]
    task: asyncio.Task[Any]
    waits: bool = True
    written: WrittenAnswer | None = None
    fault: Exception | None = None

    @property
    def placements(self) -> int:
        return sum(question.max_matches for question in self.questions)

    def find(self) -> None:
        try:
            for question in self.questions:
                self.answer.add(question)
        except Exception as fault:
            # Whatever it is, it is for the call's own task to raise, not for the one that answers it.
            self.fault = fault

    def write(self) -> None:
        try:
            self.written = self.answer.written()
        except Exception as fault:
            # As above.
            self.fault = fault

    def result(self) -> WrittenAnswer:
        if self.fault is not None:
            raise self.fault
        assert self.written is not None, "a call waits until it was taken by one that answers"
        return self.written


class Gathering:
    """Answers the calls of one event loop, each as if it were alone: nothing but their time is shared."""

    def __init__(self) -> None:
        self._waiting: deque[_Call] = deque()
        self._not_waiting = 0

    async def written(self, answer: PatternAnswer, questions: Sequence[PatternQuestion]) -> WrittenAnswer:
        """Have an answer, empty yet, written to these questions. Raises InvalidBoard.

        A call that is cancelled while it waits is not answered.
        """
        if len(questions) > _POSITIONS_OF_PART:
            return await _in_parts(answer, questions)
        task = asyncio.current_task()
        assert task is not None, "a call is answered by a task"
        call = _Call(answer, questions, task)
        if self._not_waiting:
            self._not_waiting -= 1
            _answer([call])
            return call.result()
        self._waiting.append(call)
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            if call.waits:
                self._waiting.remove(call)
            raise
        if call.waits:
            calls = self._taken_with(call)
            if len(calls) == 1 and not self._waiting:
                self._not_waiting = _NOT_WAITING
            _answer(calls)
        return call.result()

    def _taken_with(self, first: _Call) -> list[_Call]:
        """Take a waiting call, and the oldest others that there is room for beside it."""
        taken, positions, placements = [first], len(first.questions), first.placements
        for call in self._waiting:
            # Who was cancelled may not have been told so yet.
            if call is first or call.task.cancelling():
                continue
            positions += len(call.questions)
            placements += call.placements
            if positions > _POSITIONS_AT_ONCE or placements > _PLACEMENTS_AT_ONCE:
                break
            taken.append(call)
        for call in taken:
            call.waits = False
            self._waiting.remove(call)
        return taken


def _answer(calls: Sequence[_Call]) -> None:
    """Take each step for all of them before the next, so that its code stays warm."""
    for call in calls:
        call.find()
    for call in calls:
        if call.fault is None:
            call.write()


async def _in_parts(answer: PatternAnswer, questions: Sequence[PatternQuestion]) -> WrittenAnswer:
    for place, question in enumerate(questions):
        if place and place % _POSITIONS_OF_PART == 0:
            await asyncio.sleep(0)
        answer.add(question)
    return answer.written()
