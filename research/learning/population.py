"""The players that ACADEMY learns from: their contests, kept in a file, and their Elo."""

import random
from pathlib import Path
from typing import Final

from academy.v1 import contests_pb2
from arena.ratings.elo import change_factor, expected_score
from research.learning.contests import Entrant, play
from research.learning.games import STUDY, Trial

_LENGTH_BYTES: Final = 4


class Records:
    """Reports, oldest first. What an interrupted run wrote of a last one is cut off."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.reports: list[contests_pb2.ReportContestRequest] = []
        held = file.read_bytes() if file.exists() else b""
        start = 0
        while (begin := start + _LENGTH_BYTES) <= len(held):
            end = begin + int.from_bytes(held[start:begin], "big")
            if end > len(held):
                break
            self.reports.append(contests_pb2.ReportContestRequest.FromString(held[begin:end]))
            start = end
        if start < len(held):
            with file.open("r+b") as damaged:
                damaged.truncate(start)

    def add(self, report: contests_pb2.ReportContestRequest) -> None:
        """Write a report down at once."""
        self.reports.append(report)
        content = report.SerializeToString()
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("ab") as out:
            out.write(len(content).to_bytes(_LENGTH_BYTES, "big") + content)


FIRST_ELO: Final = 1000.0
_SCORES: Final = {
    contests_pb2.RESULT_WIN: 1.0,
    contests_pb2.RESULT_DRAW: 0.5,
    contests_pb2.RESULT_LOSS: 0.0,
}


class Population:
    """Players of mixed strength and their contests, which do not depend on what ACADEMY makes of them."""

    def __init__(self, game: str, trial: Trial, name: str, records: Records) -> None:
        """`name` is one of `POPULATIONS`, `game` one of `TRIALS`."""
        self.game, self.trial, self.name = game, trial, name
        self.players = [f"player {number} of level {level}" for number, level in enumerate(trial.levels, 1)]
        # The first of those that are as strong as the player who is measured.
        self.student = self.players[trial.levels.index(trial.student)]
        self._records = records
        self._referee = trial.referee()

    @property
    def seed(self) -> str:
        """What the seeds of the population begin with."""
        return f"{STUDY}/{self.name}/{self.game}"

    def contest(self, number: int) -> contests_pb2.ReportContestRequest:
        """The contest of a number from 1; played now where it was not before."""
        while len(self._records.reports) < number:
            self._play(len(self._records.reports) + 1)
        return self._records.reports[number - 1]

    def contest_id(self, number: int) -> str:
        """What the contest of a number is called."""
        return f"{self.seed}/{number}"

    def played(self, number: int) -> bool:
        """Whether a contest was played already."""
        return number <= len(self._records.reports)

    def _play(self, number: int) -> None:
        seed = self.contest_id(number)
        elos = self.elos(number - 1)
        entrants = [
            Entrant(
                self.players[number],
                self.trial.strength(self.trial.levels[number]),
                elos[number],
            )
            for number in random.Random(seed).sample(range(len(self.players)), 2)
        ]
        self._records.add(play(self._referee, seed, entrants, seed).report)

    def elos(self, contests: int) -> list[float]:
        """The Elo of all after a number of contests, in the order of the population."""
        elos = dict.fromkeys(self.players, FIRST_ELO)
        for report in self._records.reports[:contests]:
            first, second = (player.name for player in report.contest.players)
            score = _SCORES[report.results[0]]
            mine, theirs = elos[first], elos[second]
            elos[first] += change_factor(mine, theirs) * (score - expected_score(mine - theirs))
            elos[second] += change_factor(theirs, mine) * (expected_score(mine - theirs) - score)
        return list(elos.values())

    def elo_of(self, level: int, contests: int) -> float:
        """The mean Elo of the players of a level after a number of contests."""
        of_level = [
            elo
            for elo, player_level in zip(self.elos(contests), self.trial.levels, strict=True)
            if player_level == level
        ]
        return sum(of_level) / len(of_level)
