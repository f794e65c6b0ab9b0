"""Anchored patterns: what stands on a few cells of the board, at this place of it.

They are cut systematically: every place of each of a geometry's shapes, and whatever the game's symmetries
make of it. Images are one pattern, and in a symmetric game so is what they are with the colours exchanged;
that counts against the first player as the other counts for him.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Geometry, GraphGeometry, SquareGeometry
from academy.knowledge.cells import State
from academy.knowledge.learnt_weights import Numbers
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import Cell

__all__ = ["AnchoredPatterns", "anchored_patterns", "has_anchored_patterns"]

# The shapes of square boards: rows of four, and boxes of three times three.
_SQUARE: Final[tuple[tuple[Cell, ...], ...]] = (
    *(
        tuple((step * down, step * right) for step in range(4))
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
    ),
    tuple((row, column) for row in range(3) for column in range(3)),
)
# Those of hexagonal ones: rhombi, a bridge and the cells between, and five cells of two rows.
_HEX: Final[tuple[tuple[Cell, ...], ...]] = (
    ((0, 0), (0, 1), (1, 0), (1, -1)),
    ((0, 0), (0, 1), (-1, 1), (-1, 2)),
    ((0, 0), (1, 0), (1, -1), (2, -1)),
    ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1)),
)
_DIGITS: Final = 3
_EMPTY, _FIRST, _SECOND = range(_DIGITS)
_EXCHANGED: Final = np.array([_EMPTY, _SECOND, _FIRST])
_MOST_CELLS: Final = max(map(len, (*_SQUARE, *_HEX)))


def _digits() -> Numbers:
    digits = np.full(256, _EMPTY, dtype=np.int64)
    digits[[State.FIRST_SOLDIER, State.FIRST_KING]] = _FIRST
    digits[[State.SECOND_SOLDIER, State.SECOND_KING]] = _SECOND
    return digits


_DIGIT_OF: Final = _digits()


class AnchoredPatterns:
    """The anchored patterns of a game's boards, by code.

    Args:
        spec: The game: of two players, on a square or hexagonal board.

    Attributes:
        places: The cells of each place that patterns have, by index.
        size: How many codes there are, from 0.
    """

    def __init__(self, spec: GameSpec) -> None:
        assert not isinstance(spec.geometry, GraphGeometry)
        # Where the game's symmetries take each cell; and the same after the colours are exchanged.
        same, reversal = spec.turned_cells, spec.reversed_cells
        exchanged = [tuple(image[cell] for cell in reversal) for image in same] if spec.symmetric else []
        self.places = sorted(
            {
                tuple(sorted(image[cell] for cell in place))
                for place in _places(spec.geometry)
                for image in (*same, *exchanged)
            }
        )
        self._number_of = {place: number for number, place in enumerate(self.places)}
        # For each cell of a place, from the first: the places that have one, and which.
        self._cells = [
            (
                np.array([number for number, place in enumerate(self.places) if len(place) > order]),
                np.array([place[order] for place in self.places if len(place) > order]),
            )
            for order in range(max(map(len, self.places)))
        ]
        sizes = np.array([_DIGITS ** len(place) for place in self.places], dtype=np.int64)
        self._first = np.concatenate([[0], np.cumsum(sizes)])
        self.size = int(self._first[-1])
        self._powers = _DIGITS ** np.arange(_MOST_CELLS, dtype=np.int64)
        self._same, self._exchanged = self._images(same), self._images(exchanged)
        # For each place its cells, and what a digit of each counts; and for each cell its places, likewise.
        powers = self._powers.tolist()
        self._padded = _padded([[*zip(place, powers, strict=False)] for place in self.places])
        around: list[list[tuple[int, int]]] = [[] for _ in range(spec.geometry.size)]
        for number, place in enumerate(self.places):
            for cell, power in zip(place, powers, strict=False):
                around[cell].append((number, power))
        self._around = _padded(around)

    def _images(self, images: Sequence[Sequence[int]]) -> tuple[Numbers, NDArray[np.float32]]:
        """Return for each place and image the first code there, and what a digit of each cell counts."""
        first = np.zeros((len(self.places), len(images)), dtype=np.int64)
        powers = np.zeros((len(self.places), len(images), _MOST_CELLS), dtype=np.float32)
        for number, place in enumerate(self.places):
            for order, image in enumerate(images):
                moved = [image[cell] for cell in place]
                target = tuple(sorted(moved))
                first[number, order] = self._first[self._number_of[target]]
                powers[number, order, : len(place)] = self._powers[[target.index(cell) for cell in moved]]
        return first, powers

    def codes(self, boards: NDArray[np.uint8]) -> Numbers:
        """Return what stands at each place, images not yet made one.

        Args:
            boards: One row of `cells.State` a board.

        Returns:
            One row a place, in the order of `places`, and one column a board.
        """
        digits = _DIGIT_OF[boards.T]
        codes = np.repeat(self._first[:-1, None], len(boards), axis=1)
        for order, (places, cells) in enumerate(self._cells):
            counted = digits[cells] * self._powers[order]
            if len(places) == len(codes):
                codes += counted
            else:
                codes[places] += counted
        return codes

    def changed_codes(self, boards: NDArray[np.uint8]) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """Return what stands at each place of the first board, and where other boards differ from it.

        Args:
            boards: As in `codes`; at least one.

        Returns:
            The codes of the first; then the boards, places and codes of what is different, in this order.
        """
        digits = _DIGIT_OF[boards]
        rows, cells = np.nonzero(digits != digits[0])
        # Each place that a changed cell is in changes by the cell's difference times its power.
        places_of, powers_of = self._around[0][cells], self._around[1][cells]
        changes = ((digits[rows, cells] - digits[0][cells])[:, None] * powers_of).ravel()
        at = (rows[:, None] * len(self.places) + places_of).ravel()[changes != 0]
        at, entry_of = np.unique(at, return_inverse=True)
        # Whole numbers below 2^53: their sums are exact.
        sums = np.bincount(entry_of, weights=changes[changes != 0], minlength=len(at)).astype(np.int64)
        first = self._first[:-1] + (digits[0][self._padded[0]] * self._padded[1]).sum(axis=1)
        changed, places = np.divmod(at, len(self.places))
        return first, changed, places, first[places] + sums

    def least_images(self, codes: Numbers) -> tuple[Numbers, Numbers]:
        """Return for each code that which all its images have, and for whom it counts.

        Args:
            codes: As from `codes`, in one dimension.

        Returns:
            The least codes; and 1, -1 for those with the colours exchanged, or 0 for those that are the same
            with the colours exchanged, and so say nothing.
        """
        places, digits = self._read(codes)
        least = _images_of(self._same, places, digits).min(axis=1)
        if not self._exchanged[0].size:
            return least, np.ones(len(codes), dtype=np.int64)
        other = _images_of(self._exchanged, places, _EXCHANGED[digits]).min(axis=1)
        signs = (least < other).astype(np.int64) - (other < least)
        return np.minimum(least, other), signs

    def images(self, codes: Numbers) -> tuple[Numbers, Numbers]:
        """Return all images of patterns.

        Args:
            codes: As in `least_images`.

        Returns:
            For each code a row of its images' codes, which may be there twice; and for each column 1, or -1
            where the colours are exchanged.
        """
        places, digits = self._read(codes)
        same = _images_of(self._same, places, digits)
        exchanged = _images_of(self._exchanged, places, _EXCHANGED[digits])
        signs = np.repeat([1, -1], [same.shape[1], exchanged.shape[1]])
        return np.concatenate([same, exchanged], axis=1), signs

    def _read(self, codes: Numbers) -> tuple[Numbers, Numbers]:
        """Return the place of each code, and what its cells hold."""
        places = np.searchsorted(self._first, codes, side="right") - 1
        return places, (codes - self._first[places])[:, None] // self._powers % _DIGITS

    def code(self, contents: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """Return the code that all images of a pattern have, and for whom it counts, as from `least_images`.

        Args:
            contents: As from `contents`, in any order.

        Raises:
            ValueError: No shape of the game has these cells.
        """
        held = dict(contents)
        place = tuple(sorted(held))
        if place not in self._number_of or not all(0 <= digit < _DIGITS for digit in held.values()):
            raise ValueError(f"cells {', '.join(map(str, place))}: no shape of anchored patterns has these")
        digits = sum(held[cell] * int(power) for cell, power in zip(place, self._powers, strict=False))
        codes, signs = self.least_images(np.array([self._first[self._number_of[place]] + digits]))
        return int(codes[0]), int(signs[0])

    def contents(self, code: int) -> list[tuple[int, int]]:
        """Return the cells of a pattern, each with the player whose piece is there, 0 for none.

        Args:
            code: The pattern's code.
        """
        place = int(np.searchsorted(self._first, code, side="right")) - 1
        digits = (code - int(self._first[place])) // self._powers % _DIGITS
        return list(zip(self.places[place], digits.tolist(), strict=False))


def _padded(rows: Sequence[Sequence[tuple[int, int]]]) -> tuple[Numbers, Numbers]:
    """Return the first and the second numbers of pairs as two tables, with 0 beyond the end of a row."""
    most = max(map(len, rows))
    table = np.array([[*row, *[(0, 0)] * (most - len(row))] for row in rows], dtype=np.int64)
    return table[:, :, 0], table[:, :, 1]


def _images_of(images: tuple[Numbers, NDArray[np.float32]], places: Numbers, digits: Numbers) -> Numbers:
    first, powers = images
    # Whole numbers below 2^24, so float32 is exact, and faster.
    counted = powers[places] @ digits.astype(np.float32)[:, :, None]
    codes: Numbers = first[places] + counted[:, :, 0].astype(np.int64)
    return codes


def _places(geometry: Geometry) -> Iterator[tuple[int, ...]]:
    assert not isinstance(geometry, GraphGeometry)
    number_of = {cell: number for number, cell in enumerate(geometry.cells)}
    for shape in _SQUARE if isinstance(geometry, SquareGeometry) else _HEX:
        for row, column in geometry.cells:
            cells = [(row + down, column + right) for down, right in shape]
            if all(cell in number_of for cell in cells):
                yield tuple(number_of[cell] for cell in cells)


def anchored_patterns(spec: GameSpec) -> AnchoredPatterns | None:
    """Return the anchored patterns of a game's boards; None for a game without them.

    Args:
        spec: The game, as in `has_anchored_patterns`.
    """
    return _anchored_patterns(spec.table_key) if has_anchored_patterns(spec) else None


def has_anchored_patterns(spec: GameSpec) -> bool:
    """Return whether a game's boards have anchored patterns.

    Args:
        spec: The game. It has them where two players move in turn on a square or hexagonal board on which
            one of the shapes fits.
    """
    if not spec.two_in_turn or isinstance(spec.geometry, GraphGeometry):
        return False
    return any(True for _ in _places(spec.geometry))


_anchored_patterns = lru_cache(maxsize=32)(AnchoredPatterns)
