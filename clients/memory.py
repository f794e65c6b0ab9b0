"""What a bot remembers, for the rest of a contest, of ACADEMY's answers about moves.

ACADEMY answers with one number for each move. A bot that sees what lies around the moves can tell from some
answers what each of these surroundings is worth, and go by that where fair use allows no question.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from academy.knowledge.boards import Board
from academy.knowledge.spec import GameSpec
from academy.knowledge.tesujis.surroundings import surroundings
from clients.position_checks import check_cells

# What surroundings that were in no answer are taken for, in log odds. They are new on the board, so something
# happens there, and strong players rather move there than elsewhere. In 40 contests of Go on 9x9 the fifteen
# moves that look best have 93 % of the three that are best; with 0 instead of this they have 59 %.
NEW: Final = 0.8
# How often an answer is gone through at most, and what may be missing when it is no longer. In Go on 9x9 that
# is soon reached; in connect four, where surroundings are lines, some tenths of a move may stay missing.
_MOST_PASSES: Final = 50
_EXACT: Final = 0.01


class Memory:
    """What surroundings of moves are worth, as far as answers tell it.

    Args:
        spec: The game. Nothing is remembered in one without tesujis.
    """

    def __init__(self, spec: GameSpec) -> None:
        self._spec = spec
        self._around = surroundings(spec)
        self._weights: dict[int, float] = {}

    def keep(self, board: Board, player: int, cells: Sequence[int], log_odds: Sequence[float]) -> None:
        """Learn from an answer that rests on tesujis alone.

        What patterns and the evaluation add to one does not follow from what lies around a move.

        Its numbers are sums of weights less their mean, so the weights are found as S. Kaczmarz (1937) does:
        each takes its share of what a sum lacks. What was learnt before stays where it fits.

        Args:
            board: The board that was asked about.
            player: 1 or 2, who was to move.
            cells: The empty cells that moves go to, by index.
            log_odds: For each what moving there adds to the log odds.

        Raises:
            ValueError: The board has another size, or no such cell, a cell is not empty or in mid-air, there
                is no such player, or there is not one number for each cell.
        """
        check_cells(self._spec, board, cells, player)
        if len(cells) != len(log_odds):
            raise ValueError(f"log_odds: {len(log_odds)} numbers for {len(cells)} cells; give one each")
        if self._around is None or not cells:
            return
        codes = self._around.of_cells(board, cells, player)
        known, numbers = np.unique(codes, return_inverse=True)
        numbers = numbers.reshape(codes.shape)
        weights = np.array([self._weights.get(code, 0.0) for code in known.tolist()])
        shapes = codes >= 0
        share = shapes / np.maximum(1, shapes.sum(axis=1, keepdims=True))
        uses = np.bincount(numbers.ravel())
        for _ in range(_MOST_PASSES):
            sums = (weights[numbers] * shapes).sum(axis=1)
            lacking = np.asarray(log_odds) - sums
            lacking -= lacking.mean()
            if np.abs(lacking).max() < _EXACT:
                break
            change = lacking[:, None] * share
            weights += np.bincount(numbers.ravel(), change.ravel()) / uses
        self._weights.update(zip(known.tolist(), weights.tolist(), strict=True))

    def recall(self, board: Board, player: int, cells: Sequence[int]) -> list[float]:
        """Compare cells by what was learnt.

        Args:
            board: The board of the position to move in.
            player: 1 or 2, who is to move.
            cells: The empty cells that moves go to, by index.

        Returns:
            For each cell what to add to the log odds of moving there; empty where nothing was learnt.

        Raises:
            ValueError: The board has another size, or no such cell, a cell is not empty or in mid-air, or
                there is no such player.
        """
        check_cells(self._spec, board, cells, player)
        if self._around is None or not self._weights or not cells:
            return []
        codes = self._around.of_cells(board, cells, player)
        weights = [self._weights.get(code, NEW) if code >= 0 else 0.0 for code in codes.ravel().tolist()]
        sums = np.array(weights).reshape(codes.shape).sum(axis=1)
        compared: list[float] = (sums - sums.mean()).tolist()
        return compared
