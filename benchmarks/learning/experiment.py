"""Learning and measuring in turn, in pieces: what was done is kept, and the next piece goes on from there.

A population plays contests that ACADEMY learns from. At checkpoints a player with ACADEMY meets the same
player without; these contests are reported as void, so nothing is learnt from them.
"""

import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from academy.knowledge.settings import Library, LibrarySettings
from arena.embedded import EmbeddedAcademy
from arena.ratings.elo import change_factor, expected_score
from arena.ratings.pentanomial import Counts, Sprt
from benchmarks.learning.contests import Entrant, Hall
from benchmarks.learning.games import TRIALS, Trial

EVERYTHING: Final = frozenset(Library)
FIRST_ELO: Final = 1000.0
# Whether ACADEMY is worth +30 normalised Elo, or nothing.
TEST: Final = Sprt(0.0, 30.0)


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


@dataclass(frozen=True)
class Piece:
    """How far a run of the experiment goes, and by which seeds."""

    checkpoints: tuple[int, ...]
    pairs: int
    deadline: float
    series: str = "final"

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self.deadline


class Ledger:
    """Results, a line of JSON each, in the order in which they came."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.lines: list[dict[str, Any]] = []
        if file.exists():
            self.lines = [json.loads(line) for line in file.read_text().splitlines()]

    def add(self, **result: object) -> None:
        """Write a result down at once."""
        self.lines.append(result)
        with self._file.open("a") as out:
            out.write(json.dumps(result) + "\n")

    def of(self, kind: str, **like: object) -> Iterator[dict[str, Any]]:
        """The results of a kind with these entries."""
        for line in self.lines:
            if line["kind"] == kind and all(line[name] == value for name, value in like.items()):
                yield line

    def counts(self, **like: object) -> Counts:
        """Pairs by the points (0, ½, 1, 1½, 2) of the player with ACADEMY."""
        points = [line["points"] for line in self.of("pair", **like)]
        none, half, one, more, two = (points.count(value / 2) for value in range(5))
        return none, half, one, more, two


def run(trial_name: str, conditions: list[str], piece: Piece, ledger: Ledger, data: Path) -> None:
    """Learn up to each checkpoint in turn, and measure there under each condition, until the time is up."""
    trial = TRIALS[trial_name]
    for lessons in dict.fromkeys(CONDITIONS[name].lessons for name in conditions):
        measured = [name for name in conditions if CONDITIONS[name].lessons == lessons]
        folder = data / piece.series / trial_name / lessons
        folder.mkdir(parents=True, exist_ok=True)
        server = EmbeddedAcademy(folder / "academy", folder / "server.log")
        try:
            hall = Hall(trial.referee(), server.start(), _LESSONS[lessons])
            school = School(trial_name, trial, lessons, hall, ledger, piece)
            for checkpoint in piece.checkpoints:
                if not school.learn(checkpoint):
                    break
                for name in measured:
                    school.measure(name, checkpoint)
            hall.close()
        finally:
            server.close()


class School:
    """One game under one kind of lessons."""

    def __init__(
        self, name: str, trial: Trial, lessons: str, hall: Hall, ledger: Ledger, piece: Piece
    ) -> None:
        self._name, self._trial, self._lessons = name, trial, lessons
        self._hall, self._ledger, self._piece = hall, ledger, piece
        self._key: dict[str, Any] = {"series": piece.series, "game": name, "lessons": lessons}
        self._elos = dict.fromkeys(trial.population, FIRST_ELO)
        self._learnt = 0
        for line in ledger.of("lesson", **self._key):
            self._learnt = line["number"]
            self._elos.update({int(level): elo for level, elo in line["elos"].items()})

    def learn(self, contests: int) -> bool:
        """Play contests until so many are learnt from; returns whether there was time for it."""
        levels = sorted(self._elos)
        while self._learnt < contests:
            if self._piece.over:
                return False
            number = self._learnt + 1
            seed = f"{self._piece.series}/{self._name}/{self._lessons}/{number}"
            first, second = random.Random(seed).sample(levels, 2)
            entrants = [
                Entrant(
                    f"level {level}",
                    self._trial.strength(level),
                    FIRST_ELO if self._lessons == "equal" else self._elos[level],
                    EVERYTHING,
                )
                for level in (first, second)
            ]
            winners = self._hall.play(seed, entrants, seed, learn=True)
            self._rate(first, second, winners)
            self._learnt = number
            elos = {str(level): round(elo, 2) for level, elo in self._elos.items()}
            self._ledger.add(kind="lesson", **self._key, number=number, elos=elos)
        return True

    def _rate(self, first: int, second: int, winners: tuple[int, ...]) -> None:
        score = 0.5 if len(winners) == 2 else float(1 in winners)
        mine, theirs = self._elos[first], self._elos[second]
        self._elos[first] += change_factor(mine, theirs) * (score - expected_score(mine - theirs))
        self._elos[second] += change_factor(theirs, mine) * (expected_score(mine - theirs) - score)

    def measure(self, name: str, checkpoint: int) -> None:
        """Play pairs of games with and without ACADEMY until the test decides or they run out."""
        condition = CONDITIONS[name]
        key = {**self._key, "condition": name, "contests": checkpoint}
        level = self._trial.student if self._piece.series == "final" else self._trial.tuned
        elo = self._elos[min(self._elos, key=lambda each: abs(each - level))]
        plain = Entrant("without", self._trial.strength(level), elo)
        student = replace(plain, name="with", libraries=condition.libraries, fair=condition.fair)
        while (played := sum(counts := self._ledger.counts(**key))) < self._piece.pairs:
            if self._piece.over or TEST.status(counts).verdict:
                return
            points = 0.0
            began = time.process_time()
            for half, entrants in enumerate(((student, plain), (plain, student))):
                # Both games of a pair have the same chance in both seats.
                seed = f"{self._piece.series}/measured/{self._name}/{played}"
                # Without libraries of its own the plain player's contests are still ACADEMY's to know of.
                contest_id = f"{seed}/{self._lessons}/{name}/{checkpoint}/{half}"
                winners = self._hall.play(contest_id, entrants, seed, learn=False)
                points += float(half + 1 in winners) / len(winners)
            seconds = round(time.process_time() - began, 3)
            self._ledger.add(kind="pair", **key, number=played, points=points, seconds=seconds)
