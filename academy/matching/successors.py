"""Which matches the moves from a position bring and which they end."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from academy.matching.matches import Matches


@dataclass(frozen=True, slots=True, eq=False)
class Successors:
    """The matches of a position, and for each move what is different after it.

    `gone(i)` are entries of `base` that do not occur after move i any more; `new(i)` are the matches that
    occur only after it. Both come in the order of the ranking.
    """

    base: Matches
    _gone_starts: NDArray[np.int32]
    _gone: NDArray[np.int32]
    _new_starts: NDArray[np.int32]
    _new: Matches

    def __len__(self) -> int:
        return len(self._gone_starts) - 1

    def gone(self, move: int) -> NDArray[np.int32]:
        """Return which entries of `base` a move ends."""
        return self._gone[self._gone_starts[move] : self._gone_starts[move + 1]]

    def new(self, move: int) -> Matches:
        """Return the matches that a move brings."""
        return self._new.some(slice(self._new_starts[move], self._new_starts[move + 1]))

    def matches(self, move: int) -> Matches:
        """Return all matches after a move, as `Snapshot.match` of that position would."""
        stay = np.ones(len(self.base), dtype=np.bool_)
        stay[self.gone(move)] = False
        kept, new = self.base.some(stay), self.new(move)
        places = np.concatenate([kept.places, new.places])
        symmetries = np.concatenate([kept.symmetries, new.symmetries])
        rows = np.concatenate([kept.rows, new.rows])
        columns = np.concatenate([kept.columns, new.columns])
        order = np.lexsort((columns, rows, symmetries, places))
        return Matches(
            np.concatenate([kept.pattern_ids, new.pattern_ids])[order],
            symmetries[order],
            rows[order],
            columns[order],
            places[order],
            np.zeros(len(order), dtype=np.bool_),
            len(order),
        )
