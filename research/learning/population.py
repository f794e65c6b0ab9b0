"""The players that ACADEMY learns from: their contests, kept in a file, and the measured player's Elo.

ACADEMY uses this Elo to choose what the player may see. At equal playouts the measured player is one of the
population, whose contests rate it.
"""

import random
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from academy.v1 import contests_pb2
from arena.ratings.elo import change_factor, expected_score
from research.learning.contests import Entrant, play
from research.learning.games import Trial
from research.learning.ledger import Ledger, Piece

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

    def __init__(self, name: str, trial: Trial, series: str, records: Records) -> None:
        self.name, self.trial, self.series = name, trial, series
        self.school = trial.school(series)
        self.players = [
            f"player {number} of level {level}" for number, level in enumerate(self.school.population, 1)
        ]
        # The first of those that are as strong as the player who is measured.
        self.student = self.players[self.school.population.index(self.school.student)]
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
                self.players[number],
                self.trial.strength(self.school.population[number]),
                elos[number],
            )
            for number in random.Random(seed).sample(range(len(self.school.population)), 2)
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

    def levels(self, contests: int) -> dict[int, float]:
        """The mean Elo of the players of each level after a number of contests, the weakest level first."""
        elos = self.elos(contests)
        return {
            level: sum(of_level) / len(of_level)
            for level in sorted(set(self.school.population))
            if (
                of_level := [
                    elo
                    for elo, player_level in zip(elos, self.school.population, strict=True)
                    if player_level == level
                ]
            )
        }


# Pairs of games against each level; the error of the Elo is then some 60.
PAIRS: Final = 10
_LIKELIEST: Final = (-3000.0, 5000.0)
_HALVINGS: Final = 40


def play_levels(population: Population, piece: Piece, ledger: Ledger) -> bool:
    """Play what is missing of the matches against each level; returns whether there was time for it."""
    trial, key = population.trial, piece.key(population.name)
    referee = trial.referee()
    timed = Entrant("timed", trial.timed(time.process_time), 0.0)
    for number in range(PAIRS):
        for level in sorted(set(population.school.population)):
            if ledger.pairs("rating", **key, level=level) > number:
                continue
            if piece.over:
                return False
            other = Entrant(trial.level(level), trial.strength(level), 0.0)
            points = 0.0
            for seat, entrants in enumerate(((timed, other), (other, timed)), 1):
                seed = f"{piece.series}/rating/{population.name}/{level}/{number}"
                points += play(referee, f"{seed}/{seat}", entrants, seed).score(seat)
            ledger.add(kind="rating", **key, level=level, number=number, points=points)
    return True


def elo_of_timed(levels: Mapping[int, float], key: Mapping[str, object], ledger: Ledger) -> float:
    """The Elo at which the points made against levels of these Elos were expected."""
    results = []
    for level, elo in levels.items():
        points = [line["points"] for line in ledger.of("rating", **key, level=level)]
        results.append((elo, sum(points), 2 * len(points)))
    return performance(results)


def performance(results: Sequence[tuple[float, float, int]]) -> float:
    """The Elo by points made in games against opponents of an Elo: (Elo, points, games) each.

    One more draw is counted against each, without which who won or lost all games would have no Elo.
    """
    made = sum(points + 0.5 for _, points, _ in results)
    low, high = _LIKELIEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if sum((games + 1) * expected_score(middle - elo) for elo, _, games in results) < made:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0
