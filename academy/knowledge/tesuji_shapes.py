"""The shapes of a game's tesujis, and the numbers of what lies around a cell.

A shape is some cells around the empty cell that a piece comes to. Which shapes a game has follows from its
board, from how its pieces come onto it (`GameSpec.placement`) and from the row that wins
(`GameSpec.winning_row`):

- the eight cells beside the cell on a square board; on a hexagonal one the six beside it and the six that a
  bridge leads to;
- where a row wins, every row of this length through the cell that is wholly on the board;
- where pieces fall down their column, instead of the cells beside it the box of three columns from one cell
  below to two above, which knows its row;
- where pieces turn rows of the opponent's over, the eight cells beside it know which cell of the board they
  surround, and there is the number of pieces that the move would turn.

What a shape holds is its *code*: a whole number, the same for all images under the game's symmetries and, in
a symmetric game, for both players. Besides, players propose tesujis of other shapes: up to twelve cells
within three steps of the cell. Their codes say the shape, too (`tesuji_numbers`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Board, Geometry, GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.cells import State
from academy.knowledge.spec import GameSpec, Placement
from academy.knowledge.symmetries import Cell, GridSymmetry, board_permutation
from academy.knowledge.tesuji_numbers import (
    FARTHEST,
    MOST_CELLS,
    NEAR_CELLS,
    NUMBERS,
    cells_of_number,
    number_of_cells,
)

__all__ = [
    "EMPTY",
    "MOST_CODES",
    "NO_SHAPE",
    "OFF",
    "OTHER",
    "OWN",
    "PROPOSED",
    "RESTING",
    "InvalidTesujiError",
    "Numbers",
    "Places",
    "Surroundings",
    "Tesuji",
    "surroundings",
]

_PLAYERS: Final = 2

_BESIDE_SQUARE: Final[tuple[Cell, ...]] = (
    *((-1, -1), (-1, 0), (-1, 1), (0, -1)),
    *((0, 1), (1, -1), (1, 0), (1, 1)),
)
_BESIDE_HEX: Final[tuple[Cell, ...]] = (
    *((0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1), (1, 0)),
    *((-1, 2), (-2, 1), (-1, -1), (1, -2), (2, -1), (1, 1)),
)
_BOX: Final[tuple[Cell, ...]] = tuple(
    (down, right) for down in range(-2, 2) for right in range(-1, 2) if (down, right) != (0, 0)
)
_DIRECTIONS: Final[tuple[Cell, ...]] = ((0, 1), (1, 0), (1, 1), (1, -1))

# What a cell is to a player. Where pieces fall, the cells where one would come to rest have the last digit
# too: the shapes there are wholly on the board or know their row, so that it has one meaning in each.
_DIGITS: Final = 4
EMPTY, OWN, OTHER, OFF = range(_DIGITS)
# What `Tesuji` says for such a cell.
RESTING: Final = 4
# A code is made of digits, the player where the players differ, the kind of its shape, and the place that the
# shape knows.
_OF_SECOND: Final = _DIGITS**12
_KIND: Final = 2**32
_KINDS: Final = 2**6
_PLACE: Final = _KIND * _KINDS
MOST_CODES: Final = 2**51
# The least code of tesujis that players proposed, which are numbers of `tesuji_numbers` from here on; and
# what theirs have more where the players differ and the second one moves.
PROPOSED: Final = 2**62
_PROPOSED_BY_SECOND: Final = 2**61
assert NUMBERS <= _PROPOSED_BY_SECOND
# The kinds, whose numbers are kept in stored codes.
_BESIDE, _BESIDE_PLACED, _BOX_IN_ROW, _TURNED, _ROW = 0, 1, 2, 3, 16
# Instead of a code: the shape leads off the board.
NO_SHAPE: Final = -1
# Least images of shapes of no more codes are looked up.
_TABULATED: Final = 2**16
# Pieces turned over beyond this number count as this many; and thirds of the board filled.
_MOST_TURNED: Final = 15
_STAGES: Final = 3


def _digits(first: int, second: int) -> NDArray[np.uint8]:
    digits = np.full(256, OFF, dtype=np.uint8)
    digits[State.EMPTY] = EMPTY
    digits[[State.FIRST_SOLDIER, State.FIRST_KING]] = first
    digits[[State.SECOND_SOLDIER, State.SECOND_KING]] = second
    return digits


_AS_FIRST: Final = _digits(OWN, OTHER)
_AS_SECOND: Final = _digits(OTHER, OWN)

Numbers = NDArray[np.int64]
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
            pieces turned.
        place: The row from the top, or the cell, that the shape knows; for the number of pieces turned the
            third of the board that is filled. All from 0; None where it may be anywhere.
        turned: How many of the opponent's pieces the move turns over.
    """

    player: int
    cells: Mapping[Cell, int]
    place: int | None = None
    turned: int = 0


class _Family:
    """Shapes of equally many cells that are images of each other; their kinds are numbered on from `kind`.

    With `places` a shape knows which place of these its cell is; with `inside` it must be wholly on the
    board.
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
        self._around = {
            1: np.array([_cells_around(spec.geometry, shape) for shape in shapes], dtype=np.intp),
            2: np.array([_cells_around(spec.geometry, shape) for shape in seen], dtype=np.intp),
        }
        self._places = {1: places, 2: places}
        if places is not None and spec.symmetric:
            self._places[2] = places[list(spec.reversed_cells)]
        self._inside = inside
        self._off = spec.geometry.size
        self._powers = np.array([_DIGITS**place for place in range(len(shapes[0]))], dtype=np.int64)
        self._images = self._kinds_and_powers(spec, shapes)
        self._least = self._tabulate() if len(shapes) * _DIGITS ** len(shapes[0]) <= _TABULATED else None

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
                kinds.append((self.kind + target) * _KIND)
                powers.append([_DIGITS ** shapes[target].index(image) for image in images])
        group = len(spec.symmetry_group)
        return (
            np.array(kinds, dtype=np.int64).reshape(len(shapes), group),
            np.array(powers, dtype=np.int64).reshape(len(shapes), group, len(shapes[0])),
        )

    def _tabulate(self) -> Numbers:
        codes = np.arange(self.size * _DIGITS ** len(self._powers), dtype=np.int64)
        shapes, digits = np.divmod(codes, _DIGITS ** len(self._powers))
        return self._least_of(shapes, digits).reshape(self.size, -1)

    def _least_of(self, shapes: Numbers, digits: Numbers) -> Numbers:
        """Return the least of the images' codes."""
        kinds, powers = self._images
        separate = digits[:, None] // self._powers % _DIGITS
        least = np.full(len(digits), np.iinfo(np.int64).max)
        for symmetry in range(kinds.shape[1]):
            image = kinds[shapes, symmetry] + (separate * powers[shapes, symmetry]).sum(axis=1)
            np.minimum(least, image, out=least)
        return least

    def read(self, code: int, player: int) -> Tesuji:
        """Return what a code of one of these shapes stands for. Raises InvalidTesujiError."""
        steps = self._shapes[code // _KIND % _KINDS - self.kind]
        held = code % _KIND // self._powers % _DIGITS
        place = None if self._places[1] is None else code // _PLACE
        return Tesuji(player, dict(zip(steps, held.tolist(), strict=True)), place)

    def code(self, tesuji: Tesuji) -> int | None:
        """Return the code, None for another shape. Raises InvalidTesujiError."""
        steps = frozenset(tesuji.cells)
        shape = next((number for number, own in enumerate(self._shapes) if steps == frozenset(own)), None)
        if shape is None:
            return None
        known = self._places[1]
        places = [None] if known is None else sorted({*known.tolist()})
        if tesuji.place not in places:
            raise InvalidTesujiError(f"place {tesuji.place}: tesujis of this shape have {places}")
        digits = sum(
            min(tesuji.cells[step], OFF) * power
            for step, power in zip(self._shapes[shape], self._powers.tolist(), strict=True)
        )
        least = self._least_of(np.array([shape]), np.array([digits], dtype=np.int64))
        return int(least[0]) + (tesuji.place or 0) * _PLACE

    def codes(self, views: Views, boards: Places, cells: Places, player: int) -> Numbers:
        """Return a row of codes for each cell, one a shape; `views` end with a cell off the board."""
        around = self._around[player].take(cells, axis=2)
        # One index into all boards is a third faster than two.
        held = views.take(boards * views.shape[1] + around)
        digits = np.zeros(held.shape[::2], dtype=np.int64)
        for place, power in enumerate(self._powers.tolist()):
            digits += held[:, place] * np.int64(power)
        if self._least is not None:
            codes = self._least[np.arange(self.size)[:, None], digits]
        else:
            shapes = np.broadcast_to(np.arange(self.size)[:, None] * _KIND, digits.shape)
            different, number_of = np.unique(shapes + digits, return_inverse=True)
            codes = self._least_of(*np.divmod(different, _KIND))[number_of].reshape(digits.shape)
        places = self._places[player]
        if places is not None:
            codes = codes + places[cells] * _PLACE
        if self._inside:
            codes = np.where((around == self._off).any(axis=1), NO_SHAPE, codes)
        return codes.T


class _Turned:
    """How many of the opponent's pieces a move turns over, by how full the board is."""

    kind, size = _TURNED, 1
    outlines: frozenset[frozenset[Cell]] = frozenset()

    def __init__(self, geometry: SquareGeometry) -> None:
        self._cells = geometry.size
        longest = max(geometry.rows, geometry.columns) - 1
        steps = [
            [(down * far, right * far) for far in range(1, longest + 1)]
            for down, right in product((-1, 0, 1), repeat=2)
            if (down, right) != (0, 0)
        ]
        self._rays = np.array([_cells_around(geometry, ray) for ray in steps], dtype=np.intp)

    def turned(self, views: Views, boards: Places, cells: Places) -> Numbers:
        """Return how many pieces a move to each cell turns over."""
        held = views.take(boards * views.shape[1] + self._rays[:, :, cells])
        # Rows of the opponent's pieces beside the cell, up to the first other cell.
        row = np.logical_and.accumulate(held == OTHER, axis=1)
        lengths = row.sum(axis=1)
        ends = np.minimum(lengths, held.shape[1] - 1)[:, None]
        closed = np.take_along_axis(held, ends, axis=1)[:, 0] == OWN
        turned: Numbers = np.where(closed, lengths, 0).sum(axis=0)
        return turned

    def read(self, code: int, player: int) -> Tesuji:
        """As in `_Family`."""
        stage, turned = divmod(code % _KIND, _MOST_TURNED + 1)
        return Tesuji(player, {}, stage, turned)

    def code(self, tesuji: Tesuji) -> int | None:
        """As in `_Family`."""
        if tesuji.cells:
            return None
        if tesuji.place is None or not (tesuji.turned <= _MOST_TURNED and tesuji.place < _STAGES):
            raise InvalidTesujiError(
                f"{tesuji.turned} pieces turned, place {tesuji.place}: there are up to {_MOST_TURNED} pieces "
                f"and the thirds of the board 0 to {_STAGES - 1}"
            )
        return self.kind * _KIND + tesuji.place * (_MOST_TURNED + 1) + tesuji.turned

    def codes(self, views: Views, boards: Places, cells: Places, player: int) -> Numbers:
        """As in `_Family`."""
        pieces = ((views == OWN) | (views == OTHER)).sum(axis=1)
        stages = np.minimum(pieces * _STAGES // self._cells, _STAGES - 1)[boards]
        turned = np.minimum(self.turned(views, boards, cells), _MOST_TURNED)
        codes: Numbers = (self.kind * _KIND + stages * (_MOST_TURNED + 1) + turned)[:, None]
        return codes


class _Proposed:
    """Finds proposed tesujis around cells.

    What lies within three steps of a cell is two numbers, with two bits for each of 24 cells. A tesuji is
    there where these bits are those of one of its images, so all images are compared at once.
    """

    def __init__(self, spec: GameSpec, tesujis: Mapping[int, Tesuji]) -> None:
        assert not isinstance(spec.geometry, GraphGeometry)
        reversal = spec.reversal_symmetry
        assert isinstance(reversal, GridSymmetry)
        seen = [reversal.image(*step) for step in NEAR_CELLS] if spec.symmetric else NEAR_CELLS
        self._around = {
            1: _cells_around(spec.geometry, NEAR_CELLS),
            2: _cells_around(spec.geometry, seen),
        }
        self._off = spec.geometry.size
        # The last digit is a cell where a piece comes to rest then, and such tesujis are wholly on the board.
        self._inside = spec.placement is Placement.DROPPED
        self._codes = np.array(list(tesujis), dtype=np.int64)
        self._of_image: dict[int, Places] = {}
        self._wanted: dict[int, tuple[Numbers, Numbers]] = {}
        for player in range(1, _PLAYERS + 1):
            images = [
                (number, image)
                for number, tesuji in enumerate(tesujis.values())
                if spec.symmetric or tesuji.player == player
                for image in sorted({tuple(sorted(image.items())) for image in _images(tesuji.cells, spec)})
            ]
            self._of_image[player] = np.array([number for number, _ in images], dtype=np.intp)
            digits = np.zeros((len(images), len(NEAR_CELLS)), dtype=np.int64)
            used = np.zeros_like(digits)
            for row, (_, image) in enumerate(images):
                for step, held in image:
                    digits[row, NEAR_CELLS.index(step)] = min(held, OFF)
                    used[row, NEAR_CELLS.index(step)] = _DIGITS - 1
            self._wanted[player] = _halves(digits), _halves(used)

    def codes(self, views: Views, boards: Places, cells: Places, player: int) -> Numbers:
        """Return a row for each cell: the codes found there, then `NO_SHAPE` as often as others have more."""
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
            off = _halves((around == self._off).T * (_DIGITS - 1))
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
    powers = np.array([float(_DIGITS**place) for place in range(half)])
    halves: Numbers = (digits.reshape(len(digits), 2, half).astype(np.float64) @ powers).astype(np.int64)
    return halves


def _images(cells: Mapping[Cell, int], spec: GameSpec) -> Iterator[dict[Cell, int]]:
    """Yield what the cells around one hold under each of a game's symmetries."""
    for symmetry in spec.symmetry_group:
        assert isinstance(symmetry, GridSymmetry)
        yield {symmetry.image(*step): held for step, held in cells.items()}


class Surroundings:
    """The codes of what lies around the cells of a game's boards.

    Args:
        spec: The game: of two players who move in turn, on a square or hexagonal board.
    """

    def __init__(self, spec: GameSpec) -> None:
        self._spec = spec
        self._proposed: _Proposed | None = None
        self._turned = spec.symmetric
        self._placement = spec.placement
        assert not isinstance(spec.geometry, GraphGeometry)
        self._height = spec.geometry.rows
        self._below = _cells_around(spec.geometry, ((1, 0),))[0]
        self._turning = None
        self._families: list[_Family | _Turned] = []
        match spec.placement:
            case Placement.ANYWHERE:
                beside = _BESIDE_SQUARE if isinstance(spec.geometry, SquareGeometry) else _BESIDE_HEX
                self._families.append(_Family(spec, _BESIDE, [beside]))
            case Placement.DROPPED:
                rows = np.array([row for row, _ in spec.geometry.cells], dtype=np.int64)
                self._families.append(_Family(spec, _BOX_IN_ROW, [_BOX], rows))
            case Placement.OUTFLANKING:
                assert isinstance(spec.geometry, SquareGeometry)
                self._turning = _Turned(spec.geometry)
                placed = _Family(spec, _BESIDE_PLACED, [_BESIDE_SQUARE], _orbits(spec))
                self._families += [placed, self._turning]
        if spec.winning_row:
            self._families.append(_Family(spec, _ROW, list(_rows(spec.winning_row)), inside=True))
        self.shapes = sum(family.size for family in self._families)

    def views(self, boards: NDArray[np.uint8], player: int) -> Views:
        """Return what each cell is to a player.

        Args:
            boards: One row of `cells.State` a board.
            player: 1 or 2.

        Returns:
            A row of digits a board: 0 empty, 1 the player's own, 2 the opponent's, 3 off the board or, where
            pieces fall, where one would come to rest. The last of each row is off the board.
        """
        views = np.full((len(boards), boards.shape[1] + 1), OFF, dtype=np.uint8)
        views[:, :-1] = (_AS_FIRST if player == 1 else _AS_SECOND)[boards]
        if self._placement is Placement.DROPPED:
            resting = (views[:, :-1] == EMPTY) & (views[:, self._below] != EMPTY)
            views[:, :-1][resting] = OFF
        return views

    def candidates(self, views: Views, boards: NDArray[np.uint8]) -> Flags:
        """Return which cells a piece can come to, as far as that follows from how pieces come onto the board.

        Args:
            views: As from `views`.
            boards: The same boards' states.
        """
        empty: Flags = boards == State.EMPTY
        match self._placement:
            case Placement.DROPPED:
                empty &= views[:, :-1] == OFF
            case Placement.OUTFLANKING:
                assert self._turning is not None
                at = np.nonzero(empty)
                empty[at] = self._turning.turned(views, *at) > 0
        return empty

    def codes(self, views: Views, boards: Places, cells: Places, player: int) -> Numbers:
        """Return the codes of cells.

        Args:
            views: As from `views`.
            boards: For each cell the row of its board.
            cells: The cells, by index.
            player: 1 or 2, who is to move.

        Returns:
            A row for each cell, with a code for each shape of the game; `NO_SHAPE` where it leads off the
            board. Then come those of the proposed tesujis there, and `NO_SHAPE` as often as others have more.
        """
        codes = np.hstack([family.codes(views, boards, cells, player) for family in self._families])
        if player == _PLAYERS and not self._turned:
            codes = np.where(codes == NO_SHAPE, NO_SHAPE, codes + _OF_SECOND)
        if self._proposed is None:
            return codes
        return np.hstack([codes, self._proposed.codes(views, boards, cells, player)])

    def with_proposed(self, codes: Iterable[int]) -> "Surroundings":
        """Return surroundings that know proposed tesujis, too.

        Args:
            codes: Their codes. Those that this game cannot have are left out.
        """
        known = {}
        for code in codes:
            try:
                known[code] = self.read(code)
            except InvalidTesujiError:
                continue
        other = copy(self)
        other._proposed = _Proposed(self._spec, known) if known else None
        return other

    def proposed_code(self, cells: Mapping[Cell, int], player: int) -> int:
        """Return the code of a tesuji that a player proposes.

        Args:
            cells: What the cells around the one moved to hold, as in `Tesuji.cells`, seen by the player.
            player: The player to move, 1 or 2.

        Raises:
            InvalidTesujiError: It is no tesuji of this game that can be proposed.
        """
        if any(frozenset(cells) in family.outlines for family in self._families):
            raise InvalidTesujiError(
                f"ACADEMY learns these {len(cells)} cells around '*' by itself: propose other ones"
            )
        if self._turned and player == _PLAYERS:
            # A reversal undoes itself.
            reversal = self._spec.reversal_symmetry
            assert isinstance(reversal, GridSymmetry)
            cells = {reversal.image(*step): held for step, held in cells.items()}
            player = 1
        return self._proposed_code(Tesuji(player, cells))

    def _proposed_code(self, tesuji: Tesuji) -> int:
        """Return the code of a tesuji of none of the game's shapes. Raises InvalidTesujiError."""
        cells = tesuji.cells
        if not 1 <= len(cells) <= MOST_CELLS:
            raise InvalidTesujiError(
                f"{len(cells)} cells around '*': a proposed tesuji has 1 to {MOST_CELLS}, "
                "and '#' where it says nothing"
            )
        for step in cells:
            far = max(map(abs, (*step, sum(step) if isinstance(self._spec.geometry, HexGeometry) else 0)))
            if far > FARTHEST:
                raise InvalidTesujiError(
                    f"a cell {far} steps from '*': those of a proposed tesuji are at most {FARTHEST} away"
                )
        falls = self._placement is Placement.DROPPED
        if (OFF if falls else RESTING) in cells.values():
            raise InvalidTesujiError(
                "a cell of '+': where pieces fall, a proposed tesuji is wholly on the board"
                if falls
                else "a cell of '_': in this game pieces do not fall, and an empty cell is '-'"
            )
        held = {step: min(state, OFF) for step, state in cells.items()}
        least = min(map(number_of_cells, _images(held, self._spec)))
        return PROPOSED + (tesuji.player - 1) * _PROPOSED_BY_SECOND + least

    def of_cells(self, board: Board, cells: Sequence[int], player: int) -> Numbers:
        """Return the codes of some cells of one board.

        Args:
            board: The board.
            cells: The cells, by index.
            player: 1 or 2, who is to move.

        Returns:
            As from `codes`.
        """
        views = self.views(np.frombuffer(board.states, dtype=np.uint8)[None], player)
        places = np.array(cells, dtype=np.intp)
        return self.codes(views, np.zeros(len(places), dtype=np.intp), places, player)

    def read(self, code: int) -> Tesuji:
        """Return what a code stands for.

        Args:
            code: As from `codes`.

        Raises:
            InvalidTesujiError: No move of this game has this code.
        """
        if code >= PROPOSED:
            return self._read_proposed(code)
        of_second = code % _KIND >= _OF_SECOND
        kind = code // _KIND % _KINDS
        for family in self._families:
            if family.kind <= kind < family.kind + family.size and not (of_second and self._turned):
                return self._with_resting(family.read(code - of_second * _OF_SECOND, 1 + of_second))
        raise InvalidTesujiError(f"code {code}: this game has no such shape")

    def _read_proposed(self, code: int) -> Tesuji:
        """Read the code of a proposed tesuji. Raises InvalidTesujiError."""
        second, number = divmod(code - PROPOSED, _PROPOSED_BY_SECOND)
        if number >= NUMBERS or second > (0 if self._turned else 1):
            raise InvalidTesujiError(f"code {code}: no tesuji of this game has it")
        tesuji = self._with_resting(Tesuji(1 + second, cells_of_number(number)))
        if self._proposed_code(tesuji) != code:
            raise InvalidTesujiError(f"code {code}: it is not the least of its images'")
        return tesuji

    def _with_resting(self, tesuji: Tesuji) -> Tesuji:
        """Tell the cells where a piece would come to rest, at most one a column, from those off the board."""
        if self._placement is not Placement.DROPPED:
            return tesuji
        marked = [step for step, held in tesuji.cells.items() if held == OFF]
        if tesuji.place is not None:
            on_board = [step for step in marked if 0 <= tesuji.place + step[0] < self._height]
            columns = [right for _, right in on_board]
            marked = [step for step in on_board if columns.count(step[1]) == 1]
        return replace(tesuji, cells={**tesuji.cells, **dict.fromkeys(marked, RESTING)})

    def code(self, tesuji: Tesuji) -> int:
        """Return the code of a tesuji, that of all its images.

        Args:
            tesuji: As from `read`, or another image of it.

        Raises:
            InvalidTesujiError: The game has no such shape, place or player.
        """
        if not 1 <= tesuji.player <= (1 if self._turned else _PLAYERS):
            raise InvalidTesujiError(
                f"player {tesuji.player}: tesujis of this game are kept for "
                + ("player 1" if self._turned else "players 1 and 2")
            )
        for family in self._families:
            code = family.code(tesuji)
            if code is not None:
                return code + (tesuji.player - 1) * _OF_SECOND
        if tesuji.place is not None or tesuji.turned:
            raise InvalidTesujiError(
                f"{len(tesuji.cells)} cells around the one moved to: only tesujis of the game's own shapes "
                "know a place or pieces turned"
            )
        return self._proposed_code(tesuji)


def _cells_around(geometry: Geometry, around: Iterable[Cell]) -> Places:
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


def _rows(length: int) -> Iterator[tuple[Cell, ...]]:
    """Yield the rows of cells that hold the cell in the middle of things, which itself is left out."""
    for down, right in _DIRECTIONS:
        for behind in range(length):
            steps = (step - behind for step in range(length))
            yield tuple((down * step, right * step) for step in steps if step)


def _orbits(spec: GameSpec) -> Numbers:
    """Return for each cell the least of those that the game's symmetries take it to."""
    assert not isinstance(spec.geometry, GraphGeometry)
    targets = [
        target
        for symmetry in spec.symmetry_group
        if isinstance(symmetry, GridSymmetry)
        and (target := board_permutation(symmetry, spec.geometry.cells)) is not None
    ]
    orbits: Numbers = np.array(targets, dtype=np.int64).min(axis=0)
    return orbits


def surroundings(spec: GameSpec, proposed: tuple[int, ...] = ()) -> Surroundings | None:
    """Return the surroundings of a game's cells; None for a game without tesujis.

    Args:
        spec: The game. It has tesujis where two players move in turn on a square or hexagonal board, and
            moves do not all go from cell to cell.
        proposed: The codes of tesujis that players proposed, to be found too.
    """
    if not spec.two_in_turn or spec.moves_pieces or isinstance(spec.geometry, GraphGeometry):
        return None
    game = _OfShape(
        spec.geometry, spec.symmetric, spec.symmetries, spec.reversal, spec.placement, spec.winning_row
    )
    return _surroundings_with(game, proposed) if proposed else _surroundings(game)


@dataclass(frozen=True, slots=True)
class _OfShape:
    """What the surroundings of a game follow from."""

    geometry: Geometry
    symmetric: bool
    symmetries: tuple[str, ...]
    reversal: str
    placement: Placement
    winning_row: int


@lru_cache(maxsize=128)
def _surroundings(game: _OfShape) -> Surroundings:
    return Surroundings(
        GameSpec(
            "of-this-shape",
            game.geometry,
            _PLAYERS,
            game.symmetric,
            game.symmetries,
            game.reversal,
            placement=game.placement,
            winning_row=game.winning_row,
        )
    )


@lru_cache(maxsize=128)
def _surroundings_with(game: _OfShape, proposed: tuple[int, ...]) -> Surroundings:
    return _surroundings(game).with_proposed(proposed)
