"""Where the players stand: games, results, points, Elo, CPU time, and results against each opponent."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Self

from arena.jobs import Fault
from arena.ratings.elo import EloRules
from arena.results.games import FinishedGame


@dataclass
class Score:
    """A count of games from one player's side; `unknown` are games without a known result."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    unknown: int = 0

    @property
    def games(self) -> int:
        """All games, those of unknown result included."""
        return self.wins + self.draws + self.losses + self.unknown


@dataclass
class PlayerStanding:
    """A player's line in the table.

    `elo` is live: as it went from game to game. `points` are 1 for a win and, for a draw, 1 shared by those
    who drew. `forfeits` are games lost by breaking a rule of play, `time_losses` those of them that were lost
    on time. `fault_games` are those in which the player did wrong, whether they were lost by it or not;
    `faults` counts them by what it was, where the standings are made of games.
    `cpu_seconds` is the sum over the `cpu_games` in which it is known.
    """

    name: str
    elo: float
    score: Score = field(default_factory=Score)
    points: float = 0.0
    forfeits: int = 0
    time_losses: int = 0
    faults: Counter[Fault] = field(default_factory=Counter)
    cpu_seconds: float = 0.0
    cpu_games: int = 0
    fault_games: int = 0

    @property
    def mean_cpu(self) -> float | None:
        """Mean CPU seconds a game, None where unknown."""
        return self.cpu_seconds / self.cpu_games if self.cpu_games else None


class Standings:
    """The table of a competition, brought up to date game by game."""

    def __init__(
        self,
        players: Sequence[str],
        rules: EloRules,
        games: Iterable[FinishedGame] = (),
        unranked: Collection[str] = (),
        parents: Callable[[str], Sequence[str]] = lambda name: (),
    ) -> None:
        """The `unranked` have no line, nor a part in the cross-table; their games count for the others.

        A player with `parents` begins with the mean of their Elo, others as the rules say.
        """
        self._rules = rules
        self._unranked = unranked
        self._parents = parents
        self._players = {name: PlayerStanding(name, rules.first(name)) for name in players}
        self.pairs: dict[tuple[str, str], Score] = {}
        self.games = 0
        for game in games:
            self.add(game)

    @classmethod
    def of_totals(
        cls,
        players: Sequence[str],
        rules: EloRules,
        totals: Iterable[PlayerStanding],
        pairs: Mapping[tuple[str, str], Score],
        games: int,
    ) -> Self:
        """The table from running totals, which do not say what players did wrong."""
        standings = cls(players, rules)
        for player in totals:
            player.elo = rules.fixed.get(player.name, player.elo)
            standings._players[player.name] = player
        standings.pairs = dict(pairs)
        standings.games = games
        return standings

    def follow(self, rules: EloRules) -> None:
        """Let players that come from now on begin by these rules."""
        self._rules = rules

    @property
    def order(self) -> Sequence[str]:
        """The players in definition order, then those that only old games have."""
        return tuple(self._players)

    def add(self, game: FinishedGame) -> None:
        """Take in a finished game."""
        self.games += 1
        ranked = [
            (seat, name) for seat, name in enumerate(game.players, start=1) if name not in self._unranked
        ]
        for seat, name in ranked:
            self._player(name).elo = self._rules.fixed.get(name, game.elo_after[seat - 1])
        for seat, name in ranked:
            player = self._player(name)
            won = seat in game.outcome.winners
            _count(player.score, game, game.share(seat))
            player.points += game.share(seat)
            fault = game.faults[seat - 1]
            if fault is not Fault.NONE:
                player.faults[fault] += 1
                player.fault_games += 1
            if game.is_forfeited_by(seat):
                player.forfeits += 1
                player.time_losses += fault is Fault.LATE
            cpu = game.cpu_seconds[seat - 1]
            if cpu is not None:
                player.cpu_seconds += cpu
                player.cpu_games += 1
            for other, opponent in ranked:
                if opponent != name:
                    pair = self.pairs.setdefault((name, opponent), Score())
                    beaten = other in game.outcome.winners
                    _count(pair, game, 0.5 if won == beaten else float(won))

    def elo(self, name: str) -> float:
        """A player's Elo now."""
        return self._player(name).elo

    def against(self, name: str, opponent: str) -> Score:
        """How a player fared against another one."""
        return self.pairs.get((name, opponent), Score())

    def table(self) -> Sequence[PlayerStanding]:
        """All players, the best first: by share of points won, then by Elo, then in definition order."""
        return sorted(self._players.values(), key=_merit, reverse=True)

    def _player(self, name: str) -> PlayerStanding:
        if name not in self._players:
            parents = [self._players[parent].elo for parent in self._parents(name) if parent in self._players]
            elo = fmean(parents) if parents else self._rules.first(name)
            self._players[name] = PlayerStanding(name, elo)
        return self._players[name]


def _merit(player: PlayerStanding) -> tuple[float, float]:
    known = player.score.games - player.score.unknown
    return (player.points / known if known else -math.inf, player.elo)


def _count(score: Score, game: FinishedGame, points: float) -> None:
    if not game.outcome.winners:
        score.unknown += 1
    elif points == 1.0:
        score.wins += 1
    elif points == 0.0:
        score.losses += 1
    else:
        score.draws += 1
