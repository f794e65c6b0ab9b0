"""What lies around the cells of a game's boards, as codes of tesujis.

Which shapes a game has follows from its board, from how its pieces come onto it (`GameSpec.placement`) and
from the row that wins (`GameSpec.winning_row`):

- the eight cells beside the cell on a square board; on a hexagonal one the six beside it and the six that a
  bridge leads to;
- where a row wins, every row of this length through the cell that is wholly on the board;
- where pieces fall down their column, instead of the cells beside it the box of three columns from one cell
  below to two above, which knows its row;
- where chains are taken, what a move to the cell takes, extends and threatens besides;
- where pieces turn rows of the opponent's over, the eight cells beside it know which cell of the board they
  surround, and there is the number of pieces that the move would turn.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Board, CellChange, GraphGeometry, SquareGeometry
from academy.knowledge.cells import State
from academy.knowledge.learnt_weights import Numbers
from academy.knowledge.spec import GameSpec, Placement
from academy.knowledge.symmetries import Cell, GridSymmetry
from academy.knowledge.tesujis.captures import Captures
from academy.knowledge.tesujis.proposed_codes import NUMBERS, cells_of_number, number_of_cells
from academy.knowledge.tesujis.shapes import (
    BESIDE,
    BESIDE_PLACED,
    BOX_IN_ROW,
    EMPTY,
    KIND,
    KINDS,
    NO_SHAPE,
    OF_SECOND,
    OFF,
    OTHER,
    OWN,
    PLAYERS,
    PROPOSED,
    PROPOSED_BY_SECOND,
    RESTING,
    ROW,
    Family,
    Flags,
    Flips,
    InvalidTesujiError,
    Places,
    Proposed,
    Tesuji,
    Views,
    cells_around,
    cells_nearby,
    check_proposed,
    images_of,
)

__all__ = ["Surroundings", "surroundings"]

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


def _digits(first: int, second: int) -> NDArray[np.uint8]:
    digits = np.full(256, OFF, dtype=np.uint8)
    digits[State.EMPTY] = EMPTY
    digits[[State.FIRST_SOLDIER, State.FIRST_KING]] = first
    digits[[State.SECOND_SOLDIER, State.SECOND_KING]] = second
    return digits


_AS_FIRST: Final = _digits(OWN, OTHER)
_AS_SECOND: Final = _digits(OTHER, OWN)


class Surroundings:
    """The codes of what lies around the cells of a game's boards.

    Args:
        spec: The game: of two players who move in turn, on a square or hexagonal board.
    """

    def __init__(self, spec: GameSpec) -> None:
        self._spec = spec
        self._proposed: Proposed | None = None
        self._symmetric = spec.symmetric
        self._placement = spec.placement
        assert not isinstance(spec.geometry, GraphGeometry)
        self._height = spec.geometry.rows
        self._below = cells_around(spec.geometry, ((1, 0),))[0]
        self._flips = None
        self._captures: Captures | None = None
        self._families: list[Family | Flips | Captures] = []
        match spec.placement:
            case Placement.ANYWHERE | Placement.CAPTURING:
                beside = _BESIDE_SQUARE if isinstance(spec.geometry, SquareGeometry) else _BESIDE_HEX
                self._families.append(Family(spec, BESIDE, [beside]))
                if spec.placement is Placement.CAPTURING:
                    assert isinstance(spec.geometry, SquareGeometry)
                    self._captures = Captures(spec.geometry)
                    self._families.append(self._captures)
            case Placement.DROPPED:
                rows = np.array([row for row, _ in spec.geometry.cells], dtype=np.int64)
                self._families.append(Family(spec, BOX_IN_ROW, [_BOX], rows))
            case Placement.OUTFLANKING:
                assert isinstance(spec.geometry, SquareGeometry)
                self._flips = Flips(spec.geometry)
                placed = Family(spec, BESIDE_PLACED, [_BESIDE_SQUARE], _orbits(spec))
                self._families += [placed, self._flips]
        if spec.winning_row:
            self._families.append(Family(spec, ROW, list(_rows(spec.winning_row)), inside=True))
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
            # "Resting" shares the digit of OFF: shapes here lie wholly on the board or know their row.
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
                assert self._flips is not None
                at = np.nonzero(empty)
                empty[at] = self._flips.flipped(views, *at) > 0
        return empty

    def codes(self, views: Views, boards: Places, cells: Places, players: Places) -> Numbers:
        """Return the codes of cells.

        Args:
            views: As from `views`, of each board for the player who is to move there.
            boards: For each cell the row of its board.
            cells: The cells, by index.
            players: For each cell 1 or 2, who is to move on its board.

        Returns:
            A row for each cell, with a code for each shape of the game; `NO_SHAPE` where it leads off the
            board. Then come those of the proposed tesujis there, and `NO_SHAPE` as often as others have more.
        """
        codes = np.hstack([family.codes(views, boards, cells, players) for family in self._families])
        if not self._symmetric:
            of_second = (players - 1)[:, None] * np.int64(OF_SECOND)
            codes = np.where(codes == NO_SHAPE, NO_SHAPE, codes + of_second)
        if self._proposed is None:
            return codes
        return np.hstack([codes, self._proposed.codes(views, boards, cells, players)])

    @cached_property
    def _nearby(self) -> dict[int, Places]:
        return cells_nearby(self._spec)

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
        other._proposed = Proposed(self._spec, self._nearby, known) if known else None
        return other

    def proposed_code(self, cells: Mapping[Cell, int], player: int) -> int:
        """Return the code of a tesuji that a player proposes.

        Args:
            cells: What the cells around the one moved to hold, as in `Tesuji.cells`, seen by the player.
            player: The player to move, 1 or 2.

        Raises:
            InvalidTesujiError: It is not a tesuji of this game that can be proposed.
        """
        if any(frozenset(cells) in family.outlines for family in self._families):
            raise InvalidTesujiError(
                f"ACADEMY learns these {len(cells)} cells around '*' by itself: propose other ones"
            )
        if self._symmetric and player == PLAYERS:
            # A reversal undoes itself.
            reversal = self._spec.reversal_symmetry
            assert isinstance(reversal, GridSymmetry)
            cells = {reversal.image(*step): held for step, held in cells.items()}
            player = 1
        return self._proposed_code(Tesuji(player, cells))

    def _proposed_code(self, tesuji: Tesuji) -> int:
        """Return the code of a tesuji of none of the game's shapes. Raises InvalidTesujiError."""
        cells = tesuji.cells
        check_proposed(cells, self._spec.geometry)
        if self._placement is not Placement.DROPPED:
            _check_rests_nowhere(cells)
        elif OFF in cells.values():
            raise InvalidTesujiError(
                "a cell of '+': where pieces fall, a proposed tesuji is wholly on the board"
            )
        held = {step: min(state, OFF) for step, state in cells.items()}
        least = min(map(number_of_cells, images_of(held, self._spec)))
        return PROPOSED + (tesuji.player - 1) * PROPOSED_BY_SECOND + least

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
        return self.codes(views, np.zeros_like(places), places, np.full_like(places, player))

    def others_changed(self, board: Board, cells: Sequence[int], player: int) -> list[list[CellChange]]:
        """Return for each cell what a move there changes besides: pieces that it takes, or turns over.

        Args:
            board: The board.
            cells: The cells, by index.
            player: 1 or 2, who is to move.
        """
        view = self.views(np.frombuffer(board.states, dtype=np.uint8)[None], player)
        if self._captures is not None:
            changed, state = self._captures.taken(view, cells), State.EMPTY
        elif self._flips is not None:
            changed = self._flips.turned(view, cells)
            state = State.FIRST_SOLDIER if player == 1 else State.SECOND_SOLDIER
        else:
            return [[] for _ in cells]
        return [[(other, state) for other in others] for others in changed]

    def read(self, code: int) -> Tesuji:
        """Return what a code stands for.

        Args:
            code: As from `codes`.

        Raises:
            InvalidTesujiError: No move of this game has this code.
        """
        if code >= PROPOSED:
            return self._read_proposed(code)
        of_second = code % KIND >= OF_SECOND
        kind = code // KIND % KINDS
        for family in self._families:
            if family.kind <= kind < family.kind + family.size and not (of_second and self._symmetric):
                return self._with_resting(family.read(code - of_second * OF_SECOND, 1 + of_second))
        raise InvalidTesujiError(f"code {code}: this game has no such shape")

    def _read_proposed(self, code: int) -> Tesuji:
        """Read the code of a proposed tesuji. Raises InvalidTesujiError."""
        second, number = divmod(code - PROPOSED, PROPOSED_BY_SECOND)
        if number >= NUMBERS or second > (0 if self._symmetric else 1):
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
        if not 1 <= tesuji.player <= (1 if self._symmetric else PLAYERS):
            raise InvalidTesujiError(
                f"player {tesuji.player}: tesujis of this game are kept for "
                + ("player 1" if self._symmetric else "players 1 and 2")
            )
        if self._placement is not Placement.DROPPED:
            _check_rests_nowhere(tesuji.cells)
        for family in self._families:
            code = family.code(tesuji)
            if code is not None:
                return code + (tesuji.player - 1) * OF_SECOND
        if tesuji.place is not None or tesuji.turned:
            raise InvalidTesujiError(
                f"{len(tesuji.cells)} cells around the one moved to: only tesujis of the game's own shapes "
                "know a place or pieces turned"
            )
        return self._proposed_code(tesuji)


def _check_rests_nowhere(cells: Mapping[Cell, int]) -> None:
    if RESTING in cells.values():
        raise InvalidTesujiError("a cell of '_': in this game pieces do not fall, and an empty cell is '-'")


def _rows(length: int) -> Iterator[tuple[Cell, ...]]:
    """Yield the rows of cells that hold the cell in the middle of things, which itself is left out."""
    for down, right in _DIRECTIONS:
        for behind in range(length):
            steps = (step - behind for step in range(length))
            yield tuple((down * step, right * step) for step in steps if step)


def _orbits(spec: GameSpec) -> Numbers:
    """Return for each cell the least of those that the game's symmetries take it to."""
    orbits: Numbers = np.array(spec.turned_cells, dtype=np.int64).min(axis=0)
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
    return _surroundings_with(spec.table_key, proposed) if proposed else _surroundings(spec.table_key)


_surroundings = lru_cache(maxsize=128)(Surroundings)


@lru_cache(maxsize=128)
def _surroundings_with(shape: GameSpec, proposed: tuple[int, ...]) -> Surroundings:
    return _surroundings(shape).with_proposed(proposed)
