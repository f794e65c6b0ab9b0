"""Tesujis: which surroundings of an empty cell strong players move into, learnt from reported contests.

A tesuji is what one of the game's shapes holds around an empty cell before a move (`shapes`). It is
kept as the first player sees it, and as the least of its images under the game's symmetries. Players propose
tesujis of other shapes by patterns that mark the cell of their move; these are learnt like the others.

Its weight says how much rather players move into it than into others: a cell's score is the sum of the
weights of all tesujis there, and the probability of a move its share in the sum of exp(score) over all cells
that a piece can come to. The weights follow the contests in the order of their reports (Bradley-Terry, by one
gradient step for a few plies, with rates as in Adagrad). Every machine computes the same: the only operations
are plus, minus, times, division and square root of float64, and sums are of whole numbers.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Final, Self

import numpy as np

from academy.knowledge.contests import ContestReport, Proposal
from academy.knowledge.fair_use import acceptable
from academy.knowledge.learnt_weights import (
    MOST_COUNTED,
    MOST_GRADIENT,
    MOST_WEIGHT,
    Floats,
    Numbers,
    add_up,
    check_rows,
    exp,
    find_rows,
    logistic,
    mean_weights,
    read_columns,
)
from academy.knowledge.settings import GREATEST, LibrarySettings
from academy.knowledge.spec import GameSpec
from academy.knowledge.tesujis.shapes import MOST_CODES, NO_SHAPE, PROPOSED, InvalidTesujiError, Places
from academy.knowledge.tesujis.surroundings import Surroundings, surroundings
from academy.knowledge.tesujis.training import Choices, LearntMove, choices_of, moves_of
from academy.knowledge.votes import BAND_HUNDREDTHS, ELO_SCALE, MAX_ELO, VALUE_SCALE

__all__ = ["FIRST_IN_USES", "LEAST_ELO", "MOST_PROPOSED", "TesujiAdvice", "TesujiTable"]

# Weaker players play too much at random to be learnt from.
LEAST_ELO: Final = 1_000.0
# An arena may claim any Elo. It counts up to this much, in hundredths, above the mean of those who taught,
# and the first up to that of a usual player: one false claim then silences no more than a true contest does.
_FIRST_BELIEVED: Final = 1_500 * ELO_SCALE
_BELIEVED_ABOVE: Final = 2 * BAND_HUNDREDTHS
RATE: Final = 0.2
DECAY: Final = 1e-5
# One step is taken for this number of plies together.
PLIES_A_STEP: Final = 8
# Weights are added up in units of this part, and shares are whole numbers of this part of the best cell's:
# then sums over any board are exact, in whatever order. What scores this much less than the best has the same
# share.
_WEIGHT_UNITS: Final = 2.0**28
_SHARE: Final = 2.0**34
_MOST_SCORE: Final = 16.0
# Among the uses of patterns a tesuji has its code and this as its number: patterns have smaller ones. The
# numbers of proposed tesujis are greater than the evaluation's.
FIRST_IN_USES: Final = 2**48
# Each proposed tesuji is looked for around each cell. They have this many places of a table, so that
# ACADEMY's own, which come by hundreds from each contest, do not drive them out before they are known.
MOST_PROPOSED: Final = 32
# Cells of the boards that are learnt from at once.
_CELLS_AT_ONCE: Final = 8_192


@dataclass(frozen=True, slots=True)
class TesujiAdvice:
    """What tesujis say of candidate cells.

    Attributes:
        log_odds: For each candidate what to add to its log odds: how much more its tesujis weigh together
            than the candidates' do on average.
        codes: The different tesujis that are known among them.
    """

    log_odds: Floats
    codes: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class TesujiTable:
    """All tesujis of a game, as columns of equal length, the oldest first.

    Attributes:
        codes: What lies around the cell.
        offered: How often a player had it before them.
        chosen: How often the player moved there.
        elo_hundredths: The sum of these players' Elos, in hundredths, one for each time it was offered.
        weight_millionths: The weight, in millionths.
        gradient_millionths: The sum of the squares of its gradients, in millionths.
        uses: Contests in which it was in an answer to a player.
        successes: Those of them that the player won or drew.
    """

    codes: Numbers
    offered: Numbers
    chosen: Numbers
    elo_hundredths: Numbers
    weight_millionths: Numbers
    gradient_millionths: Numbers
    uses: Numbers
    successes: Numbers

    @classmethod
    def empty(cls) -> Self:
        """Return the table of a game that has learnt none."""
        return cls(**{column.name: np.zeros(0, dtype=np.int64) for column in fields(cls)})

    @classmethod
    def of(cls, *columns: Iterable[int]) -> Self:
        """Make a table of stored columns.

        Args:
            columns: All columns, in the order of the attributes.

        Returns:
            The table.

        Raises:
            ValueError: They are of different lengths, or a number has more than 63 bits.
            WrongRowError: A number is out of its range.
        """
        table = cls(*read_columns(columns, _COLUMNS.index("weight_millionths")))
        codes, offered, chosen, elos, _, gradients, uses, successes = table.columns()
        for name, column in {"chosen": chosen, "gradient": gradients, "successes": successes}.items():
            check_rows(column < 0, "a number below 0", **{name: column})
        check_rows(
            (codes >= MOST_CODES) & (codes < PROPOSED),
            f"a code from {MOST_CODES} to {PROPOSED - 1}, which no tesuji has",
            code=codes,
        )
        for name, column in {"offered": offered, "uses": uses}.items():
            check_rows(column > MOST_COUNTED, f"counted more than {MOST_COUNTED:,} times", **{name: column})
        check_rows(
            gradients > MOST_GRADIENT,
            f"a tesuji with a gradient of more than {MOST_GRADIENT:,} millionths",
            gradient=gradients,
        )
        check_rows(offered < 1, "a tesuji was offered once or more", offered=offered)
        # Python's whole numbers have no greatest one.
        beyond = [
            abs(elo) > times * MAX_ELO * ELO_SCALE
            for elo, times in zip(elos.tolist(), offered.tolist(), strict=True)
        ]
        check_rows(
            np.array(beyond, dtype=np.bool_),
            f"a tesuji of a mean Elo beyond {MAX_ELO:,.0f}",
            elos=elos / ELO_SCALE,
            offered=offered,
        )
        check_rows(
            chosen > offered, "a tesuji chosen more often than offered", offered=offered, chosen=chosen
        )
        check_rows(successes > uses, "more successes than uses of a tesuji", uses=uses, successes=successes)
        return table

    @classmethod
    def of_weights(cls, codes: Iterable[int], weight_millionths: Iterable[int]) -> Self:
        """Make a table of weights alone, which advises as the one that they come from.

        Args:
            codes: What lies around the cell.
            weight_millionths: The weight of each, in millionths.

        Returns:
            The table, as if each had been offered once.

        Raises:
            ValueError: As in `of`.
        """
        known = list(codes)
        none = [0] * len(known)
        return cls.of(known, [1] * len(known), none, none, weight_millionths, none, none, none)

    def __len__(self) -> int:
        return len(self.codes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TesujiTable) and all(map(np.array_equal, self.columns(), other.columns()))

    def columns(self) -> Iterator[Numbers]:
        """Return the columns in their order."""
        return (getattr(self, column.name) for column in fields(self))

    def _take(self, rows: Places) -> "TesujiTable":
        return TesujiTable(*(column[rows] for column in self.columns()))

    @cached_property
    def _by_code(self) -> Places:
        return np.argsort(self.codes, kind="stable")

    def _rows(self, codes: Numbers) -> Places:
        """Return the row of each code, -1 where it is not known."""
        return find_rows(codes, self.codes, self._by_code)

    def rows_of(self, code: int) -> list[int]:
        """Return the row of a tesuji, or no row if the table does not have it.

        Args:
            code: The tesuji's code.
        """
        return np.flatnonzero(self.codes == code).tolist()

    def without(self, code: int) -> "TesujiTable":
        """Return the table without a tesuji; the others go on.

        Args:
            code: The tesuji's code.
        """
        return self._take(np.flatnonzero(self.codes != code))

    @cached_property
    def values(self) -> Floats:
        """How often each is moved into that stands against one of weight 0."""
        return logistic(self.weight_millionths / VALUE_SCALE)

    @cached_property
    def elos(self) -> Floats:
        """The mean Elo of the players who had each before them."""
        return self.elo_hundredths / (self.offered * ELO_SCALE)

    @property
    def strengths(self) -> Floats:
        """What eviction goes by: offers, times Elo, times (0.5 - value)^2."""
        clear = 0.5 - self.values
        return self.elo_hundredths * (clear * clear) / ELO_SCALE

    @cached_property
    def by_strength(self) -> Places:
        """The rows, those of the strongest first; of equals the newest."""
        return np.argsort(self.strengths, kind="stable")[::-1]

    @cached_property
    def proposed(self) -> tuple[int, ...]:
        """The codes of those that players proposed, the least first."""
        return tuple(np.sort(self.codes[self.codes >= PROPOSED]).tolist())

    def keep_strongest(self, capacity: int) -> "TesujiTable":
        """Return the strongest of them, in their order; of equals the oldest goes first.

        Args:
            capacity: How many may stay, up to `MOST_PROPOSED` proposed ones among them before all others.
        """
        if len(self) <= capacity and len(self.proposed) <= MOST_PROPOSED:
            return self
        is_proposed = self.codes[self.by_strength] >= PROPOSED
        proposed = self.by_strength[is_proposed][: min(MOST_PROPOSED, capacity)]
        own = self.by_strength[~is_proposed][: capacity - len(proposed)]
        return self._take(np.sort(np.concatenate([proposed, own])))

    def fit_settings(self, settings: LibrarySettings) -> "TesujiTable":
        """Return what has room by a game's settings; what they switch off is kept, and given to nobody.

        Args:
            settings: The game's settings.
        """
        return self.keep_strongest(settings.tesuji_capacity or GREATEST["tesuji_capacity"])

    def missing_from(self, other: "TesujiTable") -> "TesujiTable":
        """Return those that another table does not have.

        Args:
            other: The other table.
        """
        return self._take(np.flatnonzero(other._rows(self.codes) < 0))

    def put_back(self, removed: "TesujiTable", settings: LibrarySettings) -> "TesujiTable":
        """Return the table with removed ones, the strongest first, as far as there is room; the others go on.

        Args:
            removed: The removed ones. Those that the table has again stay as they are now.
            settings: The game's settings.
        """
        missing = removed.missing_from(self)
        is_proposed = missing.codes[missing.by_strength] >= PROPOSED
        fits = ~is_proposed | (np.cumsum(is_proposed) <= MOST_PROPOSED - len(self.proposed))
        room = max(0, (settings.tesuji_capacity or GREATEST["tesuji_capacity"]) - len(self))
        back = missing.by_strength[fits][:room]
        return self.unite(missing._take(np.sort(back))) if len(back) else self

    def for_answers(self, settings: LibrarySettings) -> "TesujiTable":
        """Return what others get: none where tesujis are off.

        Args:
            settings: The game's settings.
        """
        return self if settings.tesuji_capacity else TesujiTable.empty()

    def unite(self, other: "TesujiTable") -> "TesujiTable":
        """Return the table with another's tesujis, the new ones last.

        Of one that both have counts and gradients add up, and the weight is the mean, weighted by times
        offered. One that would be counted more than `MOST_COUNTED` times stays as it is.

        Args:
            other: The other table.
        """
        rows = self._rows(other.codes)
        own, its = rows[rows >= 0], np.flatnonzero(rows >= 0)
        room = self.offered[own] + other.offered[its] <= MOST_COUNTED
        own, its = own[room], its[room]
        columns = {name: getattr(self, name).copy() for name in _COLUMNS}
        for name in _COUNTS:
            columns[name][own] += getattr(other, name)[its]
        for name in ("uses", "successes"):
            np.minimum(columns[name], MOST_COUNTED, out=columns[name])
        columns["gradient_millionths"][own] = add_up(
            self.gradient_millionths[own], other.gradient_millionths[its]
        )
        columns["weight_millionths"][own] = mean_weights(
            self.offered[own],
            self.weight_millionths[own],
            other.offered[its],
            other.weight_millionths[its],
        )
        fresh = np.flatnonzero(rows < 0)
        return TesujiTable(
            *(np.concatenate([column, getattr(other, name)[fresh]]) for name, column in columns.items())
        )

    def advise(self, codes: Numbers, least_elo: float | None = None) -> TesujiAdvice:
        """Return what is known of candidate cells.

        Args:
            codes: A row for each, as from `Surroundings.of_cells`.
            least_elo: In a contest the Elo above which the asking player accepts knowledge: tesujis of weaker
                players say nothing then.
        """
        rows = self._rows(codes)
        known = rows >= 0
        if least_elo is not None:
            known[known] = acceptable(self.elos[rows[known]], least_elo)
        held = np.zeros(codes.shape, dtype=np.int64)
        held[known] = self.weight_millionths[rows[known]]
        weights = held.sum(axis=1)
        usual = int(weights.sum()) / max(1, len(weights))
        return TesujiAdvice((weights - usual) / VALUE_SCALE, tuple(np.unique(codes[known]).tolist()))

    def count_uses(self, codes: Sequence[int], succeeded: bool) -> "TesujiTable":
        """Return the table with one more use of some tesujis; of those that are gone nothing is counted.

        Args:
            codes: The tesujis, each once.
            succeeded: Whether the player who used them won or drew the contest.
        """
        rows = self._rows(np.array(codes, dtype=np.int64))
        rows = rows[rows >= 0]
        if not len(rows):
            return self
        uses, successes = self.uses.copy(), self.successes.copy()
        rows = rows[uses[rows] < MOST_COUNTED]
        uses[rows] += 1
        successes[rows] += succeeded
        return replace(self, uses=uses, successes=successes)

    def read_proposal(self, proposal: Proposal, report: ContestReport, spec: GameSpec) -> tuple[int, int]:
        """Return the code of a marked pattern that a player proposes, and the player's Elo in hundredths.

        Args:
            proposal: The proposal, which marks a cell; its ply is one of the contest's.
            report: The report of its contest.
            spec: The game.

        Raises:
            InvalidTesujiError: The move and what stood around it teach no tesuji; the message says why.
        """
        around = surroundings(spec)
        if around is None:
            raise InvalidTesujiError(
                f"{spec.game_id} has no tesujis: it needs two players in turn, a square or hexagonal board "
                "and moves that put a piece on an empty cell"
            )
        code = around.proposed_code(proposal.marked or {}, proposal.seat)
        teachers = self._teachers(report, frozenset())
        if proposal.seat not in teachers:
            raise InvalidTesujiError(
                f"the proposer's Elo {report.contestants[proposal.seat - 1].elo:.0f} is below "
                f"{LEAST_ELO:.0f}, or 200 or more below the mean of those who taught this game's tesujis"
            )
        before, after = report.boards[proposal.ply - 1 : proposal.ply + 1]
        if not before or not after:
            raise InvalidTesujiError(f"the report has no boards before and after ply {proposal.ply}")
        elo = teachers[proposal.seat]
        choices = choices_of(around.with_proposed((code,)), [LearntMove(before, after, proposal.seat, elo)])
        if not len(choices.chosen):
            raise InvalidTesujiError(
                f"'*' is the empty cell that the move went to: ply {proposal.ply} put no piece on exactly "
                "one of several empty cells, or took one of the mover's away"
            )
        if code not in choices.codes[choices.chosen]:
            raise InvalidTesujiError(
                f"before ply {proposal.ply} something else stood around the cell that the move went to"
            )
        return code, elo

    def propose(self, code: int, elo: int) -> "TesujiTable":
        """Return the table with a proposed tesuji, as once offered and chosen, if it does not know it.

        Args:
            code: The tesuji's code.
            elo: The proposer's Elo, in hundredths.
        """
        if code in self.codes:
            return self
        fresh = dict.fromkeys(_COLUMNS, 0) | {"codes": code, "offered": 1, "chosen": 1, "elo_hundredths": elo}
        return TesujiTable(*(np.append(getattr(self, name), number) for name, number in fresh.items()))

    def learn(
        self,
        report: ContestReport,
        spec: GameSpec,
        capacity: int,
        muted: frozenset[str] = frozenset(),
        give_way: Callable[[], None] = lambda: None,
    ) -> "TesujiTable":
        """Return the table once it has learnt from a contest.

        Args:
            report: The contest's report, with boards.
            spec: The game.
            capacity: How many tesujis to keep; 0 keeps none.
            muted: Players whose moves teach nothing.
            give_way: Called between parts.
        """
        around = surroundings(spec, self.proposed)
        teachers = self._teachers(report, muted) if around is not None and capacity else {}
        plies = moves_of(report, teachers)
        if around is None or not plies:
            return self
        fit = _Fit(self)
        at_once = max(1, _CELLS_AT_ONCE // spec.geometry.size)
        for first in range(0, len(plies), at_once):
            fit.learn(around, plies[first : first + at_once])
            give_way()
        return fit.table().keep_strongest(capacity)

    def log_likelihoods(self, report: ContestReport, spec: GameSpec) -> Floats:
        """Return how well the tesujis foretell a contest's moves, to measure them. Nothing is learnt.

        Args:
            report: The contest's report, with boards.
            spec: The game.

        Returns:
            A row for each move of players strong enough to be learnt from: the logarithm of its probability,
            and that of one move among all those compared.
        """
        around = surroundings(spec, self.proposed)
        plies = moves_of(report, self._teachers(report, frozenset()))
        if around is None or not plies:
            return np.zeros((0, 2))
        choices = choices_of(around, plies)
        rows = self._rows(choices.codes)
        known = np.append(self.weight_millionths, 0)
        scores = known[rows].sum(axis=1) / VALUE_SCALE
        starts = np.searchsorted(choices.plies, np.arange(len(choices.chosen)))
        compared = np.diff(np.append(starts, len(scores)))
        likely = scores[choices.chosen] - np.log(np.add.reduceat(np.exp(scores), starts))
        return np.stack([likely, -np.log(compared)], axis=1)

    def _teachers(self, report: ContestReport, muted: frozenset[str]) -> dict[int, int]:
        """Return the Elo in hundredths, as far as it is believed, of each seat that can be learnt from.

        As with votes, a player far weaker than those who taught what is known teaches nothing.
        """
        offered, elo = int(self.offered.sum()), int(self.elo_hundredths.sum())
        believed = _FIRST_BELIEVED if not offered else elo // offered + _BELIEVED_ABOVE
        teachers = {}
        for seat, contestant in enumerate(report.contestants, 1):
            hundredths = contestant.elo_hundredths
            weak = hundredths < LEAST_ELO * ELO_SCALE or (
                offered > 0 and (hundredths + BAND_HUNDREDTHS) * offered <= elo
            )
            if not weak and contestant.name not in muted:
                teachers[seat] = min(hundredths, believed)
        return teachers


_COLUMNS: Final = tuple(column.name for column in fields(TesujiTable))
_COUNTS: Final = ("offered", "chosen", "elo_hundredths", "uses", "successes")


class _Fit:
    """Weights on their way through one contest, and what is counted."""

    def __init__(self, table: TesujiTable) -> None:
        self._codes = table.codes
        self._counts = np.stack([getattr(table, name) for name in _COUNTS])
        self._weights = table.weight_millionths / VALUE_SCALE
        self._gradients = table.gradient_millionths / VALUE_SCALE

    def table(self) -> TesujiTable:
        """Return what was learnt."""
        offered, chosen, elo, uses, successes = self._counts
        return TesujiTable(
            self._codes,
            offered,
            chosen,
            elo,
            np.rint(self._weights * VALUE_SCALE).astype(np.int64),
            np.minimum(np.rint(self._gradients * VALUE_SCALE), MOST_GRADIENT).astype(np.int64),
            uses,
            successes,
        )

    def learn(self, around: Surroundings, moves: Sequence[LearntMove]) -> None:
        """Learn from moves that put a piece on one empty cell and take none of the mover's own away."""
        choices = choices_of(around, moves)
        if not len(choices.chosen):
            return
        # Few different ones among many: to find each is faster than to sort with the places.
        codes = np.unique(choices.codes)
        numbers = np.searchsorted(codes, choices.codes)
        # A shape that leads off the board says nothing: it comes first, and its number becomes the last.
        off = int(codes[0] == NO_SHAPE)
        codes = codes[off:]
        numbers = np.where(numbers < off, len(codes), numbers - off)
        rows = self._rows_of(codes)
        self._count(rows, numbers, choices)
        self._weights[rows], self._gradients[rows] = _descend(
            self._weights[rows], self._gradients[rows], numbers, choices
        )

    def _count(self, rows: Places, numbers: Places, choices: Choices) -> None:
        width = len(rows) + 1
        offered = np.bincount(numbers.ravel(), minlength=width)[:-1]
        chosen = np.bincount(numbers[choices.chosen].ravel(), minlength=width)[:-1]
        elos = np.repeat(choices.elos[choices.plies], numbers.shape[1])
        # Whole numbers below 2^53: their sums are exact.
        sums = np.bincount(numbers.ravel(), weights=elos, minlength=width)[:-1]
        # An import may have counted to the end.
        room = self._counts[0, rows] + offered <= MOST_COUNTED
        self._counts[:3, rows[room]] += np.stack([offered, chosen, sums.astype(np.int64)])[:, room]

    def _rows_of(self, codes: Numbers) -> Places:
        """Return the row of each code, all different; new ones come last, in their order."""
        rows = find_rows(codes, self._codes)
        is_fresh = rows < 0
        fresh = np.count_nonzero(is_fresh)
        if fresh:
            rows[is_fresh] = np.arange(len(self._codes), len(self._codes) + fresh)
            self._codes = np.append(self._codes, codes[is_fresh])
            self._counts = np.hstack([self._counts, np.zeros((len(self._counts), fresh), dtype=np.int64)])
            self._weights = np.hstack([self._weights, np.zeros(fresh)])
            self._gradients = np.hstack([self._gradients, np.zeros(fresh)])
        return rows


def _descend(weights: Floats, gradients: Floats, numbers: Places, choices: Choices) -> tuple[Floats, Floats]:
    """Return weights and sums of squared gradients after all steps.

    `numbers` has for each cell the numbers of its tesujis; that after the last says nothing.
    """
    width = len(weights) + 1
    weights, gradients = np.append(weights, 0.0), np.append(gradients, 0.0)
    starts = np.searchsorted(choices.plies, np.arange(len(choices.chosen) + 1))
    for first in range(0, len(choices.chosen), PLIES_A_STEP):
        last = min(first + PLIES_A_STEP, len(choices.chosen))
        here = slice(starts[first], starts[last])
        tesujis, plies = numbers[here], choices.plies[here] - first
        begins = starts[first:last] - starts[first]
        scores = np.rint(weights * _WEIGHT_UNITS).astype(np.int64)[tesujis].sum(axis=1)
        scores -= np.maximum.reduceat(scores, begins)[plies]
        shares = np.rint(exp(np.maximum(scores / _WEIGHT_UNITS, -_MOST_SCORE)) * _SHARE)
        # Whole numbers below 2^53: their sums are exact, in whatever order.
        totals = np.add.reduceat(shares, begins)
        cells = (plies[:, None] * width + tesujis).ravel()
        offered = np.bincount(
            cells, weights=np.repeat(shares, tesujis.shape[1]), minlength=(last - first) * width
        ).reshape(-1, width)
        moved_to = numbers[choices.chosen[first:last]] + np.arange(last - first)[:, None] * width
        slopes = offered / totals[:, None]
        slopes -= np.bincount(moved_to.ravel(), minlength=(last - first) * width).reshape(-1, width)
        slope = DECAY * (offered > 0.0).sum(axis=0) * weights
        for ply in slopes:
            gradients += ply * ply
            slope += ply
        weights -= RATE * slope / np.sqrt(gradients + 1.0)
        np.clip(weights, -MOST_WEIGHT, MOST_WEIGHT, out=weights)
        weights[-1] = 0.0
    return weights[:-1], gradients[:-1]
