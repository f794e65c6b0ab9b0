"""Which patterns occur on a position, and what each of its candidate moves changes of that.

Placements are on the board as in `pattern_answers`.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Board
from academy.knowledge.cells import SWAP_COLOURS
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.matching.changes import Change
from academy.matching.placement_lists import Lists, Lost
from academy.matching.successors import Successors
from academy.service.pattern_answers import PatternQuestion
from academy.service.ranked import Ranked
from academy.service.written_answers import WrittenAnswer, joined, successors_written
from academy.store.game_records import library_to_proto

Move = Sequence[Change]


class SuccessorAnswer:
    """Writes the answer to one call. Moves are added in parts, so that others are let in between.

    `question` is of one player only.
    """

    def __init__(
        self, spec: GameSpec, ranked: Ranked, libraries: Sequence[Library], question: PatternQuestion
    ) -> None:
        self._ranked = ranked
        self._question = question
        self._board: Board = question.board
        self._turned: tuple[int, ...] | None = None
        if question.player != 1 and spec.symmetric and spec.players == 2:
            self._board = spec.reversed_board(question.board)
            self._turned = spec.reversed_cells
        only = 0 if spec.symmetric else question.player
        numbers = [library_to_proto(library) for library in libraries]
        self._wanted = ranked.selection(numbers, question.player_elo, only).wanted
        self._parts: list[Successors] = []

    def add(self, moves: Sequence[Move]) -> None:
        """Answer for some more moves. Raises InvalidMove and InvalidBoard."""
        if self._turned is not None:
            turned = self._turned
            moves = [[(turned[cell], SWAP_COLOURS[state]) for cell, state in move] for move in moves]
        ranked, question = self._ranked, self._question
        self._parts.append(
            ranked.snapshot.match_successors(
                self._board, moves, ranked.ranking, self._wanted, question.max_matches, question.matches_each
            )
        )

    def written(self) -> WrittenAnswer:
        """Return the answer, a MatchSuccessorsResponse without cells, after at least one `add`."""
        parts = self._parts
        # Each part has found the same on the position.
        base = parts[0].base
        gained = [base, *(part.all_new for part in parts)]
        totals = [np.array([base.total]), *(part.totals for part in parts)]
        lists = Lists(
            joined([each.places for each in gained]),
            joined([each.symmetries for each in gained]),
            joined([each.rows for each in gained]),
            joined([each.columns for each in gained]),
            np.zeros(0, dtype=np.bool_),
            _starts([np.array([0, len(base)], dtype=np.int32), *(part.new_starts for part in parts)]),
            np.concatenate(totals, dtype=np.int64),
            np.zeros(1 + sum(map(len, parts)), dtype=np.bool_),
        )
        lost = Lost(_starts([part.gone_starts for part in parts]), joined([part.all_gone for part in parts]))
        return successors_written(self._ranked, lists, lost)


def _starts(parts: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Return where lists start, of which parts are put one behind the other."""
    lengths = np.concatenate([np.diff(starts) for starts in parts])
    return np.concatenate([np.zeros(1, dtype=np.int32), np.cumsum(lengths, dtype=np.int32)])
