"""What `academy-bot` does with ACADEMY's knowledge, in three steps; a file to copy for bots of one's own.

1. Before a search it asks for the book's move, and plays that at once, until the book has none: `book_move`.
2. Otherwise, a little into the search, when it knows what it expects of the position, it asks how good the
   moves are: `experience`. The answer is a number for each move, which enters the search like the result of
   random games with the move.
3. Where fair use allows no question it compares moves by what earlier answers of the contest tell: `memory`.
   In games where players may have ACADEMY's weights it takes them home, and compares moves by those.
   A search whose evaluation has these weights does without the book.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Final, Generic, TypeVar

from academy.knowledge.advice import ENOUGH_CONTESTS
from academy.knowledge.boards import Board, SquareGeometry
from academy.knowledge.cells import State
from academy.knowledge.cutting import cell_of_move
from academy.knowledge.settings import Library
from academy.knowledge.spec import Placement
from academy.knowledge.tesujis.surroundings import surroundings
from clients.academy import Academy
from clients.bots.academy_seat import AcademySeat
from clients.bots.thinking import Candidate, Experience
from clients.local_weights import LocalWeights
from clients.memory import Memory
from clients.seat import Seat
from referees.api import IllegalMoveError, Referee, UnreadableMoveError

Position = TypeVar("Position")
Move = TypeVar("Move")

# How many random games of the bot's own the numbers count for; and where an evaluation is a part of them that
# contests' results have taught.
GAMES: Final = 20.0
FITTED_GAMES: Final = 60.0
# Moves that are named by the board after them are compared as far as this, those that look best.
WIDEST: Final = 16
# A book's move that is worth less than this part of an even share is not played.
_LOSING: Final = 0.5
# A value nearer to 0 or 1 is no more certain than this.
_SUREST: Final = 0.98


class Adviser(AcademySeat, Generic[Position, Move]):
    """Asks ACADEMY for one seat, and makes of the answers what a search can use.

    `libraries` are those that it asks about: the opening tree, and any other for all that compares moves.
    """

    def __init__(
        self,
        referee: Referee[Position, Move],
        academy: Academy | None,
        seat: Seat,
        libraries: Collection[Library] = tuple(Library),
    ) -> None:
        super().__init__(academy, seat)
        spec = referee.spec()
        self.referee = referee
        # Weights to think with, where the game lets players have them.
        self.weights: LocalWeights | None = None
        # What was claimed to be expected of the position that is being thought about.
        self.claimed: float | None = None
        # What answers tell of moves in later positions; None for a bot that is to go by the last one alone.
        self.memory: Memory | None = Memory(spec)
        self.asks_book = Library.OPENING in libraries
        self._compares = any(library is not Library.OPENING for library in libraries)
        self._players = spec.players
        self._placement = spec.placement
        self._has_tesujis = surroundings(spec) is not None
        # Where a move's piece comes to stand, by the move's text; where pieces fall, a cell of its column.
        self._cell_of: dict[str, int] = {name: cell for cell, name in enumerate(spec.cell_names)}

    def take_weights(self) -> LocalWeights | None:
        """Download the game's weights, if players may; None without them, or if they are of few contests."""
        if self.game is None or not (self.seat.fair_use.local_weights and self._compares):
            return None
        spec = self.referee.spec()
        self.weights = self.ask(lambda academy: academy.weights(self.seat, spec))
        known = self.weights is not None and self.weights.contests >= ENOUGH_CONTESTS
        return self.weights if known else None

    def book_move(self, position: Position, line: Sequence[str], own_moves: int) -> Candidate[Move] | None:
        """The move to play without a search; None where the book has none, or may not be asked."""
        if not self.asks_book:
            return None
        asks = self.seat.allows_opening(own_moves)
        answers = self.ask(lambda academy: [academy.book_move(self.seat, line, own_moves)])
        if answers is None:
            return None
        known = answers[0]
        if known is None:
            # Later moves were tried even less often, and analysts search what was tried most: questions about
            # them would only take time.
            self.asks_book = not asks
            return None
        if known.value < _LOSING / self._players:
            # Moves that nobody tried are worth a search.
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

    def experience(
        self, position: Position, line: Sequence[str], value: float, best: Sequence[Move]
    ) -> Mapping[Move, Experience]:
        """How good moves are by what ACADEMY knows; nothing where it is not known, or may not be used.

        `value` is what the bot expects of the position; `best` are its moves, those first that look best.
        """
        if self.plays_alone or not self._compares:
            return {}
        if self.may_ask and self.seat.allows_patterns(value):
            return self._ask_about(position, line, value, best)
        if self.weights is not None:
            return self._by_weights(self.weights, position, value, best)
        return self._by_memory(position, value, best)

    def _ask_about(
        self, position: Position, line: Sequence[str], value: float, best: Sequence[Move]
    ) -> Mapping[Move, Experience]:
        board = self._board(position)
        cells = self.cells_of(position, board, best)
        named: Sequence[int] | Sequence[Board]
        if cells and self._placement is not Placement.OUTFLANKING:
            # Several moves may go to one cell.
            places = {cell: place for place, cell in enumerate(dict.fromkeys(cells.values()))}
            named, number = list(places), {move: places[cell] for move, cell in cells.items()}
        else:
            # What such moves take away or turn over is known by the board after them.
            named = [self._after(position, move) for move in best[:WIDEST]]
            number = {move: place for place, move in enumerate(best[:WIDEST])}
        # ACADEMY may have noted the claim though its answer does not come.
        self.claimed = value
        advice = self.ask(lambda academy: academy.advise(self.seat, board, named, value, plies=len(line)))
        if advice is None or not advice.moves_asked or not any(advice.log_odds):
            return {}
        log_odds = {move: advice.log_odds[place] for move, place in number.items()}
        if self.memory is not None and not (advice.patterns or advice.evaluation_contests):
            compared = [move for move in log_odds if move in cells]
            self.memory.keep(
                board,
                self.seat.player,
                [cells[move] for move in compared],
                [log_odds[move] for move in compared],
            )
        return as_experience(value, log_odds, FITTED_GAMES if advice.evaluation_contests else GAMES)

    def _by_memory(self, position: Position, value: float, best: Sequence[Move]) -> Mapping[Move, Experience]:
        """Compare moves by what earlier answers of the contest tell."""
        if self.memory is None:
            return {}
        board = self._board(position)
        cells = self.cells_of(position, board, best)
        remembered = self.memory.recall(board, self.seat.player, list(cells.values()))
        if not remembered:
            return {}
        return as_experience(value, dict(zip(cells, remembered, strict=True)), GAMES)

    def _by_weights(
        self, weights: LocalWeights, position: Position, value: float, best: Sequence[Move]
    ) -> Mapping[Move, Experience]:
        board, player = self._board(position), self.seat.player
        log_odds = dict.fromkeys(best, 0.0)
        games = GAMES
        if weights.knows_patterns and weights.contests >= ENOUGH_CONTESTS:
            games = FITTED_GAMES
            # After a move the other player is on move; nothing is lost where it is the same one again.
            after = weights.log_odds([self._after(position, move) for move in best], 3 - player)
            usual = sum(after) / len(after)
            for move, worth in zip(best, after, strict=True):
                log_odds[move] += worth - usual if player == 1 else usual - worth
        cells = self.cells_of(position, board, best) if weights.knows_tesujis else {}
        if cells:
            for move, rather in zip(cells, weights.advise(board, list(cells.values()), player), strict=True):
                log_odds[move] += rather
        return as_experience(value, log_odds, games) if any(log_odds.values()) else {}

    def _board(self, position: Position) -> Board:
        return self.referee.board(position, self.seat.player)

    def _after(self, position: Position, move: Move) -> Board:
        return self._board(self.referee.play(position, {self.seat.player: move}))

    def cells_of(self, position: Position, board: Board, moves: Sequence[Move]) -> dict[Move, int]:
        """The empty cells that moves put a piece on, where these are called after cells or have tesujis."""
        cells: dict[Move, int] = {}
        for move in moves:
            text = self.referee.move_text(move)
            cell = self._cell_of.get(text)
            if cell is None and self._has_tesujis:
                # Many games do not call moves after cells.
                cell = cell_of_move(board, self._after(position, move), self.seat.player)
            if cell is not None and self._placement is Placement.DROPPED:
                # The same text is always the same column; elsewhere it may lead to other cells later.
                self._cell_of[text] = cell
                cell = _lowest_empty(board, cell)
            if cell is not None and board.states[cell] == State.EMPTY:
                cells[move] = cell
        return cells


def _lowest_empty(board: Board, cell: int) -> int | None:
    """The empty cell to which a piece falls in the column of a cell, the rows being counted from above."""
    assert isinstance(board.geometry, SquareGeometry)
    columns = board.geometry.columns
    column = range(cell % columns, board.geometry.size, columns)
    return max((place for place in column if board.states[place] == State.EMPTY), default=None)


def as_experience(value: float, log_odds: Mapping[Move, float], games: float) -> dict[Move, Experience]:
    """Moves by what ACADEMY adds to the log odds of each, `value` being expected of the position."""
    bounded = min(_SUREST, max(1.0 - _SUREST, value))
    expected = math.log(bounded / (1.0 - bounded))
    return {move: Experience(_probability(expected + added), games) for move, added in log_odds.items()}


def _probability(log_odds: float) -> float:
    # `exp` has no result for more than 709.
    return 1.0 / (1.0 + math.exp(-max(-700.0, log_odds)))
