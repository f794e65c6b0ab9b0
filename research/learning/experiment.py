"""Learning, then measuring, row by row: what was done is kept, and the next run goes on from there.

A population plays contests that ACADEMY learns from. Then a player with ACADEMY meets the same player without
it. These contests are reported as void, so nothing is learnt from them.
"""

import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from research.contests import Entrant, play
from research.learning.classroom import Classroom, ProcessorClock
from research.learning.conditions import CONDITIONS
from research.learning.games import PLAYER, STUDY, TRIALS, Trial
from research.learning.gnu_go import GnuGoMissingError
from research.learning.hall import Hall
from research.learning.ledger import Ledger
from research.learning.population import Population, PopulationBusyError, Records, alone, performance
from research.learning.sequential import verdict_of_row

# Pairs of games that each row has, whatever its result.
PAIRS: Final = 200
# Pairs of games against each level of the population that rate the player; the error is then some 60 Elo.
RATED_PAIRS: Final = 10
# ACADEMY counts as busy above this share of a core, measured over LOOK_SECONDS.
BUSY: Final = 0.02
LOOK_SECONDS: Final = 3.0
MOST_LOOKS: Final = 100
# Pairs between two lines about how far a row is.
_REPORTED: Final = 20


@dataclass(frozen=True)
class Row:
    """One row of the table: a game, a population that taught ACADEMY, and what is measured.

    `contests` is how many ACADEMY learns from, where that is not the game's own number.
    """

    game: str
    population: str
    condition: str
    contests: int | None = None

    @property
    def trial(self) -> Trial:
        """The game's trial, with the contests of this row."""
        trial = TRIALS[self.game]
        return trial if self.contests is None else replace(trial, contests=self.contests)

    @property
    def taught_by(self) -> str:
        """The trial whose population and contests teach ACADEMY."""
        return self.trial.contests_of or self.game

    @property
    def key(self) -> dict[str, Any]:
        """What results have to have in common before they may be counted together."""
        trial = self.trial
        return {
            "study": STUDY,
            "population": self.population,
            "game": self.game,
            "a_move": trial.a_move,
            "player": PLAYER,
            "contests": trial.contests,
            "condition": self.condition,
        }

    def __str__(self) -> str:
        return f"{TRIALS[self.game].title}, {self.population} population, {CONDITIONS[self.condition].title}"


@dataclass(frozen=True)
class Workplace:
    """Where results and ACADEMY's folders are, and the revision of the program."""

    ledger: Ledger
    data: Path
    commit: str

    def folder(self, game: str, population: str) -> Path:
        """Where a population's contests are, and what ACADEMY made of them."""
        return self.data / STUDY / population / game


@dataclass(frozen=True)
class Size:
    """How many pairs of games a row has: `least`, and up to `most` while the sequential test is open."""

    least: int
    most: int

    def reached(self, row: Row, ledger: Ledger) -> bool:
        """Whether the row has them."""
        pairs = ledger.pairs(**row.key)
        return pairs >= self.most or (pairs >= self.least and verdict_of_row(ledger, **row.key) is not None)


@contextmanager
def going_on_without(what: str) -> Iterator[None]:
    """Say why something cannot be measured here and now, that the rest may be."""
    try:
        yield
    except (GnuGoMissingError, PopulationBusyError) as error:
        _report(f"{what}: {error}")


def run(rows: Sequence[Row], size: Size, deadline: float, workplace: Workplace) -> None:
    """Measure rows one after the other; each has an even share of the time that is left.

    Rows for which that was not enough go on when the others have had theirs.
    """
    unfinished = list(rows)
    while unfinished and time.monotonic() < deadline:
        rows, unfinished = unfinished, []
        for number, row in enumerate(rows):
            now = time.monotonic()
            if now >= deadline or size.reached(row, workplace.ledger):
                continue
            with going_on_without(str(row)), alone(workplace.folder(row.taught_by, row.population)):
                measure(row, size, now + (deadline - now) / (len(rows) - number), workplace)
                if not size.reached(row, workplace.ledger):
                    unfinished.append(row)


def measure(row: Row, size: Size, deadline: float, workplace: Workplace) -> None:
    """Learn what is missing, then play pairs of games until there are enough, or the time is up."""
    trial, condition = row.trial, CONDITIONS[row.condition]
    folder = workplace.folder(row.taught_by, row.population)
    population = Population(row.taught_by, trial, row.population, Records(folder / "contests"))
    classroom = Classroom(population, condition.lessons, folder)
    _report(f"{row}: ACADEMY learns from {trial.contests:,} contests")
    if not classroom.learn(deadline):
        _report(f"{row}: learning goes on later")
        return
    elo = rate(row, population, workplace, deadline)
    if elo is None:
        return
    with classroom.opened() as (hall, clock):
        hall.change_settings(condition.rules)
        match = Match(row, population, workplace, hall, clock, elo)
        # Let ACADEMY read its libraries: that is not a player's time to think.
        match.play("warming-up", 0)
        _wait_until_idle(clock)
        while not size.reached(row, workplace.ledger) and time.monotonic() < deadline:
            match.play_pair()
            if match.pairs % _REPORTED == 0:
                _report(
                    f"{row}: {match.pairs} of {size.least if match.pairs <= size.least else size.most} pairs"
                )


def rate(row: Row, population: Population, workplace: Workplace, deadline: float) -> float | None:
    """The Elo that the player measured has among the population, by games without ACADEMY against each level.

    ACADEMY withholds what weaker players know. None where there was no time for all of them.
    """
    trial = population.trial
    like = {name: row.key[name] for name in ("study", "population", "game", "a_move", "player", "contests")}
    timed = Entrant("timed", trial.timed(time.process_time), 0.0)
    results = []
    for level, elo in population.levels(trial.contests).items():
        other = Entrant(f"level {level}", trial.strength(level), 0.0)
        name = level if isinstance(level, int) else str(level)
        for number in range(workplace.ledger.pairs("rating", **like, level=name), RATED_PAIRS):
            if time.monotonic() >= deadline:
                return None
            points = 0.0
            for seat, entrants in enumerate(((timed, other), (other, timed)), 1):
                seed = f"{population.seed}/rating/{level}/{number}"
                points += play(trial.referee(), f"{seed}/{seat}", entrants, seed).score(seat)
            workplace.ledger.add(
                kind="rating", **like, level=name, commit=workplace.commit, number=number, points=points
            )
        played = [line["points"] for line in workplace.ledger.of("rating", **like, level=name)]
        results.append((elo, sum(played), 2 * len(played)))
    return performance(results)


@dataclass(frozen=True)
class Match:
    """A player with ACADEMY against itself without it."""

    row: Row
    population: Population
    workplace: Workplace
    hall: Hall
    clock: ProcessorClock
    # What ACADEMY learns of both players.
    elo: float

    @property
    def pairs(self) -> int:
        """How many were played."""
        return self.workplace.ledger.pairs(**self.row.key)

    def play(self, name: str, number: int) -> tuple[float, list[float]]:
        """Play two games, in which the players change seats; the same seeds give both the same chance.

        Returns the points of the player with ACADEMY, and the seconds that it and the other took.
        """
        plain = Entrant("without", self.population.trial.timed(self.clock), self.elo)
        condition = CONDITIONS[self.row.condition]
        student = replace(plain, name="with", libraries=condition.libraries, remembers=condition.remembers)
        seed = f"{self.population.seed}/{name}/{number}"
        points, took = 0.0, [0.0, 0.0]
        for seat, entrants in enumerate(((student, plain), (plain, student)), 1):
            # A pair that was interrupted is played again, in contests that are new to ACADEMY.
            contest_id = f"{seed}/{seat}/{self.row.condition}/{secrets.token_hex(4)}"
            game = self.hall.meet(contest_id, entrants, seed, self.clock)
            points += game.score(seat)
            took[0] += game.seconds[seat]
            took[1] += game.seconds[3 - seat]
        return points, took

    def play_pair(self) -> None:
        """Play the next pair, and write down what came of it."""
        number = self.pairs
        points, took = self.play("measured", number)
        self.workplace.ledger.add(
            kind="pair",
            **self.row.key,
            elo=round(self.elo),
            commit=self.workplace.commit,
            number=number,
            points=points,
            took=[round(seconds, 4) for seconds in took],
        )


def _report(text: str) -> None:
    print(f"{time.strftime('%H:%M')} {text}", flush=True)


def _wait_until_idle(clock: ProcessorClock) -> None:
    for _ in range(MOST_LOOKS):
        before = clock()
        time.sleep(LOOK_SECONDS)
        if clock() - before < BUSY * LOOK_SECONDS:
            return
