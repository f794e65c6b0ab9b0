"""Which matches the moves from a position bring and which they end."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from academy.matching.matches import Matches

# As kernels give them: where those begin that each move ends, these, where the new ones begin, their places,
# their symmetries, rows and columns, and how many are new of each move.
Differences = tuple[
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int16],
    NDArray[np.int32],
]


@dataclass(frozen=True, slots=True, eq=False)
class Successors:
    """The matches of a position, and for each move what is different after it.

    `gone(i)` are entries of `base` that do not occur after move i any more; `new(i)` are the matches that
    occur only after it. Both come in the order of the ranking. All of them, move by move, are `all_gone` and
    `all_new`; those of move i begin at `gone_starts[i]` and `new_starts[i]`. Limits may have cut off new ones
    of a move, of which there are `totals[i]`.
    """

    base: Matches
    gone_starts: NDArray[np.int32]
    all_gone: NDArray[np.int32]
    new_starts: NDArray[np.int32]
    all_new: Matches
    totals: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.totals)

    def gone(self, move: int) -> NDArray[np.int32]:
        """Return which entries of `base` a move ends."""
        return self.all_gone[self.gone_starts[move] : self.gone_starts[move + 1]]

    def new(self, move: int) -> Matches:
        """Return the matches that a move brings."""
        which = slice(self.new_starts[move], self.new_starts[move + 1])
        return self.all_new.some(which, int(self.totals[move]))

    def matches(self, move: int) -> Matches:
        """Return all matches after a move, as `Snapshot.match` of that position would."""
        stay = np.ones(len(self.base), dtype=np.bool_)
        stay[self.gone(move)] = False
        kept, new = self.base.some(stay, int(stay.sum())), self.new(move)
        places = np.concatenate([kept.places, new.places])
        symmetries = np.concatenate([kept.symmetries, new.symmetries])
        rows = np.concatenate([kept.rows, new.rows])
        columns = np.concatenate([kept.columns, new.columns])
        order = np.lexsort((columns, rows, symmetries, places))
        return Matches(
            self.base.ranked_ids,
            places[order],
            symmetries[order],
            rows[order],
            columns[order],
            np.zeros(len(order), dtype=np.bool_),
            len(order),
        )
