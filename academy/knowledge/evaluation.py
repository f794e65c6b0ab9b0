"""The evaluation: what a position is worth by its features and its anchored patterns, learnt from contests.

The log odds that the first player wins are a sum of weights: one for being first, one for being on move, one
for each move that the mover has, one for each soldier and each king ahead, and one for each anchored pattern
on the board. The weights follow the contests in the order of their reports: one step of a logistic regression
a contest, over all its positions, with rates as in Adagrad; contests of weaker players count less. Results
count, and what players say that they expect does not. Every machine computes the same: the only operations
are plus, minus, times, division and square root of float64, and sums are in a fixed order.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.anchored_patterns import AnchoredPatterns, anchored_patterns
from academy.knowledge.contests import ContestReport, Result
from academy.knowledge.evaluation_features import FIRST_PATTERN, Feature, count_features
from academy.knowledge.fair_use import acceptable
from academy.knowledge.learnt_weights import (
    MOST_GRADIENT,
    MOST_LOG_ODDS,
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
from academy.knowledge.votes import ELO_SCALE, MAX_ELO, VALUE_SCALE

# Features are few, and many contests have the same.
FEATURE_RATE: Final = 0.2
PATTERN_RATE: Final = 0.03
# The best Elo is believed a step at a time, because an arena may claim any: in hundredths, where it may
# begin, and how far a contest moves it up, or, if it counts fully, down.
_FIRST_BEST: Final = 500 * ELO_SCALE
_STEP_UP: Final = 25 * ELO_SCALE
_STEP_DOWN: Final = 5 * ELO_SCALE
# A contest whose weaker player is so much below the best counts 1/e as much: 800 Elo make a tenth.
_ELO_PER_POWER: Final = 800.0 / 2.302585092994046
# When the table is full, the weakest quarter of the patterns makes room: those that come later need time.
_KEPT_WHEN_FULL: Final = 0.75
# Places of the boards at which patterns are found at once: a usual contest is one part.
_PLACES_AT_ONCE: Final = 2**18
# Among the uses of patterns the evaluation is one, with this number: patterns and learnt tesujis have smaller
# ones, proposed tesujis greater ones.
EVALUATION_IN_USES: Final = 2**52
_SCORES: Final = {Result.WIN: 1.0, Result.DRAW: 0.5, Result.LOSS: 0.0}
_FEATURES: Final = np.array(list(Feature), dtype=np.int64)


def _none() -> Numbers:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class EvaluationTable:
    """A game's evaluation: columns of equal length, features first, then patterns, the oldest first.

    Attributes:
        codes: A `Feature`, or `FIRST_PATTERN` and the code of an anchored pattern.
        seen: How often it was there: positions for a feature, places on boards for a pattern and its images.
        weight_millionths: The weight, in millionths.
        gradient_millionths: The sum of the squares of its gradients, in millionths.
        contests: How many contests taught it.
        best_elo_hundredths: The best Elo, in hundredths, of contests' weaker players, as far as believed.
        taught_millionths: The sum of what the contests counted, in millionths.
        taught_elo: The same with each contest's part times the Elo of its weaker player in hundredths.
        uses: Contests in which a player had it.
        successes: Those of them that the player won or drew.
    """

    codes: Numbers = field(default_factory=_none)
    seen: Numbers = field(default_factory=_none)
    weight_millionths: Numbers = field(default_factory=_none)
    gradient_millionths: Numbers = field(default_factory=_none)
    contests: int = 0
    best_elo_hundredths: int = 0
    taught_millionths: int = 0
    taught_elo: int = 0
    uses: int = 0
    successes: int = 0

    COLUMNS = ("codes", "seen", "weight_millionths", "gradient_millionths")

    @classmethod
    def of(cls, columns: Sequence[Iterable[int]], figures: Mapping[str, int]) -> Self:
        """Make a table of what is stored.

        Args:
            columns: All columns, in the order of the attributes.
            figures: The other attributes by name; those that are left out are 0.

        Returns:
            The table.

        Raises:
            ValueError: The columns are of different lengths, or a number is out of its range.
        """
        codes, seen, weights, gradients = read_columns(columns, cls.COLUMNS.index("weight_millionths"))
        table = replace(cls(codes, seen, weights, gradients), **dict[str, Any](figures))
        counted = (table.contests, table.taught_millionths, table.uses, table.successes)
        for name, column in {"seen": table.seen, "gradient": table.gradient_millionths}.items():
            check_rows(column < 0, "a number below 0", **{name: column})
        if min(counted) < 0:
            raise ValueError(f"{min(counted):,}: a number below 0")
        if table.successes > table.uses:
            raise ValueError(f"{table.successes} successes of {table.uses} uses")
        if any(abs(figure) > MOST_GRADIENT for figure in table.figures().values()):
            raise ValueError(f"a figure beyond {MOST_GRADIENT:,}")
        if abs(table.best_elo_hundredths) > MAX_ELO * ELO_SCALE:
            raise ValueError(f"a best Elo beyond {MAX_ELO:,.0f}")
        return table

    def columns(self) -> Iterator[Numbers]:
        """Return the columns in their order."""
        return (getattr(self, name) for name in self.COLUMNS)

    def __len__(self) -> int:
        return len(self.codes)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, EvaluationTable)
            and all(map(np.array_equal, self.columns(), other.columns()))
            and self.figures() == other.figures()
        )

    def figures(self) -> dict[str, int]:
        """Return the attributes that are not columns, by name."""
        return {
            attribute.name: getattr(self, attribute.name)
            for attribute in fields(self)
            if attribute.name not in self.COLUMNS
        }

    @property
    def patterns(self) -> int:
        """How many anchored patterns it has."""
        return int((self.codes >= FIRST_PATTERN).sum())

    @property
    def elo(self) -> float:
        """The mean Elo of the weaker players of the contests that taught it, weighed as they count."""
        return self.taught_elo / (max(1, self.taught_millionths) * ELO_SCALE)

    @property
    def strengths(self) -> Floats:
        """What eviction goes by: times seen, times (0.5 - value)^2; all share the Elo."""
        clear = 0.5 - logistic(self.weight_millionths / VALUE_SCALE)
        return self.seen * (clear * clear)

    def keep_strongest(self, capacity: int) -> "EvaluationTable":
        """Return the features and the strongest patterns, in their order; of equals the oldest goes first.

        Args:
            capacity: How many patterns may stay.
        """
        patterns = np.flatnonzero(self.codes >= FIRST_PATTERN)
        beyond = len(patterns) - capacity
        if beyond <= 0:
            return self
        kept = np.ones(len(self), dtype=np.bool_)
        kept[patterns[np.argsort(self.strengths[patterns], kind="stable")[:beyond]]] = False
        return self._of_columns(*(column[kept] for column in self.columns()))

    def fit_settings(self, settings: LibrarySettings) -> "EvaluationTable":
        """Return what has room by a game's settings; what they switch off is kept, and given to nobody.

        Args:
            settings: The game's settings.
        """
        return self.keep_strongest(_room(settings))

    def missing_from(self, other: "EvaluationTable") -> "EvaluationTable":
        """Return the patterns that another table does not have, without the figures of all.

        Args:
            other: The other table.
        """
        rows = (self.codes >= FIRST_PATTERN) & ~np.isin(self.codes, other.codes)
        return EvaluationTable()._of_columns(*(column[rows] for column in self.columns()))

    def put_back(self, removed: "EvaluationTable", settings: LibrarySettings) -> "EvaluationTable":
        """Return the table with removed patterns, the strongest first, as far as there is room.

        Args:
            removed: The removed patterns. Those that the table has again stay as they are now.
            settings: The game's settings.
        """
        room = max(0, _room(settings) - self.patterns)
        back = removed.missing_from(self).keep_strongest(room)
        return self.unite(back) if len(back) else self

    def for_answers(self, settings: LibrarySettings) -> "EvaluationTable":
        """Return what others get: nothing where the evaluation, features alone where patterns are off.

        Args:
            settings: The game's settings.
        """
        if not settings.evaluation:
            return EvaluationTable()
        return self if settings.evaluation_patterns else self.keep_strongest(0)

    def for_player(self, least_elo: float | None) -> "EvaluationTable":
        """Return what a player gets: nothing where it is too strong for those who taught it.

        Args:
            least_elo: In a contest the Elo above which the player accepts knowledge.
        """
        refused = least_elo is not None and not acceptable(self.elo, least_elo)
        return EvaluationTable() if refused else self

    def unite(self, other: "EvaluationTable") -> "EvaluationTable":
        """Return the table with another's weights, the new ones last.

        Of one that both have counts and gradients add up, and the weight is the mean, weighted by how often
        each saw it. Figures add up.

        Args:
            other: The other table.
        """
        grown, rows = self._grow(other.codes)
        seen, weights, gradients = (column.copy() for column in list(grown.columns())[1:])
        weights[rows] = mean_weights(seen[rows], weights[rows], other.seen, other.weight_millionths)
        for column, more in ((seen, other.seen), (gradients, other.gradient_millionths)):
            column[rows] = add_up(column[rows], more)
        figures = self.figures()
        for names in (("contests",), ("taught_millionths", "taught_elo"), ("uses", "successes")):
            figures |= self._more(**{name: getattr(other, name) for name in names})
        taught = (table.best_elo_hundredths for table in (self, other) if table.contests)
        figures["best_elo_hundredths"] = max(taught, default=0)
        columns = (grown.codes, seen, weights, gradients)
        return EvaluationTable.of([column.tolist() for column in columns], figures)

    def _more(self, **added: int) -> dict[str, Any]:
        """Return figures with something added; as they are where one would leave what can be stored."""
        before = {name: getattr(self, name) for name in added}
        after = {name: figure + added[name] for name, figure in before.items()}
        return after if all(abs(figure) <= MOST_GRADIENT for figure in after.values()) else before

    def count_use(self, succeeded: bool) -> "EvaluationTable":
        """Return the table with one more use.

        Args:
            succeeded: Whether the player who had it won or drew the contest.
        """
        if not len(self):
            return self
        return replace(self, **self._more(uses=1, successes=int(succeeded)))

    def learn(
        self,
        report: ContestReport,
        spec: GameSpec,
        settings: LibrarySettings,
        muted: frozenset[str] = frozenset(),
        give_way: Callable[[], None] = lambda: None,
    ) -> "EvaluationTable":
        """Return the table once it has learnt from a contest.

        Args:
            report: The contest's report, with boards.
            spec: The game; of two players who move in turn, or nothing is learnt.
            settings: The game's settings.
            muted: Players whose contests teach nothing.
            give_way: Called between parts.
        """
        if not (settings.evaluation and spec.two_in_turn):
            return self
        if any(contestant.name in muted for contestant in report.contestants):
            return self
        positions = _Positions.of(report)
        if not len(positions.signs):
            return self
        patterns = anchored_patterns(spec) if settings.evaluation_patterns else None
        seen = []
        if patterns is not None:
            at_once = max(1, _PLACES_AT_ONCE // len(patterns.places))
            for first in range(0, len(positions.signs), at_once):
                seen.append(_SeenPatterns.on(positions.boards[first : first + at_once], first, patterns))
                give_way()
        score, elo = _SCORES[report.results[0]], report.weaker_elo_hundredths
        learnt = self._step(positions, seen, score, elo, give_way)
        give_way()
        if learnt.patterns > settings.evaluation_patterns > 0:
            return learnt.keep_strongest(int(_KEPT_WHEN_FULL * settings.evaluation_patterns))
        return learnt

    def _step(
        self,
        positions: "_Positions",
        seen: Sequence["_SeenPatterns"],
        score: float,
        elo: int,
        give_way: Callable[[], None],
    ) -> "EvaluationTable":
        """Descend once, by the sum of the gradients of all positions."""
        best = self.best_elo_hundredths if self.contests else min(elo, _FIRST_BEST)
        counted = round(VALUE_SCALE * _share(elo, best))
        step_down = _STEP_DOWN * counted // VALUE_SCALE
        # Each part's are in order: merging them is faster than np.unique.
        codes = np.sort(np.concatenate([_none(), *(part.codes for part in seen)]), kind="stable")
        codes = np.concatenate([codes[:1], codes[1:][codes[1:] != codes[:-1]]])
        grown, rows = self._grow(np.concatenate([_FEATURES, codes + FIRST_PATTERN]))
        weights, gradients = grown.weight_millionths / VALUE_SCALE, grown.gradient_millionths / VALUE_SCALE
        counts = positions.features
        own, of_patterns = weights[rows[: len(Feature)]], weights[rows[len(Feature) :]]
        sums = np.zeros(len(counts))
        for feature in Feature:
            sums += counts[:, feature] * own[feature]
        numbers = [np.searchsorted(codes, part.codes) for part in seen]
        for part, number_of in zip(seen, numbers, strict=True):
            sums += part.sums(of_patterns[number_of], len(counts))
            give_way()
        errors = (logistic(sums) - score) * (counted / VALUE_SCALE)
        of_codes, times_of_codes = np.zeros(len(codes)), np.zeros(len(codes), dtype=np.int64)
        for part, number_of in zip(seen, numbers, strict=True):
            # One entry after the other, as if all were one part.
            np.add.at(of_codes, number_of[part.numbers], part.signs * errors[part.boards])
            times_of_codes[number_of] += np.bincount(part.numbers, minlength=len(number_of))
            give_way()
        slopes = np.concatenate([_ordered_sums(counts * errors[:, None]), of_codes])
        # The step goes by the whole sum, so it is never more than the rate.
        gradients[rows] += slopes * slopes
        rates = np.where(grown.codes[rows] < FIRST_PATTERN, FEATURE_RATE, PATTERN_RATE)
        weights[rows] -= rates * slopes / np.sqrt(1.0 + gradients[rows])
        np.clip(weights, -MOST_WEIGHT, MOST_WEIGHT, out=weights)
        np.minimum(gradients, MOST_GRADIENT / VALUE_SCALE, out=gradients)
        times = grown.seen.copy()
        times[rows] += np.concatenate([(counts != 0).sum(axis=0), times_of_codes])
        return replace(
            grown,
            seen=np.minimum(times, MOST_GRADIENT),
            weight_millionths=np.rint(weights * VALUE_SCALE).astype(np.int64),
            gradient_millionths=np.rint(gradients * VALUE_SCALE).astype(np.int64),
            best_elo_hundredths=best + max(-step_down, min(elo - best, _STEP_UP)),
            **self._more(contests=1),
            **self._more(taught_millionths=counted, taught_elo=counted * elo),
        )

    def _grow(self, codes: Numbers) -> tuple["EvaluationTable", NDArray[np.intp]]:
        """Return the table with rows for all of these codes, each given once, and their rows."""
        rows = find_rows(codes, self.codes)
        fresh = rows < 0
        rows[fresh] = np.arange(len(self), len(self) + np.count_nonzero(fresh))
        known, *others = self.columns()
        none = np.zeros(np.count_nonzero(fresh), dtype=np.int64)
        grown = (np.concatenate([column, none]) for column in others)
        return self._of_columns(np.concatenate([known, codes[fresh]]), *grown), rows

    def _of_columns(
        self, codes: Numbers, seen: Numbers, weights: Numbers, gradients: Numbers
    ) -> "EvaluationTable":
        return replace(self, codes=codes, seen=seen, weight_millionths=weights, gradient_millionths=gradients)


@dataclass(frozen=True, slots=True)
class _Positions:
    """The positions of a contest in which a move was made, in their order."""

    boards: NDArray[np.uint8]
    signs: Floats
    features: Floats

    @classmethod
    def of(cls, report: ContestReport) -> Self:
        kept = [(states, ply) for states, ply in zip(report.boards, report.plies, strict=False) if states]
        size = len(kept[0][0]) if kept else 0
        boards = np.frombuffer(b"".join(states for states, _ in kept), dtype=np.uint8).reshape(-1, size or 1)
        signs = np.array([1.0 if ply.player == 1 else -1.0 for _, ply in kept])
        moves = np.array([float(ply.legal_moves) for _, ply in kept])
        return cls(boards, signs, count_features(boards, signs, moves))


@dataclass(frozen=True, slots=True)
class _SeenPatterns:
    """The anchored patterns on some boards: `codes` each once, and one entry for each place that has one.

    An entry is the board, the number of the pattern among `codes`, and 1 or -1 for whom it counts.
    """

    codes: Numbers
    # Those of a whole contest are kept until the step, so they are small.
    boards: NDArray[np.int32]
    numbers: NDArray[np.int32]
    signs: NDArray[np.int8]

    @classmethod
    def on(cls, boards: NDArray[np.uint8], first: int, patterns: AnchoredPatterns) -> Self:
        """Find those on boards that follow each other, of which one is the contest's `first`."""
        # One row a place. A move changes few cells, so most codes are those of the board before.
        codes = patterns.codes(boards)
        is_new = np.ones(codes.shape, dtype=np.bool_)
        np.not_equal(codes[:, 1:], codes[:, :-1], out=is_new[:, 1:])
        different, number_of = np.unique(codes[is_new], return_inverse=True)
        images, signs = patterns.least_images(different)
        telling = signs != 0
        least, image_of = np.unique(images[telling], return_inverse=True)
        numbers = np.full(len(different), -1, dtype=np.intp)
        numbers[telling] = image_of
        last_new = np.cumsum(is_new.ravel()) - 1
        placed = number_of.reshape(-1)[last_new].reshape(codes.shape).T.ravel()
        kept = np.flatnonzero(telling[placed])
        numbered = placed[kept]
        return cls(
            least,
            (first + kept // len(codes)).astype(np.int32),
            numbers[numbered].astype(np.int32),
            signs[numbered].astype(np.int8),
        )

    def sums(self, weights: Floats, boards: int) -> Floats:
        """Return for each board the sum of the weights on it."""
        # bincount adds one entry after the other.
        sums = np.bincount(self.boards, self.signs * weights[self.numbers], minlength=boards)
        return sums.astype(np.float64)


def _room(settings: LibrarySettings) -> int:
    """Return how many patterns may stay; while they are switched off, any number."""
    switched_on = settings.evaluation and settings.evaluation_patterns
    return switched_on or GREATEST["evaluation_patterns"]


def _ordered_sums(rows: Floats) -> Floats:
    """Return the sum of each column, added one row after the other."""
    sums = np.zeros(rows.shape[1])
    for row in rows:
        sums += row
    return sums


def _share(elo: int, best: int) -> float:
    """Return how much a contest counts whose weaker player has this Elo: 1 from the best on."""
    power = min(0.0, max(-MOST_LOG_ODDS, (elo - best) / (ELO_SCALE * _ELO_PER_POWER)))
    return float(exp(np.array([power]))[0])
