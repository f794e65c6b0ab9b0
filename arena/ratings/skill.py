"""Players' skills, estimated from the places of their games."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from openskill.models import PlackettLuce, PlackettLuceRating

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

    def add(self, players: Sequence[str], winners: Sequence[int], places: Sequence[int]) -> None:
        """Take in a game: `players` by seat, `winners` seats from 1. A game without winners changes no skill.

        `places`, by seat and 0 the best, say who came before whom.

        A player in several seats becomes the mean of what its seats became.
        """
        if not winners:
            return
        before = [self.skill(name) for name in players]
        teams = [[PlackettLuceRating(mu=skill.mu, sigma=skill.sigma)] for skill in before]
        after = [team[0] for team in _MODEL.rate(teams, ranks=list(map(float, places)))]
        for name in dict.fromkeys(players):
            mine = [skill for player, skill in zip(players, after, strict=True) if player == name]
            self._skills[name] = Skill(
                sum(skill.mu for skill in mine) / len(mine), sum(skill.sigma for skill in mine) / len(mine)
            )

    def skill(self, name: str) -> Skill:
        """A player's skill now."""
        return self._skills.get(name, Skill(_MODEL.mu, _MODEL.sigma))
