"""Ratings from games of more than two players: Plackett-Luce by Weng and Lin's method (openskill).

Unless the control file says otherwise (`arena.ratings.places`), what is rated is who shared the win and
who did not, the two classes that DAIDE's scoring pays, not the order among the losers: with the losers in
full order this model lifts the first of them above players who drew, and a game's losers seldom play for
their place. So players of equal rating who tie stay equal, a winner never gains less than a loser, and the
order of seats does not matter.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from openskill.models import PlackettLuce, PlackettLuceRating

_MODEL: Final = PlackettLuce()


@dataclass(frozen=True)
class Skill:
    """A player's skill: a normal distribution of mean `mu` and deviation `sigma`, 25 and 25/3 at first."""

    mu: float
    sigma: float

    @property
    def at_least(self) -> float:
        """What the skill is almost surely above: three deviations below its mean. 0 for a newcomer."""
        return self.mu - 3.0 * self.sigma


class SkillTable:
    """The skills of all players, brought up to date game by game."""

    def __init__(self) -> None:
        self._skills: dict[str, Skill] = {}

    def add(self, players: Sequence[str], winners: Sequence[int], places: Sequence[int] = ()) -> None:
        """Take in a game: `players` by seat, `winners` seats from 1. One without winners rates nobody.

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

    @classmethod
    def of(cls, games: Iterable[tuple[Sequence[str], Sequence[int]]]) -> "SkillTable":
        """The skills after games, each given by its players by seat and its winning seats."""
        table = cls()
        for players, winners in games:
            table.add(players, winners)
        return table
