"""A toy for tuners: how a candidate does depends on its parameters alone."""

import math
import random
from collections.abc import Sequence
from typing import Any

from arena.control.plans import CandidatePlan
from arena.jobs import PlayerSetup
from arena.selection.selector import Fixture
from tests.arena.selection.playing import Rule

OPPONENT = PlayerSetup("opponent", ("opponent",))


def make(name: str, values: Sequence[Any]) -> PlayerSetup:
    return PlayerSetup(name, ("candidate", *map(repr, values)))


def another(name: str, values: Sequence[Any]) -> PlayerSetup:
    """A candidate of the same parameters that is another program."""
    return PlayerSetup(name, ("rival", *map(repr, values)))


CANDIDATE = CandidatePlan("opponent", None, make)


def values(fixture: Fixture) -> list[float]:
    (setup,) = [setup for setup in fixture.setups if setup.name != "opponent"]
    return [float(word) for word in setup.command[1:]]


def hill(*peak: float, width: float = 0.3) -> Rule:
    """The candidate wins the more often the nearer its parameters are to the peak."""

    def winners(fixture: Fixture) -> Sequence[int]:
        distance = math.dist(values(fixture), peak)
        wins = random.Random(fixture.seed).random() < math.exp(-((distance / width) ** 2))
        candidate = next(seat for seat, name in enumerate(fixture.players, 1) if name != "opponent")
        return [candidate if wins else 3 - candidate]

    return winners
