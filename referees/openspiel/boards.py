"""The boards of those games of OpenSpiel that ACADEMY can know as boards, as tables.

Cells are read from the library's observation tensor, where each kind of piece has a plane.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from academy.knowledge.boards import Board, Geometry, GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.cells import LETTERS_TO_STATES, SWAP_COLOURS, State
from academy.knowledge.spec import LONGEST_ROW, SHORTEST_ROW, GameSpec, Placement
from academy.knowledge.symmetries import HEXAGON, SQUARE, GridSymmetry, board_permutation
from referees.openspiel.game_string import game_id

Parameters = Mapping[str, Any]
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_LETTERS_OF_GO: Final = "abcdefghjklmnopqrstuvwxyz"
_ALL_OF_THE_SQUARE: Final = tuple(SQUARE)


@dataclass(frozen=True)
class TensorBoard:
    """How one game's cells are read, named and turned.

    `size` gives rows and columns, and `cell_name` the name that moves have for a cell, from its row and
    column in the tensor and the number of rows. `planes` has the cell letter of each plane, `unset` that of
    a cell in none of them. `bottom_first` and `right_first` say in which order the tensor has rows
    and columns. `symmetries` and `reversals` leave the rules as they are, the latter with the players
    exchanged; which of them keep the first position is found out. `moves_per_cell` are the plies of
    a usual game. `placement` is the game's, and `winning_row` the parameter that says how many in a row win.
    """

    size: Callable[[Parameters], tuple[int, int]]
    cell_name: Callable[[int, int, int], str]
    planes: str
    moves_per_cell: float
    unset: str = "+"
    hexagonal: bool = False
    bottom_first: bool = False
    right_first: bool = False
    symmetries: tuple[str, ...] = _ALL_OF_THE_SQUARE
    reversals: tuple[str, ...] = _ALL_OF_THE_SQUARE
    placement: Placement = Placement.ANYWHERE
    winning_row: str = ""

    def row_of(self, parameters: Parameters) -> int:
        """How many in a row win, 0 where none do or ACADEMY knows no such rows."""
        row = int(parameters.get(self.winning_row, 0))
        return row if SHORTEST_ROW <= row <= LONGEST_ROW else 0


def _fixed(size: int) -> Callable[[Parameters], tuple[int, int]]:
    return lambda parameters: (size, size)


def _sides(rows: str, columns: str) -> Callable[[Parameters], tuple[int, int]]:
    return lambda parameters: (parameters[rows], parameters[columns])


_square: Final = _sides("board_size", "board_size")
_rectangle: Final = _sides("rows", "columns")


def _hexagon(parameters: Parameters) -> tuple[int, int]:
    return 2 * parameters["board_size"] - 1, 2 * parameters["board_size"] - 1


def _counted_down(row: int, column: int, rows: int) -> str:
    return f"{_LETTERS[column]}{row + 1}"


def _counted_up(row: int, column: int, rows: int) -> str:
    return f"{_LETTERS[column]}{rows - row}"


def _of_go(row: int, column: int, rows: int) -> str:
    return f"{_LETTERS_OF_GO[column]}{row + 1}"


def _in_brackets(row: int, column: int, rows: int) -> str:
    return f"({row},{column})"


def _dropped(row: int, column: int, rows: int) -> str:
    # A piece enters at the top of its column, which is all that a move says.
    return str(column) if row == rows - 1 else f"{column}/{row}"


_IDENTITY: Final = ("identity",)
_ANY_TURN: Final[Mapping[str, Any]] = {
    "hexagonal": True,
    "symmetries": tuple(HEXAGON),
    "reversals": _IDENTITY,
}
_LEFT_AND_RIGHT: Final = ("identity", "mirror_columns")

BOARDS: Final = {
    "amazons": TensorBoard(_square, lambda row, column, rows: f"({row + 1}, {column + 1})", "-ox+", 2.1),
    "breakthrough": TensorBoard(
        _rectangle, _counted_up, "xo-", 0.9, symmetries=_LEFT_AND_RIGHT, reversals=("mirror_rows",)
    ),
    "checkers": TensorBoard(
        _rectangle, _counted_up, "xbow-", 1.2, symmetries=_IDENTITY, reversals=("rotate_180",)
    ),
    "clobber": TensorBoard(_rectangle, _counted_up, "xo-", 0.6),
    "connect_four": TensorBoard(
        _rectangle,
        _dropped,
        "xo-",
        0.7,
        bottom_first=True,
        symmetries=_LEFT_AND_RIGHT,
        reversals=_IDENTITY,
        placement=Placement.DROPPED,
        winning_row="x_in_row",
    ),
    "go": TensorBoard(_square, _of_go, "xo-", 0.7, bottom_first=True, placement=Placement.CAPTURING),
    "gomoku": TensorBoard(
        _sides("size", "size"),
        lambda row, column, rows: f"{row},{column}",
        "xo",
        0.4,
        unset="-",
        winning_row="connect",
    ),
    "havannah": TensorBoard(_hexagon, _counted_down, "xo-", 0.5, right_first=True, **_ANY_TURN),
    "hex": TensorBoard(
        _sides("num_rows", "num_cols"),
        _counted_down,
        "oooo-xxxx",
        0.6,
        hexagonal=True,
        symmetries=("identity", "rotate_180"),
        reversals=("transpose",),
    ),
    "lines_of_action": TensorBoard(_fixed(8), _counted_down, "xo-", 0.8, bottom_first=True),
    "mnk": TensorBoard(_sides("n", "m"), _in_brackets, "-ox", 0.4),
    "othello": TensorBoard(_fixed(8), _counted_down, "-xo", 0.95, placement=Placement.OUTFLANKING),
    # A move also turns a quarter of the board, which has no name that could be mirrored.
    "pentago": TensorBoard(_fixed(6), _counted_down, "xo-", 0.8, symmetries=_IDENTITY, reversals=_IDENTITY),
    "tic_tac_toe": TensorBoard(_fixed(3), _in_brackets, "-ox", 0.9),
    "y": TensorBoard(_square, _counted_down, "xo-", 0.3, **_ANY_TURN),
}


def board_of(game: Any) -> TensorBoard | None:
    """How a loaded game's board is read, or None where ACADEMY cannot know it as a board."""
    board = BOARDS.get(game.get_type().short_name)
    if board is not None and game.get_parameters().get("dims", 2) != 2:
        return None
    return board


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
        planes_of_cells = np.where(planes.any(axis=0), planes.argmax(axis=0), self._planes)
        return Board(self._geometry, self._states[planes_of_cells][self._order].tobytes())

    def _described(self, game: Any, board: TensorBoard, names: tuple[str, ...]) -> GameSpec:
        known = HEXAGON if board.hexagonal else SQUARE
        first = self.read(game.new_initial_state()).states
        swapped = first.translate(SWAP_COLOURS)
        symmetries = tuple(name for name in board.symmetries if self._turn(first, known[name]) == first)
        reversals = [
            name
            for name in board.reversals
            if known[name].after(known[name]) == known["identity"].matrix
            and self._turn(swapped, known[name]) == first
        ]
        return GameSpec(
            game_id(game),
            self._geometry,
            symmetric=bool(reversals),
            symmetries=symmetries,
            reversal=reversals[0] if reversals else "identity",
            cell_names=names,
            expected_length=max(1.0, board.moves_per_cell * len(names)),
            placement=board.placement,
            winning_row=board.row_of(game.get_parameters()),
        )

    def _turn(self, states: bytes, symmetry: GridSymmetry) -> bytes | None:
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
    """The description of a loaded game for ACADEMY."""
    board = board_of(game)
    return NoBoard(game) if board is None else BoardReader(game, board)
