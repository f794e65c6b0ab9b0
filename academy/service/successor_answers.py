"""Which patterns occur on a position, and what each of its candidate moves changes of that.

Placements are on the board as in `pattern_answers`.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Board
from academy.knowledge.cells import SWAP_COLOURS
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.matching.arrays import Number
from academy.matching.changes import Change
from academy.matching.matches import Matches
from academy.service.answer_columns import AnswerColumns, field_numbers
from academy.service.columns import field, unsigned
from academy.service.pattern_answers import PatternQuestion
from academy.service.ranked import Placements, Ranked
from academy.store.game_records import library_to_proto
from academy.v1 import consultation_pb2 as messages

Move = Sequence[Change]
_ANSWER: Final = field_numbers(messages.MatchSuccessorsResponse)
_MOVE: Final = field_numbers(messages.MoveMatches)


class SuccessorAnswer:
    """Writes the answer to one call. Moves are added in parts, so that others are let in between.

    `question` is of one player only; `most_found` bounds what is looked at before its own limits are applied.
    """

    def __init__(
        self,
        spec: GameSpec,
        ranked: Ranked,
        libraries: Sequence[Library],
        question: PatternQuestion,
        most_found: int,
    ) -> None:
        self._ranked = ranked
        self._question = question
        self._most_found = most_found
        self._board: Board = question.board
        self._turned: tuple[int, ...] | None = None
        if question.player != 1 and spec.symmetric and spec.players == 2:
            self._board = spec.reversed_board(question.board)
            self._turned = spec.reversed_cells
        only = 0 if spec.symmetric else question.player
        numbers = [library_to_proto(library) for library in libraries]
        self._wanted = ranked.selection(numbers, question.player_elo, only).wanted
        self._base: Placements | None = None
        self._gained: list[Placements] = []
        self._lost: list[NDArray[np.int32]] = []

    @property
    def placements(self) -> int:
        """How many are told so far, of the position and of what moves gain."""
        base = 0 if self._base is None else len(self._base.places)
        return base + sum(len(each.places) for each in self._gained)

    def add(self, moves: Sequence[Move]) -> None:
        """Answer for some more moves. Raises InvalidMove and InvalidBoard."""
        if self._turned is not None:
            turned = self._turned
            moves = [[(turned[cell], SWAP_COLOURS[state]) for cell, state in move] for move in moves]
        ranked = self._ranked
        found = ranked.snapshot.match_successors(
            self._board, moves, ranked.ranking, self._wanted, self._most_found
        )
        chosen = self._chosen(found.base.places)
        if self._base is None:
            self._base = _placements(found.base, chosen)
        # Which entry of the answer an entry of all that was found is; -1 where it is not told.
        entries = np.full(len(found.base), -1, dtype=np.int32)
        entries[chosen] = np.arange(len(chosen), dtype=np.int32)
        for move in range(len(found)):
            lost = entries.take(found.gone(move))
            self._lost.append(lost[lost >= 0])
            gained = found.new(move)
            self._gained.append(_placements(gained, self._chosen(gained.places)))

    def _chosen(self, places: NDArray[np.int32]) -> NDArray[np.intp]:
        """Which of some placements, in the order of the ranking, are told: not too many, nor of any one."""
        entries = np.arange(len(places))
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        of_pattern = entries - np.repeat(starts, np.diff(starts, append=len(places)))
        return np.flatnonzero(of_pattern < self._question.matches_each)[: self._question.max_matches]

    def columns(self) -> AnswerColumns:
        """Return all that was found as columns: the position's, and what each move gains."""
        assert self._base is not None, "no move was added"
        return AnswerColumns(self._ranked, [self._base, *self._gained])

    def written(self, columns: AnswerColumns) -> bytes:
        """Return the answer, a MatchSuccessorsResponse without cells."""
        base, *gained = columns.positions()
        lost = unsigned(np.concatenate(self._lost))
        answers = [field(_ANSWER["position"], base)]
        first = 0
        for matches, ended in zip(gained, self._lost, strict=True):
            end = first + len(ended)
            move = field(_MOVE["gained"], matches) + field(_MOVE["lost"], lost.part(first, end))
            answers.append(field(_ANSWER["moves"], move))
            first = end
        answers.append(field(_ANSWER["patterns"], columns.table()))
        return b"".join(answers)


def _placements(found: Matches, chosen: NDArray[np.intp]) -> Placements:
    def told(column: NDArray[Number]) -> NDArray[Number]:
        return column.take(chosen)

    return Placements(
        told(found.places),
        told(found.symmetries),
        told(found.rows),
        told(found.columns),
        found.reversed.take(chosen),
        found.total,
    )
