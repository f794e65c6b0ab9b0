"""A player that asks ACADEMY: openings first, advice when it stands badly; and proposes what worked.

The thinker gets ACADEMY's answers as experience with moves: a value, and how much it counts. The player goes
on alone when ACADEMY does not answer.
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
from academy.knowledge.spec import Placement
from clients.academy import Academy
from clients.bots.academy_seat import AcademySeat
from clients.bots.alpha_beta import AlphaBetaThinker
from clients.bots.experience import FITTED_GAMES, odds, of_advice, of_patterns
from clients.bots.thinking import Candidate, Experience, Thinker
from clients.local_weights import LocalWeights
from clients.seat import MatchOptions, Seat
from referees.api import IllegalMoveError, Referee, UnreadableMoveError

Position = TypeVar("Position")
Move = TypeVar("Move")

# The number of moves that the player asks about, those that look best.
WIDEST: Final = 10
# The number of patterns of a board in ACADEMY's answer, those first that say most.
MOST_MATCHES: Final = 32
# Contests before the evaluation is better than the player's own.
ENOUGH_CONTESTS: Final = 30
# The cells of a line on either side of the move: enough for a row of four.
REACH: Final = 3
_DIRECTIONS: Final = ((0, 1), (1, 0), (1, 1), (1, -1))


@dataclass(frozen=True, slots=True)
class _Chosen(Generic[Position, Move]):
    """A move chosen in a position, the contest's ply of it, and the value given before it."""

    position: Position
    move: Candidate[Move]
    ply: int
    before: float | None


class AdvisedPlayer(AcademySeat, Generic[Position, Move]):
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
        super().__init__(academy, seat)
        self.thinker = thinker
        self.referee = referee
        self._openings = Library.OPENING in libraries
        pattern_libraries = tuple(library for library in libraries if library is not Library.OPENING)
        self._options = MatchOptions(pattern_libraries, MOST_MATCHES)
        spec = referee.spec()
        self._pieces_fall = spec.placement is Placement.DROPPED
        self._symmetric = spec.symmetric and spec.players == 2
        self._named_cells = {name: cell for cell, name in enumerate(spec.cell_names)}
        # What the arena heard with the last move, where the player found that itself.
        self._stated: float | None = None
        # What was claimed to be expected before the move that is being thought about.
        self._claimed: float | None = None
        self.value_before: float | None = None
        # Weights to think with, where the game lets players have them.
        self.weights: LocalWeights | None = None
        # What they are worth to others is looked into after the contest, when there is time.
        self._chosen: list[_Chosen[Position, Move]] = []

    def choose(self, position: Position, moves: Sequence[str], own_moves: int) -> Candidate[Move]:
        """A move for the position that `moves` led to, `own_moves` of them one's own; and what is expected.

        The arena gets the value with the move, and `value_before`, which ACADEMY compares with the claim.
        """
        self._claimed = None
        if self.may_ask and self.game is None:
            self.learn_rules()
            self._take_weights()
        known = self._book_move(position, moves, own_moves)
        if known is not None:
            self.value_before, self._stated = known.value, None
            return known

        def advice(value: float, best: Sequence[Move]) -> Mapping[Move, Experience]:
            return self._advice(position, len(moves), value, best)

        thought = self.thinker.think(self.referee, position, advice)
        chosen = thought.candidates[0]
        self.value_before = thought.value if self._claimed is None else self._claimed
        before, self._stated = self._stated, chosen.value
        self._chosen.append(_Chosen(position, chosen, len(moves) + 1, before))
        return chosen

    def _take_weights(self) -> None:
        """Download the game's weights, if players may; a search by an evaluation goes by them from now on."""
        if self.game is None or not (self.seat.fair_use.local_weights and self._options.libraries):
            return
        spec = self.referee.spec()
        self.weights = self.ask(lambda academy: academy.weights(self.seat, spec))
        if self.weights is None or self.weights.contests < ENOUGH_CONTESTS:
            return
        if isinstance(self.thinker, AlphaBetaThinker):
            # A thinker of its own: this contest's weights are not another one's.
            evaluation = self.thinker.evaluation.with_weights(self.weights.features)
            self.thinker = replace(self.thinker, evaluation=evaluation)

    def _board(self, position: Position) -> Board:
        return self.referee.board(position, self.seat.player)

    def _book_move(self, position: Position, moves: Sequence[str], own_moves: int) -> Candidate[Move] | None:
        """The move that the opening tree recommends, played without a search; None where there is none."""
        if not self._openings:
            return None
        known = self.ask(lambda academy: academy.book_move(self.seat, moves, own_moves))
        if known is None:
            return None
        for text in dict.fromkeys((known.move, *known.equivalents)):
            try:
                move = self.referee.read_move(position, self.seat.player, text)
                self.referee.check(position, self.seat.player, move)
            except (UnreadableMoveError, IllegalMoveError):
                # The tree knows games by their board; other settings may forbid its moves.
                continue
            return Candidate(move, known.value)
        return None

    def _advice(
        self, position: Position, plies: int, value: float, best: Sequence[Move]
    ) -> Mapping[Move, Experience]:
        """What ACADEMY says of moves; nothing where it may not be asked. Weights at hand need no question."""
        if self.plays_alone:
            return {}
        if self.weights is not None:
            return self._by_weights(position, value, best)
        if not self.may_ask or not self._options.libraries or not self.seat.allows_patterns(value):
            return {}
        tesujis = self.game is not None and self.game.settings.tesuji_capacity
        advice = self._tesujis(position, plies, value, best) if tesujis else {}
        # Where no tesuji says anything, patterns may.
        if not advice and self._symmetric:
            advice = self._patterns(position, plies, value, best)
        return advice

    def _by_weights(
        self, position: Position, value: float, best: Sequence[Move]
    ) -> Mapping[Move, Experience]:
        """How moves compare by the patterns on the boards after them; where there are none, by tesujis."""
        weights = self.weights
        assert weights is not None
        if weights.knows_patterns and weights.contests >= ENOUGH_CONTESTS:
            # After a move the other player is on move; nothing is lost where it is the same one again.
            boards = [self._board(self.referee.play(position, {self.seat.player: move})) for move in best]
            log_odds = weights.log_odds(boards, 3 - self.seat.player)
            usual = sum(log_odds) / len(log_odds)
            sign = 1.0 if self.seat.player == 1 else -1.0
            gained = {move: sign * (after - usual) for move, after in zip(best, log_odds, strict=True)}
            return of_advice(value, gained, FITTED_GAMES)
        board = self._board(position)
        cells = {move: cell for move in best if (cell := self._cell(position, board, move)) is not None}
        return of_advice(
            value,
            dict(zip(cells, weights.advise(board, list(cells.values()), self.seat.player), strict=True)),
        )

    def _tesujis(
        self, position: Position, plies: int, value: float, best: Sequence[Move]
    ) -> Mapping[Move, Experience]:
        """How strong players like the surroundings of the cells that moves go to."""
        board = self._board(position)
        cells = {move: cell for move in best if (cell := self._cell(position, board, move)) is not None}
        if not cells:
            return {}
        different = sorted(set(cells.values()))
        self._claimed = value
        log_odds = self.ask(lambda academy: academy.advise(self.seat, board, different, value, plies=plies))
        if not log_odds or not any(log_odds):
            return {}
        advice = dict(zip(different, log_odds, strict=True))
        return of_advice(value, {move: advice[cell] for move, cell in cells.items()})

    def _cell(self, position: Position, board: Board, move: Move) -> int | None:
        """The empty cell that a move goes to: the one that it is called after, where it is called so."""
        cell = self._named_cells.get(self.referee.move_text(move))
        if cell is None:
            after = self._board(self.referee.play(position, {self.seat.player: move}))
            cell = cell_of_move(board, after, self.seat.player)
        elif self._pieces_fall:
            cell = _fallen(board, cell)
        return cell if cell is not None and board.states[cell] == State.EMPTY else None

    def _patterns(
        self, position: Position, plies: int, value: float, best: Sequence[Move]
    ) -> Mapping[Move, Experience]:
        """What the patterns say of moves.

        A move is good that goes where the opponent would have good patterns. What it brings oneself says
        nothing: the values of patterns are those of the positions that they come from.
        """
        board = self._board(position)
        candidates: list[Move] = []
        taken: list[Board] = []
        for move in best[:WIDEST]:
            after = self._board(self.referee.play(position, {self.seat.player: move}))
            cell = cell_of_move(board, after, self.seat.player)
            if cell is not None:
                candidates.append(move)
                taken.append(self._with_opponent(board, cell))
        if not candidates:
            return {}
        self._claimed = value
        gains = self.ask(
            lambda academy: academy.opponent_gains(
                self.seat, board, taken, value, plies=plies, options=self._options
            )
        )
        if gains is None:
            return {}
        gain_odds = {move: odds(matches) for move, matches in zip(candidates, gains, strict=True)}
        return of_patterns(value, gain_odds, best)

    def _with_opponent(self, board: Board, cell: int) -> Board:
        """The board as if the opponent had a soldier on a cell."""
        states = bytearray(board.states)
        states[cell] = State.SECOND_SOLDIER if self.seat.player == 1 else State.FIRST_SOLDIER
        return Board(board.geometry, bytes(states))

    def finish(self, plies: int) -> None:
        """Propose what the contest of `plies` plies taught."""
        if self.academy is None or not plies:
            return
        for chosen in self._chosen:
            after = self.referee.play(chosen.position, {self.seat.player: chosen.move.move})
            for pattern in shapes(self._board(chosen.position), self._board(after), self.seat.player):
                self.seat.record_move(pattern, chosen.ply, chosen.before, chosen.move.value)
        self._chosen.clear()
        self.tell(lambda academy: academy.propose(self.seat, plies))


def _fallen(board: Board, cell: int) -> int:
    """The cell of a square board to which a piece falls from a cell."""
    assert isinstance(board.geometry, SquareGeometry)
    below = cell + board.geometry.columns
    while below < board.geometry.size and board.states[below] == State.EMPTY:
        cell, below = below, below + board.geometry.columns
    return cell


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
