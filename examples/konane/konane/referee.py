"""The referee of Konane.

The rules are those of Elwyn Berlekamp's page (https://math.berkeley.edu/~berlek/cgt/konane.html), but the
players choose the first two stones: Black takes off one of his own in a corner or
in the middle of the board, White one of his own beside the gap. From then on a move is one jump or several in
a line, each over an enemy stone, which is taken, to the empty cell behind it. Who cannot jump has lost.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import ClassVar, Final, Self

from academy.knowledge.boards import Board, SquareGeometry
from academy.knowledge.spec import GameSpec
from konane import record
from konane.board import KonaneBoard
from konane.gtp import KonaneDialogue
from konane.position import BLACK, WHITE, KonaneMove, KonanePosition
from referees.api import (
    GameRecord,
    IllegalMoveError,
    InvalidSettingError,
    Outcome,
    RecordedGame,
    Referee,
    Termination,
    UnreadableMoveError,
)

SIZES: Final = range(4, 19, 2)
USUAL_SIZE: Final = 8
SEAT_NAMES: Final = {BLACK: "Black", WHITE: "White"}
# Measured in random games on boards of 6 to 10 rows.
PLIES_PER_CELL: Final = 0.7
_GAME_ID: Final = re.compile(r"konane-([0-9]{1,2})x\1")
_MOVE: Final = re.compile(r"([a-z]\d+)(?:\s*[-x]?\s*([a-z]\d+))?")


class Konane(Referee[KonanePosition, KonaneMove]):
    """Konane on a board of `board_size` rows and columns. Black is seat 1."""

    name: ClassVar[str] = "konane"

    def __init__(self, board_size: int = USUAL_SIZE) -> None:
        self._board = KonaneBoard(board_size)
        # A ply asks for the moves of one position several times: whose turn, is this legal, is it over?
        self._listed = lru_cache(maxsize=8)(self._board.moves)
        self._spec = GameSpec(
            game_id=f"konane-{board_size}x{board_size}",
            geometry=SquareGeometry(board_size, board_size),
            # Those that leave each cell its colour; the mirror exchanges the colours, and so the players.
            symmetries=("identity", "rotate_180", "transpose", "antitranspose"),
            reversal="mirror_columns",
            cell_names=self._board.names,
            expected_length=PLIES_PER_CELL * board_size**2,
        )

    @classmethod
    def from_settings(cls, settings: Mapping[str, object]) -> Self:
        """Make a referee; the one setting is `board_size`. Raises InvalidSettingError."""
        for setting in settings:
            if setting != "board_size":
                raise InvalidSettingError(setting, "the one setting of konane is 'board_size'")
        size = settings.get("board_size", USUAL_SIZE)
        if not isinstance(size, int) or size not in SIZES:
            raise InvalidSettingError(
                "board_size", f"{size!r}: an even number from {SIZES[0]} to {SIZES[-1]} is needed"
            )
        return cls(size)

    @classmethod
    def settings_of(cls, game_id: str) -> Mapping[str, object] | None:
        """The size of the board, which an id of this game has."""
        read = _GAME_ID.fullmatch(game_id)
        return read and {"board_size": int(read[1])}

    def spec(self) -> GameSpec:
        """Each size is a game of its own to ACADEMY."""
        return self._spec

    def seat_name(self, seat: int) -> str:
        """`Black` or `White`."""
        return SEAT_NAMES[seat]

    def start(self, seed: int) -> KonanePosition:
        """The full board; there is no chance in the game."""
        return KonanePosition(self._board.full)

    def to_move(self, position: KonanePosition) -> tuple[int, ...]:
        """Who moves; no seat if that player cannot."""
        return (position.mover,) if self._moves(position) else ()

    def legal_moves(self, position: KonanePosition, seat: int) -> Sequence[KonaneMove]:
        """All moves of the seat to move, and none of the other's."""
        return self._moves(position) if seat == position.mover else ()

    def _moves(self, position: KonanePosition) -> tuple[KonaneMove, ...]:
        return self._listed(position.cells, position.mover)

    def check(self, position: KonanePosition, seat: int, move: KonaneMove) -> None:
        """Raises IllegalMoveError: out of turn, or none of the moves there are."""
        moves = self._moves(position)
        if not moves:
            raise IllegalMoveError(f"the game is over: {SEAT_NAMES[position.mover]} cannot jump")
        if seat != position.mover:
            raise IllegalMoveError(f"it is {SEAT_NAMES[position.mover]}'s turn, not that of seat {seat}")
        if move not in moves:
            legal = ", ".join(map(self.move_text, moves[:12])) + (", ..." if len(moves) > 12 else "")
            raise IllegalMoveError(f"{self.move_text(move)} is not a move here; legal are {legal}")

    def play(self, position: KonanePosition, moves: Mapping[int, KonaneMove]) -> KonanePosition:
        """The position after the move, which is checked first."""
        ((seat, move),) = moves.items()
        self.check(position, seat, move)
        return KonanePosition(self._board.after(position.cells, move), BLACK + WHITE - seat)

    def outcome(self, position: KonanePosition) -> Outcome | None:
        """The other has won when a player cannot move; there are no draws."""
        if self._moves(position):
            return None
        winner = BLACK + WHITE - position.mover
        detail = f"{SEAT_NAMES[position.mover]} cannot jump"
        return Outcome((winner,), Termination.SCORE, f"{SEAT_NAMES[winner]} wins", detail=detail)

    def board(self, position: KonanePosition, seat: int) -> Board:
        """All stones are soldiers, Black's the first player's."""
        return Board.from_letters(self._spec.geometry, position.cells)

    def move_text(self, move: KonaneMove) -> str:
        """`d5` for a stone taken off, `c3-e3` for a jump."""
        return self._board.text(move)

    def read_move(self, position: KonanePosition, seat: int, text: str) -> KonaneMove:
        """Read `d5`, `c3-e3`, `C3 x E3` or `c3e3`. Raises UnreadableMoveError."""
        match = _MOVE.fullmatch(text.strip().lower())
        cells = [self._board.numbers.get(name) for name in match.groups() if name] if match else [None]
        match cells:
            case [int(start)]:
                return KonaneMove(start)
            case [int(start), int(end)]:
                return KonaneMove(start, end)
        last = self._board.names[self._board.size - 1]
        raise UnreadableMoveError(
            f"{text[:20]!r}: a cell is needed, or two as in a1-a3; cells are a1 to {last}"
        )

    def record(self, game: GameRecord) -> str:
        """The game as JSON."""
        return record.write(self._spec.game_id, game)

    def read_records(self, content: bytes) -> Sequence[RecordedGame]:
        """Read such a record. Raises UnreadableRecordError."""
        return [record.read(self._spec.game_id, content)]

    def dialogue(self, protocol: str) -> KonaneDialogue | None:
        """The words for GTP."""
        return KonaneDialogue(self._board) if protocol == "gtp" else None
