"""What positions are worth by weights that were learnt, at ACADEMY and at a client's home."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.anchored_patterns import AnchoredPatterns, anchored_patterns
from academy.knowledge.boards import Board
from academy.knowledge.evaluation_features import FIRST_PATTERN, Feature, count_features
from academy.knowledge.learnt_weights import Floats, Numbers
from academy.knowledge.spec import GameSpec


class PositionEvaluator:
    """Evaluates positions of one game by learnt weights, some hundred in a millisecond.

    Args:
        spec: The game.
        codes: As in `EvaluationTable`.
        weights: The weight of each.

    Attributes:
        features: The features' weights, in the order of `Feature`.
        knows_patterns: Whether there are weights of anchored patterns.
    """

    def __init__(self, spec: GameSpec, codes: Numbers, weights: Floats) -> None:
        known = codes < FIRST_PATTERN
        by_code = dict(zip(codes[known].tolist(), weights[known].tolist(), strict=True))
        self.features = tuple(float(by_code.get(feature, 0.0)) for feature in Feature)
        self.knows_patterns = not known.all()
        self._patterns = anchored_patterns(spec) if self.knows_patterns else None
        if self._patterns is not None:
            images, signs = self._patterns.images(codes[~known] - FIRST_PATTERN)
            of_patterns = weights[~known]
            # For each place and code the index into `_weights`; unknown codes point to the last weight, 0.
            self._weights = np.concatenate([of_patterns, -of_patterns, [0.0]])
            nothing = len(self._weights) - 1
            self._weight_of = np.full(self._patterns.size, nothing, dtype=np.min_scalar_type(nothing))
            numbers = np.arange(len(of_patterns))
            self._weight_of[images] = numbers[:, None] + (signs < 0) * len(numbers)

    def log_odds(self, boards: Sequence[Board], player: int, moves: Sequence[int] = ()) -> list[float]:
        """Return how well the first player stands.

        Args:
            boards: The positions' boards.
            player: 1 or 2, who is to move in all of them.
            moves: How many moves that player has in each; none where they are not known.

        Returns:
            The log odds that the first player wins, for each position.
        """
        if not boards:
            return []
        states = np.frombuffer(b"".join(board.states for board in boards), dtype=np.uint8)
        sums = self.log_odds_of_states(states.reshape(len(boards), -1), player, moves)
        return [float(total) for total in sums]

    def log_odds_of_states(self, states: NDArray[np.uint8], player: int, moves: Sequence[int] = ()) -> Floats:
        """Return the same of boards in an array.

        Args:
            states: One row of `cells.State` a board; fastest where they differ little from the first.
            player: As in `log_odds`.
            moves: As in `log_odds`.

        Returns:
            As `log_odds`.
        """
        signs = np.full(len(states), 1.0 if player == 1 else -1.0)
        mobility = np.array(moves, dtype=np.float64) if moves else np.zeros(len(states))
        sums: Floats = (count_features(states, signs, mobility) * np.array(self.features)).sum(axis=1)
        if self._patterns is not None and len(states):
            sums += self._pattern_sums(self._patterns, states)
        return sums

    def _pattern_sums(self, patterns: AnchoredPatterns, states: NDArray[np.uint8]) -> Floats:
        first, boards, places, others = patterns.changed_codes(states)
        of_first = self._worth(first)
        differences = np.bincount(
            boards, weights=self._worth(others) - of_first[places], minlength=len(states)
        )
        sums: Floats = of_first.sum() + differences
        return sums

    def _worth(self, codes: Numbers) -> Floats:
        """Return the weight of what stands at a place, 0 where it is not known."""
        worth: Floats = self._weights[self._weight_of[codes]]
        return worth
