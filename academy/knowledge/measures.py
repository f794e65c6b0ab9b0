"""Measures of a game over its contests, and its players' latest Elo."""

import math
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from academy.knowledge.cells import State
from academy.knowledge.contests import Contestant, ContestReport, Result
from academy.knowledge.merging import STRICT_POSITIVE

__all__ = ["CONTESTS_FOR_AVERAGE", "Mean", "Measure", "Measures", "Rating", "Ratings"]

Rating = tuple[str, int]


class Ratings:
    """A player's latest Elo by name, in hundredths. A contest costs the same with many players.

    Args:
        known: The ratings to begin with, as pairs of a name and an Elo.
    """

    def __init__(self, known: Iterable[Rating] = ()) -> None:
        self._by_player = dict(known)
        # In order, so that a quantile is not sought among all players with each contest.
        self._ranked = sorted(self._by_player.values())
        self._changed: set[str] = set()

    def __len__(self) -> int:
        return len(self._by_player)

    def __iter__(self) -> Iterator[Rating]:
        return iter(self._by_player.items())

    def __contains__(self, player: str) -> bool:
        return player in self._by_player

    def __getitem__(self, player: str) -> int:
        return self._by_player[player]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ratings) and self._by_player == other._by_player

    def in_upper_quartile(self, player: str) -> bool:
        """Return whether a player's Elo reaches the upper quartile, `statistics.quantiles(elos, n=4)[2]`.

        The best player always reaches it: the quartile of two players lies above both.

        Args:
            player: A player with a rating.

        Raises:
            KeyError: The player has no rating.
        """
        ranked = self._ranked
        elo = self._by_player[player]
        if elo == ranked[-1]:
            return True
        # The same figure, times 4, from what is in order already: `quantiles` would copy and sort all.
        place = min(max(3 * (len(ranked) + 1) // 4, 1), len(ranked) - 1)
        share = 3 * (len(ranked) + 1) - 4 * place
        return 4 * elo >= ranked[place - 1] * (4 - share) + ranked[place] * share

    def set_after_contest(self, contestants: Iterable[Contestant]) -> None:
        """Set the ratings of a contest's players.

        Args:
            contestants: The players by seat; the last seat counts where a player has several.
        """
        self.follow({player.name: player.elo_hundredths for player in contestants}.items())

    def follow(self, ratings: Iterable[Rating]) -> None:
        """Set ratings.

        Args:
            ratings: Each player's name and Elo in hundredths.
        """
        for player, hundredths in ratings:
            before = self._by_player.get(player)
            if before == hundredths:
                continue
            if before is not None:
                del self._ranked[bisect_left(self._ranked, before)]
            insort(self._ranked, hundredths)
            self._by_player[player] = hundredths
            self._changed.add(player)

    def take_changes(self) -> frozenset[str]:
        """Return the players who are new or have another Elo since the last call."""
        changed, self._changed = frozenset(self._changed), set()
        return changed


CONTESTS_FOR_AVERAGE: Final = 10
# As they were called under the first rules: of another kind, so that the two cannot be added up.
_SUMS_OF_ALL_PLAYERS: Final = frozenset({"decisiveness", "drama"})
_PIECES: Final = (
    bytes((State.FIRST_SOLDIER, State.FIRST_KING)),
    bytes((State.SECOND_SOLDIER, State.SECOND_KING)),
)


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure's value, None where unknown, and the number of contests it was taken from.

    `positions` are those (or the moves) that it is a mean over; 0 for what is counted by contests.
    """

    value: float | None
    contests: int
    positions: int = 0


@dataclass(slots=True)
class Mean:
    """A sum, how many values it adds up, and how many contests contributed."""

    total: float = 0.0
    count: int = 0
    contests: int = 0

    def add(self, total: float, count: int) -> None:
        """Add one contest's sum.

        Args:
            total: The sum.
            count: How many values it adds up; with 0 nothing is added.
        """
        if count:
            self.total += total
            self.count += count
            self.contests += 1

    def as_json(self) -> dict[str, float]:
        """Return the sums as plain values."""
        return {"total": self.total, "count": self.count, "contests": self.contests}

    def measure(self) -> Measure:
        """Return the mean over contests."""
        return Measure(self.total / self.count if self.count else None, self.contests)

    def measure_of_positions(self) -> Measure:
        """Return the mean over positions or moves."""
        return replace(self.measure(), positions=self.count)


@dataclass(slots=True)
class Measures:
    """Running sums of one game; `measures` makes the figures of them."""

    contests: int = 0
    length: Mean = field(default_factory=Mean)
    squared_length: float = 0.0
    width: Mean = field(default_factory=Mean)
    mobility: Mean = field(default_factory=Mean)
    tempo: Mean = field(default_factory=Mean)
    draws: Mean = field(default_factory=Mean)
    first_player_score: Mean = field(default_factory=Mean)
    decisiveness_of_best: Mean = field(default_factory=Mean)
    drama_of_best: Mean = field(default_factory=Mean)
    best_elo: float | None = None
    # How many have played it.
    players: int = 0

    def average_length(self, expected: float) -> float:
        """Return the plies of an average game.

        Args:
            expected: The figure to return until 10 contests are known.
        """
        return self.length.total / self.contests if self.contests >= CONTESTS_FOR_AVERAGE else expected

    def learn(self, report: ContestReport, ratings: Ratings) -> None:
        """Learn from a contest.

        Args:
            report: The contest's report.
            ratings: The players' ratings, this contest's included.
        """
        self.contests += 1
        plies = len(report.plies)
        self.length.add(plies, 1)
        self.squared_length += plies * plies
        self.players = len(ratings)
        elos = [player.elo for player in report.contestants]
        self.best_elo = max(elos if self.best_elo is None else [self.best_elo, *elos])
        self.draws.add(Result.DRAW in report.results, 1)
        self.first_player_score.add({Result.WIN: 1.0, Result.DRAW: 0.5}.get(report.results[0], 0.0), 1)
        widths = [ply.legal_moves for ply in report.plies if ply.legal_moves]
        self.width.add(sum(widths), len(widths))
        self._add_mobility(report)
        self._add_tempo(report, ratings)
        self._add_advantages(report, ratings)

    def _add_mobility(self, report: ContestReport) -> None:
        """Moves a piece of the mover has, times the share of empty cells."""
        if len(report.contestants) > 2:
            return
        total, count = 0.0, 0
        for board, ply in zip(report.boards, report.plies, strict=False):
            if board and ply.legal_moves and ply.player in (1, 2):
                pieces = sum(board.count(piece) for piece in _PIECES[ply.player - 1])
                if pieces:
                    cells = len(board) - board.count(State.OFF_BOARD)
                    total += ply.legal_moves / pieces * (board.count(State.EMPTY) / cells)
                    count += 1
        self.mobility.add(total, count)

    def _add_tempo(self, report: ContestReport, ratings: Ratings) -> None:
        """Plies to the first interaction, between players of the upper quartile."""
        if all(ratings.in_upper_quartile(player.name) for player in report.contestants):
            first = next((number for number, ply in enumerate(report.plies, 1) if ply.interaction), None)
            if first is not None:
                self.tempo.add(first, 1)

    def _add_advantages(self, report: ContestReport, ratings: Ratings) -> None:
        """Positions a player saw as strictly positive: were they won, and did the next move keep them?

        LUDAE takes the view of the best known player: here it is that of all in the upper quartile.
        """
        best = {
            seat
            for seat, player in enumerate(report.contestants, 1)
            if ratings.in_upper_quartile(player.name)
        }
        held, won, moves, lost_hold = 0, 0, 0, 0
        latest: dict[int, float] = {}
        for ply in report.plies:
            value = ply.values.get(ply.player)
            if value is None or ply.player not in best:
                continue
            before = latest.get(ply.player, 0.0)
            if before > STRICT_POSITIVE:
                moves += 1
                lost_hold += value <= STRICT_POSITIVE
            if value > STRICT_POSITIVE:
                held += 1
                won += report.results[ply.player - 1] is Result.WIN
            latest[ply.player] = value
        self.decisiveness_of_best.add(won, held)
        self.drama_of_best.add(lost_hold, moves)

    def measures(self) -> dict[str, Measure]:
        """Return all measures by their names (source: LUDAE, docs/explanation/how-learning-works.md).

        `size` = log10 of the game tree's nodes, estimated as average length times log10 of width;
        `depth` = best Elo / 100 + 6 / log10(max(10, players)); `decisiveness` is the share of
        positions with advantage that were won, `drama` the share of moves that gave one away, both by
        players of the upper quartile of Elo.
        """
        length = self.length.measure()
        width = self.width.measure_of_positions()
        size = (
            Measure(length.value * math.log10(width.value), width.contests)
            if length.value is not None and width.value
            else Measure(None, 0)
        )
        depth = (
            Measure(self.best_elo / 100 + 6 / math.log10(max(10, self.players)), self.contests)
            if self.best_elo is not None
            else Measure(None, 0)
        )
        spread = (
            Measure(math.sqrt(max(0.0, self.squared_length / self.contests - length.value**2)), self.contests)
            if length.value is not None
            else Measure(None, 0)
        )
        return {
            "length": length,
            "length_spread": spread,
            "width": width,
            "size": size,
            "depth": depth,
            "mobility": self.mobility.measure_of_positions(),
            "tempo": self.tempo.measure(),
            "draws": self.draws.measure(),
            "first_player_score": self.first_player_score.measure(),
            "decisiveness": self.decisiveness_of_best.measure_of_positions(),
            "drama": self.drama_of_best.measure_of_positions(),
        }

    def as_json(self) -> dict[str, Any]:
        """Return the sums as plain values, to be written out before anything is added."""
        # Not by `asdict`: it copies every value, name by name, with each contest.
        sums = {measure.name: getattr(self, measure.name) for measure in fields(self)}
        return {name: value.as_json() if isinstance(value, Mean) else value for name, value in sums.items()}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "Measures":
        """Return the sums that `as_json` wrote.

        Args:
            stored: The plain values. Sums that an earlier version took over all players are left out.
        """
        means = {measure.name for measure in fields(cls) if measure.default_factory is Mean}
        sums: dict[str, Any] = {
            name: Mean(**value) if name in means else value
            for name, value in stored.items()
            if name not in _SUMS_OF_ALL_PLAYERS
        }
        return cls(**sums)
