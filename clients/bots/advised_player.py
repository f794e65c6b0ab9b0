"""A player that thinks with ACADEMY's advice, and proposes what worked.

What it does with the advice is in `advice`. The player goes on alone when ACADEMY does not answer.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final, Generic, TypeVar

from academy.knowledge.boards import Board, SquareGeometry
from academy.knowledge.cells import Code, State
from academy.knowledge.cutting import around_move, cell_of_move
from academy.knowledge.patterns import Pattern, grid_pattern
from academy.knowledge.settings import Library
from clients.academy import Academy
from clients.bots.advice import Adviser
from clients.bots.alpha_beta import AlphaBetaThinker
from clients.bots.thinking import Candidate, Experience, Thinker
from clients.bots.time_bank import TimeBank
from clients.bots.tree_search import TreeSearchThinker
from clients.local_weights import LocalWeights
from clients.seat import Seat
from referees.api import Referee

Position = TypeVar("Position")
Move = TypeVar("Move")

# The cells of a line on either side of the move: enough for a row of four.
REACH: Final = 3
_DIRECTIONS: Final = ((0, 1), (1, 0), (1, 1), (1, -1))


@dataclass(frozen=True, slots=True)
class _Chosen(Generic[Position, Move]):
    """A move chosen in a position, and the contest's ply of it.

    `before` is the value given with the move before, `stated` that of the position, given with this move.
    """

    position: Position
    move: Candidate[Move]
    ply: int
    before: float | None
    stated: float


class AdvisedPlayer(Adviser[Position, Move]):
    """One seat's player. `moves` are always all moves of the game so far, as text.

    `libraries` are those that it consults. With `saves_time` a search by time has the seconds of a move on
    the average: what moves from the book leave over, later ones may have.
    """

    def __init__(
        self,
        thinker: Thinker[Any, Position, Move],
        referee: Referee[Position, Move],
        academy: Academy | None,
        seat: Seat,
        libraries: Collection[Library] = tuple(Library),
        saves_time: bool = False,
    ) -> None:
        super().__init__(referee, academy, seat, libraries)
        self.thinker = thinker
        # What the arena heard with the last move, where the player found that itself.
        self._stated: float | None = None
        self.value_before: float | None = None
        self._bank: TimeBank | None = None
        if saves_time and isinstance(thinker, TreeSearchThinker | AlphaBetaThinker) and thinker.seconds:
            self._bank = TimeBank(thinker.seconds, thinker.clock)
        # What they are worth to others is looked into after the contest, when there is time.
        self._chosen: list[_Chosen[Position, Move]] = []

    def choose(self, position: Position, moves: Sequence[str], own_moves: int) -> Candidate[Move]:
        """A move for the position that `moves` led to, `own_moves` of them one's own; and what is expected.

        The arena gets the value with the move, and `value_before`, which ACADEMY compares with the claim.
        """
        if self._bank is None or not isinstance(self.thinker, TreeSearchThinker | AlphaBetaThinker):
            return self._choose(position, moves, own_moves)
        # A thinker of its own: others search by the same one.
        self.thinker = replace(self.thinker, seconds=self._bank.begin())
        try:
            return self._choose(position, moves, own_moves)
        finally:
            self._bank.end()

    def _choose(self, position: Position, moves: Sequence[str], own_moves: int) -> Candidate[Move]:
        self.claimed = None
        if self.may_ask and self.game is None:
            self.learn_rules()
            self._think_with(self.take_weights())
        known = self.book_move(position, moves, own_moves)
        if known is not None:
            self.value_before, self._stated = known.value, None
            return known

        def advice(value: float, best: Sequence[Move]) -> Mapping[Move, Experience]:
            return self.experience(position, moves, value, best)

        thought = self.thinker.think(self.referee, position, advice)
        chosen = thought.candidates[0]
        self.value_before = thought.value if self.claimed is None else self.claimed
        before, self._stated = self._stated, chosen.value
        self._chosen.append(_Chosen(position, chosen, len(moves) + 1, before, self.value_before))
        return chosen

    def _think_with(self, weights: LocalWeights | None) -> None:
        """Have a search by an evaluation go by what contests taught, where that is known."""
        if (
            weights is not None
            and isinstance(self.thinker, AlphaBetaThinker)
            and not self.thinker.evaluation.given
        ):
            # A thinker of its own: this contest's weights are not another one's.
            evaluation = replace(self.thinker.evaluation, weights=weights.features)
            self.thinker = replace(self.thinker, evaluation=evaluation)
            # Those who made the book searched with worse weights (does-it-help.md, "What does not gain").
            self.asks_book = False

    def forget(self, plies: int) -> None:
        """Forget the moves after the first `plies` of the contest: they were taken back."""
        self._chosen = [chosen for chosen in self._chosen if chosen.ply <= plies]
        self._stated = None

    def finish(self, plies: int) -> None:
        """Propose what the contest of `plies` plies taught."""
        if self.academy is None or not plies:
            return
        for chosen in self._chosen:
            after = self.referee.play(chosen.position, {self.seat.player: chosen.move.move})
            for pattern in shapes(self._board(chosen.position), self._board(after), self.seat.player):
                self.seat.record_move(
                    pattern, chosen.ply, chosen.before, chosen.move.value, stated_before=chosen.stated
                )
        self._chosen.clear()
        self.tell(lambda academy: academy.propose(self.seat, plies))


def shapes(before: Board, after: Board, player: int) -> list[Pattern]:
    """The patterns that a move of a player, 1 or 2, made: lines on square boards, then surroundings."""
    cell = cell_of_move(before, after, player)
    if cell is None:
        return []
    lines = list(_lines(after, cell)) if isinstance(after.geometry, SquareGeometry) else []
    return [*lines, *around_move(before, after, player)]


def _lines(board: Board, cell: int) -> Iterator[Pattern]:
    """Row, column and diagonals through a cell, each up to the first place off the board."""
    assert isinstance(board.geometry, SquareGeometry)
    rows, columns = board.geometry.rows, board.geometry.columns
    row, column = divmod(cell, columns)
    for down, right in _DIRECTIONS:
        line = {(0, 0): board.states[cell]}
        for way in (1, -1):
            for step in range(way, way * (REACH + 1), way):
                r, c = row + step * down, column + step * right
                held = (
                    board.states[r * columns + c] if 0 <= r < rows and 0 <= c < columns else State.OFF_BOARD
                )
                line[step * down, step * right] = Code.OFF_BOARD if held == State.OFF_BOARD else held
                if held == State.OFF_BOARD:
                    break
        # A pattern is written as a full box of cells.
        downs, rights = ({place[axis] for place in line} for axis in (0, 1))
        box = product(range(min(downs), max(downs) + 1), range(min(rights), max(rights) + 1))
        yield grid_pattern((*place, line.get(place, Code.ANYTHING)) for place in box)
