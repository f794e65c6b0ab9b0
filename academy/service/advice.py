"""Answers to questions for advice: the moves compared, what is known of each, and what that rests on."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.advice import (
    ENOUGH_CONTESTS,
    MOST_GAINED,
    CandidateMove,
    above_mean,
    opponents_change,
    pattern_log_odds,
    states_after,
    with_all_changes,
)
from academy.knowledge.boards import Board, CellChange
from academy.knowledge.cells import State
from academy.knowledge.evaluation import EVALUATION_IN_USES
from academy.knowledge.fair_use import acceptable
from academy.knowledge.game import PATTERN_LIBRARIES
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.knowledge.tesujis.surroundings import surroundings
from academy.knowledge.tesujis.table import FIRST_IN_USES
from academy.service.answers import AnsweredPatterns, PatternQuestion, SuccessorAnswer
from academy.service.errors import InvalidFieldError
from academy.service.game_cache import CachedGame
from academy.service.moves import CandidateMoveChange, read_changes, read_empty_cells
from academy.store.columns import pack_columns
from academy.v1 import consultation_pb2 as messages

# The matches of one pattern that are counted for one move.
_MOST_OF_ONE: Final = 16


def moves_to_compare(
    spec: GameSpec,
    board: Board,
    player: int,
    cells: Sequence[int],
    moves: Sequence[CandidateMoveChange],
) -> list[CandidateMove]:
    """Return the moves of a question, or where it names none those that learning compares.

    Raises InvalidFieldError.
    """
    if moves:
        return [
            CandidateMove.of_changes(board, changes, player) for changes in read_changes(moves, spec.geometry)
        ]
    if spec.moves_pieces and not cells:
        raise InvalidFieldError(
            "moves", "no moves: in this game pieces move from cell to cell, so name the moves to compare"
        )
    named = read_empty_cells(cells, board, spec) if cells else _usual_cells(spec, board, player)
    return CandidateMove.to_cells(named, spec, player)


def _usual_cells(spec: GameSpec, board: Board, player: int) -> list[int]:
    around = surroundings(spec)
    states = np.frombuffer(board.states, dtype=np.uint8)
    if around is None:
        return np.flatnonzero(states == State.EMPTY).tolist()
    views = around.views(states[None], player)
    return np.flatnonzero(around.candidates(views, states[None])[0]).tolist()


@dataclass
class MoveAdvice:
    """What is known of moves, part by part.

    `uses` are the numbers of what it rests on, by library.
    """

    game: CachedGame
    question: PatternQuestion
    moves: Sequence[CandidateMove]
    log_odds: NDArray[np.float64] = field(init=False)
    uses: dict[Library, list[int]] = field(default_factory=dict)
    tesujis: Sequence[int] = ()
    patterns: Sequence[int] = ()
    evaluation_contests: int = 0

    def __post_init__(self) -> None:
        self.log_odds = np.zeros(len(self.moves))

    @property
    def _spec(self) -> GameSpec:
        return self.game.view.spec

    def add_tesujis(self) -> None:
        """Add how much more often strong players move into what lies around the cells."""
        table = self.game.view.answered_tesujis
        around = surroundings(self._spec, table.proposed)
        placed = [move.cell is not None and move.places for move in self.moves]
        cells = [move.cell for move in compress(self.moves, placed) if move.cell is not None]
        if around is None or not len(table) or not cells:
            return
        codes = around.of_cells(self.question.board, cells, self.question.player)
        advice = table.advise(codes, self.question.least_elo)
        self.log_odds[placed] += advice.log_odds
        self.tesujis = advice.codes
        self._use(Library.MIDDLE_GAME, [FIRST_IN_USES + code for code in advice.codes])

    def add_evaluation(self) -> None:
        """Add what the boards after the moves are worth, by anchored patterns."""
        table, question = self.game.view.answered_evaluation, self.question
        if table.contests < ENOUGH_CONTESTS or not self.moves or not self.game.evaluator.knows_patterns:
            # The pieces on the board are what any player counts by itself.
            return
        if question.least_elo is not None and not acceptable(table.elo, question.least_elo):
            return
        moves = with_all_changes(self.moves, question.board, self._spec, question.player)
        after = states_after(question.board, moves)
        if after is None:
            return
        worth = above_mean(self.game.evaluator.log_odds_of_states(after, 3 - question.player))
        self.log_odds += worth if question.player == 1 else -worth
        self.evaluation_contests = table.contests
        self._use(Library.MIDDLE_GAME, [EVALUATION_IN_USES])

    @cached_property
    def replies(self) -> list[list[CellChange]]:
        """What would change if the opponent went where each of the moves goes, that go anywhere."""
        if not self._spec.two_in_turn or not len(self.game.patterns.ranked):
            return []
        player = self.question.player
        return [[opponents_change(move.cell, player)] for move in self.moves if move.cell is not None]

    def search(self) -> SuccessorAnswer:
        """Return the search for what `replies` would bring the opponent; they are added to it in parts."""
        question = self.question
        opponents = PatternQuestion(
            question.board, 3 - question.player, False, MOST_GAINED, _MOST_OF_ONE, question.least_elo
        )
        return SuccessorAnswer(self._spec, self.game.patterns.ranked, PATTERN_LIBRARIES, opponents)

    def add_patterns(self, search: SuccessorAnswer) -> None:
        """Add what patterns say of moves, by those that were searched, once all `replies` are."""
        gained, ends = search.gained()
        moves_of = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
        # Not the game's: others may have changed it between the parts.
        ranked = search.ranked
        values, proposers = (ranked.columns[name].take(gained.places) for name in ("values", "proposers"))
        goes_somewhere = [move.cell is not None for move in self.moves]
        worth = pattern_log_odds(len(ends), moves_of, values, proposers)
        self.log_odds[goes_somewhere] += above_mean(worth)
        table = AnsweredPatterns(ranked, [gained])
        self.patterns = ranked.pattern_ids.take(table.places).tolist()
        for library, numbers in table.pattern_ids(PATTERN_LIBRARIES).items():
            self._use(library, numbers)

    @property
    def best_cell(self) -> int | None:
        """The cell of the move that comes out best; None where all are as good, or it goes to no cell."""
        if not self.moves or (len(self.moves) > 1 and not np.ptp(self.log_odds)):
            return None
        return self.moves[int(self.log_odds.argmax())].cell

    def _use(self, library: Library, numbers: Sequence[int]) -> None:
        self.uses.setdefault(library, []).extend(numbers)

    def write(self, answer: messages.AdviseResponse, with_ids: bool) -> None:
        """Write the advice into an answer."""
        pack_columns(answer, log_odds=self.log_odds.astype("<f4"))
        answer.moves_asked = True
        answer.tesujis, answer.patterns = len(self.tesujis), len(self.patterns)
        answer.evaluation_contests = self.evaluation_contests
        if with_ids:
            answer.tesuji_ids.extend(self.tesujis)
            answer.pattern_ids.extend(self.patterns)
