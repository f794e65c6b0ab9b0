"""Games in matchups: what playoffs, all-play-alls, gauntlets and tests have in common."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from arena.control.changed_settings import changed
from arena.control.plans import GameSettings
from arena.jobs import PlayerSetup
from arena.selection.numbering import Numbering
from arena.selection.selector import (
    CompetitionChangedError,
    CompletedGame,
    Fixture,
    Selector,
    game_seed,
)
from arena.selection.terms import check_terms

T = TypeVar("T")


@dataclass(frozen=True)
class Group:
    """The games of one line-up, given in the order of the seats of its first game.

    If `alternating`, everybody moves on by one seat from game to game, and as many games as there are
    seats share an opening. `games` None means no end. `setups` are of the players, where the control
    file does not have all of them. The rest is as in Fixture.
    """

    players: tuple[str, ...]
    games: int | None
    alternating: bool = True
    game: GameSettings | None = None
    event: str = ""
    setups: tuple[PlayerSetup, ...] = ()

    def seated(self, line_up: tuple[T, ...], number: int) -> tuple[T, ...]:
        """The players, or what is listed like them, by seat in a game."""
        shift = number % len(self.players) if self.alternating else 0
        return line_up[shift:] + line_up[:shift]

    def opening(self, number: int) -> int:
        """The place of a game's opening in the list of openings."""
        return number // len(self.players) if self.alternating else number


class MatchupSelector(Selector):
    """The matchup with the fewest games given out plays next; among equals, the first in definition order.

    Game n (from 0) of a matchup is `MATCHUP_n`, padded with zeros to the matchup's longest number. With
    `keep_ghosts`, games of matchups that the control file has no more are `ghosts`; else they are
    refused.
    """

    def __init__(self, groups: Mapping[str, Group], seed: int, keep_ghosts: bool = False) -> None:
        self._groups = dict(groups)
        self._seed = seed
        self._keep_ghosts = keep_ghosts
        self._numbers = {matchup: Numbering(group.games) for matchup, group in groups.items()}
        self._ghosts: set[str] = set()

    @property
    def groups(self) -> Mapping[str, Group]:
        """The matchups by their ids, in definition order."""
        return self._groups

    @property
    def total(self) -> int | None:
        """The games of all matchups, None if one has no end; of those left out, the ones that were played."""
        games = [
            self._numbers[matchup].completed if self._excludes(matchup) else group.games
            for matchup, group in self._groups.items()
        ]
        return None if None in games else sum(number for number in games if number is not None)

    @property
    def finished(self) -> bool:
        """Whether every matchup that is not left out has all its games, and there is one."""
        return not self._missing and not self.short

    @property
    def short(self) -> str:
        """Why no game is left to play, where all matchups are left out."""
        if all(map(self._excludes, self._groups)) and not all(n.finished for n in self._numbers.values()):
            return "all matchups with missing games are left out"
        return ""

    @property
    def _missing(self) -> list[str]:
        return [
            matchup
            for matchup, numbers in self._numbers.items()
            if not numbers.finished and not self._excludes(matchup)
        ]

    def _excludes(self, matchup: str) -> bool:
        return self.excluded.bars(matchup, self._groups[matchup].players)

    @property
    def ghosts(self) -> Sequence[str]:
        """Matchups with games that the control file has no more."""
        return sorted(self._ghosts)

    def next_game(self) -> Fixture | None:
        """The lowest number not yet given out of the matchup with the fewest games given out."""
        matchups = [matchup for matchup in self._missing if self._numbers[matchup].open]
        if not matchups:
            return None
        matchup = min(matchups, key=lambda matchup: self._numbers[matchup].given)
        return self._fixture(matchup, self._numbers[matchup].next())

    def completed(self, game: CompletedGame) -> None:
        """Note that the game needs not be given out. Raises CompetitionChangedError."""
        matchup, number = self._parse(game.game_id)
        if matchup not in self._groups:
            self._ghosts.add(matchup)
            return
        group = self._groups[matchup]
        players = group.players
        if sorted(players) != sorted(game.players):
            raise self._other_players(matchup, game)
        if group.game is not None and game.game is not None:
            check_terms(game.game.terms, group.game.terms, f"matchups[{matchup}].game")
        self._numbers[matchup].complete(number)

    def resume(self, game_id: str, players: Sequence[str], detail: str) -> Fixture | None:
        """The game of this id; None when fewer games are wanted now. Raises CompetitionChangedError."""
        matchup, number = self._parse(game_id)
        if matchup not in self._groups or not self._numbers[matchup].wants(number):
            return None
        if self._excludes(matchup):
            return None
        self._numbers[matchup].give(number)
        # Its attempts so far are stored under the id it had, however many digits ids have now.
        return replace(self._fixture(matchup, number), game_id=game_id)

    def _other_players(self, matchup: str, game: CompletedGame) -> CompetitionChangedError:
        """The error for a game of players that its matchup does not have."""
        before, now = sorted(game.players), sorted(self._groups[matchup].players)
        return CompetitionChangedError(
            changed(f"matchups[{matchup}].players", " and ".join(before), " and ".join(now))
            + ", or call the new matchup by another id"
        )

    def _parse(self, game_id: str) -> tuple[str, int]:
        matchup, _, number = game_id.rpartition("_")
        known = matchup in self._groups or (self._keep_ghosts and matchup)
        if not known or not (number.isascii() and number.isdigit()):
            raise self.foreign(game_id)
        return matchup, int(number)

    def _fixture(self, matchup: str, number: int) -> Fixture:
        group = self._groups[matchup]
        return Fixture(
            game_id=f"{matchup}_{self._numbers[matchup].text(number)}",
            matchup=matchup,
            players=group.seated(group.players, number),
            # The number alone names the seed, so that more games, with longer ids, change no game.
            seed=game_seed(self._seed, f"{matchup}_{number}"),
            setups=group.seated(group.setups, number),
            game=group.game,
            opening=group.opening(number),
            event=group.event,
        )
