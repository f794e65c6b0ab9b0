"""What both tuners have in common: games of a candidate against the opponent."""

import hashlib
import json
import random
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Generic, TypeVar

from arena.control.changed_settings import REMEDY
from arena.control.parameters import Parameter, describe
from arena.control.plans import CrossEntropyPlan, MonteCarloPlan
from arena.jobs import PlayerSetup
from arena.selection.selector import (
    CompetitionChangedError,
    CompletedGame,
    Fixture,
    Selector,
    check_terms,
    game_seed,
)

MATCHUP: Final = "candidates"
SEATS: Final = 2
MOST_STEPS: Final = 256

Place = TypeVar("Place")
TreePath = tuple[int, ...]
"""Places of children in the Monte Carlo tuner's tree, from the root down."""


@dataclass(frozen=True)
class PathStep:
    """The best values of the parameters, in their order, after a number of games."""

    games: int
    values: tuple[Any, ...]


@dataclass(frozen=True)
class TuningState:
    """What a tuner knows now.

    `best` are the parameters' best values, `best_text` the same in their formats; `path` is how they came
    about, the present last, thinned out to some hundred steps. `place` are the parts of the ranges that the
    Monte Carlo tuner has chosen, level by level; `distribution` the means and variances of the cross-entropy
    tuner. `games` is how many games of candidates count.
    """

    parameters: tuple[str, ...]
    games: int
    best: tuple[Any, ...]
    best_text: str
    path: tuple[PathStep, ...]
    place: tuple[tuple[int, ...], ...] = ()
    distribution: tuple[tuple[float, float], ...] = ()


class ThinnedPath(Generic[Place]):
    """Where a tuner was best as its games went on: at most MOST_STEPS places at equal distances.

    When there are more, every second is forgotten.
    """

    def __init__(self) -> None:
        self._steps: list[tuple[int, Place]] = []
        self._stride = 1
        self._count = 0

    def wants(self) -> bool:
        """Count one more chance to note a step. Returns whether to take it."""
        self._count += 1
        return self._count % self._stride == 0

    def note(self, games: int, place: Place) -> None:
        """Note a step."""
        self._steps.append((games, place))
        if len(self._steps) > MOST_STEPS:
            # The later of each two: their distance stays equal.
            self._steps = self._steps[1::2]
            self._stride *= 2

    def steps(self, games: int, place: Place) -> list[tuple[int, Place]]:
        """All that was kept, with the present as the last step."""
        earlier = [step for step in self._steps if step[0] < games]
        return [*earlier, (games, place)]


class Tuner(Selector):
    """What both tuners share: candidates play the opponent, and the best values are known at any time.

    `terms` are the settings of its kind that may not change; `folder` is the control file's.
    """

    def __init__(
        self,
        plan: MonteCarloPlan | CrossEntropyPlan,
        opponent: PlayerSetup,
        seed: int,
        terms: Mapping[str, object],
        folder: str,
    ) -> None:
        self._candidate = plan.candidate
        self._parameters: Sequence[Parameter] = plan.parameters
        self._opponent = opponent
        self._seed = seed
        self._terms = terms
        self._folder = folder

    @property
    def short(self) -> str:
        """Why candidates are not played against: their opponent is left out."""
        name = self._opponent.name
        return f"the opponent {name} is left out" if name in self.excluded.players else ""

    @abstractmethod
    def state(self) -> TuningState:
        """The best values, how they came about, and where they are."""

    def _values_at(self, places: Sequence[float]) -> list[object]:
        return [parameter.value(place) for parameter, place in zip(self._parameters, places, strict=True)]

    def _state_at(self, steps: Sequence[tuple[int, Sequence[float]]], **where: Any) -> TuningState:
        path = [PathStep(games, tuple(self._values_at(place))) for games, place in steps]
        return TuningState(
            parameters=tuple(parameter.code for parameter in self._parameters),
            games=path[-1].games,
            best=path[-1].values,
            best_text=describe(self._parameters, path[-1].values),
            path=tuple(path),
            **where,
        )

    def _game(
        self, game_id: str, code: str, values: Sequence[Any], opening: int, path: TreePath | None = None
    ) -> Fixture:
        """A game of the candidate called `code`; its seat is drawn from the game's seed."""
        seed = game_seed(self._seed, game_id)
        seat = random.Random(seed).randint(1, SEATS) if self._candidate.seat is None else self._candidate.seat
        candidate = self._candidate.make(code, values)
        setups = (candidate, self._opponent) if seat == 1 else (self._opponent, candidate)
        detail = {
            "values": [repr(value) for value in values],
            "candidate": self._fingerprint(candidate),
            "terms": self._all_terms,
            "parameters": self._parameter_terms,
        }
        return Fixture(
            game_id=game_id,
            matchup=MATCHUP,
            players=tuple(setup.name for setup in setups),
            seed=seed,
            setups=setups,
            opening=opening,
            remarks=(f"Candidate parameters: {describe(self._parameters, values)}",),
            detail=json.dumps(detail if path is None else {"path": path, **detail}),
        )

    def _check_terms(self, stored: Mapping[str, Any]) -> None:
        """Raise CompetitionChangedError if a game was played on other terms than the control file has now.

        `stored` is the game's detail, read from its JSON.
        """
        terms = stored["terms"]
        # Games of earlier releases have a seat by its number, and no parameters.
        if terms.get("candidate_seat") == f"seat {self._candidate.seat}":
            terms = {**terms, "candidate_seat": self._candidate.seat_name}
        check_terms(terms, self._all_terms)
        parameters = stored.get("parameters", self._parameter_terms)
        check_terms(parameters, self._parameter_terms, "parameters", unset="nothing")

    def _check_candidate(self, game_id: str, stored: Mapping[str, Any], values: Sequence[Any]) -> None:
        """Raise CompetitionChangedError if the candidate of a game is not what these values make now."""
        now = [repr(value) for value in values]
        if stored["values"] != now:
            raise CompetitionChangedError(
                f"parameters: game {game_id!r} was played with {', '.join(stored['values'])}, by the control "
                f"file's parameters and seed that would now be {', '.join(now)}; {REMEDY}"
            )
        if stored["candidate"] != self._fingerprint(self._candidate.make("candidate", values)):
            raise CompetitionChangedError(
                f"candidate: the one of game {game_id!r} was another program or had other arguments or "
                f"environment than the control file has now; {REMEDY}"
            )

    @cached_property
    def _all_terms(self) -> dict[str, object]:
        return {**self._terms, "opponent": self._opponent.name, "candidate_seat": self._candidate.seat_name}

    @cached_property
    def _parameter_terms(self) -> dict[str, Any]:
        terms = {name: value for parameter in self._parameters for name, value in parameter.terms.items()}
        plain: dict[str, Any] = json.loads(json.dumps(terms))
        return plain

    def _fingerprint(self, candidate: PlayerSetup) -> str:
        startup = candidate.parameters.get("startup_commands", ())
        whole = json.dumps([candidate.command, startup, sorted(candidate.environment.items())])
        # The control file's folder may be moved.
        return hashlib.sha256(whole.replace(self._folder, "").encode()).hexdigest()[:12]


def points(game: CompletedGame, opponent: str) -> float | None:
    """The candidate's points: 1, ½ or 0; None for an unknown result."""
    winners = [game.players[seat - 1] for seat in game.outcome.winners]
    if not winners:
        return None
    return sum(winner != opponent for winner in winners) / len(winners)
