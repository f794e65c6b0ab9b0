"""The rules of draughts: turns, captures, crowning, wins and draws."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, Self

from academy.knowledge.boards import Board, SquareGeometry
from academy.knowledge.cells import State
from academy.knowledge.spec import GameSpec
from referees.api import GameRecord, IllegalMoveError, Outcome, RecordedGame, Referee, Termination
from referees.draughts import pdn
from referees.draughts.gtp import DraughtsDialogue
from referees.draughts.moves import DraughtsPosition, Move, can_capture, legal_moves
from referees.draughts.settings import DraughtsSettings
from referees.draughts.variants import Crowning, DraughtsEnding


def endings_begun(
    settings: DraughtsSettings, before: tuple[int | None, ...], white: int, black: int, kings: int
) -> tuple[int | None, ...]:
    """How many plies each of the variant's endings has lasted, after one ply more with these pieces."""
    if not settings.king_endings:
        return ()
    endings = settings.variant.endings
    return tuple(
        (0 if plies is None else plies + 1) if _is_ending(ending, white, black, kings) else None
        for ending, plies in zip(endings, before or (None,) * len(endings), strict=True)
    )


def _is_ending(ending: DraughtsEnding, white: int, black: int, kings: int) -> bool:
    weak, strong = sorted((white, black), key=int.bit_count)
    if weak.bit_count() != 1 or strong.bit_count() > ending.most:
        return False
    strong_kings = (strong & kings).bit_count()
    needed = strong.bit_count() if ending.kings_only else 1
    return bool(weak & kings) and strong_kings >= needed


def drawn_by(settings: DraughtsSettings, position: DraughtsPosition) -> str | None:
    """The rule by which a position is a draw, in words; None for none."""
    if settings.repetition and position.earlier.count(position.placement) + 1 >= settings.repetition:
        return f"the position stood {settings.repetition} times"
    if settings.king_moves and position.quiet >= 2 * settings.king_moves:
        return f"{settings.king_moves} moves by each side without a capture or a man's move"
    for ending, plies in zip(settings.variant.endings, position.endings, strict=False):
        if plies is not None and plies >= 2 * ending.moves:
            pieces = "kings" if ending.kings_only else "pieces"
            return (
                f"{ending.moves} moves by each side with a lone king against at most {ending.most} {pieces}"
            )
    return None


FIRST: Final = 1
SECOND: Final = 2


class Draughts(Referee[DraughtsPosition, Move]):
    """Draughts under given settings (see `DraughtsSettings`).

    Seat 1 moves first: Black in English draughts, White in the other variants. A side that cannot move
    has lost.
    """

    name: ClassVar[str] = "draughts"
    record_extension: ClassVar[str] = "pdn"

    def __init__(self, settings: DraughtsSettings) -> None:
        self.settings = settings
        self._variant = settings.variant
        self._layout = settings.variant.layout
        rows = self._layout.rows
        self._geometry = SquareGeometry(rows, rows)
        self._cells = [row * rows + column for row, column in self._layout.cells]
        self._spec = GameSpec(
            game_id=f"draughts-{self._variant.name}",
            geometry=self._geometry,
            reversal="rotate_180",
            expected_length=self._variant.expected_length,
            move_forms=("@#-@#", "@#x@#[x@#]") if self._layout.algebraic else ("#-#", "#x#[x#]"),
        )
        variant = self._variant
        self._first = self.placed(variant.white_men, variant.black_men, 0, white_to_move=variant.white_first)

    @classmethod
    def from_settings(cls, settings: Mapping[str, object]) -> Self:
        """Make a referee; `variant` is required. Raises InvalidSettingError."""
        return cls(DraughtsSettings.read(settings))

    @classmethod
    def settings_of(cls, game_id: str) -> Mapping[str, object] | None:
        """The variant."""
        kind, dash, variant = game_id.partition("-")
        return {"variant": variant} if kind == "draughts" and dash else None

    def spec(self) -> GameSpec:
        """One game for each variant: the draw rules share their knowledge.

        There is no symmetry, because a mirrored board has its dark squares elsewhere; moves name squares
        that no symmetry exchanges. The players are exchanged by half a turn.
        """
        return self._spec

    def seat_name(self, seat: int) -> str:
        """`Black` or `White`."""
        return "White" if self.is_white(seat) else "Black"

    def is_white(self, seat: int) -> bool:
        """Whether a seat has the white pieces."""
        return (seat == FIRST) == self._variant.white_first

    def start(self, seed: int) -> DraughtsPosition:
        """The men in their rows; draughts has no chance, so `seed` changes nothing."""
        return self._first

    def placed(self, white: int, black: int, kings: int, *, white_to_move: bool) -> DraughtsPosition:
        """A position with these pieces, a bit for each, before which nothing counts for a draw."""
        own, other = (white, black) if white_to_move else (black, white)
        moves = legal_moves(self._variant, own, other, kings, white=white_to_move)
        endings = endings_begun(self.settings, (), white, black, kings)
        return DraughtsPosition(white, black, kings, white_to_move, moves, endings=endings)

    def to_move(self, position: DraughtsPosition) -> tuple[int, ...]:
        """The seat whose turn it is, or none when the game is over."""
        return () if self.outcome(position) else (self._mover(position),)

    def _mover(self, position: DraughtsPosition) -> int:
        return FIRST if position.white_to_move == self._variant.white_first else SECOND

    def legal_moves(self, position: DraughtsPosition, seat: int) -> Sequence[Move]:
        """In the order of their squares; nothing for a seat that is not to move."""
        return position.moves if seat in self.to_move(position) else ()

    def check(self, position: DraughtsPosition, seat: int, move: Move) -> None:
        """Raises IllegalMoveError: out of turn, no piece of the mover's, no such way, or a capture is due."""
        if self.outcome(position):
            raise IllegalMoveError("the game is over")
        mover = self._mover(position)
        if seat != mover:
            raise IllegalMoveError(f"it is {self.seat_name(mover)}'s turn, not that of seat {seat}")
        if move not in position.moves:
            raise IllegalMoveError(self._why_not(position, move))

    def _why_not(self, position: DraughtsPosition, move: Move) -> str:
        squares = range(1, len(self._layout.bits) + 1)
        if not isinstance(move, Move) or len(move.squares) < 2 or not set(move.squares) <= set(squares):
            return f"{move!r} is not a move on a board of {len(squares)} squares"
        text = self.move_text(move)
        own = position.white if position.white_to_move else position.black
        if not own & self._layout.bits[move.squares[0] - 1]:
            mover = self.seat_name(self._mover(position))
            return f"{text}: {mover} has no piece on {self._layout.names[move.squares[0] - 1]}"
        if position.moves[0].captured:
            most = " that takes the most pieces" if self._variant.most_captures else ""
            ways = ", ".join(self.move_text(way) for way in position.moves[:8])
            return f"{text}: a capture{most} must be made, and to its end: {ways}"
        return f"{text}: the piece cannot move that way"

    def play(self, position: DraughtsPosition, moves: Mapping[int, Move]) -> DraughtsPosition:
        """The position after the move of the side to move. Raises IllegalMoveError."""
        if len(moves) != 1:
            raise IllegalMoveError(f"moves of {len(moves)} seats: in draughts one seat moves at a time")
        ((seat, move),) = moves.items()
        self.check(position, seat, move)
        return self._after(position, move)

    def _after(self, position: DraughtsPosition, move: Move) -> DraughtsPosition:
        variant, bits = self._variant, self._layout.bits
        white_moves = position.white_to_move
        own, other = (position.white, position.black) if white_moves else (position.black, position.white)
        start, end = bits[move.squares[0] - 1], bits[move.squares[-1] - 1]
        taken = sum(bits[number - 1] for number in move.captured)
        own, other, kings = own ^ start | end, other ^ taken, position.kings & ~taken
        quiet = not move.captured and bool(kings & start)
        if kings & start:
            kings = kings ^ start | end
        elif self._is_crowned(move, self._layout.top if white_moves else self._layout.bottom):
            kings |= end
        white, black = (own, other) if white_moves else (other, own)
        return DraughtsPosition(
            white,
            black,
            kings,
            not white_moves,
            legal_moves(variant, other, own, kings, white=not white_moves),
            position.quiet + 1 if quiet else 0,
            endings_begun(self.settings, position.endings, white, black, kings),
            (*position.earlier, position.placement) if quiet and self.settings.repetition else (),
        )

    def _is_crowned(self, move: Move, far_row: int) -> bool:
        """Whether a man that makes this move becomes a king."""
        landings = move.squares[1:] if self._variant.crowning is Crowning.GOES_ON else move.squares[-1:]
        return any(self._layout.bits[number - 1] & far_row for number in landings)

    def outcome(self, position: DraughtsPosition) -> Outcome | None:
        """A loss for the side that cannot move, then the draws of the settings."""
        if not position.moves:
            winner = 3 - self._mover(position)
            pieces = position.white if position.white_to_move else position.black
            detail = f"{self.seat_name(3 - winner)} {'cannot move' if pieces else 'has no pieces left'}"
            return self.won_by(winner, Termination.SCORE, detail)
        reason = drawn_by(self.settings, position)
        return self.drawn(Termination.SCORE, reason) if reason else None

    def won_by(self, seat: int, termination: Termination, detail: str = "") -> Outcome:
        """`1-0` for White, `0-1` for Black, however it was won."""
        return Outcome((seat,), termination, "1-0" if self.is_white(seat) else "0-1", detail=detail)

    def drawn(self, termination: Termination, detail: str = "") -> Outcome:
        """`1/2-1/2`, as PDN writes it."""
        return Outcome((FIRST, SECOND), termination, "1/2-1/2", detail=detail)

    def board(self, position: DraughtsPosition, seat: int) -> Board:
        """The pieces of seat 1 are the first player's for both seats; light squares are off the board."""
        states = bytearray(bytes((State.OFF_BOARD,)) * self._geometry.size)
        first, second = position.white, position.black
        if not self._variant.white_first:
            first, second = second, first
        kings = position.kings
        for cell, bit in zip(self._cells, self._layout.bits, strict=True):
            if first & bit:
                states[cell] = State.FIRST_KING if kings & bit else State.FIRST_SOLDIER
            elif second & bit:
                states[cell] = State.SECOND_KING if kings & bit else State.SECOND_SOLDIER
            else:
                states[cell] = State.EMPTY
        return Board(self._geometry, bytes(states))

    def interaction(self, position: DraughtsPosition) -> bool:
        """Whether either side could capture, were it to move."""
        if position.moves and position.moves[0].captured:
            return True
        white, black, kings = position.white, position.black, position.kings
        own, other = (black, white) if position.white_to_move else (white, black)
        return can_capture(self._variant, own, other, kings, white=not position.white_to_move)

    def move_text(self, move: Move) -> str:
        """`11-15`, `24x15x8`: every square on which the piece lands."""
        return pdn.write_move(move, self._layout)

    def read_move(self, position: DraughtsPosition, seat: int, text: str) -> Move:
        """Read a move; squares on the way may be left out where that leaves one.

        Raises UnreadableMoveError.
        """
        return pdn.read_move(text, self._layout, position.moves)

    def record(self, game: GameRecord) -> str:
        """The game as PDN."""
        return pdn.write_record(game, self._variant)

    def read_records(self, content: bytes) -> Sequence[RecordedGame]:
        """The main lines of a PDN file's games."""
        return pdn.read_records(content, self._variant)

    def dialogue(self, protocol: str) -> DraughtsDialogue | None:
        """The words of GTP."""
        return DraughtsDialogue(self.settings) if protocol == "gtp" else None
