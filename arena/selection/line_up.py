"""Who plays a game of a MARS series, by the series' rule."""

import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from arena.control.plans import LineUpRule
from arena.ratings.moving_averages import MovingAverages
from referees.api import Outcome


class NoPlayersLeftError(LookupError):
    """Too few contestants are left for a game."""


class Form:
    """What the games so far say of the contestants: plays, clones counted each, and moving averages."""

    def __init__(self) -> None:
        self.plays: Counter[str] = Counter()
        self._averages: dict[str, MovingAverages] = {}

    def averages(self, name: str) -> MovingAverages:
        """A contestant's averages."""
        return self._averages.get(name, MovingAverages())

    def take(self, players: Sequence[str], outcome: Outcome) -> None:
        """Take in a completed game."""
        for seat, name in enumerate(players, start=1):
            self.plays[name] += 1
            self._averages[name] = self.averages(name).after(outcome, seat, len(players))


def line_up(
    rule: LineUpRule,
    weights: Mapping[str, float],
    seats: int,
    form: Form,
    chance: random.Random,
    barred: Collection[str] = (),
) -> tuple[str, ...]:
    """The players of a game by seat. Raises NoPlayersLeftError."""
    able = {name: weight for name, weight in weights.items() if weight > 0 and name not in barred}
    wanted = len(rule.kinds) if rule.kinds else seats
    distinct = bool(rule.kinds) or not rule.clones
    if len(able) < (wanted if distinct else 1):
        raise NoPlayersLeftError(
            f"{len(able)} contestants are left, a game needs {wanted if distinct else 1}"
        )
    chosen: list[str] = []
    while len(chosen) < wanted:
        left = {name: weight for name, weight in able.items() if not (distinct and name in chosen)}
        chosen.append(_choose(rule, left, form, chance, first=not chosen))
    if rule.kinds:
        counts = list(rule.kinds)
        chance.shuffle(counts)
        chosen = [name for name, count in zip(chosen, counts, strict=True) for _ in range(count)]
    chance.shuffle(chosen)
    return tuple(chosen)


def draw(weights: Mapping[str, float], chance: random.Random) -> str:
    """A name by relative weight; all alike if every weight is 0."""
    names = list(weights)
    if not any(weights.values()):
        return chance.choice(names)
    return chance.choices(names, [weights[name] for name in names])[0]


def _choose(
    rule: LineUpRule, weights: Mapping[str, float], form: Form, chance: random.Random, first: bool
) -> str:
    if rule.name == "slow-knockout":
        success = {name: getattr(form.averages(name), rule.by) for name in weights}
        return draw({name: weight * success[name] for name, weight in weights.items()}, chance)
    if rule.name == "least-played" and first:
        fewest = min(form.plays[name] for name in weights)
        weights = {name: weight for name, weight in weights.items() if form.plays[name] == fewest}
    return draw(weights, chance)
