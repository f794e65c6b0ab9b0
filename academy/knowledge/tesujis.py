"""Tesujis: which surroundings of an empty cell strong players move into, learnt from reported contests.

A tesuji is what lies around an empty cell before a move: on square boards the eight cells beside it, on
hexagonal ones the six beside it and the six that a bridge leads to, whether on the board or off it. It is
kept as the first player sees it, and as the least of its images under the game's symmetries.

Its weight says how much rather players move into it than into others: the probability of a move is its share
in the sum of exp(weight) over all empty cells. The weights follow the contests in the order of their reports
(Bradley-Terry, by one gradient step a ply, with rates as in Adagrad). Every machine computes the same: the
only operations are plus, minus, times, division and square root of float64, and sums are of whole numbers.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Board, Geometry, GraphGeometry, SquareGeometry
from academy.knowledge.cells import State
from academy.knowledge.contests import ContestReport
from academy.knowledge.fair_use import acceptable
from academy.knowledge.logistic import exp
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import Cell, GridSymmetry
from academy.knowledge.votes import BAND_HUNDREDTHS, ELO_SCALE, VALUE_SCALE

__all__ = [
    "FIRST_IN_USES",
    "LEAST_ELO",
    "Advice",
    "Surroundings",
    "TesujiTable",
    "surroundings",
]

# Weaker players play too much at random to be learnt from.
LEAST_ELO: Final = 1_000.0
RATE: Final = 0.2
DECAY: Final = 1e-5
MOST_WEIGHT: Final = 8.0
# Shares are whole numbers of this part of exp(0): then sums over any board are exact, in whatever order.
_SHARE: Final = 2.0**28
# Among the uses of patterns a tesuji has its code and this as its number: patterns have smaller ones.
FIRST_IN_USES: Final = 2**48
# Cells of the boards that are learnt from at once.
_CELLS_AT_ONCE: Final = 8_192
_PLAYERS: Final = 2

_SQUARE_CELLS: Final[tuple[Cell, ...]] = (
    *((-1, -1), (-1, 0), (-1, 1), (0, -1)),
    *((0, 1), (1, -1), (1, 0), (1, 1)),
)
_HEX_CELLS: Final[tuple[Cell, ...]] = (
    *((0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1), (1, 0)),
    *((-1, 2), (-2, 1), (-1, -1), (1, -2), (2, -1), (1, 1)),
)
_DIGITS: Final = 4
_EMPTY, _OWN, _OTHER, _OFF = range(_DIGITS)
# The second player's surroundings in a game whose players differ are numbered from here.
_OF_SECOND: Final = _DIGITS ** len(_HEX_CELLS)


def _digits(first: int, second: int) -> NDArray[np.uint8]:
    digits = np.full(256, _OFF, dtype=np.uint8)
    digits[State.EMPTY] = _EMPTY
    digits[[State.FIRST_SOLDIER, State.FIRST_KING]] = first
    digits[[State.SECOND_SOLDIER, State.SECOND_KING]] = second
    return digits


_AS_FIRST: Final = _digits(_OWN, _OTHER)
_AS_SECOND: Final = _digits(_OTHER, _OWN)

Numbers = NDArray[np.int64]
_Flags = NDArray[np.bool_]


class Surroundings:
    """The codes of what lies around the cells of a game's boards.

    Args:
        spec: The game: of two players who move in turn, on a square or hexagonal board.
    """

    def __init__(self, spec: GameSpec) -> None:
        self._turned = spec.symmetric
        assert not isinstance(spec.geometry, GraphGeometry)
        around = _SQUARE_CELLS if isinstance(spec.geometry, SquareGeometry) else _HEX_CELLS
        self._powers = np.array([_DIGITS**place for place in range(len(around))], dtype=np.int64)
        symmetries = [symmetry for symmetry in spec.symmetry_group if isinstance(symmetry, GridSymmetry)]
        self._images = np.empty((len(around), len(symmetries)), dtype=np.int64)
        for number, symmetry in enumerate(symmetries):
            self._images[[around.index(symmetry.image(*step)) for step in around], number] = self._powers
        reversal = spec.reversal_symmetry
        assert isinstance(reversal, GridSymmetry)
        seen = tuple(reversal.image(*step) for step in around) if spec.symmetric else around
        self._around = {1: _cells_around(spec.geometry, around), 2: _cells_around(spec.geometry, seen)}

    def views(self, boards: NDArray[np.uint8], player: int) -> NDArray[np.uint8]:
        """Return what each cell is to a player.

        Args:
            boards: One row of `cells.State` a board.
            player: 1 or 2.

        Returns:
            The same rows of digits: 0 empty, 1 the player's own, 2 the opponent's, 3 off the board.
        """
        views: NDArray[np.uint8] = (_AS_FIRST if player == 1 else _AS_SECOND)[boards]
        return views

    def codes(self, views: NDArray[np.uint8], player: int) -> Numbers:
        """Return the code of each cell's surroundings, images not yet made one.

        Args:
            views: As from `views`.
            player: 1 or 2, who is to move.
        """
        bordered = np.full((len(views), views.shape[1] + 1), _OFF, dtype=np.uint8)
        bordered[:, :-1] = views
        codes = np.zeros(views.shape, dtype=np.int64)
        for power, cells in zip(self._powers.tolist(), self._around[player], strict=True):
            codes += bordered[:, cells] * np.int64(power)
        return codes if self._turned or player == 1 else codes + _OF_SECOND

    def of_cells(self, board: Board, cells: Sequence[int], player: int) -> Numbers:
        """Return the codes of some cells of one board, least images.

        Args:
            board: The board.
            cells: The cells, by index.
            player: 1 or 2, who is to move.
        """
        states = np.frombuffer(board.states, dtype=np.uint8)[None]
        codes = self.codes(self.views(states, player), player)
        return self.least_images(codes[0, np.array(cells, dtype=np.intp)])

    def least_images(self, codes: Numbers) -> Numbers:
        """Return for each code that which all its images have.

        Args:
            codes: As from `codes`, in one dimension.
        """
        low = codes % _OF_SECOND
        digits = low[:, None] // self._powers % _DIGITS
        images: Numbers = (digits @ self._images).min(axis=1) + (codes - low)
        return images


def _cells_around(geometry: Geometry, around: Sequence[Cell]) -> NDArray[np.intp]:
    """Return for each step the cell that it leads to from each cell; off the board that after the last."""
    assert not isinstance(geometry, GraphGeometry)
    places = {cell: index for index, cell in enumerate(geometry.cells)}
    return np.array(
        [
            [places.get((row + down, column + right), geometry.size) for row, column in geometry.cells]
            for down, right in around
        ],
        dtype=np.intp,
    )


def surroundings(spec: GameSpec) -> Surroundings | None:
    """Return the surroundings of a game's cells; None for a game without tesujis.

    Args:
        spec: The game. It has tesujis where two players move in turn on a square or hexagonal board.
    """
    if spec.players != _PLAYERS or spec.simultaneous or isinstance(spec.geometry, GraphGeometry):
        return None
    return _surroundings(spec.geometry, spec.symmetric, spec.symmetries, spec.reversal)


@lru_cache(maxsize=128)
def _surroundings(
    geometry: Geometry, symmetric: bool, symmetries: tuple[str, ...], reversal: str
) -> Surroundings:
    shape = GameSpec("of-this-shape", geometry, _PLAYERS, symmetric, symmetries, reversal)
    return Surroundings(shape)


@dataclass(frozen=True, slots=True)
class Advice:
    """What tesujis say of candidate cells.

    Attributes:
        log_odds: For each candidate what to add to its log odds: how much more its tesuji weighs than the
            candidates' do on average.
        codes: The different tesujis that are known among them.
    """

    log_odds: NDArray[np.float64]
    codes: tuple[int, ...]


def _none() -> Numbers:
    return np.zeros(0, dtype=np.int64)


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
        return cls(**{column.name: _none() for column in fields(cls)})

    @classmethod
    def of(cls, *columns: Iterable[int]) -> Self:
        """Make a table of stored columns.

        Args:
            columns: All columns, in the order of the attributes.

        Returns:
            The table.

        Raises:
            ValueError: They are of different lengths, or a number is out of its range.
        """
        try:
            table = cls(*(np.array(list(column), dtype=np.int64) for column in columns))
        except OverflowError as fault:
            raise ValueError(f"a number of more than 63 bits: {fault}") from fault
        lengths = {len(column) for column in table.columns()}
        if len(lengths) != 1:
            raise ValueError(f"columns of {min(lengths):,} to {max(lengths):,} numbers: all have as many")
        codes, offered, chosen, _, weights, gradients, uses, successes = table.columns()
        least = min(
            (int(column.min(initial=0)) for column in (codes, chosen, gradients, successes)), default=0
        )
        if least < 0 or codes.max(initial=0) >= 2 * _OF_SECOND or len(np.unique(codes)) != len(codes):
            raise ValueError("a code twice, or a number below 0")
        if (offered < 1).any() or (chosen > offered).any() or (successes > uses).any():
            raise ValueError("a tesuji chosen more often than offered, or more successes than uses")
        if (np.abs(weights) > MOST_WEIGHT * VALUE_SCALE).any():
            raise ValueError(f"a weight beyond {MOST_WEIGHT}")
        return table

    def __len__(self) -> int:
        return len(self.codes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TesujiTable) and all(map(np.array_equal, self.columns(), other.columns()))

    def columns(self) -> Iterator[Numbers]:
        """Return the columns in their order."""
        return (getattr(self, column.name) for column in fields(self))

    def _take(self, rows: NDArray[np.intp]) -> "TesujiTable":
        return TesujiTable(*(column[rows] for column in self.columns()))

    @cached_property
    def _by_code(self) -> NDArray[np.intp]:
        return np.argsort(self.codes, kind="stable")

    def _rows(self, codes: Numbers) -> NDArray[np.intp]:
        """Return the row of each code, -1 where it is not known."""
        if not len(self):
            return np.full(len(codes), -1, dtype=np.intp)
        at = np.searchsorted(self.codes, codes, sorter=self._by_code)
        rows = self._by_code[np.minimum(at, len(self) - 1)]
        return np.where(self.codes[rows] == codes, rows, -1)

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """How often each is moved into that stands against one of weight 0."""
        grown: NDArray[np.float64] = exp(self.weight_millionths / VALUE_SCALE)
        return grown / (grown + 1.0)

    @cached_property
    def elos(self) -> NDArray[np.float64]:
        """The mean Elo of the players who had each before them."""
        return self.elo_hundredths / (self.offered * ELO_SCALE)

    @property
    def strengths(self) -> NDArray[np.float64]:
        """What eviction goes by: offers, times Elo, times (0.5 - value)^2."""
        clear = 0.5 - self.values
        return self.elo_hundredths * (clear * clear) / ELO_SCALE

    def keep_strongest(self, capacity: int) -> "TesujiTable":
        """Return the strongest of them, in their order; of equals the oldest goes first.

        Args:
            capacity: How many may stay.
        """
        beyond = len(self) - capacity
        if beyond <= 0:
            return self
        return self._take(np.sort(np.argsort(self.strengths, kind="stable")[beyond:]))

    def advise(self, codes: Numbers, least_elo: float | None = None) -> Advice:
        """Return what is known of candidate cells.

        Args:
            codes: Their surroundings, least images.
            least_elo: In a contest the Elo above which the asking player accepts knowledge: tesujis of weaker
                players say nothing then.
        """
        rows = self._rows(codes)
        known = rows >= 0
        if least_elo is not None:
            known[known] = acceptable(self.elos[rows[known]], least_elo)
        weights = np.zeros(len(codes), dtype=np.int64)
        weights[known] = self.weight_millionths[rows[known]]
        usual = int(weights.sum()) / max(1, len(weights))
        return Advice((weights - usual) / VALUE_SCALE, tuple(np.unique(codes[known]).tolist()))

    def count_uses(self, codes: Sequence[int], succeeded: bool) -> "TesujiTable":
        """Return the table with one more use of some tesujis; of those that are gone nothing is counted.

        Args:
            codes: The tesujis, each once.
            succeeded: Whether the player who used them won or drew the contest.
        """
        if not codes:
            return self
        rows = self._rows(np.array(codes, dtype=np.int64))
        rows = rows[rows >= 0]
        if not len(rows):
            return self
        uses, successes = self.uses.copy(), self.successes.copy()
        uses[rows] += 1
        successes[rows] += succeeded
        return replace(self, uses=uses, successes=successes)

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
        around = surroundings(spec)
        teachers = self._teachers(report, muted) if around is not None and capacity else {}
        plies = _plies_of(report, teachers)
        if around is None or not plies:
            return self
        fit = _Fit(self)
        at_once = max(1, _CELLS_AT_ONCE // spec.geometry.size)
        for first in range(0, len(plies), at_once):
            fit.learn(around, plies[first : first + at_once])
            give_way()
        return fit.table().keep_strongest(capacity)

    def _teachers(self, report: ContestReport, muted: frozenset[str]) -> dict[int, int]:
        """Return the Elo in hundredths of each seat whose player is strong enough to be learnt from.

        As with votes, a player far weaker than those who taught what is known teaches nothing.
        """
        offered, elo = int(self.offered.sum()), int(self.elo_hundredths.sum())
        teachers = {}
        for seat, contestant in enumerate(report.contestants, 1):
            hundredths = round(contestant.elo * ELO_SCALE)
            weak = hundredths < LEAST_ELO * ELO_SCALE or (
                offered > 0 and (hundredths + BAND_HUNDREDTHS) * offered <= elo
            )
            if not weak and contestant.name not in muted:
                teachers[seat] = hundredths
        return teachers


@dataclass(frozen=True, slots=True)
class _Move:
    """The boards before and after a move, the seat that made it, and its Elo in hundredths."""

    before: bytes
    after: bytes
    seat: int
    elo: int


def _plies_of(report: ContestReport, teachers: dict[int, int]) -> list[_Move]:
    boards = pairwise((report.start_states, *(ply.states for ply in report.plies)))
    return [
        _Move(before, after, ply.player, teachers[ply.player])
        for (before, after), ply in zip(boards, report.plies, strict=True)
        if before and after and ply.player in teachers
    ]


class _Fit:
    """Weights on their way through one contest, and what is counted."""

    def __init__(self, table: TesujiTable) -> None:
        self._rows = {code: row for row, code in enumerate(table.codes.tolist())}
        self._counts = np.stack([table.offered, table.chosen, table.elo_hundredths])
        self._used = np.stack([table.uses, table.successes])
        self._weights = table.weight_millionths / VALUE_SCALE
        self._gradients = table.gradient_millionths / VALUE_SCALE

    def table(self) -> TesujiTable:
        """Return what was learnt."""
        offered, chosen, elo = self._counts
        uses, successes = self._used
        return TesujiTable(
            np.array(list(self._rows), dtype=np.int64),
            offered,
            chosen,
            elo,
            np.rint(self._weights * VALUE_SCALE).astype(np.int64),
            np.rint(self._gradients * VALUE_SCALE).astype(np.int64),
            uses,
            successes,
        )

    def learn(self, around: Surroundings, moves: Sequence[_Move]) -> None:
        """Learn from moves that put a piece on one empty cell and take none of the mover's own away."""
        codes, empty, taken, elos = _read(around, moves)
        if not len(codes):
            return
        different, number_of = np.unique(codes[empty], return_inverse=True)
        least, image_of = np.unique(around.least_images(different), return_inverse=True)
        numbers = np.full(codes.shape, -1, dtype=np.intp)
        numbers[empty] = image_of[number_of]
        chosen = numbers[np.arange(len(codes)), taken]
        plies, size = np.nonzero(empty)[0], len(least)
        counts = np.bincount(plies * size + numbers[empty], minlength=len(codes) * size)
        counts = counts.reshape(len(codes), size)
        rows = self._rows_of(least)
        self._counts[0, rows] += counts.sum(axis=0)
        self._counts[1, rows] += np.bincount(chosen, minlength=size)
        self._counts[2, rows] += elos @ counts
        self._weights[rows], self._gradients[rows] = _descend(
            self._weights[rows], self._gradients[rows], counts.astype(np.float64), chosen
        )

    def _rows_of(self, codes: Numbers) -> NDArray[np.intp]:
        before = len(self._rows)
        rows = [self._rows.setdefault(code, len(self._rows)) for code in codes.tolist()]
        fresh = len(self._rows) - before
        if fresh:
            self._counts = np.hstack([self._counts, np.zeros((len(self._counts), fresh), dtype=np.int64)])
            self._used = np.hstack([self._used, np.zeros((len(self._used), fresh), dtype=np.int64)])
            self._weights = np.hstack([self._weights, np.zeros(fresh)])
            self._gradients = np.hstack([self._gradients, np.zeros(fresh)])
        return np.array(rows, dtype=np.intp)


def _read(around: Surroundings, moves: Sequence[_Move]) -> tuple[Numbers, _Flags, NDArray[np.intp], Numbers]:
    """Return for each move that can be learnt from, in their order: the codes of all cells, which of them
    were empty, the cell taken, and the mover's Elo.
    """
    boards = [
        np.frombuffer(b"".join(states), dtype=np.uint8).reshape(len(moves), -1)
        for states in ((move.before for move in moves), (move.after for move in moves))
    ]
    seats = np.array([move.seat for move in moves])
    codes = np.empty(boards[0].shape, dtype=np.int64)
    empty, fits = np.empty(codes.shape, dtype=np.bool_), np.empty(len(moves), dtype=np.bool_)
    taken = np.empty(len(moves), dtype=np.intp)
    for player in range(1, _PLAYERS + 1):
        own = np.flatnonzero(seats == player)
        before, after = (around.views(board[own], player) for board in boards)
        codes[own] = around.codes(before, player)
        empty[own] = before == _EMPTY
        filled = (before == _EMPTY) & (after == _OWN)
        left = (before == _OWN) & (after != _OWN)
        fits[own] = (filled.sum(axis=1) == 1) & ~left.any(axis=1)
        taken[own] = filled.argmax(axis=1)
    elos = np.array([move.elo for move in moves], dtype=np.int64)
    return codes[fits], empty[fits], taken[fits], elos[fits]


def _descend(
    weights: NDArray[np.float64],
    gradients: NDArray[np.float64],
    counts: NDArray[np.float64],
    chosen: NDArray[np.intp],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return weights and sums of squared gradients after one step for each ply.

    `counts` has for each ply how many empty cells have each tesuji, `chosen` the tesuji of the cell taken.
    """
    decays = DECAY * (counts > 0)
    weights, gradients = weights.copy(), gradients.copy()
    steps, roots = np.empty_like(weights), np.empty_like(weights)
    for count, decay, choice in zip(counts, decays, chosen.tolist(), strict=True):
        gradient = exp(weights)
        gradient *= _SHARE
        np.rint(gradient, out=gradient)
        gradient *= count
        # Whole numbers below 2^53: their sum is exact.
        gradient /= np.add.reduce(gradient)
        gradient[choice] -= 1.0
        np.multiply(gradient, gradient, out=roots)
        gradients += roots
        np.add(gradients, 1.0, out=roots)
        np.sqrt(roots, out=roots)
        np.multiply(decay, weights, out=steps)
        steps += gradient
        steps *= RATE
        steps /= roots
        weights -= steps
        np.minimum(weights, MOST_WEIGHT, out=weights)
        np.maximum(weights, -MOST_WEIGHT, out=weights)
    return weights, gradients
