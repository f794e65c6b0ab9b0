"""Plays games in the tests' own process, one at a time, inside `next_result`."""

import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import pytest

from arena.jobs import GameJob, GameResult
from arena.match.game import play
from arena.workers.interface import WorkerLost, Workers


class InlineWorker(Workers):
    """A `LocalWorkers` without processes: a game in progress ends only by itself."""

    def __init__(self) -> None:
        self._waiting: deque[GameJob] = deque()

    @property
    def size(self) -> int:
        """One game at a time."""
        return 1

    def submit(self, job: GameJob) -> None:
        """Hand in a game."""
        self._waiting.append(job)

    def next_result(self, timeout: float) -> GameResult | WorkerLost | None:
        """Play the next game, however long that takes; None when none waits."""
        return play(self._waiting.popleft()) if self._waiting else None

    def stop(self) -> None:
        """Forget the games that wait."""
        self._waiting.clear()


@contextmanager
def games_in_this_process() -> Iterator[None]:
    """Have the runs of this process play their games in it, too; for tests that show nothing of workers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("arena.runner.run.LocalWorkers", lambda *_, **__: InlineWorker())
        # It would load what workers need, for none.
        patch.setattr("arena.workers.nursery.Nursery", nullcontext)
        # Players of Python add the folders where their modules may be.
        patch.setattr(sys, "path", list(sys.path))
        yield
