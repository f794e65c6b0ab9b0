"""ACADEMY as it is after a number of contests: a folder for each checkpoint, to be measured any time."""

import ctypes
import os
import shutil
import time
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from academy.v1 import contests_pb2
from arena.academy.embedded import EmbeddedAcademy
from research.learning.contests import LESSONS, Hall
from research.learning.ledger import Piece
from research.learning.population import FIRST_ELO, Population

# What an analyst has for a node, and the nodes that it searches: those of a full tree.
ANALYSIS_PLAYOUTS: Final = 4_000
ANALYSED_NODES: Final = 1_000


class ProcessorClock:
    """Seconds of processor time that this process and another one, which answers it, have taken together."""

    def __init__(self, answering: int) -> None:
        """Count for the process of this id too. Raises OSError without one."""
        clock = ctypes.c_int()
        error = ctypes.CDLL(None).clock_getcpuclockid(answering, ctypes.byref(clock))
        if error:
            raise OSError(error, os.strerror(error), f"process {answering}")
        self._answering = clock.value

    def __call__(self) -> float:
        """The seconds so far."""
        return time.process_time() + time.clock_gettime(self._answering)


@dataclass(frozen=True)
class Classroom:
    """Where ACADEMY learns under some lessons; `folder` has a folder for each number of contests."""

    population: Population
    lessons: str
    folder: Path

    def learn(self, contests: int, piece: Piece) -> bool:
        """Report contests to ACADEMY until it knows `contests`; return whether there was time for it.

        It goes on from the nearest checkpoint before.
        """
        self._begin(contests)
        with self.opened(contests) as (hall, _):
            numbers = [number for number in range(1, contests + 1) if self._may_hear(number)]
            known = bisect_left(numbers, True, key=lambda number: not self._knows(hall, number))
            for number in numbers[known:]:
                if piece.over:
                    return False
                report = self.population.contest(number)
                if not self._may_hear(number):
                    continue
                hall.teach(_all_equal(report) if self.lessons == "equal" else report)
            if self.lessons == "analysed":
                hall.analyse(self.population.trial.strength(ANALYSIS_PLAYOUTS), ANALYSED_NODES)
        return True

    @contextmanager
    def opened(self, contests: int) -> Iterator[tuple[Hall, ProcessorClock]]:
        """ACADEMY as it is after a number of contests, and a clock of its work and this process's."""
        folder = self.folder / str(contests)
        server = EmbeddedAcademy(folder / "academy", folder / "server.log")
        try:
            hall = Hall(self.population.trial.referee(), server.start(), LESSONS[self.lessons])
            assert server.process_id is not None
            try:
                yield hall, ProcessorClock(server.process_id)
            finally:
                hall.close()
        finally:
            server.close()

    def _begin(self, contests: int) -> None:
        folder = self.folder / str(contests)
        if folder.exists():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        earlier = [int(folder.name) for folder in self.folder.iterdir() if folder.name.isdecimal()]
        begun = folder.with_suffix(".begun")
        shutil.rmtree(begun, ignore_errors=True)
        if nearest := max((count for count in earlier if count < contests), default=0):
            shutil.copytree(self.folder / str(nearest), begun)
        else:
            begun.mkdir()
        begun.rename(folder)

    def _may_hear(self, number: int) -> bool:
        """Whether ACADEMY hears of a contest, or would if that is not played yet."""
        if self.lessons != "own" or not self.population.played(number):
            return True
        contestants = self.population.contest(number).contest.players
        return self.population.student in (contestant.name for contestant in contestants)

    def _knows(self, hall: Hall, number: int) -> bool:
        return hall.knows(self.population.contest_id(number))


def _all_equal(report: contests_pb2.ReportContestRequest) -> contests_pb2.ReportContestRequest:
    """The report with everybody's Elo the same."""
    message = contests_pb2.ReportContestRequest()
    message.CopyFrom(report)
    for player in message.contest.players:
        player.elo = FIRST_ELO
    return message
