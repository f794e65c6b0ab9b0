"""Plays selectors' games in no time: outcomes come from a rule."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from arena.selection.selector import CompletedGame, Fixture, Selector
from referees.api import Outcome, Termination

Rule = Callable[[Fixture], Sequence[int]]
"""The seats that win a game: one, several for a draw, none for an unknown result."""


def completed(fixture: Fixture, winners: Sequence[int]) -> CompletedGame:
    outcome = Outcome(tuple(winners), Termination.SCORE, "")
    return CompletedGame(fixture.game_id, fixture.players, outcome, fixture.detail)


def stronger_wins(strength: Callable[[str], float]) -> Rule:
    """Who is strongest wins; equals draw."""

    def winners(fixture: Fixture) -> Sequence[int]:
        best = max(map(strength, fixture.players))
        return [seat for seat, name in enumerate(fixture.players, start=1) if strength(name) == best]

    return winners


def first_seat(fixture: Fixture) -> Sequence[int]:
    return (1,)


@dataclass
class Played:
    """The games that were given out and their results, in order."""

    fixtures: list[Fixture]
    games: list[CompletedGame]

    @property
    def ids(self) -> list[str]:
        return [fixture.game_id for fixture in self.fixtures]


def play(selector: Selector, rule: Rule = first_seat, most: int | None = None, at_once: int = 1) -> Played:
    """Play all games, `at_once` games at a time, the first given out ending first."""
    played = Played([], [])
    running: list[Fixture] = []
    while True:
        while len(running) < at_once and (most is None or len(played.fixtures) < most):
            fixture = selector.next_game()
            if fixture is None:
                break
            running.append(fixture)
            played.fixtures.append(fixture)
        if not running:
            return played
        fixture = running.pop(0)
        game = completed(fixture, rule(fixture))
        selector.completed(game)
        played.games.append(game)


def given_out(selector: Selector) -> list[Fixture]:
    """The games that are given out before any of them ends."""
    fixtures = []
    while (fixture := selector.next_game()) is not None:
        fixtures.append(fixture)
    return fixtures


def resumed(selector: Selector, games: Sequence[CompletedGame]) -> Selector:
    """The selector after the games of earlier runs."""
    for game in games:
        selector.completed(game)
    return selector
