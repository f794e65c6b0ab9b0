"""A player that asks ACADEMY: openings first, patterns when it stands badly; and proposes what worked.

What ACADEMY answers is told to the thinker as experience with moves: a value, and how much it counts. It
goes on alone when ACADEMY does not answer.
"""

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from academy.knowledge.boards import Board
from academy.knowledge.cells import State
from academy.knowledge.cutting import cell_of_move
from academy.knowledge.settings import Library
from clients.academy import Academy, AcademyRefusedError, AcademyUnavailableError
from clients.advice import OpeningMove
from clients.bots.experience import odds, of_openings, of_patterns
from clients.bots.shapes import shapes
from clients.bots.thinking import Candidate, Experience, Thinker
from clients.seat import Seat
from referees.api import IllegalMoveError, Referee, UnreadableMoveError

Position = TypeVar("Position")
Move = TypeVar("Move")

# As many moves are asked about, those that look best.
WIDEST: Final = 10
# As many patterns of a board are told, those first that say most.
MOST_MATCHES: Final = 32


@dataclass(frozen=True, slots=True)
class _Chosen(Generic[Position, Move]):
    """A move chosen in a position, the contest's ply of it, and what had been told before it."""

    position: Position
    move: Candidate[Move]
    ply: int
    before: float | None


class AdvisedPlayer(Generic[Position, Move]):
    """One seat's player. `moves` are always all moves of the game so far, as text.

    `libraries` are those that it consults.
    """

    def __init__(
        self,
        thinker: Thinker[Any, Position, Move],
        referee: Referee[Position, Move],
        academy: Academy | None,
        seat: Seat,
        libraries: Collection[Library] = tuple(Library),
    ) -> None:
        self.thinker = thinker
        self.referee = referee
        self.academy = academy
        self.seat = seat
        self._openings = Library.OPENING in libraries
        self._pattern_libraries = [
            each for each in Library if each in libraries and each is not Library.OPENING
        ]
        spec = referee.spec()
        self._symmetric = spec.symmetric and spec.players == 2
        self._told: float | None = None
        # What was claimed to be expected before the move that is being thought about.
        self._claimed: float | None = None
        self.value_before: float | None = None
        # What they are worth to others is looked into after the contest, when there is time.
        self._chosen: list[_Chosen[Position, Move]] = []

    def choose(self, position: Position, moves: Sequence[str], own_moves: int) -> Candidate[Move]:
        """A move for the position that `moves` led to, `own_moves` of them one's own; and what is expected.

        The value is what the arena is told: the next move's is compared with it. It is told `value_before`
        too, which is what ACADEMY was.
        """
        self._claimed = None

        def counsel(value: float, best: Sequence[Move]) -> Mapping[Move, Experience]:
            known = self._opening(position, moves, own_moves)
            return known or self._patterns(position, len(moves), value, best)

        thought = self.thinker.think(self.referee, position, counsel)
        chosen = thought.candidates[0]
        self.value_before = thought.value if self._claimed is None else self._claimed
        before, self._told = self._told, chosen.value
        self._chosen.append(_Chosen(position, chosen, len(moves) + 1, before))
        return chosen

    def _board(self, position: Position) -> Board:
        return self.referee.board(position, self.seat.player)

    def _opening(self, position: Position, moves: Sequence[str], own_moves: int) -> Mapping[Move, Experience]:
        """What the opening tree says of the moves; nothing where it may not be asked."""
        if self.academy is None or not self._openings:
            return {}
        try:
            known = self.academy.opening(self.seat, moves, own_moves)
        except (AcademyRefusedError, AcademyUnavailableError) as error:
            self._alone(error)
            return {}
        found: dict[Move, OpeningMove] = {}
        for opening in known:
            for text in (opening.move, *opening.equivalents):
                try:
                    move = self.referee.read_move(position, self.seat.player, text)
                    self.referee.check(position, self.seat.player, move)
                except (UnreadableMoveError, IllegalMoveError):
                    # The tree knows games by their board; other settings may forbid its moves.
                    continue
                found[move] = opening
        return of_openings(found)

    def _patterns(
        self, position: Position, plies: int, value: float, best: Sequence[Move]
    ) -> Mapping[Move, Experience]:
        """What the patterns say of moves; nothing where they may not be asked for.

        A move is good that goes where the opponent would have good patterns. What it brings oneself says
        nothing: the values of patterns are those of the positions that they come from.
        """
        if self.academy is None or not self._pattern_libraries or not self._symmetric:
            return {}
        if not self.seat.may_ask_for_patterns(value):
            return {}
        board = self._board(position)
        asked: list[Move] = []
        taken: list[Board] = []
        for move in best[:WIDEST]:
            after = self._board(self.referee.play(position, {self.seat.player: move}))
            cell = cell_of_move(board, after, self.seat.player)
            if cell is not None:
                asked.append(move)
                taken.append(self._with_opponent(board, cell))
        if not asked:
            return {}
        self._claimed = value
        try:
            gains = self.academy.opponent_gains(
                self.seat,
                board,
                taken,
                value,
                plies=plies,
                libraries=self._pattern_libraries,
                most=MOST_MATCHES,
            )
        except (AcademyRefusedError, AcademyUnavailableError) as error:
            self._alone(error)
            return {}
        said = {move: odds(matches) for move, matches in zip(asked, gains, strict=True)}
        return of_patterns(value, said, best)

    def _with_opponent(self, board: Board, cell: int) -> Board:
        """The board as if the opponent had a soldier on a cell."""
        states = bytearray(board.states)
        states[cell] = State.SECOND_SOLDIER if self.seat.player == 1 else State.FIRST_SOLDIER
        return Board(board.geometry, bytes(states))

    def finish(self, plies: int) -> None:
        """Propose what the contest of `plies` plies taught."""
        if self.academy is None or not plies:
            return
        for each in self._chosen:
            after = self.referee.play(each.position, {self.seat.player: each.move.move})
            for pattern in shapes(self._board(each.position), self._board(after), self.seat.player):
                self.seat.moved(pattern, each.ply, each.before, each.move.value)
        self._chosen.clear()
        try:
            self.academy.propose(self.seat, plies)
        except (AcademyRefusedError, AcademyUnavailableError) as error:
            self._alone(error)

    def _alone(self, error: Exception) -> None:
        print(f"going on without ACADEMY: {error}", file=sys.stderr)
        self.academy = None
