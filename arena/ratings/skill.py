"""The places of a game's players, and skills estimated from them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from openskill.models import PlackettLuce, PlackettLuceRating

from referees.api import Outcome


class RatedBy(Enum):
    """What of an outcome is rated; games of two are always rated by their winner.

    `WINNERS`: who won and who did not, no matter how. `RANK`: the losers in their order too, by points and
    then by how late they were eliminated. `POINTS`: everybody in the order of points, winners too; where a
    game gives none, as `RANK`.
    """

    WINNERS = "winners"
    RANK = "rank"
    POINTS = "points"


def places_of(outcome: Outcome, seats: int, by: RatedBy) -> tuple[int, ...]:
    """Each seat's place, 0 the best; equal places drew with each other."""
    merits = [_merit(outcome, seat, RatedBy.WINNERS if seats == 2 else by) for seat in range(1, seats + 1)]
    order = sorted(set(merits), reverse=True)
    return tuple(order.index(merit) for merit in merits)


def _merit(outcome: Outcome, seat: int, by: RatedBy) -> tuple[float, ...]:
    won = seat in outcome.winners
    if by is RatedBy.WINNERS:
        return (float(won),)
    points = outcome.points[seat - 1] if outcome.points else 0.0
    eliminated = outcome.eliminated[seat - 1] if outcome.eliminated else None
    lasted = math.inf if eliminated is None else float(eliminated)
    if by is RatedBy.POINTS and outcome.points:
        return (points, lasted)
    return (1.0, 0.0, 0.0) if won else (0.0, points, lasted)


_MODEL: Final = PlackettLuce()


@dataclass(frozen=True)
class Skill:
    """A player's skill: a normal distribution of mean `mu` and deviation `sigma`, 25 and 25/3 at first."""

    mu: float
    sigma: float


class SkillTable:
    """The skills of all players, brought up to date game by game."""

    def __init__(self) -> None:
        self._skills: dict[str, Skill] = {}

    def add(self, players: Sequence[str], winners: Sequence[int], places: Sequence[int] = ()) -> None:
        """Take in a game: `players` by seat, `winners` seats from 1. A game without winners changes no skill.

        `places`, by seat and 0 the best, say who came before whom; without any all losers are equal.

        A player in several seats becomes the mean of what its seats became.
        """
        if not winners:
            return
        before = [self.skill(name) for name in players]
        teams = [[PlackettLuceRating(mu=skill.mu, sigma=skill.sigma)] for skill in before]
        order = places or [0 if seat in winners else 1 for seat in range(1, len(players) + 1)]
        after = [team[0] for team in _MODEL.rate(teams, ranks=list(map(float, order)))]
        for name in dict.fromkeys(players):
            mine = [skill for player, skill in zip(players, after, strict=True) if player == name]
            self._skills[name] = Skill(
                sum(skill.mu for skill in mine) / len(mine), sum(skill.sigma for skill in mine) / len(mine)
            )

    def skill(self, name: str) -> Skill:
        """A player's skill now."""
        return self._skills.get(name, Skill(_MODEL.mu, _MODEL.sigma))
