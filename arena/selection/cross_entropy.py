"""The cross-entropy tuner: generations of candidates drawn from a distribution that follows the best.

The formulas are those of Gomill's tuner. Samples are x_i ~ N(mu, v), each dimension on its own. The elite
are the K = max(1, floor(rho * N + 1/2)) best by score, the later one among equals; with their mean m and
variance e in each dimension, mu' = alpha * m + (1 - alpha) * mu and v' = alpha * e + (1 - alpha) * v.
"""

import json
import math
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena.control.parameters import describe
from arena.control.plans import CrossEntropyPlan
from arena.jobs import PlayerSetup
from arena.selection.selector import CompletedGame, Fixture, game_seed
from arena.selection.tuner import ThinnedPath, Tuner, TuningState, points
from arena.selection.voids import VoidPolicy

# The number of a generation's candidates that reports list, the best ones; the history has all.
_MOST_SHOWN: Final = 100
_GAME_ID: Final = re.compile(r"g(\d+)#(\d+)r(\d+)")


@dataclass(frozen=True)
class Distribution:
    """Independent normal distributions, one a parameter."""

    means: tuple[float, ...]
    variances: tuple[float, ...]

    def sample(self, chance: random.Random) -> tuple[float, ...]:
        """Draw from it."""
        return tuple(
            chance.gauss(mean, math.sqrt(variance))
            for mean, variance in zip(self.means, self.variances, strict=True)
        )

    def towards(self, elite: Sequence[Sequence[float]], step: float) -> "Distribution":
        """The distribution that has moved by a step (0 to 1) towards that of the elite."""
        means, variances = [], []
        for dimension, (mean, variance) in enumerate(zip(self.means, self.variances, strict=True)):
            values = [sample[dimension] for sample in elite]
            elite_mean = math.fsum(values) / len(values)
            # Taken about the mean, which is the same as e = mean of squares - m^2 but never below 0.
            elite_variance = math.fsum((value - elite_mean) ** 2 for value in values) / len(values)
            means.append(step * elite_mean + (1 - step) * mean)
            variances.append(step * elite_variance + (1 - step) * variance)
        return Distribution(tuple(means), tuple(variances))

    def __str__(self) -> str:
        pairs = zip(self.means, self.variances, strict=True)
        return " ".join(f"{mean:5.2f}~{variance:4.2f}" for mean, variance in pairs)


def elite(scores: Sequence[float], proportion: float) -> list[int]:
    """The places of the best scores, the best first; the later one among equals."""
    count = max(1, math.floor(proportion * len(scores) + 0.5))
    ranked = sorted(range(len(scores)), key=lambda place: (scores[place], place), reverse=True)
    return ranked[:count]


class CrossEntropyTuner(Tuner):
    """Round r of candidate c in generation g is `gG#CrR`, and the candidate's name `gG#C`.

    All candidates of a generation play their first game, then all their second one, and so on; the next
    generation waits for the last game. A game without a winner counts half.
    """

    void_policy = VoidPolicy.RETRY_GAME

    def __init__(self, plan: CrossEntropyPlan, opponent: PlayerSetup, seed: int, folder: str = "") -> None:
        self._plan = plan
        terms = {
            "samples": plan.samples,
            "batch": plan.batch,
            "elite_proportion": plan.elite_proportion,
            "step_size": plan.step_size,
            "seed": seed,
        }
        super().__init__(plan, opponent, seed, terms, folder)
        self.generation = 0
        self.distribution = Distribution(
            tuple(parameter.mean for parameter in plan.parameters),
            tuple(parameter.variance for parameter in plan.parameters),
        )
        self._means: ThinnedPath[tuple[float, ...]] = ThinnedPath()
        self._begin()

    @property
    def total(self) -> int:
        """The games of all generations."""
        return self._plan.generations * self._plan.samples * self._plan.batch

    @property
    def description(self) -> str:
        """The kind, the algorithm's settings and the parameters."""
        plan = self._plan
        parameters = " ".join(f"{item.code}={item.mean:g}~{item.variance:g}" for item in plan.parameters)
        return (
            f"ce_tuner generations={plan.generations} samples={plan.samples} batch={plan.batch} "
            f"elite={plan.elite_proportion:g} step={plan.step_size:g} opponent={self._opponent.name} "
            f"parameters: {parameters}"
        )

    @property
    def finished(self) -> bool:
        """Whether the last generation is over."""
        return self.generation >= self._plan.generations

    def next_game(self) -> Fixture | None:
        """The next game of this generation; None while its last games are in progress."""
        if not self._waiting or self.short:
            return None
        place = next(iter(self._waiting))
        del self._waiting[place]
        return self._fixture(*place)

    def completed(self, game: CompletedGame) -> None:
        """Take in a result; after a generation's last one, begin the next. Raises CompetitionChangedError."""
        generation, candidate, number = self._parse(game.game_id)
        stored = json.loads(game.detail) if game.detail else None
        if stored is not None:
            self._check_terms(stored)
        if generation >= self._plan.generations:
            return
        if generation != self.generation or (number, candidate) not in self._open:
            raise self.foreign(game.game_id, f"generation {self.generation} of ")
        if stored is not None:
            self._check_candidate(game.game_id, stored, self._values(candidate))
        self._open.discard((number, candidate))
        self._waiting.pop((number, candidate), None)
        won = points(game, self._opponent.name)
        self._scores[candidate] += 0.5 if won is None else won
        if not self._open:
            self._end()

    def resume(self, game_id: str, players: Sequence[str], detail: str) -> Fixture | None:
        """The game of this id, if it belongs to this generation."""
        generation, candidate, number = self._parse(game_id)
        if generation != self.generation or (number, candidate) not in self._waiting:
            return None
        del self._waiting[number, candidate]
        return self._fixture(number, candidate)

    def report_lines(self) -> list[str]:
        """The generation, its distribution, and its candidates with their scores."""
        if self.finished:
            return [f"all {self._plan.generations} generations are over", *self._distribution_lines()]
        played = self._plan.samples * self._plan.batch - len(self._open)
        return [
            f"generation {self.generation} of {self._plan.generations}: "
            f"{played}/{self._plan.samples * self._plan.batch} games",
            *self._distribution_lines(),
            *self._candidate_lines(())[:_MOST_SHOWN],
            *([f"and {rest} more"] if (rest := len(self.samples) - _MOST_SHOWN) > 0 else []),
        ]

    def history_remark(self, game_id: str, detail: str) -> str:
        """The candidate's parameters."""
        generation, candidate, _ = self._parse(game_id)
        if generation != self.generation or candidate >= len(self.samples):
            return ""
        return describe(self._parameters, self._values(candidate))

    def state(self) -> TuningState:
        """The values at the mean of the distribution, how they came about, and the distribution."""
        now = self.distribution
        steps = self._means.steps(self._played(), now.means)
        return self._state_at(steps, distribution=tuple(zip(now.means, now.variances, strict=True)))

    def _played(self) -> int:
        generation = self._plan.samples * self._plan.batch
        return self.generation * generation + (0 if self.finished else generation - len(self._open))

    def _begin(self) -> None:
        chance = random.Random(game_seed(self._seed, f"generation {self.generation}"))
        over = self.finished
        self.samples = [] if over else [self.distribution.sample(chance) for _ in range(self._plan.samples)]
        self._scores = [0.0] * len(self.samples)
        places = [(number, place) for number in range(self._plan.batch) for place in range(len(self.samples))]
        self._waiting = dict.fromkeys(places)
        self._open = set(places)

    def _end(self) -> None:
        best = elite(self._scores, self._plan.elite_proportion)
        before = self.distribution
        self.distribution = before.towards([self.samples[place] for place in best], self._plan.step_size)
        self._news += [
            f"generation {self.generation}: {before}",
            *self._candidate_lines(best),
            f"next: {self.distribution}",
            "",
        ]
        self.generation += 1
        self._begin()
        if self._means.wants():
            self._means.note(self._played(), self.distribution.means)

    def _distribution_lines(self) -> list[str]:
        values = describe(self._parameters, self._values_at(self.distribution.means))
        return [f"distribution: {self.distribution}", f"its mean: {values}"]

    def _candidate_lines(self, best: Sequence[int]) -> list[str]:
        ranked = sorted(range(len(self.samples)), key=lambda place: (-self._scores[place], -place))
        return [
            f"g{self.generation}#{place}{'*' if place in best else ' '} "
            f"{describe(self._parameters, self._values(place))}  {self._scores[place]:g}"
            for place in ranked
        ]

    def _fixture(self, number: int, candidate: int) -> Fixture:
        code = f"g{self.generation}#{candidate}"
        return self._game(f"{code}r{number}", code, self._values(candidate), opening=number)

    def _values(self, candidate: int) -> list[object]:
        return self._values_at(self.samples[candidate])

    def _parse(self, game_id: str) -> tuple[int, int, int]:
        generation, candidate, number = map(int, self.parts_of(game_id, _GAME_ID))
        return generation, candidate, number
