"""Weights that a client holds, to compare positions and moves without asking."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Board
from academy.knowledge.evaluation import PositionEvaluator
from academy.knowledge.spec import GameSpec
from academy.knowledge.tesuji_shapes import surroundings
from academy.knowledge.votes import VALUE_SCALE
from academy.v1 import consultation_pb2


@dataclass(frozen=True, slots=True)
class _Columns:
    """Weights by code, the codes in order."""

    codes: NDArray[np.int64]
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, message: consultation_pb2.Weights) -> "_Columns":
        codes = np.array(message.codes, dtype=np.int64)
        order = np.argsort(codes)
        return cls(codes[order], np.array(message.millionths, dtype=np.float64)[order] / VALUE_SCALE)


class LocalWeights:
    """A game's weights as ACADEMY had them, from `Academy.weights`.

    Args:
        spec: The game.
        message: ACADEMY's answer.

    Attributes:
        revision: Another text whenever a weight is another one.
        contests: How many contests taught the evaluation.
        features: What it counts: being first, being on move, each move that the mover has, each soldier
            ahead, each king ahead; all in log odds for the first player.
        knows_patterns: Whether it has anchored patterns.
        knows_tesujis: Whether there are tesujis.
    """

    def __init__(self, spec: GameSpec, message: consultation_pb2.DownloadWeightsResponse) -> None:
        self.revision = message.revision
        self.contests = message.contests
        evaluation, self._tesujis = _Columns.of(message.evaluation), _Columns.of(message.tesujis)
        self._evaluator = PositionEvaluator(spec, evaluation.codes, evaluation.weights)
        self._around = surroundings(spec)
        self.features: tuple[float, ...] = self._evaluator.features
        self.knows_patterns = self._evaluator.knows_patterns
        self.knows_tesujis = self._around is not None and len(self._tesujis.codes) > 0

    def log_odds(self, boards: Sequence[Board], player: int, moves: Sequence[int] = ()) -> list[float]:
        """Return how well the first player stands.

        Args:
            boards: The positions' boards.
            player: 1 or 2, who is to move in all of them.
            moves: How many moves that player has in each; none where they are not known.

        Returns:
            The log odds that the first player wins, for each position.
        """
        return self._evaluator.log_odds(boards, player, moves)

    def advise(self, board: Board, cells: Sequence[int], player: int) -> list[float]:
        """Compare empty cells to move to by their surroundings, as `Academy.advise` does.

        Args:
            board: The board of the position to move in.
            cells: The cells, by index.
            player: 1 or 2, who is to move.

        Returns:
            For each cell what to add to the log odds of moving there; 0 for all where nothing is known.
        """
        if self._around is None or not self.knows_tesujis or not cells:
            return [0.0] * len(cells)
        codes = self._around.of_cells(board, cells, player)
        known = self._tesujis
        at = np.minimum(np.searchsorted(known.codes, codes), len(known.codes) - 1)
        weights = np.where(known.codes[at] == codes, known.weights[at], 0.0).sum(axis=1)
        return [float(weight) for weight in weights - weights.mean()]
