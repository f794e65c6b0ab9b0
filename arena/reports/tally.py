"""What came out of a matchup, player by player and seat by seat."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from arena.control.plans import GameSettings
from arena.results.games import FinishedGame


@dataclass
class SeatTally:
    """Games in a seat, and the wins among them; a draw is a win shared by those who drew."""

    games: int = 0
    wins: float = 0.0


@dataclass
class PlayerTally:
    """A player's games in a matchup. `cpu_seconds` is the sum over the `cpu_games` where it is known."""

    name: str
    wins: float = 0.0
    forfeits: int = 0
    seats: dict[int, SeatTally] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    cpu_games: int = 0

    @property
    def games(self) -> int:
        """The games that it played, once for each seat that it had."""
        return sum(mine.games for mine in self.seats.values())

    @property
    def mean_cpu(self) -> float | None:
        """Mean CPU seconds a game, None where unknown."""
        return self.cpu_seconds / self.cpu_games if self.cpu_games else None

    def add(self, game: FinishedGame, seat: int) -> None:
        """Take in a game that the player had this seat in."""
        mine = self.seats.setdefault(seat, SeatTally())
        mine.games += 1
        mine.wins += game.share(seat)
        self.wins += game.share(seat)
        self.forfeits += game.is_forfeited_by(seat)
        cpu = game.cpu_seconds[seat - 1]
        if cpu is not None:
            self.cpu_seconds += cpu
            self.cpu_games += 1


@dataclass
class MatchupTally:
    """A matchup's games.

    `players` are in the order of its first game's seats, `wanted` is the number of games
    (None: no end). `game` is None for a matchup that has left the control file.
    """

    matchup_id: str
    title: str
    players: tuple[str, ...]
    wanted: int | None
    game: GameSettings | None
    total: int = 0
    unknown: int = 0
    tallies: dict[str, PlayerTally] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.players:
            self.tallies.setdefault(name, PlayerTally(name))

    @property
    def alternated(self) -> bool:
        """Whether any player has had more than one seat."""
        return any(len(tally.seats) > 1 for tally in self.tallies.values())

    def seat_wins(self, seat: int) -> float:
        """The games won from a seat by any player."""
        return sum(tally.seats[seat].wins for tally in self.tallies.values() if seat in tally.seats)

    def add(self, game: FinishedGame) -> None:
        """Take in a game."""
        self.total += 1
        self.unknown += not game.outcome.winners
        for seat, name in enumerate(game.players, start=1):
            self.tallies.setdefault(name, PlayerTally(name)).add(game, seat)


def tally(known: Sequence[MatchupTally], games: Sequence[FinishedGame], kind: str) -> list[MatchupTally]:
    """Fill the known matchups, and others that games of this kind of competition belong to."""
    matchups = {matchup.matchup_id: matchup for matchup in known}
    others = [game for game in games if game.matchup not in matchups]
    matchups |= {matchup.matchup_id: matchup for matchup in unplanned_tallies({}, others, kind)}
    for game in games:
        matchups[game.matchup].add(game)
    return list(matchups.values())


# What the games of these kinds are listed under.
_TITLES: Final = {"mars": "series {}", "standing": "{}", "generations": "{}"}


def unplanned_tallies(
    settings: Mapping[str, GameSettings], games: Sequence[FinishedGame], kind: str
) -> list[MatchupTally]:
    """Empty tallies of matchups that only their games and the settings of these are known of."""
    first = {game.matchup: game.players for game in reversed(games)}
    return [
        # The first line-up of a series or a pool is not all that play in it.
        MatchupTally(
            matchup,
            _TITLES[kind].format(matchup) if kind in _TITLES else " v ".join(first[matchup]),
            first[matchup],
            None,
            settings.get(matchup),
        )
        for matchup in sorted(first)
    ]
