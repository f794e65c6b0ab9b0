"""ACADEMY after its lessons: a folder for each kind of them, to be measured any time."""

import ctypes
import os
import shutil
import time
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from academy.v1 import contests_pb2
from arena.academy.embedded import EmbeddedAcademy
from research.learning.hall import Hall
from research.learning.population import Population


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


def without_values(report: contests_pb2.ReportContestRequest) -> contests_pb2.ReportContestRequest:
    """A report as a record of the game would give it: nobody stated an expected value."""
    silent = contests_pb2.ReportContestRequest()
    silent.CopyFrom(report)
    for ply in silent.plies:
        del ply.values[:]
    return silent


@dataclass(frozen=True)
class Classroom:
    """Where ACADEMY learns the trial's contests under some lessons, those of `Condition`.

    `folder` has a folder for each.
    """

    population: Population
    lessons: str
    folder: Path

    def learn(self, deadline: float) -> bool:
        """Report the trial's contests to ACADEMY; return whether there was time for it."""
        trial = self.population.trial
        if self.lessons == "analysed":
            everything = replace(self, lessons="all")
            if not everything.learn(deadline):
                return False
            self._copy(everything)
        with self.opened() as (hall, _):
            numbers = [number for number in range(1, trial.contests + 1) if self._may_hear(number)]
            known = bisect_left(numbers, True, key=lambda number: not self._knows(hall, number))
            for number in numbers[known:]:
                if time.monotonic() >= deadline:
                    return False
                report = self.population.contest(number)
                if self._may_hear(number):
                    hall.teach(without_values(report) if self.lessons == "silent" else report)
            if self.lessons == "analysed" and trial.analysis is not None:
                return hall.analyse(trial.search(trial.analysis.playouts), trial.analysis.nodes, deadline)
        return True

    @contextmanager
    def opened(self) -> Iterator[tuple[Hall, ProcessorClock]]:
        """ACADEMY as it is after its lessons, and a clock of its work and this process's."""
        folder = self._place
        folder.mkdir(parents=True, exist_ok=True)
        trial = self.population.trial
        patterns = trial.evaluation_patterns if self.lessons == "evaluated" else 0
        with (
            closing(EmbeddedAcademy(folder / "academy", folder / "server.log")) as server,
            closing(Hall(trial.referee(), server.start(), patterns)) as hall,
        ):
            assert server.process_id is not None
            yield hall, ProcessorClock(server.process_id)

    @property
    def _place(self) -> Path:
        return self.folder / f"{self.lessons}-{self.population.trial.contests}"

    def _copy(self, other: "Classroom") -> None:
        if self._place.exists():
            return
        begun = self._place.with_suffix(".begun")
        shutil.rmtree(begun, ignore_errors=True)
        shutil.copytree(other._place, begun)
        begun.rename(self._place)

    def _may_hear(self, number: int) -> bool:
        """Whether ACADEMY hears of a contest, or would if that is not played yet."""
        if self.lessons != "own" or not self.population.played(number):
            return True
        contestants = self.population.contest(number).contest.players
        return self.population.student in (contestant.name for contestant in contestants)

    def _knows(self, hall: Hall, number: int) -> bool:
        return hall.knows(self.population.contest_id(number))
