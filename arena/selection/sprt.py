"""A match in pairs of games that ends when a sequential test knows enough."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from arena.control.plans import SprtPlan
from arena.ratings.pentanomial import Counts, MatchEstimate, Sprt, SprtStatus, estimate
from arena.selection.matchups import Group, MatchupSelector
from arena.selection.selector import CompletedGame, Fixture, check_terms

MATCHUP: Final = "AvB"


@dataclass(frozen=True)
class SprtState:
    """How a sequential test stands, of the `first` player against the `second`.

    `pairs` counts pairs of games by the first player's points: 0, ½, 1, 1½, 2; `left_out` those with an
    unknown result. `status` is that of the first verdict once there is one. `match` is None before the
    first pair.
    """

    first: str
    second: str
    test: Sprt
    pairs: Counts
    left_out: int
    status: SprtStatus
    match: MatchEstimate | None


class _Pairs:
    """Games by pairs: `counts` are those pairs by the first player's points, `left_out` those without."""

    def __init__(self) -> None:
        self._halves: dict[int, float | None] = {}
        self._counts = [0] * 5
        self.left_out = 0

    @property
    def counts(self) -> Counts:
        """Pairs by the first player's points: 0, ½, 1, 1½, 2."""
        zero, half, whole, more, two = self._counts
        return zero, half, whole, more, two

    def add(self, number: int, points: float | None) -> bool:
        """Take in a game. Returns whether it completes a pair that counts."""
        if number ^ 1 not in self._halves:
            self._halves[number] = points
            return False
        earlier = self._halves.pop(number ^ 1)
        if points is None or earlier is None:
            self.left_out += 1
            return False
        self._counts[round(2 * (points + earlier))] += 1
        return True


class SprtMatch(MatchupSelector):
    """Plays two games from each opening, with the seats swapped, until the test has a verdict.

    The test looks after every completed pair. Its first verdict stands, whatever games still in progress
    may bring. Pairs with a game of unknown result are left out. Game n belongs to pair n / 2; the first
    player's points in a pair are what is counted.
    """

    def __init__(self, plan: SprtPlan, seed: int = 0) -> None:
        self._plan = plan
        self._first = plan.competitors[0]
        self._pairs = _Pairs()
        self._verdict: str | None = None
        self.status = plan.test.status((0, 0, 0, 0, 0))
        super().__init__({MATCHUP: Group(plan.competitors, plan.games)}, seed)

    def upcoming(self) -> Iterator[Fixture]:
        """None: each result may be the last."""
        return iter(())

    @property
    def description(self) -> str:
        """The kind, the test and the players."""
        games = "unlimited" if self._plan.games is None else str(self._plan.games)
        return f"sprt {self._test} games={games} competitors={','.join(self._plan.competitors)}"

    @property
    def _terms(self) -> dict[str, object]:
        test = dict(word.split("=") for word in self._test.split())
        return {**test, "competitors": ", ".join(self._plan.competitors)}

    @property
    def _test(self) -> str:
        test = self._plan.test
        return (
            f"elo0={test.elo0:g} elo1={test.elo1:g} alpha={test.alpha:g} beta={test.beta:g} "
            f"model={test.model}"
        )

    @property
    def finished(self) -> bool:
        """Whether the test has decided, or all games are played."""
        return bool(self.decided) or super().finished

    @property
    def decided(self) -> str:
        """The verdict in words, empty without one."""
        if self._verdict is None:
            return ""
        test, rejected = self._plan.test, "H0" if self._verdict == "H1" else "H1"
        supposed = {"H0": test.elo0, "H1": test.elo1}
        return (
            f"{self._verdict} is accepted over {rejected}: {self._verdict} supposes that {self._first} is "
            f"{supposed[self._verdict]:+g} Elo ({test.model}) against {self._plan.competitors[1]}, "
            f"{rejected} {supposed[rejected]:+g}"
        )

    def next_game(self) -> Fixture | None:
        """The next game of the match; None after the verdict."""
        return None if self.decided else super().next_game()

    def resume(self, game_id: str, players: Sequence[str], detail: str) -> Fixture | None:
        """The game of this id; None after the verdict."""
        return None if self.decided else super().resume(game_id, players, detail)

    def completed(self, game: CompletedGame) -> None:
        """Take in a game and, if it completes its pair, test. Raises CompetitionChangedError."""
        if game.detail:
            stored = json.loads(game.detail)
            # Games of earlier releases have the whole test as one term.
            stored |= dict(word.split("=") for word in stored.pop("test", "").split())
            check_terms(stored, self._terms)
        super().completed(game)
        counts = self._pairs.add(self._parse(game.game_id)[1], self._points(game))
        if counts and self._verdict is None:
            self.status = self._plan.test.status(self._pairs.counts)
            self._verdict = self.status.verdict

    def llr_path(self, games: Sequence[CompletedGame], points: int) -> list[tuple[int, float]]:
        """The LLR at about `points` of these games: after how many of them, and what it was."""
        pairs = _Pairs()
        step = max(1, len(games) // points)
        path = []
        for played, game in enumerate(games, 1):
            pairs.add(self._parse(game.game_id)[1], self._points(game))
            if played % step == 0 or played == len(games):
                path.append((played, self._plan.test.status(pairs.counts).llr))
        return path

    def state(self) -> SprtState:
        """How the test stands."""
        return SprtState(
            *self._plan.competitors,
            self._plan.test,
            self._pairs.counts,
            self._pairs.left_out,
            self.status,
            estimate(self._pairs.counts),
        )

    def report_lines(self) -> list[str]:
        """The test's state."""
        status = self.status
        points = ("0", "½", "1", "1½", "2")
        pairs = "  ".join(
            f"{score}: {count}" for score, count in zip(points, self._pairs.counts, strict=True)
        )
        lines = [
            f"SPRT {self._test}",
            f"pairs by points of {self._first}: {pairs}",
            f"LLR {status.llr:.3f}, bounds {status.lower:.3f} and {status.upper:.3f}",
        ]
        match = estimate(self._pairs.counts)
        if match is not None:
            lines.append(
                f"Elo {_with_interval(match.elo, match.elo_error)}, normalised "
                f"{_with_interval(match.normalised_elo, match.normalised_elo_error)}, "
                f"LOS {100 * match.superiority:.1f} %"
            )
        if self._pairs.left_out:
            lines.append(f"{self._pairs.left_out} pairs with unknown results are left out")
        if self.decided:
            lines.append(self.decided)
        elif super().finished:
            lines.append("all games are played without a verdict")
        return lines

    def _points(self, game: CompletedGame) -> float | None:
        winners = [game.players[seat - 1] for seat in game.outcome.winners]
        return float(self._first in winners) / len(winners) if winners else None

    def _fixture(self, matchup: str, number: int) -> Fixture:
        return replace(super()._fixture(matchup, number), detail=json.dumps(self._terms))


def _with_interval(elo: float, error: float) -> str:
    return f"{elo:+.1f} ± {error:.1f}" if math.isfinite(error) else f"{elo:+.1f} (no finite interval)"
