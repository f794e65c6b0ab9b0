"""Players and matchups that were left out of a competition: who, why, and after how many games.

A selector must learn of them between the same games again to give out the same games.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from arena.control.settings import Scope

Game = TypeVar("Game")


@dataclass(frozen=True)
class Exclusion:
    """A player or matchup left out after `games` finished games, and let in again after `readmitted`."""

    scope: Scope
    name: str
    reason: str
    games: int
    readmitted: int | None = None


@dataclass(frozen=True)
class Change:
    """A player or a matchup is left out from now on, or is let in again."""

    scope: Scope
    name: str
    is_out: bool


def interleave(games: Iterable[Game], known: Iterable[Exclusion]) -> Iterator[Game | Change]:
    """The games in the order in which they were finished, and between them who was left out or let in."""
    changes = [
        (moment, number, not is_out, Change(exclusion.scope, exclusion.name, is_out))
        for number, exclusion in enumerate(known)
        for is_out, moment in ((True, exclusion.games), (False, exclusion.readmitted))
        if moment is not None
    ]
    waiting = [(moment, change) for moment, _, _, change in sorted(changes, key=lambda entry: entry[:3])]
    for count, game in enumerate(games):
        while waiting and waiting[0][0] <= count:
            yield waiting.pop(0)[1]
        yield game
    yield from (change for _, change in waiting)
