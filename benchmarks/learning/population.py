"""The players that ACADEMY learns from."""

import random
from typing import Final

from academy.v1 import contests_pb2
from arena.ratings.elo import change_factor, expected_score
from benchmarks.learning.contests import Entrant, play
from benchmarks.learning.games import Trial
from benchmarks.learning.records import Records

FIRST_ELO: Final = 1000.0
_SCORES: Final = {
    contests_pb2.RESULT_WIN: 1.0,
    contests_pb2.RESULT_DRAW: 0.5,
    contests_pb2.RESULT_LOSS: 0.0,
}


class Population:
    """Players of mixed strength and their contests, which are the same whatever ACADEMY makes of them."""

    def __init__(self, name: str, trial: Trial, series: str, records: Records) -> None:
        self.name, self.trial, self.series = name, trial, series
        self.school = trial.school(series)
        self.players = [
            f"player {number} of level {level}" for number, level in enumerate(self.school.population, 1)
        ]
        self._records = records
        self._referee = trial.referee()

    def contest(self, number: int) -> contests_pb2.ReportContestRequest:
        """The contest of a number from 1; played now where it was not before."""
        while len(self._records.reports) < number:
            self._play(len(self._records.reports) + 1)
        return self._records.reports[number - 1]

    def contest_id(self, number: int) -> str:
        """What the contest of a number is called."""
        return f"{self.series}/{self.name}/{number}"

    def played(self, number: int) -> bool:
        """Whether a contest was played already."""
        return number <= len(self._records.reports)

    def _play(self, number: int) -> None:
        seed = self.contest_id(number)
        elos = self.elos(number - 1)
        entrants = [
            Entrant(
                self.players[each],
                self.trial.strength(self.school.population[each]),
                elos[each],
            )
            for each in random.Random(seed).sample(range(len(self.school.population)), 2)
        ]
        self._records.add(play(self._referee, seed, entrants, seed).report)

    def elos(self, contests: int) -> list[float]:
        """Everybody's Elo after so many contests, in the order of the population."""
        elos = dict.fromkeys(self.players, FIRST_ELO)
        for report in self._records.reports[:contests]:
            first, second = (player.name for player in report.contest.players)
            score = _SCORES[report.results[0]]
            mine, theirs = elos[first], elos[second]
            elos[first] += change_factor(mine, theirs) * (score - expected_score(mine - theirs))
            elos[second] += change_factor(theirs, mine) * (expected_score(mine - theirs) - score)
        return list(elos.values())

    def levels(self, contests: int) -> dict[int, float]:
        """The mean Elo of the players of each level after so many contests, the weakest level first."""
        elos = self.elos(contests)
        return {
            level: sum(of_level) / len(of_level)
            for level in sorted(set(self.school.population))
            if (
                of_level := [
                    elo for elo, each in zip(elos, self.school.population, strict=True) if each == level
                ]
            )
        }
