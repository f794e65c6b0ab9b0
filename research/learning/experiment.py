"""Learning, then measuring, in pieces: what was done is kept, and the next piece goes on from there.

A population plays contests that ACADEMY learns from. What it knew at checkpoints is kept, and a player with
ACADEMY meets the same player without; these contests are reported as void, so nothing is learnt from them.
"""

import secrets
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from arena.ratings.pentanomial import Sprt
from research.learning.classroom import Classroom, ProcessorClock
from research.learning.contests import CONDITIONS, Entrant, Hall
from research.learning.games import TRIALS
from research.learning.ledger import Ledger, Piece
from research.learning.population import FIRST_ELO, Population, Records, elo_of_timed, play_levels

# Whether ACADEMY is worth +30 normalised Elo, or nothing.
TEST: Final = Sprt(0.0, 30.0)
# No row ends with fewer pairs, whatever the test says: its interval would be wide, and biased.
LEAST_PAIRS: Final = 200
# ACADEMY is busy that takes more than this share of the time, measured over LOOK_SECONDS.
BUSY: Final = 0.02
LOOK_SECONDS: Final = 3.0
MOST_LOOKS: Final = 100


def run(
    name: str,
    conditions: Sequence[str],
    checkpoints: Sequence[int],
    piece: Piece,
    ledger: Ledger,
    data: Path,
) -> None:
    """Learn up to each checkpoint, then measure at all of them in turn until the time is up.

    Before the last checkpoint it is "full" alone that is measured.
    """
    trial = TRIALS[name]
    folder = data / piece.series / name
    population = Population(name, trial, piece.series, Records(folder / "contests"))
    rows = [
        (condition, contests)
        for contests in sorted(checkpoints)
        for condition in conditions
        if condition == "full" or contests == max(checkpoints)
    ]
    needed = dict.fromkeys((CONDITIONS[condition].lessons, contests) for condition, contests in rows)
    classrooms = {lessons: Classroom(population, lessons, folder / lessons) for lessons, _ in needed}
    for lessons, contests in needed:
        print(f"{name}: ACADEMY learns ({lessons}) from {contests:,} contests", flush=True)
        if not classrooms[lessons].learn(contests, piece):
            return
    if piece.equal == "time" and not play_levels(population, piece, ledger):
        return
    with ExitStack() as servers:
        opened = {
            (lessons, contests): servers.enter_context(classrooms[lessons].opened(contests))
            for lessons, contests in needed
        }
        matches = [
            Match(
                population,
                condition,
                contests,
                piece,
                ledger,
                *opened[CONDITIONS[condition].lessons, contests],
            )
            for condition, contests in rows
        ]
        in_turn(matches, piece)


def in_turn(matches: "Sequence[Match]", piece: Piece) -> None:
    """Play pairs of all matches that are open, first of those that have the fewest, until the time is up."""
    playing = [match for match in matches if match.open]
    print(f"warming up; then {len(playing)} rows are played in turn", flush=True)
    for match in playing:
        match.warm_up()
    for clock in {match.clock for match in playing}:
        _wait_until_idle(clock)
    while playing and not piece.over:
        min(playing, key=lambda match: match.pairs).play_pair()
        playing = [match for match in playing if match.open]


@dataclass(frozen=True)
class Match:
    """A player with ACADEMY as it was after some contests, against itself without it."""

    population: Population
    name: str
    contests: int
    piece: Piece
    ledger: Ledger
    hall: Hall
    clock: ProcessorClock

    @property
    def key(self) -> dict[str, Any]:
        """What the match's results have in common."""
        return {
            **self.piece.key(self.population.name),
            "lessons": CONDITIONS[self.name].lessons,
            "condition": self.name,
            "contests": self.contests,
        }

    @property
    def pairs(self) -> int:
        """How many were played."""
        return self.ledger.pairs(**self.key)

    @property
    def open(self) -> bool:
        """Whether there is more to play."""
        if self.pairs < LEAST_PAIRS:
            return self.pairs < self.piece.pairs
        return self.pairs < self.piece.pairs and not TEST.status(self.ledger.counts(**self.key)).verdict

    def elo(self) -> float:
        """What ACADEMY learns of both players."""
        if CONDITIONS[self.name].lessons == "equal":
            return FIRST_ELO
        levels = self.population.levels(self.contests)
        if self.piece.equal == "playouts":
            return levels.get(self.population.school.student, FIRST_ELO)
        return elo_of_timed(levels, self.piece.key(self.population.name), self.ledger)

    def entrants(self) -> tuple[Entrant, Entrant]:
        """The player with ACADEMY, and the one without."""
        trial, condition = self.population.trial, CONDITIONS[self.name]
        if self.piece.equal == "time":
            strength = trial.timed(self.clock)
        else:
            strength = trial.strength(self.population.school.student)
        plain = Entrant("without", strength, self.elo())
        return (
            replace(
                plain,
                name="with",
                elo=plain.elo if condition.rated else 0.0,
                libraries=condition.libraries,
                lifted=condition.lifted,
            ),
            plain,
        )

    def play_pair(self) -> None:
        """Play the next two games, in which the players change seats, and write down what came of them."""
        student, plain = self.entrants()
        number = self.pairs
        points, took = 0.0, [0.0, 0.0]
        for seat, entrants in enumerate(((student, plain), (plain, student)), 1):
            # Both games of a pair have the same chance in both seats.
            seed = f"{self.piece.series}/measured/{self.population.name}/{number}"
            game = self.hall.meet(self._contest_id(f"{seed}/{seat}"), entrants, seed, self.clock)
            points += game.score(seat)
            took[0] += game.seconds[seat]
            took[1] += game.seconds[3 - seat]
        self.ledger.add(
            kind="pair",
            **self.key,
            number=number,
            points=points,
            took=[round(seconds, 4) for seconds in took],
            elo=round(student.elo),
        )

    def warm_up(self) -> None:
        """Let ACADEMY read its libraries: that is no player's time to think."""
        seed = f"{self.piece.series}/warming-up/{self.population.name}"
        self.hall.meet(self._contest_id(seed), self.entrants(), seed, self.clock)

    def _contest_id(self, seed: str) -> str:
        # A pair that was interrupted is played again, in contests that are new to ACADEMY.
        return f"{seed}/{self.name}/{self.piece.equal}/{secrets.token_hex(4)}"


def _wait_until_idle(clock: ProcessorClock) -> None:
    for _ in range(MOST_LOOKS):
        before = clock()
        time.sleep(LOOK_SECONDS)
        if clock() - before < BUSY * LOOK_SECONDS:
            return
