"""The rules of Hex: who first links two edges wins; the second player may swap, where that is allowed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import ClassVar, Final, Self

from academy.knowledge.boards import Board as AcademyBoard
from academy.knowledge.boards import HexGeometry
from academy.knowledge.cells import State
from academy.knowledge.spec import GameSpec
from referees.api import GameRecord, IllegalMoveError, Outcome, RecordedGame, Referee, Termination
from referees.hex import board, sgf
from referees.hex.board import BLACK, COLOUR, EMPTY, SWAP, WHITE, Board, HexPosition
from referees.hex.gtp import HexDialogue
from referees.hex.settings import HexSettings
from referees.sgf import LETTERS, SgfResults

SEAT_NAMES: Final = {BLACK: "Black", WHITE: "White"}
_STATES: Final = bytes(
    (State.EMPTY, State.FIRST_SOLDIER, State.SECOND_SOLDIER, State.OFF_BOARD)[state & COLOUR]
    for state in range(256)
)
_IS_EMPTY: Final = bytes(state == EMPTY for state in range(256))
# Measured: 0.35 between players who keep bridges, 0.87 between random ones.
PLIES_PER_CELL: Final = 0.4
_GAME_ID: Final = re.compile(r"hex-([0-9]{1,2})x([0-9]{1,2})(-swap)?")


class Hex(SgfResults, Referee[HexPosition, int]):
    """Hex under given settings (see `HexSettings`).

    Seat 1 is Black, moves first and links top and bottom; seat 2 is White and links left and right, as
    in HexGui, MoHex and SGF. A move is the number of a cell, row by row from the top left, or SWAP: the
    first stone becomes a white one on the mirrored cell (`c1` becomes `a3`), and Black moves on.
    """

    name: ClassVar[str] = "hex"
    record_extension: ClassVar[str] = "sgf"

    def __init__(self, settings: HexSettings) -> None:
        self.settings = settings
        self._rows, self._columns = settings.rows, settings.columns
        self._cells = range(settings.rows * settings.columns)
        self._geometry = HexGeometry(settings.rows, settings.columns)
        self._spec = self._describe()

    @classmethod
    def from_settings(cls, settings: Mapping[str, object]) -> Self:
        """Make a referee; `board_size` is required. Raises InvalidSettingError."""
        return cls(HexSettings.read(settings))

    @classmethod
    def settings_of(cls, game_id: str) -> Mapping[str, object] | None:
        """The board, and whether there is a swap."""
        read = _GAME_ID.fullmatch(game_id)
        return read and {"columns": int(read[1]), "board_size": int(read[2]), "swap": bool(read[3])}

    def spec(self) -> GameSpec:
        """One game for each board size, with the swap and without: it changes which openings are good.

        A half turn changes nothing; the mirror that exchanges the edges exchanges the players too.
        """
        return self._spec

    def _describe(self) -> GameSpec:
        square = self.settings.square
        return GameSpec(
            game_id=f"hex-{self._columns}x{self._rows}" + ("-swap" if self.settings.swap else ""),
            geometry=self._geometry,
            symmetric=square,
            symmetries=("identity", "rotate_180"),
            reversal="transpose" if square else "identity",
            cell_names=board.names(self._rows, self._columns),
            move_forms=("*", board.SWAP_TEXT) if self.settings.swap else ("*",),
            expected_length=PLIES_PER_CELL * len(self._cells),
        )

    def seat_name(self, seat: int) -> str:
        """`Black` or `White`."""
        return SEAT_NAMES[seat]

    def start(self, seed: int) -> HexPosition:
        """The empty board; Hex has no chance, so `seed` changes nothing."""
        return HexPosition(bytes(len(self._cells)), BLACK)

    def to_move(self, position: HexPosition) -> tuple[int, ...]:
        """The colour to move, or none when edges are linked."""
        return () if position.winner else (position.mover,)

    def _may_swap(self, position: HexPosition) -> bool:
        return self.settings.swap and position.plies == 1

    def legal_moves(self, position: HexPosition, seat: int) -> Sequence[int]:
        """The empty cells in their order, then SWAP; nothing for a seat that is not to move."""
        if seat != position.mover or position.winner:
            return ()
        moves = list(compress(self._cells, position.cells.translate(_IS_EMPTY)))
        if self._may_swap(position):
            moves.append(SWAP)
        return moves

    def check(self, position: HexPosition, seat: int, move: int) -> None:
        """Raises IllegalMoveError: out of turn, off the board, on a stone, or a swap that is not allowed."""
        if position.winner:
            raise IllegalMoveError("the game is over")
        if seat != position.mover:
            raise IllegalMoveError(f"it is {SEAT_NAMES[position.mover]}'s turn, not that of seat {seat}")
        if move == SWAP:
            if not self.settings.swap:
                raise IllegalMoveError("this game is played without the swap rule")
            if not self._may_swap(position):
                raise IllegalMoveError("only the first stone can be swapped, and only at once")
            return
        if not isinstance(move, int) or move not in self._cells:
            raise IllegalMoveError(f"{move!r} is not a cell of a board of {len(self._cells)} cells")
        if position.cells[move]:
            raise IllegalMoveError(f"cell {self.move_text(move)} is occupied")

    def play(self, position: HexPosition, moves: Mapping[int, int]) -> HexPosition:
        """The position after the move of the colour to move. Raises IllegalMoveError."""
        if len(moves) != 1:
            raise IllegalMoveError(f"moves of {len(moves)} seats: in Hex one seat moves at a time")
        ((seat, move),) = moves.items()
        self.check(position, seat, move)
        if move == SWAP:
            return self._swapped(position)
        board = Board(self._rows, self._columns, position.cells)
        wins = board.play(seat, move)
        return HexPosition(bytes(board.cells), 3 - seat, position.plies + 1, seat if wins else EMPTY)

    def _swapped(self, position: HexPosition) -> HexPosition:
        stone = next(cell for cell, state in enumerate(position.cells) if state)
        row, column = divmod(stone, self._columns)
        board = Board(self._rows, self._columns)
        board.play(WHITE, column * self._columns + row)
        return replace(position, cells=bytes(board.cells), mover=BLACK, plies=position.plies + 1)

    def outcome(self, position: HexPosition) -> Outcome | None:
        """`B+` or `W+` when edges are linked; one player's always are when the board is full."""
        if not position.winner:
            return None
        return Outcome((position.winner,), Termination.SCORE, f"{LETTERS[position.winner]}+")

    def board(self, position: HexPosition, seat: int) -> AcademyBoard:
        """Black's stones are the first player's soldiers, for both seats."""
        return AcademyBoard(self._geometry, position.cells.translate(_STATES))

    def interaction(self, position: HexPosition) -> bool:
        """Whether stones of different colours touch."""
        return Board(self._rows, self._columns, position.cells).has_contact()

    def move_text(self, move: int) -> str:
        """`a1` or `swap-pieces`."""
        return board.name(move, self._rows, self._columns)

    def read_move(self, position: HexPosition, seat: int, text: str) -> int:
        """Read a cell or a swap in upper or lower case. Raises UnreadableMoveError."""
        return board.read(text, self._rows, self._columns)

    def record(self, game: GameRecord) -> str:
        """The game as SGF."""
        return sgf.write(game, self.settings)

    def read_records(self, content: bytes) -> Sequence[RecordedGame]:
        """The main lines of an SGF file's games."""
        return sgf.read(content, self.settings)

    def dialogue(self, protocol: str) -> HexDialogue | None:
        """The words of HTP, which is GTP with cells of Hex."""
        return HexDialogue(self.settings) if protocol == "gtp" else None
