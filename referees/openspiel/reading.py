"""A game of OpenSpiel as ACADEMY is told of it: its spec, and positions in cell states."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from academy.knowledge.boards import Board, Geometry, GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.cells import LETTERS_TO_STATES, SWAP_COLOURS, State
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import HEXAGON, SQUARE, GridSymmetry, board_permutation
from referees.openspiel.boards import TensorBoard, board_of
from referees.openspiel.game_string import game_id

# Where ACADEMY knows no board there is one cell, always empty: openings are all there is to learn.
_NOWHERE: Final = GraphGeometry(("nowhere",))
_LONGEST_EXPECTED: Final = 60.0


class NoBoard:
    """A game of which ACADEMY learns openings alone."""

    def __init__(self, game: Any) -> None:
        self._board = Board(_NOWHERE, bytes((State.EMPTY,)))
        length = min(float(game.max_game_length()), _LONGEST_EXPECTED)
        self.spec = GameSpec(game_id(game), _NOWHERE, symmetric=False, expected_length=max(1.0, length))

    def read(self, state: Any) -> Board:
        """One empty cell."""
        return self._board


class BoardReader:
    """A game whose board is read from its observation tensor."""

    def __init__(self, game: Any, board: TensorBoard) -> None:
        rows, columns = board.size(game.get_parameters())
        self._geometry: Geometry = (HexGeometry if board.hexagonal else SquareGeometry)(rows, columns)
        self._planes = len(board.planes)
        letters = f"{board.planes}{board.unset}".encode().translate(LETTERS_TO_STATES)
        self._states = np.frombuffer(letters, dtype=np.uint8)
        tensor = np.arange(rows * columns).reshape(rows, columns)
        if board.bottom_first:
            tensor = tensor[::-1]
        if board.right_first:
            tensor = tensor[:, ::-1]
        self._order = tensor.ravel()
        names = tuple(board.cell_name(*divmod(int(cell), columns), rows) for cell in self._order)
        self.spec = self._described(game, board, names)

    def read(self, state: Any) -> Board:
        """A state's cells."""
        planes = np.array(state.observation_tensor(0), dtype=np.float32).reshape(-1, len(self._order))
        planes = planes[: self._planes]
        found = np.where(planes.any(axis=0), planes.argmax(axis=0), self._planes)
        return Board(self._geometry, self._states[found][self._order].tobytes())

    def _described(self, game: Any, board: TensorBoard, names: tuple[str, ...]) -> GameSpec:
        known = HEXAGON if board.hexagonal else SQUARE
        first = self.read(game.new_initial_state()).states
        swapped = first.translate(SWAP_COLOURS)
        symmetries = tuple(name for name in board.symmetries if self._turned(first, known[name]) == first)
        reversals = [
            name
            for name in board.reversals
            if known[name].after(known[name]) == known["identity"].matrix
            and self._turned(swapped, known[name]) == first
        ]
        return GameSpec(
            game_id(game),
            self._geometry,
            symmetric=bool(reversals),
            symmetries=symmetries,
            reversal=reversals[0] if reversals else "identity",
            cell_names=names,
            expected_length=max(1.0, board.moves_per_cell * len(names)),
        )

    def _turned(self, states: bytes, symmetry: GridSymmetry) -> bytes | None:
        """States under a symmetry of the cells that are on the board; None where it leads off it."""
        assert not isinstance(self._geometry, GraphGeometry)
        on_board: Sequence[int] = [cell for cell, state in enumerate(states) if state != State.OFF_BOARD]
        target = board_permutation(symmetry, [self._geometry.cells[cell] for cell in on_board])
        if target is None:
            return None
        turned = bytearray(states)
        for source, goes_to in zip(on_board, target, strict=True):
            turned[on_board[goes_to]] = states[source]
        return bytes(turned)


def reader(game: Any) -> BoardReader | NoBoard:
    """What tells ACADEMY of a loaded game."""
    board = board_of(game)
    return NoBoard(game) if board is None else BoardReader(game, board)
