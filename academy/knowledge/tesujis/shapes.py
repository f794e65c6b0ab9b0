"""The shapes of tesujis, and the numbers of what they hold around a cell.

A shape is some cells around the empty cell that a piece comes to; `surroundings` has those of a game.
What a shape holds is its *code*: a whole number, the same for all images under the game's symmetries and, in
a symmetric game, for both players. Besides, players propose tesujis of other shapes: up to twelve cells
within three steps of the cell. Their codes say the shape, too (`proposed_codes`).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Geometry, GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.learnt_weights import Numbers
from academy.knowledge.spec import GameSpec, Placement
from academy.knowledge.symmetries import Cell, GridSymmetry
from academy.knowledge.tesujis.fights import Fight
from academy.knowledge.tesujis.proposed_codes import FARTHEST, MOST_CELLS, NEAR_CELLS, NUMBERS

__all__ = [
    "CAPTURES",
    "EMPTY",
    "MOST_CODES",
    "NO_SHAPE",
    "OFF",
    "OTHER",
    "OWN",
    "PLAYERS",
    "PROPOSED",
    "RESTING",
    "Family",
    "Flags",
    "Flips",
    "InvalidTesujiError",
    "Places",
    "Proposed",
    "Tesuji",
    "cells_around",
    "cells_nearby",
    "check_proposed",
    "images_of",
]

PLAYERS: Final = 2

# What a cell is to a player. Where pieces fall, the cells where one would come to rest have the last digit
# too: the shapes there are wholly on the board or know their row, so that it has one meaning in each.
DIGITS: Final = 4
EMPTY, OWN, OTHER, OFF = range(DIGITS)
# What `Tesuji` says for such a cell.
RESTING: Final = 4
# A code is made of digits, the player where the players differ (`OF_SECOND`), the kind of its shape, and the
# place that the shape knows.
OF_SECOND: Final = DIGITS**12
KIND: Final = 2**32
KINDS: Final = 2**6
_PLACE: Final = KIND * KINDS
MOST_CODES: Final = 2**51
# The least code of tesujis that players proposed, which are numbers of `proposed_codes` from here on; and
# what theirs have more where the players differ and the second one moves.
PROPOSED: Final = 2**62
PROPOSED_BY_SECOND: Final = 2**61
assert NUMBERS <= PROPOSED_BY_SECOND
# The kinds, whose numbers are kept in stored codes.
BESIDE, BESIDE_PLACED, BOX_IN_ROW, TURNED, CAPTURES, ROW = 0, 1, 2, 3, 4, 16
# Instead of a code: the shape leads off the board.
NO_SHAPE: Final = -1
# Least images of shapes of no more codes are looked up.
_TABULATED: Final = 2**16
# Pieces turned over beyond this number count as this many; and thirds of the board filled.
_MOST_TURNED: Final = 15
_STAGES: Final = 3


Places = NDArray[np.intp]
Flags = NDArray[np.bool_]
Views = NDArray[np.uint8]


class InvalidTesujiError(ValueError):
    """A tesuji that no move of the game could have; the message says why."""


@dataclass(frozen=True, slots=True)
class Tesuji:
    """What a code stands for.

    Attributes:
        player: The player to move: 1 in a symmetric game.
        cells: What the cells around the one moved to hold, by (rows down, columns to the right): `EMPTY`,
            `OWN`, `OTHER`, `OFF`, or `RESTING`, where a piece would come to rest. Empty for the number of
            pieces turned and for what becomes of chains.
        place: The row from the top, or the cell, that the shape knows; for the number of pieces turned the
            third of the board that is filled. All from 0; None where it may be anywhere.
        turned: How many of the opponent's pieces the move turns over.
        fight: What becomes of the chains beside the cell; None for other tesujis.
    """

    player: int
    cells: Mapping[Cell, int]
    place: int | None = None
    turned: int = 0
    fight: Fight | None = None


class Family:
    """Shapes of equally many cells that are images of each other; their kinds are numbered on from `kind`.

    Args:
        spec: The game.
        kind: The number of the first shape's kind.
        shapes: Each shape's cells, as (rows down, columns to the right) from the cell moved to.
        places: The place of each cell of the board, for shapes that know theirs.
        inside: Whether a shape must be wholly on the board.
    """

    def __init__(
        self,
        spec: GameSpec,
        kind: int,
        shapes: Sequence[tuple[Cell, ...]],
        places: Numbers | None = None,
        inside: bool = False,
    ) -> None:
        assert not isinstance(spec.geometry, GraphGeometry)
        reversal = spec.reversal_symmetry
        assert isinstance(reversal, GridSymmetry)
        seen = [[reversal.image(*step) for step in shape] for shape in shapes] if spec.symmetric else shapes
        self.kind, self.size, self._shapes = kind, len(shapes), shapes
        self.outlines = frozenset(map(frozenset, shapes))
        # The first player's cells come first, then the second's.
        self._around = np.concatenate(
            [[cells_around(spec.geometry, shape) for shape in of_player] for of_player in (shapes, seen)],
            axis=2,
            dtype=np.intp,
        )
        self._places = places
        if places is not None:
            reversed_places = places[list(spec.reversed_cells)] if spec.symmetric else places
            self._places = np.concatenate([places, reversed_places])
        self._inside = inside
        self._off = spec.geometry.size
        self._powers = np.array([DIGITS**place for place in range(len(shapes[0]))], dtype=np.int64)
        self._images = self._kinds_and_powers(spec, shapes)
        self._least = self._tabulate() if len(shapes) * DIGITS ** len(shapes[0]) <= _TABULATED else None

    def _kinds_and_powers(
        self, spec: GameSpec, shapes: Sequence[tuple[Cell, ...]]
    ) -> tuple[Numbers, Numbers]:
        """Return for each shape and symmetry the image's kind, and for each of its cells the power there."""
        sets = [frozenset(shape) for shape in shapes]
        kinds, powers = [], []
        for shape in shapes:
            for symmetry in spec.symmetry_group:
                assert isinstance(symmetry, GridSymmetry)
                images = [symmetry.image(*step) for step in shape]
                target = sets.index(frozenset(images))
                kinds.append((self.kind + target) * KIND)
                powers.append([DIGITS ** shapes[target].index(image) for image in images])
        group = len(spec.symmetry_group)
        return (
            np.array(kinds, dtype=np.int64).reshape(len(shapes), group),
            np.array(powers, dtype=np.int64).reshape(len(shapes), group, len(shapes[0])),
        )

    def _tabulate(self) -> Numbers:
        codes = np.arange(self.size * DIGITS ** len(self._powers), dtype=np.int64)
        shapes, digits = np.divmod(codes, DIGITS ** len(self._powers))
        return self._least_of(shapes, digits).reshape(self.size, -1)

    def _least_of(self, shapes: Numbers, digits: Numbers) -> Numbers:
        """Return the least of the images' codes."""
        kinds, powers = self._images
        separate = digits[:, None] // self._powers % DIGITS
        least = np.full(len(digits), np.iinfo(np.int64).max)
        for symmetry in range(kinds.shape[1]):
            image = kinds[shapes, symmetry] + (separate * powers[shapes, symmetry]).sum(axis=1)
            np.minimum(least, image, out=least)
        return least

    def read(self, code: int, player: int) -> Tesuji:
        """Return what a code of one of these shapes stands for.

        Args:
            code: As `codes` gives it, without what says the player.
            player: The player to move: 1 in a symmetric game.
        """
        steps = self._shapes[code // KIND % KINDS - self.kind]
        held = code % KIND // self._powers % DIGITS
        place = None if self._places is None else code // _PLACE
        return Tesuji(player, dict(zip(steps, held.tolist(), strict=True)), place)

    def code(self, tesuji: Tesuji) -> int | None:
        """Return the code, None for another shape.

        Args:
            tesuji: One with all cells of its shape.

        Raises:
            InvalidTesujiError: The shape has no such place.
        """
        steps = frozenset(tesuji.cells)
        shape = next((number for number, own in enumerate(self._shapes) if steps == frozenset(own)), None)
        if shape is None:
            return None
        places = [None] if self._places is None else sorted({*self._places.tolist()})
        if tesuji.place not in places:
            raise InvalidTesujiError(f"place {tesuji.place}: tesujis of this shape have {places}")
        digits = sum(
            min(tesuji.cells[step], OFF) * power
            for step, power in zip(self._shapes[shape], self._powers.tolist(), strict=True)
        )
        least = self._least_of(np.array([shape]), np.array([digits], dtype=np.int64))
        return int(least[0]) + (tesuji.place or 0) * _PLACE

    def codes(self, views: Views, boards: Places, cells: Places, players: Places) -> Numbers:
        """Return a row of codes for each cell, one a shape.

        Args:
            views: A row for each board: its cells as the player to move sees them, then one off the board.
            boards: The row of `views` of each cell that is asked for.
            cells: These cells.
            players: For each cell 1 or 2, who is to move on its board.
        """
        of_player = cells + (players - 1) * self._off
        around = self._around.take(of_player, axis=2)
        # One index into all boards is a third faster than two.
        held = views.take(boards * views.shape[1] + around)
        digits = np.zeros(held.shape[::2], dtype=np.int64)
        for place, power in enumerate(self._powers.tolist()):
            digits += held[:, place] * np.int64(power)
        if self._least is not None:
            codes = self._least[np.arange(self.size)[:, None], digits]
        else:
            shapes = np.broadcast_to(np.arange(self.size)[:, None] * KIND, digits.shape)
            different, number_of = np.unique(shapes + digits, return_inverse=True)
            codes = self._least_of(*np.divmod(different, KIND))[number_of].reshape(digits.shape)
        if self._places is not None:
            codes = codes + self._places[of_player] * _PLACE
        if self._inside:
            codes = np.where((around == self._off).any(axis=1), NO_SHAPE, codes)
        return codes.T


class Flips:
    """How many of the opponent's pieces a move turns over, by how full the board is.

    Args:
        geometry: The board.
    """

    kind, size = TURNED, 1
    outlines: frozenset[frozenset[Cell]] = frozenset()

    def __init__(self, geometry: SquareGeometry) -> None:
        self._cells = geometry.size
        longest = max(geometry.rows, geometry.columns) - 1
        steps = [
            [(down * far, right * far) for far in range(1, longest + 1)]
            for down, right in product((-1, 0, 1), repeat=2)
            if (down, right) != (0, 0)
        ]
        self._rays = np.array([cells_around(geometry, ray) for ray in steps], dtype=np.intp)

    def flipped(self, views: Views, boards: Places, cells: Places) -> Numbers:
        """Return how many pieces a move to each cell turns over.

        Args:
            views: A row for each board: its cells as the player to move sees them, then one off the board.
            boards: The row of `views` of each cell that is asked for.
            cells: These cells.
        """
        turned: Numbers = self._lengths(views, boards, cells).sum(axis=0)
        return turned

    def turned(self, view: Views, cells: Sequence[int]) -> list[list[int]]:
        """Return for each cell the cells of the pieces that a move there turns over.

        Args:
            view: One row: the board's cells as the player to move sees them, then one off the board.
            cells: The cells, which are empty.
        """
        places = np.array(cells, dtype=np.intp)
        lengths = self._lengths(view, np.zeros_like(places), places)
        within = np.arange(self._rays.shape[1])[:, None] < lengths[:, None]
        return [self._rays[:, :, cell][within[:, :, place]].tolist() for place, cell in enumerate(cells)]

    def _lengths(self, views: Views, boards: Places, cells: Places) -> Numbers:
        """Return how many pieces a move to each cell turns over in each direction, a row for each."""
        held = views.take(boards * views.shape[1] + self._rays[:, :, cells])
        # Rows of the opponent's pieces beside the cell, up to the first other cell.
        row = np.logical_and.accumulate(held == OTHER, axis=1)
        lengths = row.sum(axis=1)
        ends = np.minimum(lengths, held.shape[1] - 1)[:, None]
        closed = np.take_along_axis(held, ends, axis=1)[:, 0] == OWN
        closed_lengths: Numbers = np.where(closed, lengths, 0)
        return closed_lengths

    def read(self, code: int, player: int) -> Tesuji:
        """Return what a code of this kind stands for.

        Args:
            code: As `codes` gives it, without what says the player.
            player: The player to move: 1 in a symmetric game.
        """
        stage, turned = divmod(code % KIND, _MOST_TURNED + 1)
        return Tesuji(player, {}, stage, turned)

    def code(self, tesuji: Tesuji) -> int | None:
        """Return the code, None for a tesuji of cells.

        Args:
            tesuji: One that says how many pieces are turned over.

        Raises:
            InvalidTesujiError: More pieces than are counted, or no third of the board.
        """
        if tesuji.cells or tesuji.fight is not None:
            return None
        if tesuji.place is None or not (tesuji.turned <= _MOST_TURNED and tesuji.place < _STAGES):
            raise InvalidTesujiError(
                f"{tesuji.turned} pieces turned, place {tesuji.place}: there are up to {_MOST_TURNED} pieces "
                f"and the thirds of the board 0 to {_STAGES - 1}"
            )
        return self.kind * KIND + tesuji.place * (_MOST_TURNED + 1) + tesuji.turned

    def codes(self, views: Views, boards: Places, cells: Places, players: Places) -> Numbers:
        """Return a row of one code for each cell.

        Args:
            views: A row for each board: its cells as the player to move sees them, then one off the board.
            boards: The row of `views` of each cell that is asked for.
            cells: These cells.
            players: For each cell 1 or 2, who is to move on its board.
        """
        pieces = ((views == OWN) | (views == OTHER)).sum(axis=1)
        stages = np.minimum(pieces * _STAGES // self._cells, _STAGES - 1)[boards]
        turned = np.minimum(self.flipped(views, boards, cells), _MOST_TURNED)
        codes: Numbers = (self.kind * KIND + stages * (_MOST_TURNED + 1) + turned)[:, None]
        return codes


class Proposed:
    """Finds proposed tesujis around cells.

    What lies within three steps of a cell is two numbers, with two bits for each of 24 cells. A tesuji is
    there where these bits are those of one of its images, so all images are compared at once.

    Args:
        spec: The game.
        around: As from `cells_nearby`.
        tesujis: The tesujis, by their codes.
    """

    def __init__(self, spec: GameSpec, around: Mapping[int, Places], tesujis: Mapping[int, Tesuji]) -> None:
        self._around = around
        self._off = spec.geometry.size
        # The last digit is a cell where a piece comes to rest then, and such tesujis are wholly on the board.
        self._inside = spec.placement is Placement.DROPPED
        self._codes = np.array(list(tesujis), dtype=np.int64)
        self._of_image: dict[int, Places] = {}
        self._wanted: dict[int, tuple[Numbers, Numbers]] = {}
        for player in range(1, PLAYERS + 1):
            images = [
                (number, image)
                for number, tesuji in enumerate(tesujis.values())
                if spec.symmetric or tesuji.player == player
                for image in sorted({tuple(sorted(image.items())) for image in images_of(tesuji.cells, spec)})
            ]
            self._of_image[player] = np.array([number for number, _ in images], dtype=np.intp)
            digits = np.zeros((len(images), len(NEAR_CELLS)), dtype=np.int64)
            used = np.zeros_like(digits)
            for row, (_, image) in enumerate(images):
                for step, held in image:
                    digits[row, NEAR_CELLS.index(step)] = min(held, OFF)
                    used[row, NEAR_CELLS.index(step)] = DIGITS - 1
            self._wanted[player] = _halves(digits), _halves(used)

    def codes(self, views: Views, boards: Places, cells: Places, players: Places) -> Numbers:
        """Return a row for each cell: the codes found there, `NO_SHAPE` up to the longest row.

        Args:
            views: A row for each board: its cells as the player to move sees them, then one off the board.
            boards: The row of `views` of each cell that is asked for.
            cells: These cells.
            players: For each cell 1 or 2, who is to move on its board.
        """
        by_player = []
        for player in range(1, PLAYERS + 1):
            own = players == player
            if own.any():
                by_player.append((own, self._codes_of(views, boards[own], cells[own], player)))
        width = max((of_player.shape[1] for _, of_player in by_player), default=0)
        codes = np.full((len(cells), width), NO_SHAPE, dtype=np.int64)
        for own, of_player in by_player:
            codes[own, : of_player.shape[1]] = of_player
        return codes

    def _codes_of(self, views: Views, boards: Places, cells: Places, player: int) -> Numbers:
        """Return the same for cells of boards on which `player` is to move."""
        wanted, used = self._wanted[player]
        around = self._around[player][:, cells]
        held = _halves(views.take(boards * views.shape[1] + around).T)
        # The nearer half tells nearly all: the other is looked at where that one fits. Boards of a contest
        # have few different ones.
        near, number_of = np.unique(held[:, 0], return_inverse=True)
        near_fits = near[:, None] & used[:, 0] == wanted[:, 0]
        rows, fitting = np.nonzero(near_fits)
        first_of = np.searchsorted(rows, np.arange(len(near) + 1))
        counts = np.diff(first_of)[number_of]
        places = np.repeat(np.arange(len(cells)), counts)
        within = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
        images = fitting[first_of[number_of[places]] + within]
        fits = held[places, 1] & used[images, 1] == wanted[images, 1]
        if self._inside:
            off = _halves((around == self._off).T * (DIGITS - 1))
            fits &= (off[places] & used[images] == 0).all(axis=1)
        # Two images may fit, and count once.
        fitting = np.unique(places[fits] * len(self._codes) + self._of_image[player][images[fits]])
        places, tesujis = np.divmod(fitting, len(self._codes))
        columns = np.arange(len(fitting)) - np.searchsorted(places, places)
        codes = np.full((len(cells), columns.max(initial=-1) + 1), NO_SHAPE, dtype=np.int64)
        codes[places, columns] = self._codes[tesujis]
        return codes


def _halves(digits: NDArray[np.integer]) -> Numbers:
    """Return each row of digits, one for each of `NEAR_CELLS`, as two numbers."""
    half = len(NEAR_CELLS) // 2
    # Whole numbers below 2^53: their sums are exact.
    powers = np.array([float(DIGITS**place) for place in range(half)])
    halves: Numbers = (digits.reshape(len(digits), 2, half).astype(np.float64) @ powers).astype(np.int64)
    return halves


def images_of(cells: Mapping[Cell, int], spec: GameSpec) -> Iterator[dict[Cell, int]]:
    """Yield what the cells around one hold under each of a game's symmetries.

    Args:
        cells: What each holds, by (rows down, columns to the right).
        spec: The game.
    """
    for symmetry in spec.symmetry_group:
        assert isinstance(symmetry, GridSymmetry)
        yield {symmetry.image(*step): held for step, held in cells.items()}


def cells_nearby(spec: GameSpec) -> dict[int, Places]:
    """Return for each player what `NEAR_CELLS` of each cell are, as from `cells_around`.

    Args:
        spec: The game. The second player's board is turned where it is symmetric.
    """
    reversal = spec.reversal_symmetry
    assert isinstance(reversal, GridSymmetry)
    seen = [reversal.image(*step) for step in NEAR_CELLS] if spec.symmetric else NEAR_CELLS
    return {1: cells_around(spec.geometry, NEAR_CELLS), 2: cells_around(spec.geometry, seen)}


def check_proposed(cells: Collection[Cell], geometry: Geometry) -> None:
    """Check that a player may propose a tesuji of these cells, as far as the game's board says.

    Args:
        cells: The cells, by (rows down, columns to the right) from the one moved to.
        geometry: The game's board, of squares or hexagons.

    Raises:
        InvalidTesujiError: They are too many, none, or too far away.
    """
    if not 1 <= len(cells) <= MOST_CELLS:
        raise InvalidTesujiError(
            f"{len(cells)} cells around '*': a proposed tesuji has 1 to {MOST_CELLS}, "
            "and '#' where it says nothing"
        )
    for step in cells:
        far = max(map(abs, (*step, sum(step) if isinstance(geometry, HexGeometry) else 0)))
        if far > FARTHEST:
            raise InvalidTesujiError(
                f"a cell {far} steps from '*': those of a proposed tesuji are at most {FARTHEST} away"
            )


def cells_around(geometry: Geometry, around: Iterable[Cell]) -> Places:
    """Return for each step the cell that it leads to from each cell; off the board that after the last.

    Args:
        geometry: The board, not a map.
        around: The steps, as (rows down, columns to the right).
    """
    assert not isinstance(geometry, GraphGeometry)
    places = {cell: index for index, cell in enumerate(geometry.cells)}
    return np.array(
        [
            [places.get((row + down, column + right), geometry.size) for row, column in geometry.cells]
            for down, right in around
        ],
        dtype=np.intp,
    )
