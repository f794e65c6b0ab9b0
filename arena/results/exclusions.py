"""Players and matchups that were left out of a competition: who, why, and after how many games.

A selector must learn of them between the same games again to give out the same games.
"""

from collections import defaultdict
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
    changes: dict[int, list[Change]] = defaultdict(list)
    for exclusion in known:
        changes[exclusion.games].append(Change(exclusion.scope, exclusion.name, is_out=True))
        if exclusion.readmitted is not None:
            changes[exclusion.readmitted].append(Change(exclusion.scope, exclusion.name, is_out=False))
    for count, game in enumerate(games):
        yield from changes.pop(count, ())
        yield game
    for moment in sorted(changes):
        yield from changes[moment]
