"""The rules of Go: area scoring, simple ko or positional superko, self-capture allowed or not."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import ClassVar, Final, Self

from academy.knowledge.boards import Board as AcademyBoard
from academy.knowledge.boards import SquareGeometry
from academy.knowledge.cells import State
from academy.knowledge.spec import GameSpec, Placement
from academy.knowledge.symmetries import SQUARE, board_permutation
from referees.api import (
    GameRecord,
    IllegalMoveError,
    Outcome,
    RecordedGame,
    Referee,
    Termination,
    UnreadableMoveError,
)
from referees.drawing import Drawing, crossings, draw_board
from referees.go import board, sgf
from referees.go.board import BLACK, EMPTY, NO_KO, PASS, WHITE, Board, GoPosition, score_area
from referees.go.gtp import GoDialogue
from referees.go.settings import (
    MIN_HANDICAP,
    GoSettings,
    Ko,
    fixed_handicap,
    free_handicap,
    max_fixed_handicap,
)
from referees.sgf import SgfResults

SEAT_NAMES: Final = {BLACK: "Black", WHITE: "White"}
_STATES: Final = bytes.maketrans(
    bytes((EMPTY, BLACK, WHITE)), bytes((State.EMPTY, State.FIRST_SOLDIER, State.SECOND_SOLDIER))
)
_IS_EMPTY: Final = bytes(state == EMPTY for state in range(256))
# Between GNU Go 3.8 against itself (measured: 0.5 to 0.6) and players who fill in all but their eyes (1).
PLIES_PER_POINT: Final = 0.75
# Boards mark the points of handicap stones, smaller ones not those at the sides.
_FULL_BOARD: Final = 15
_FEW_STARS: Final = 5
_ALL_STARS: Final = 9
_GAME_ID: Final = re.compile(r"go-([0-9]{1,2})x\1(?:-h([0-9]))?(-free)?")


class Go(SgfResults, Referee[GoPosition, int]):
    """Go under given settings (see `GoSettings`).

    Seat 1 is Black and moves first, but White does after a handicap. A move is the number of a point,
    row by row from the top left, or PASS. Two passes in succession end the game.
    """

    name: ClassVar[str] = "go"
    record_extension: ClassVar[str] = "sgf"

    def __init__(self, settings: GoSettings) -> None:
        self.settings = settings
        self._size = settings.board_size
        self._points = self._size * self._size
        self._geometry = SquareGeometry(self._size, self._size)
        self._superko = settings.ko is Ko.POSITIONAL_SUPERKO
        self._spec = self._describe()

    @classmethod
    def from_settings(cls, settings: Mapping[str, object]) -> Self:
        """Make a referee; `board_size` is required. Raises InvalidSettingError."""
        return cls(GoSettings.read(settings))

    @classmethod
    def settings_of(cls, game_id: str) -> Mapping[str, object] | None:
        """The board and the handicap; komi is 0, because an id does not tell it."""
        read = _GAME_ID.fullmatch(game_id)
        if read is None or read[3]:
            return None
        settings: dict[str, object] = {"board_size": int(read[1]), "komi": 0.0}
        return {**settings, "handicap": int(read[2])} if read[2] else settings

    def spec(self) -> GameSpec:
        """One game for each board size and each handicap: komi and ko rules share their knowledge.

        Free handicaps are games apart: their first positions differ from game to game.
        """
        return self._spec

    def _describe(self) -> GameSpec:
        stones = self.start(0).stones
        cells = self._geometry.cells
        keeping = []
        for symmetry in SQUARE.values():
            # A symmetry that moves handicap stones would send openings to other openings' nodes.
            image = board_permutation(symmetry, cells)
            if self.settings.free_handicap is not None:
                keeps = symmetry is SQUARE["identity"]
            else:
                keeps = image is not None and all(
                    stones[image[point]] == stone for point, stone in enumerate(stones)
                )
            if keeps:
                keeping.append(symmetry.name)
        handicap = self.settings.handicap
        free = "" if self.settings.free_handicap is None else "-free"
        return GameSpec(
            game_id=f"go-{self._size}x{self._size}" + (f"-h{handicap}" if handicap else "") + free,
            geometry=self._geometry,
            symmetric=handicap is None,
            symmetries=tuple(keeping),
            cell_names=board.names(self._size),
            move_forms=("*", "pass"),
            placement=Placement.CAPTURING,
            expected_length=PLIES_PER_POINT * self._points,
        )

    def seat_name(self, seat: int) -> str:
        """`Black` or `White`."""
        return SEAT_NAMES[seat]

    def start(self, seed: int) -> GoPosition:
        """The empty board or the handicap stones; Go has no chance, so `seed` changes nothing.

        Free handicap stones stand here as they do when Black's player does not place them.
        """
        handicap = self.settings.handicap
        if handicap is None:
            return self._first(frozenset())
        layout = fixed_handicap if self.settings.free_handicap is None else free_handicap
        return self._first(layout(handicap, self._size))

    def _first(self, handicap: frozenset[int]) -> GoPosition:
        stones = bytearray(self._points)
        for point in handicap:
            stones[point] = BLACK
        history = frozenset((bytes(stones),)) if self._superko else frozenset()
        mover = WHITE if handicap else BLACK
        return GoPosition(bytes(stones), mover, history=history, handicap=len(handicap))

    def arranger(self) -> int | None:
        """Black, where the handicap is free."""
        return None if self.settings.free_handicap is None else BLACK

    def arrange(self, text: str) -> GoPosition:
        """The stones of a free handicap, as points: at most the allowed number, each once."""
        allowed = self.settings.free_handicap
        if allowed is None:
            return super().arrange(text)
        words = text.split()
        points = [board.read(word, self._size) for word in words]
        if PASS in points or len(set(points)) != len(points) or not MIN_HANDICAP <= len(points) <= allowed:
            raise UnreadableMoveError(
                f"free handicap {text[:200]!r}: {MIN_HANDICAP} to {allowed} different points are needed"
            )
        return self._first(frozenset(points))

    def to_move(self, position: GoPosition) -> tuple[int, ...]:
        """The colour to move, or none after two passes."""
        return () if position.passes >= 2 else (position.mover,)

    def legal_moves(self, position: GoPosition, seat: int) -> Sequence[int]:
        """The points in their order, then PASS; nothing for a seat that is not to move."""
        if seat != position.mover or position.passes >= 2:
            return ()
        ko = position.ko
        moves = list(compress(range(self._points), position.stones.translate(_IS_EMPTY)))
        if ko != NO_KO:
            moves.remove(ko)
        if not self.settings.self_capture:
            board = Board(self._size, position.stones)
            moves = [point for point in moves if not board.is_self_capture(seat, point)]
        if self._superko:
            moves = [point for point in moves if not self._repeats(position, seat, point)]
        moves.append(PASS)
        return moves

    def _repeats(self, position: GoPosition, seat: int, point: int) -> bool:
        board = Board(self._size, position.stones)
        board.play(seat, point)
        return bytes(board.stones) in position.history

    def check(self, position: GoPosition, seat: int, move: int) -> None:
        """Raises IllegalMoveError: out of turn, off the board, on a stone, against ko, superko or self-
        capture.
        """
        if position.passes >= 2:
            raise IllegalMoveError("the game is over")
        if seat != position.mover:
            raise IllegalMoveError(f"it is {SEAT_NAMES[position.mover]}'s turn, not that of seat {seat}")
        if move == PASS:
            return
        if not isinstance(move, int) or not 0 <= move < self._points:
            raise IllegalMoveError(f"{move!r} is not a point of a board of {self._points} points")
        if position.stones[move]:
            raise IllegalMoveError(f"point {self.move_text(move)} is occupied")
        if move == position.ko:
            raise IllegalMoveError(f"ko forbids {self.move_text(move)} now")
        if not self.settings.self_capture and Board(self._size, position.stones).is_self_capture(seat, move):
            raise IllegalMoveError(f"{self.move_text(move)} would be self-capture, which this game forbids")
        if self._superko and self._repeats(position, seat, move):
            raise IllegalMoveError(
                f"{self.move_text(move)} repeats an earlier position, which superko forbids"
            )

    def play(self, position: GoPosition, moves: Mapping[int, int]) -> GoPosition:
        """The position after the move of the colour to move. Raises IllegalMoveError."""
        if len(moves) != 1:
            raise IllegalMoveError(f"moves of {len(moves)} seats: in Go one seat moves at a time")
        ((seat, move),) = moves.items()
        self.check(position, seat, move)
        if move == PASS:
            return replace(position, mover=3 - seat, ko=NO_KO, passes=position.passes + 1)
        board = Board(self._size, position.stones)
        board.play(seat, move)
        stones = bytes(board.stones)
        history = position.history | {stones} if self._superko else position.history
        return GoPosition(stones, 3 - seat, board.ko, 0, history, position.handicap)

    def outcome(self, position: GoPosition) -> Outcome | None:
        """The area score after two passes, all stones alive."""
        return self._score(position, Termination.SCORE) if position.passes >= 2 else None

    def adjudicate(self, position: GoPosition) -> Outcome:
        """The area score as the stones stand, all alive."""
        return self._score(position, Termination.ADJUDICATION)

    def _score(self, position: GoPosition, termination: Termination) -> Outcome:
        black, white = Board(self._size, position.stones).area()
        compensation = self.settings.compensation(position.handicap)
        return score_area(black, white, (self.settings.komi, compensation), termination)

    def board(self, position: GoPosition, seat: int) -> AcademyBoard:
        """Black's stones are the first player's soldiers, for both seats."""
        return AcademyBoard(self._geometry, position.stones.translate(_STATES))

    def drawing(self, position: GoPosition) -> Drawing | None:
        """Stones where lines cross."""
        size = self._size
        most = min(max_fixed_handicap(size), _FEW_STARS if size < _FULL_BOARD else _ALL_STARS)
        stars = sorted(fixed_handicap(most, size)) if most else ()
        layout = crossings(self._geometry, self._spec.cell_names, tuple(stars))
        return draw_board(self.board(position, BLACK), layout=layout)

    def interaction(self, position: GoPosition) -> bool:
        """Whether some group is in atari, so that a capture is possible or must be met."""
        return Board(self._size, position.stones).has_atari()

    def move_text(self, move: int) -> str:
        """`D4` or `pass`."""
        return board.name(move, self._size)

    def read_move(self, position: GoPosition, seat: int, text: str) -> int:
        """Read a point or a pass in upper or lower case. Raises UnreadableMoveError."""
        return board.read(text, self._size)

    def record(self, game: GameRecord) -> str:
        """The game as SGF."""
        return sgf.write(game, self.settings, (game.first or self.start(game.seed)).stones)

    def read_records(self, content: bytes) -> Sequence[RecordedGame]:
        """The main lines of an SGF file's games."""
        return sgf.read(content, self.settings, self.start(0))

    def dialogue(self, protocol: str) -> GoDialogue | None:
        """The words of GTP."""
        return GoDialogue(self.settings) if protocol == "gtp" else None
