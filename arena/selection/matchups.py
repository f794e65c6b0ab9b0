"""Games in matchups: what playoffs, round robins, gauntlets and tests have in common."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heapreplace
from itertools import count
from typing import TypeVar

from arena.control.changed_settings import changed
from arena.control.plans import GameSettings
from arena.control.settings import Scope
from arena.jobs import PlayerSetup
from arena.selection.selector import (
    CompetitionChangedError,
    CompletedGame,
    Fixture,
    Selector,
    check_terms,
    game_seed,
)


class Numbering:
    """The numbers, from 0, of one group of games: which have been given out and which are completed.

    `limit` is how many games the group has, None for no end.
    """

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._given: set[int] = set()
        self._completed: set[int] = set()
        # The lowest number that has not been given out.
        self.lowest_open = 0

    @property
    def given(self) -> int:
        """How many games have been given out, completed ones included."""
        return len(self._given)

    @property
    def completed(self) -> int:
        """How many games are completed."""
        return len(self._completed)

    @property
    def open(self) -> bool:
        """Whether there are numbers to give out."""
        return self._limit is None or self.lowest_open < self._limit

    @property
    def finished(self) -> bool:
        """Whether no number is missing among the completed ones."""
        return not self.open and self.given == self.completed

    def open_numbers(self) -> Iterator[int]:
        """The numbers to give out, the lowest first."""
        numbers = count(self.lowest_open) if self._limit is None else range(self.lowest_open, self._limit)
        return (number for number in numbers if number not in self._given)

    def give(self, number: int) -> None:
        """Give out a number."""
        self._given.add(number)
        while self.lowest_open in self._given:
            self.lowest_open += 1

    def take_back(self, number: int) -> None:
        """Have a number given out again whose game will not be completed."""
        self._given.discard(number)
        self.lowest_open = min(self.lowest_open, number)

    def wants(self, number: int) -> bool:
        """Whether this number is still to be given out."""
        return number not in self._given and (self._limit is None or number < self._limit)

    def complete(self, number: int) -> None:
        """Note that this number's game is completed."""
        self.give(number)
        self._completed.add(number)

    def text(self, number: int) -> str:
        """The number as game ids have it: padded with zeros to the longest one, if there is an end."""
        width = 0 if self._limit is None else len(str(self._limit - 1))
        return f"{number:0{width}d}"


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

    def rotate(self, line_up: tuple[T, ...], number: int) -> tuple[T, ...]:
        """Return the players, or what is listed like them, by seat in a game."""
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

    finds_at_once = True

    def __init__(self, groups: Mapping[str, Group], seed: int, keep_ghosts: bool = False) -> None:
        self.groups = dict(groups)
        self._seed = seed
        self._keep_ghosts = keep_ghosts
        self._numbers = {matchup: Numbering(group.games) for matchup, group in groups.items()}
        self._ghosts: set[str] = set()
        self._recount()

    def _recount(self) -> None:
        """Find what is left to play. It takes long, so results and games given out only change it."""
        out = set(filter(self._excludes, self.groups))
        self._missing = {
            matchup
            for matchup, numbers in self._numbers.items()
            if matchup not in out and not numbers.finished
        }
        games = [
            self._numbers[matchup].completed if matchup in out else group.games
            for matchup, group in self.groups.items()
        ]
        self._total = None if None in games else sum(number for number in games if number is not None)
        self._turns = self._list_turns()

    def _list_turns(self) -> list[tuple[int, int, str]]:
        """A heap of the games given out of each matchup that misses some, and its place in the order."""
        turns = [
            (self._numbers[matchup].given, place, matchup)
            for place, matchup in enumerate(self.groups)
            if matchup in self._missing
        ]
        heapify(turns)
        return turns

    @property
    def total(self) -> int | None:
        """The games of all matchups, None if one has no end; of those left out, the ones that were played."""
        return self._total

    @property
    def finished(self) -> bool:
        """Whether every matchup that is not left out has all its games, and there is one."""
        return not self._missing and not self.short

    @property
    def short(self) -> str:
        """Why no game is left to play, where all matchups are left out."""
        if self._missing or not all(map(self._excludes, self.groups)):
            return ""
        finished = all(numbers.finished for numbers in self._numbers.values())
        return "" if finished else "all matchups with missing games are left out"

    def _excludes(self, matchup: str) -> bool:
        return self.excluded.bars(matchup, self.groups[matchup].players)

    @property
    def ghosts(self) -> Sequence[str]:
        """Matchups with games that have left the control file."""
        return sorted(self._ghosts)

    def next_game(self) -> Fixture | None:
        """The lowest number not yet given out of the matchup with the fewest games given out."""
        while self._turns:
            given, place, matchup = self._turns[0]
            numbers = self._numbers[matchup]
            if not numbers.open:
                heappop(self._turns)
            elif given < numbers.given:
                # Games of earlier runs.
                heapreplace(self._turns, (numbers.given, place, matchup))
            else:
                fixture = self._fixture(matchup, numbers.lowest_open)
                numbers.give(numbers.lowest_open)
                heapreplace(self._turns, (numbers.given, place, matchup))
                return fixture
        return None

    def upcoming(self) -> Iterator[Fixture]:
        """What `next_game` would give out, one after the other."""
        turns = self._list_turns()
        numbers = {matchup: self._numbers[matchup].open_numbers() for matchup in self._missing}
        while turns:
            given, place, matchup = turns[0]
            number = next(numbers[matchup], None)
            if number is None:
                heappop(turns)
                continue
            heapreplace(turns, (given + 1, place, matchup))
            yield self._fixture(matchup, number)

    def completed(self, game: CompletedGame) -> None:
        """Take in a game: its number is not given out again. Raises CompetitionChangedError."""
        matchup, number = self._parse(game.game_id)
        if matchup not in self.groups:
            self._ghosts.add(matchup)
            return
        group = self.groups[matchup]
        players = group.players
        if sorted(players) != sorted(game.players):
            raise self._other_players(matchup, game)
        if group.game is not None and game.game is not None:
            check_terms(game.game.terms, group.game.terms, f"matchups[{matchup}].game")
        numbers = self._numbers[matchup]
        before = numbers.completed
        numbers.complete(number)
        if numbers.finished:
            self._missing.discard(matchup)
        if self._total is not None and self._excludes(matchup):
            self._total += numbers.completed - before

    def exclude(self, scope: Scope, name: str) -> None:
        """Give out no more games of a player or of a matchup."""
        super().exclude(scope, name)
        self._recount()

    def readmit(self, scope: Scope, name: str) -> None:
        """Give out games of a player or a matchup again."""
        super().readmit(scope, name)
        self._recount()

    def resume(self, game_id: str, players: Sequence[str], detail: str) -> Fixture | None:
        """The game of this id; None when fewer games are wanted now. Raises CompetitionChangedError."""
        matchup, number = self._parse(game_id)
        if matchup not in self.groups or not self._numbers[matchup].wants(number):
            return None
        if self._excludes(matchup):
            return None
        self._numbers[matchup].give(number)
        # Its attempts so far are stored under the id it had, however many digits ids have now.
        return replace(self._fixture(matchup, number), game_id=game_id)

    def _other_players(self, matchup: str, game: CompletedGame) -> CompetitionChangedError:
        """The error for a game of players that its matchup does not have."""
        before, now = sorted(game.players), sorted(self.groups[matchup].players)
        return CompetitionChangedError(
            changed(f"matchups[{matchup}].players", " and ".join(before), " and ".join(now))
            + ", or call the new matchup by another id"
        )

    def _parse(self, game_id: str) -> tuple[str, int]:
        matchup, _, number = game_id.rpartition("_")
        known = matchup in self.groups or (self._keep_ghosts and matchup)
        if not known or not (number.isascii() and number.isdigit()):
            raise self.foreign(game_id)
        return matchup, int(number)

    def _fixture(self, matchup: str, number: int) -> Fixture:
        group = self.groups[matchup]
        return Fixture(
            game_id=f"{matchup}_{self._numbers[matchup].text(number)}",
            matchup=matchup,
            players=group.rotate(group.players, number),
            # The number alone names the seed, so that more games, with longer ids, change no game.
            seed=game_seed(self._seed, f"{matchup}_{number}"),
            setups=group.rotate(group.setups, number),
            game=group.game,
            opening=group.opening(number),
            event=group.event,
        )


def letters(place: int) -> str:
    """A competitor's letters in the cross-table by place from 0: A to Z, then AA to ZZ."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    if place < 26:
        return alphabet[place]
    return alphabet[(place - 26) // 26] + alphabet[(place - 26) % 26]


class LetteredSelector(MatchupSelector):
    """Plays matchups called `AvB`.

    `lists` are the lists of competitors by their settings' paths; the letters go on from one to the next.
    More competitors may come at the end of the last one, nothing else may change once there are games.
    """

    def __init__(self, lists: Mapping[str, Sequence[str]], groups: Mapping[str, Group], seed: int) -> None:
        super().__init__(groups, seed)
        named = [(path, name) for path, names in lists.items() for name in names]
        self._settings = {letters(place): path for place, (path, _) in enumerate(named)}
        self._competitors = {letters(place): name for place, (_, name) in enumerate(named)}
        self._last = list(lists)[-1]

    def completed(self, game: CompletedGame) -> None:
        """Take in a game: its number is not given out again. Raises CompetitionChangedError."""
        matchup, _, number = game.game_id.rpartition("_")
        called = matchup.split("v")
        if number.isascii() and number.isdigit() and len(called) == len(game.players):
            # Everybody has moved on by one seat with each game.
            shift = -int(number) % len(called)
            players = (*game.players[shift:], *game.players[:shift])
            if matchup not in self.groups or self.groups[matchup].players != players:
                raise self._misplaced(called, players)
        super().completed(game)

    def _misplaced(self, called: Sequence[str], players: Sequence[str]) -> CompetitionChangedError:
        for letter, before in zip(called, players, strict=True):
            now = self._competitors.get(letter, "nobody")
            if now != before:
                setting = self._settings.get(letter, self._last)
                return CompetitionChangedError(
                    changed(setting, f"{before} as {letter}", f"{now} as {letter}")
                )
        met = f"{' against '.join(players)} as {' and '.join(called)}"
        return CompetitionChangedError(changed(self._settings[called[-1]], met, "no such games"))
