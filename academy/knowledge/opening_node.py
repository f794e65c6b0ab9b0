"""A node of the opening tree: what contests left in it, by the level of their players.

What contests of one level left is a part of a node that can be taken out of it again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from academy.knowledge.contests import ContestReport, Result
from academy.knowledge.node_analysis import NodeAnalysis
from academy.knowledge.votes import ELO_SCALE, VALUE_SCALE

__all__ = ["LevelVisits", "OpeningNode", "level_of"]

# Lost visits added to a node's own when it is compared for eviction.
DOUBT: Final = 4
# The level of a contest is the Elo of its weaker player, in steps of this many hundredths.
LEVEL_HUNDREDTHS: Final = 100 * ELO_SCALE
_RESULT_VALUES: Final = {Result.WIN: VALUE_SCALE, Result.DRAW: VALUE_SCALE // 2, Result.LOSS: 0}
# The figures of a node of which its levels have a part each: those of all players together, and of each.
_NUMBERS: Final = ("visits", "values", "elo_hundredths")
_BY_PLAYER: Final = ("wins", "draws", "losses", "value_millionths")


def level_of(report: ContestReport) -> int:
    """Return a contest's level: the Elo of its weaker player in hundreds, rounded down.

    Args:
        report: The contest's report.
    """
    return report.weaker_elo_hundredths // LEVEL_HUNDREDTHS


@dataclass(frozen=True, slots=True)
class LevelVisits:
    """What contests of one level left in a node.

    `level` is the Elo of their weaker player in hundreds, rounded down; the rest is as in `OpeningNode`.
    """

    level: int
    visits: int
    wins: tuple[int, ...]
    draws: tuple[int, ...]
    losses: tuple[int, ...]
    value_millionths: tuple[int, ...]
    values: int
    elo_hundredths: int

    @classmethod
    def of(cls, report: ContestReport, mover: int | None, stated: Mapping[int, float]) -> Self:
        """Return what one contest leaves in a node.

        Args:
            report: The contest's report.
            mover: The player whose move leads there; None for the root.
            stated: What players expect there, by player.
        """
        wins, draws, losses = (
            tuple([int(own is result) for own in report.results])
            for result in (Result.WIN, Result.DRAW, Result.LOSS)
        )
        elo = 0 if mover is None else report.contestants[mover - 1].elo_hundredths
        values = tuple(_values(stated, report.results))
        return cls(level_of(report), 1, wins, draws, losses, values, int(bool(stated)), elo)

    def with_less_value(self, movers: Iterable[int], factor: float) -> "LevelVisits":
        """Return the same with a smaller value for some players; the other one of two gains it.

        Args:
            movers: The players.
            factor: What their values are multiplied by.
        """
        sums = list(self.value_millionths)
        for mover in movers:
            sums[mover - 1] = round(sums[mover - 1] * factor)
            if len(sums) == 2:
                sums[2 - mover] = self.visits * VALUE_SCALE - sums[mover - 1]
        return replace(self, value_millionths=tuple(sums))

    def with_value_back(self, taken: Sequence[int]) -> "LevelVisits":
        """Return the same with the value that pruning took, as far as its visits can have it.

        Args:
            taken: What was taken from each player's sum, in millionths.
        """
        most = self.visits * VALUE_SCALE
        sums = zip(self.value_millionths, taken, strict=True)
        return replace(self, value_millionths=tuple(min(max(own + more, 0), most) for own, more in sums))


@dataclass(frozen=True, slots=True)
class OpeningNode:
    """A position of the opening tree.

    `mover` is the player whose move leads here (0 at the root). `wins`, `draws`, `losses` and
    `value_millionths` have an entry for each player; the last is a sum over all visits of the
    player's expected value of the position, as the players stated it or else the contest's
    result. `values` counts the visits with a stated value. `elo_hundredths` is the sum of
    the movers' Elo. `analysis` is what the longest search of the position found, if there was one; it
    counts in the recommended move only. `level` is that of the strongest contests; None where that is not
    known, and the movers' mean Elo stands for it. `weaker` is the part of these figures that contests of each
    lower level left, the lowest first.
    """

    node_id: int
    parent_id: int
    move: str
    depth: int
    mover: int
    visits: int
    wins: tuple[int, ...]
    draws: tuple[int, ...]
    losses: tuple[int, ...]
    value_millionths: tuple[int, ...]
    values: int
    elo_hundredths: int
    analysis: NodeAnalysis | None = None
    level: int | None = None
    weaker: tuple[LevelVisits, ...] = ()

    def value(self, player: int) -> float:
        """Return the mean expected value for a player, 0.0 to 1.0; 0.5 without a visit.

        Args:
            player: The player, from 1.
        """
        return self.value_millionths[player - 1] / (self.visits * VALUE_SCALE) if self.visits else 0.5

    @property
    def elo(self) -> float:
        """Mean Elo of the players who moved here."""
        return self.elo_hundredths / (self.visits * ELO_SCALE) if self.visits else 0.0

    @property
    def worth(self) -> float:
        """The figure for eviction: the mover's expected value divided by depth (source: LUDAE).

        The value counts as far as its visits support it: with `DOUBT` losses added, a line tried once does
        not push out one that has proved itself.
        """
        return self.value_millionths[self.mover - 1] / ((self.visits + DOUBT) * VALUE_SCALE) / self.depth

    @property
    def known_level(self) -> int:
        """Its level, or that of the movers' mean Elo where it does not know its own."""
        if self.level is not None:
            return self.level
        return self.elo_hundredths // (max(1, self.visits) * LEVEL_HUNDREDTHS)

    @property
    def lowest_level(self) -> int:
        """The level of the weakest contests that left something here."""
        return self.weaker[0].level if self.weaker else self.known_level

    def parts(self) -> list[LevelVisits]:
        """Return what contests of each level left, the lowest first."""
        figures = {name: getattr(self, name) for name in (*_NUMBERS, *_BY_PLAYER)}
        strongest = LevelVisits(self.known_level, **figures)
        for part in self.weaker:
            strongest = replace(strongest, **_plus(strongest, part, -1))
        return [*self.weaker, strongest]

    def with_level(self, children: Iterable["OpeningNode"]) -> "OpeningNode":
        """Return the root with the level of the moves from there, where it does not know its own.

        Args:
            children: The nodes of these moves.
        """
        if self.level is not None or not self.visits:
            return self
        moves = list(children)
        elo, visits = sum(move.elo_hundredths for move in moves), sum(move.visits for move in moves)
        return replace(self, level=elo // (max(1, visits) * LEVEL_HUNDREDTHS))

    def with_visits(self, more: LevelVisits) -> "OpeningNode":
        """Return the node with what contests of one level left added.

        Args:
            more: What they left.
        """
        level = self.known_level if self.visits else more.level
        weaker = self.weaker
        if more.level != level:
            lower = more if more.level < level else self.parts()[-1]
            by_level = {part.level: part for part in weaker}
            known = by_level.get(lower.level)
            by_level[lower.level] = lower if known is None else replace(known, **_plus(known, lower))
            weaker = tuple(by_level[number] for number in sorted(by_level))
        return replace(self, level=max(level, more.level), weaker=weaker, **_plus(self, more))

    def without_below(self, least: int) -> "OpeningNode":
        """Return the node without what contests of lower levels left.

        Args:
            least: The lowest level that stays.
        """
        parts, left = self.parts(), self
        for part in parts:
            if part.level < least:
                left = replace(left, **_plus(left, part, -1))
        return replace(left, weaker=tuple(part for part in parts[:-1] if part.level >= least))

    def with_less_value(self, movers: Iterable[int], factor: float) -> "OpeningNode":
        """Return the node with a smaller value for some players: `LevelVisits.with_less_value` of each part.

        Args:
            movers: The players.
            factor: What their values are multiplied by.
        """
        movers = frozenset(movers)
        return self._with_values([part.with_less_value(movers, factor) for part in self.parts()])

    def value_taken(self, pruned: "OpeningNode") -> dict[int, tuple[int, ...]]:
        """Return what pruning took from each player's sum of values, in millionths, by level.

        Args:
            pruned: The node after that.
        """
        left = {part.level: part.value_millionths for part in pruned.parts()}
        return {
            part.level: tuple(map(int.__sub__, part.value_millionths, left[part.level]))
            for part in self.parts()
            if part.value_millionths != left.get(part.level, part.value_millionths)
        }

    def with_value_back(self, taken: Mapping[int, Sequence[int]]) -> "OpeningNode":
        """Return the node with the value that pruning took: `LevelVisits.with_value_back` of each part.

        Args:
            taken: As `value_taken` returns it. What belongs to levels that left the node is lost.
        """
        parts = self.parts()
        return self._with_values(
            [part.with_value_back(taken[part.level]) if part.level in taken else part for part in parts]
        )

    def _with_values(self, parts: Sequence[LevelVisits]) -> "OpeningNode":
        sums = tuple(map(sum, zip(*(part.value_millionths for part in parts), strict=True)))
        return replace(self, value_millionths=sums, weaker=tuple(parts[:-1]))

    def unite(self, other: "OpeningNode") -> "OpeningNode":
        """Return the node with another's figures added, and the analysis that says more.

        Args:
            other: The other node.
        """
        united = self
        for part in other.parts() if other.visits else ():
            united = united.with_visits(part)
        if other.analysis is None or not other.analysis.replaces(united.analysis):
            return united
        return replace(united, analysis=other.analysis)


def _values(stated: Mapping[int, float], results: Sequence[Result]) -> list[int]:
    """Return each player's expected value in millionths: stated (by either of two players), or the result."""
    if len(results) == 2 and stated:
        first = [value for player, value in stated.items() if player == 1]
        first += [1.0 - value for player, value in stated.items() if player == 2]
        mean = round(sum(first) / len(first) * VALUE_SCALE)
        return [mean, VALUE_SCALE - mean]
    return [
        round(stated[player] * VALUE_SCALE) if player in stated else _RESULT_VALUES[result]
        for player, result in enumerate(results, 1)
    ]


def _plus(
    first: OpeningNode | LevelVisits, second: OpeningNode | LevelVisits, sign: int = 1
) -> dict[str, Any]:
    """Return the figures of one, and of the other as often as `sign` says."""
    figures: dict[str, Any] = {name: getattr(first, name) + sign * getattr(second, name) for name in _NUMBERS}
    for name in _BY_PLAYER:
        pairs = zip(getattr(first, name), getattr(second, name), strict=True)
        figures[name] = tuple([own + sign * its for own, its in pairs])
    return figures
