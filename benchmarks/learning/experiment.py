"""Learning and measuring in turn, in pieces: what was done is kept, and the next piece goes on from there.

A population plays contests that ACADEMY learns from. At checkpoints a player with ACADEMY meets the same
player without; these contests are reported as void, so nothing is learnt from them.
"""

import random
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from academy.knowledge.settings import Library, LibrarySettings
from academy.v1 import contests_pb2
from arena.embedded import EmbeddedAcademy
from arena.ratings.elo import change_factor, expected_score
from arena.ratings.pentanomial import Sprt
from benchmarks.learning.contests import Entrant, Hall, play
from benchmarks.learning.games import TRIALS, Trial
from benchmarks.learning.ledger import Ledger, Piece
from benchmarks.learning.processor_clock import ProcessorClock
from benchmarks.learning.records import Records

EVERYTHING: Final = frozenset(Library)
FIRST_ELO: Final = 1000.0
# Whether ACADEMY is worth +30 normalised Elo, or nothing.
TEST: Final = Sprt(0.0, 30.0)


# ACADEMY is busy that takes more than this share of the time; it is looked at so often for so many seconds.
BUSY: Final = 0.02
LOOK_SECONDS: Final = 3.0
MOST_LOOKS: Final = 10


@dataclass(frozen=True)
class Condition:
    """What is as the rules want it, and what is left out in an ablation.

    `lessons` names what ACADEMY learns under: conditions with the same lessons share their libraries.
    """

    title: str
    lessons: str = "all"
    libraries: frozenset[Library] = EVERYTHING
    fair: bool = True


CONDITIONS: Final = {
    "full": Condition("everything"),
    "openings": Condition("openings only", libraries=frozenset({Library.OPENING})),
    "middle-game": Condition("middle-game only", libraries=frozenset({Library.MIDDLE_GAME})),
    "endgame": Condition("endgame only", libraries=frozenset({Library.ENDGAME})),
    "specific": Condition("generalisation off", lessons="specific"),
    "equal": Condition("Elo weighting off", lessons="equal"),
    "unlimited": Condition("fair use off", fair=False),
}
_LESSONS: Final = {
    "all": LibrarySettings(analysed_patterns=10),
    "specific": LibrarySettings(analysed_patterns=10, max_merged_cells=0),
    # Everybody's Elo is told as the same.
    "equal": LibrarySettings(analysed_patterns=10),
}


def run(
    trial_name: str,
    conditions: Sequence[str],
    checkpoints: Sequence[int],
    piece: Piece,
    ledger: Ledger,
    data: Path,
) -> None:
    """Learn up to each checkpoint in turn, and measure there until the time is up.

    Before the last checkpoint it is "full" alone that is measured.
    """
    trial = TRIALS[trial_name]
    folder = data / piece.series / trial_name
    population = Population(trial_name, trial, piece.series, Records(folder / "contests"))
    for lessons in dict.fromkeys(CONDITIONS[name].lessons for name in conditions):
        measured = [name for name in conditions if CONDITIONS[name].lessons == lessons]
        (folder / lessons).mkdir(parents=True, exist_ok=True)
        server = EmbeddedAcademy(folder / lessons / "academy", folder / lessons / "server.log")
        try:
            hall = Hall(trial.referee(), server.start(), _LESSONS[lessons])
            assert server.process_id is not None
            clock = ProcessorClock(server.process_id)
            course = Course(population, lessons, hall, ledger, piece, clock)
            for checkpoint in checkpoints:
                if not course.learn(checkpoint):
                    break
                for name in measured if checkpoint == checkpoints[-1] else {"full"} & set(measured):
                    course.measure(name, checkpoint)
            hall.close()
        finally:
            server.close()


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


_SCORES: Final = {
    contests_pb2.RESULT_WIN: 1.0,
    contests_pb2.RESULT_DRAW: 0.5,
    contests_pb2.RESULT_LOSS: 0.0,
}


class Course:
    """What ACADEMY learns of one game under one kind of lessons, and what that is worth."""

    def __init__(
        self,
        population: Population,
        lessons: str,
        hall: Hall,
        ledger: Ledger,
        piece: Piece,
        clock: ProcessorClock,
    ) -> None:
        self._population, self._lessons = population, lessons
        self._hall, self._ledger, self._piece, self._clock = hall, ledger, piece, clock
        self._key: dict[str, Any] = {
            "series": piece.series,
            "game": population.name,
            "equal": piece.equal,
            "lessons": lessons,
        }
        self._learnt = 0

    def learn(self, contests: int) -> bool:
        """Tell of contests until ACADEMY knows so many; returns whether there was time for it."""
        while self._learnt < contests:
            if self._piece.over:
                return False
            report = self._population.contest(self._learnt + 1)
            if not self._hall.knows(report.contest.contest_id):
                self._hall.teach(_all_equal(report) if self._lessons == "equal" else report)
            self._learnt += 1
        return True

    def measure(self, name: str, checkpoint: int) -> None:
        """Let a player with ACADEMY meet itself without it."""
        condition, trial, school = CONDITIONS[name], self._population.trial, self._population.school
        key = {**self._key, "condition": name, "contests": checkpoint}
        elos = self._population.elos(checkpoint)
        alike = [elo for elo, level in zip(elos, school.population, strict=True) if level == school.student]
        elo = sum(alike) / len(alike) if alike and self._lessons != "equal" else FIRST_ELO
        if self._hall.knows(self._population.contest_id(checkpoint + 1)):
            # An earlier run went further, and what is learnt is not unlearnt.
            print(
                f"{self._population.name}: ACADEMY knows more than {checkpoint} contests; not measured there"
            )
            return
        equal_time = self._piece.equal == "time"
        plain = Entrant(
            "without", trial.timed(self._clock) if equal_time else trial.strength(school.student), elo
        )
        student = replace(plain, name="with", libraries=condition.libraries, fair=condition.fair)
        if self._piece.pairs > sum(self._ledger.counts(**key)) and not self._piece.over:
            self._warm_up((student, plain), f"{name}/{checkpoint}")
        while (played := sum(counts := self._ledger.counts(**key))) < self._piece.pairs:
            if self._piece.over or TEST.status(counts).verdict:
                return
            points, seconds = 0.0, [0.0, 0.0]
            for seat, entrants in enumerate(((student, plain), (plain, student)), 1):
                # Both games of a pair have the same chance in both seats.
                seed = f"{self._piece.series}/measured/{self._population.name}/{played}"
                # Without libraries of its own the plain player's contests are still ACADEMY's to know of.
                # A pair that was broken off is played again, in contests that are new to ACADEMY.
                contest_id = f"{seed}/{self._lessons}/{name}/{checkpoint}/{seat}/{secrets.token_hex(4)}"
                game = self._hall.meet(contest_id, entrants, seed, self._clock)
                points += game.score(seat)
                seconds[0] += game.seconds[seat]
                seconds[1] += game.seconds[3 - seat]
            self._ledger.add(
                kind="pair",
                **key,
                number=played,
                points=points,
                seconds=[round(each, 4) for each in seconds],
            )

    def _warm_up(self, entrants: Sequence[Entrant], name: str) -> None:
        """Let ACADEMY read its libraries, and wait until it has done so: it is nobody's time to think."""
        seed = f"{self._piece.series}/warming-up/{self._population.name}"
        contest_id = f"{seed}/{self._lessons}/{name}/{secrets.token_hex(4)}"
        self._hall.meet(contest_id, entrants, seed, self._clock)
        for _ in range(MOST_LOOKS):
            before = self._clock()
            time.sleep(LOOK_SECONDS)
            if self._clock() - before < BUSY * LOOK_SECONDS:
                return


def _all_equal(report: contests_pb2.ReportContestRequest) -> contests_pb2.ReportContestRequest:
    """The report with everybody's Elo the same."""
    told = contests_pb2.ReportContestRequest()
    told.CopyFrom(report)
    for player in told.contest.players:
        player.elo = FIRST_ELO
    return told
