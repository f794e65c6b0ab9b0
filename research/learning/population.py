"""The players that ACADEMY learns from: their contests, kept in a file, and their Elo."""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from academy.v1 import contests_pb2
from arena.ratings.elo import EloRules, expected_score
from arena.results.run_lock import lock_file
from research.contests import Entrant, play
from research.learning.games import STUDY, Level, Trial

_LENGTH_BYTES: Final = 4


class PopulationBusyError(RuntimeError):
    """Another run is at work with the population."""


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep other runs away from a population's folder. Raises PopulationBusyError."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("a") as lock:
        if not lock_file(lock.fileno()):
            raise PopulationBusyError(
                f"{folder}: another run is at work there; wait for it, or give another --data"
            )
        yield


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
            names = [player.name for player in report.contest.players]
            lost = contests_pb2.RESULT_LOSS
            winners = [seat for seat, result in enumerate(report.results, 1) if result != lost]
            after = EloRules().rate(names, [elos[name] for name in names], winners)
            elos.update(zip(names, after, strict=True))
        return list(elos.values())

    def levels(self, contests: int) -> dict[Level, float]:
        """The mean Elo of the players of each level after a number of contests, the weakest level first."""
        of_level: defaultdict[Level, list[float]] = defaultdict(list)
        for level, elo in zip(self.trial.levels, self.elos(contests), strict=True):
            of_level[level].append(elo)
        return {level: sum(elos) / len(elos) for level, elos in of_level.items()}


_LIKELIEST: Final = (-3000.0, 5000.0)
_HALVINGS: Final = 40


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
