"""Weights that a client holds, to compare positions and moves without asking."""

import threading
from collections.abc import Sequence
from typing import Final

import numpy as np

from academy.knowledge.boards import Board
from academy.knowledge.position_evaluator import PositionEvaluator
from academy.knowledge.spec import GameSpec
from academy.knowledge.tesujis.surroundings import surroundings
from academy.knowledge.tesujis.table import TesujiTable
from academy.knowledge.votes import VALUE_SCALE
from academy.v1 import consultation_pb2
from clients.position_checks import check_cells, check_positions


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
        self._spec = spec
        self.revision = message.revision
        self.contests = message.contests
        codes = np.array(message.evaluation.codes, dtype=np.int64)
        weights = np.array(message.evaluation.millionths, dtype=np.float64) / VALUE_SCALE
        self._evaluator = PositionEvaluator(spec, codes, weights)
        self._tesujis = TesujiTable.of_weights(message.tesujis.codes, message.tesujis.millionths)
        self._around = surroundings(spec, self._tesujis.proposed)
        self.features: tuple[float, ...] = self._evaluator.features
        self.knows_patterns = self._evaluator.knows_patterns
        self.knows_tesujis = self._around is not None and len(self._tesujis) > 0

    def log_odds(self, boards: Sequence[Board], player: int, moves: Sequence[int] = ()) -> list[float]:
        """Return how well the first player stands.

        Args:
            boards: The positions' boards.
            player: 1 or 2, who is to move in all of them.
            moves: How many moves that player has in each; none where they are not known.

        Returns:
            The log odds that the first player wins, for each position.

        Raises:
            ValueError: A board has another size, there is no such player, or moves are given for some boards
                alone.
        """
        check_positions(self._spec, boards, player)
        if len(moves) not in (0, len(boards)):
            raise ValueError(f"moves: {len(moves)} numbers for {len(boards)} boards; give one each, or none")
        if not boards:
            return []
        return self._evaluator.log_odds(boards, player, moves)

    def advise(self, board: Board, cells: Sequence[int], player: int) -> list[float]:
        """Compare empty cells to move to by their surroundings, as `Academy.advise` does.

        Args:
            board: The board of the position to move in.
            cells: The cells, by index.
            player: 1 or 2, who is to move.

        Returns:
            For each cell what to add to the log odds of moving there; 0 for all where nothing is known.

        Raises:
            ValueError: The board has another size, or no such cell, a cell is not empty or in mid-air, or
                there is no such player.
        """
        check_cells(self._spec, board, cells, player)
        if self._around is None or not self.knows_tesujis or not cells:
            return [0.0] * len(cells)
        advice = self._tesujis.advise(self._around.of_cells(board, cells, player))
        return [float(added) for added in advice.log_odds]


# ACADEMY's address, its name of the game, and the game.
Place = tuple[str, str, GameSpec]
# A bot has a connection for each contest, and mostly the same weights.
held_weights: Final[dict[Place, LocalWeights]] = {}
_MOST_HELD: Final = 8
_holding: Final = threading.Lock()


def hold_weights(place: Place, weights: LocalWeights) -> None:
    """Keep weights for the process's next connection; those that came first go where there are too many."""
    with _holding:
        held_weights.pop(place, None)
        while len(held_weights) >= _MOST_HELD:
            del held_weights[next(iter(held_weights))]
        held_weights[place] = weights
