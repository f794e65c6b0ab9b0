"""What decides the next game of a competition, from nothing but the games so far."""

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from arena.control.changed_settings import REMEDY, changed
from arena.control.plans import GameSettings
from arena.control.settings import Scope
from arena.jobs import PlayerSetup
from arena.selection.voids import VoidPolicy
from referees.api import Outcome


@dataclass(frozen=True)
class Fixture:
    """A game to play: its id, the group of games it belongs to, its players by seat, and its seed.

    `setups`, by seat, are given where players are made for this game (a tuner's candidate, a clone
    `x#2`); otherwise the control file's players of these names play. `game` is given where the game
    has settings of its own. `opening` counts through the competition's openings: games of equal number
    begin alike. `detail` is what the selector must know again of the game, stored with it; `event` names
    what the game is part of in its record (empty: the competition), `remarks` are lines of the record's
    heading.
    """

    game_id: str
    matchup: str
    players: tuple[str, ...]
    seed: int
    setups: tuple[PlayerSetup, ...] = ()
    game: GameSettings | None = None
    opening: int | None = None
    detail: str = ""
    event: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class CompletedGame:
    """A game that counts, as its selector sees it; `players` by seat, `detail` as in its fixture.

    `game` is what it was played with, None where that is not known.
    """

    game_id: str
    players: tuple[str, ...]
    outcome: Outcome
    detail: str = ""
    game: GameSettings | None = None


@dataclass
class Excluded:
    """The players that get no more games, and the matchups of which no more are played."""

    players: set[str] = field(default_factory=set)
    matchups: set[str] = field(default_factory=set)

    def of(self, scope: Scope) -> set[str]:
        """The names of one scope."""
        return self.players if scope == "player" else self.matchups

    def bars(self, matchup: str, players: Collection[str]) -> bool:
        """Whether a game of the matchup between these players must not be played."""
        return matchup in self.matchups or any(original_name(name) in self.players for name in players)

    def __bool__(self) -> bool:
        return bool(self.players or self.matchups)


def original_name(name: str) -> str:
    """The control file's name of a player, which a second seat in one game is called `NAME#2` for."""
    return name.partition("#")[0] or name


class CompetitionChangedError(ValueError):
    """A control file that was changed so that the games so far do not belong to it any more."""


class Selector(ABC):
    """Decides the next game.

    It is a fold over its calls: `completed` for every game of earlier runs, in their order, then
    `resume` for the games these left unfinished, then `next_game` and `completed` as the competition
    goes on. Asked the same way it gives out the same games, seeds included. Unfinished games that are
    not resumed are given out again, under the same id, by `next_game`.
    """

    # What follows from void games.
    void_policy = VoidPolicy.BY_MATCHUP
    # Whether a game is void, and played again by the same line-up, where its loser never answered.
    reruns_hung_games = False
    # Whether a void game is never played again, and its player misses some rounds instead.
    drops_void_games = False
    # Whether the next game is found without asking programs, files or players, so that it can begin while
    # a result waits for the disk.
    finds_at_once = False

    @property
    @abstractmethod
    def total(self) -> int | None:
        """How many games the competition has, or None where that is not known."""

    @property
    @abstractmethod
    def description(self) -> str:
        """The rule and its arguments in one line, as SAGA's `Selector` keeps it."""

    @property
    @abstractmethod
    def finished(self) -> bool:
        """Whether all games are completed; else more follow, if not now then after those in progress."""

    @property
    def decided(self) -> str:
        """Why the competition is over before all its games are played; empty while it is not."""
        return ""

    @property
    def short(self) -> str:
        """Why games are missing that no player may play any more; empty while none is missing."""
        return ""

    @property
    def ghosts(self) -> Sequence[str]:
        """The matchups that have games, but have left the control file."""
        return ()

    @abstractmethod
    def next_game(self) -> Fixture | None:
        """Give out the next game; None when no game can be given out now."""

    @abstractmethod
    def completed(self, game: CompletedGame) -> None:
        """Take in a game's outcome.

        Raises CompetitionChangedError for a game this competition does not have.
        """

    @abstractmethod
    def resume(self, game_id: str, players: Sequence[str], detail: str) -> Fixture | None:
        """Give out again a game an earlier run left unfinished, with the same line-up.

        None if it is no longer wanted: its place is then given out by `next_game`, if there still is one.
        Raises CompetitionChangedError.
        """

    def foreign(self, game_id: str, part: str = "") -> CompetitionChangedError:
        """The error for a game that this competition, or `part` of it ("round 2 of "), does not have."""
        return CompetitionChangedError(
            f"competition: game {game_id!r} is none of {part}the control file's: {self.description}; {REMEDY}"
        )

    def parts_of(self, game_id: str, pattern: re.Pattern[str]) -> tuple[str, ...]:
        """What a game's id is made of, by its pattern. Raises CompetitionChangedError."""
        if match := pattern.fullmatch(game_id):
            return match.groups()
        raise self.foreign(game_id)

    def upcoming(self) -> Iterator[Fixture]:
        """The games still to come in their order, those in progress among them, if no result changes it.

        None for kinds that decide by results which game is next.
        """
        return iter(())

    def parents(self, name: str) -> Sequence[str]:
        """Those whose mean Elo a player begins with; nobody for a player that begins by the rules."""
        return ()

    def dropped(self, fixture: Fixture) -> None:
        """Note that a game given out will not be played in this run, its attempt being void."""
        return

    @property
    def expects_games(self) -> bool:
        """Whether games may come, though none can be given out now and none is in progress."""
        return False

    def failed(self, player: str) -> None:
        """Note that a player was at fault for a game that was void and is dropped."""
        return

    def inhibit(self, player: str, variant: str) -> bool:
        """Give a player no more games of a variant, because it does not start.

        The variant is the game's id at ACADEMY. False where this kind never does that.
        """
        return False

    @cached_property
    def excluded(self) -> Excluded:
        """Who and what is left out of the competition now."""
        return Excluded()

    def exclude(self, scope: Scope, name: str) -> None:
        """Give out no more games of a player or of a matchup. Games given out already may still end."""
        self.excluded.of(scope).add(name)

    def wants(self, fixture: Fixture) -> bool:
        """Whether a game that was given out and has no result is still to be played."""
        return not self.excluded.bars(fixture.matchup, fixture.players)

    def readmit(self, scope: Scope, name: str) -> None:
        """Give out games of a player or a matchup again."""
        self.excluded.of(scope).discard(name)

    def void_group(self, fixture: Fixture) -> str:
        """The group of games that a void game is counted in, and that is left out when there are too many.

        It is the matchup where a matchup is played once.
        """
        return fixture.matchup

    def report_lines(self) -> list[str]:
        """What only the selector knows of the state, for reports and the display."""
        return []

    def history_remark(self, game_id: str, detail: str) -> str:
        """What the history file says of a game besides its result; to be asked before it is completed."""
        return ""

    @cached_property
    def _news(self) -> list[str]:
        """Lines for the history file since it last asked; made at first use: kinds call no `__init__`."""
        return []

    def history_lines(self) -> list[str]:
        """What has come up for the history file since this was last asked, which is after each game."""
        news = self._news.copy()
        self._news.clear()
        return news


def game_seed(competition_seed: int, game_id: str) -> int:
    """A number, 0 to 2^63 - 1, that belongs to a game: its seed where the control file gives one."""
    digest = hashlib.sha256(f"{competition_seed}/{game_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def check_terms(
    stored: Mapping[str, object],
    now: Mapping[str, object],
    where: str = "competition",
    unset: str = "its default",
) -> None:
    """Raise CompetitionChangedError if a game was played on other terms than those of the control file.

    `where` is the table that they stand in, `unset` the words for a value that is not given.
    """
    for name in {**stored, **now}:
        before, after = stored.get(name, unset), now.get(name, unset)
        if before != after:
            raise CompetitionChangedError(changed(f"{where}.{name}", before, after))
