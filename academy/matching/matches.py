"""What a query answers: the occurrences of patterns on one board, column by column."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

NO_LIMIT: Final = (1 << 62) - 1

# As kernels give them: places, symmetries, rows, columns, numbers of the boards; and how many there are.
Found = tuple[
    NDArray[np.int32], NDArray[np.int16], NDArray[np.int16], NDArray[np.int16], NDArray[np.int16], int
]

# Those of several queries, one behind the other: columns as above, where each begins, and how many it has.
FoundEach = tuple[
    NDArray[np.int32],
    NDArray[np.int16],
    NDArray[np.int16],
    NDArray[np.int16],
    NDArray[np.int16],
    NDArray[np.int32],
    NDArray[np.int64],
]


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """Occurrences, ordered by pattern, symmetry, row and column; entry i of each column is the i-th.

    The pattern `pattern_ids[i]`, turned to `pattern.image(spec.symmetry_group[symmetries[i]])`, lies on
    the board with its cell (0, 0) at (`rows[i]`, `columns[i]`). Both may be negative, or beyond the
    board, where the pattern hangs over the edge; a row or column 0 of the image need not hold a tested cell.
    On graph boards both are 0: the image names the nodes themselves. Of symmetries that give one and the
    same image only the least is reported.

    Of a query on two boards at once `reversed[i]` tells that an occurrence is on the second, the board as
    the other player sees it (`spec.reversed_board`); those of a pattern on the first come before them.

    Patterns come in the order asked for (see `Ranking`), of which `places[i]` is the place and `ranked_ids`
    are the numbers. `total` is how many occurrences there are, more than are listed where a query was for
    some of them only; with `more` not all patterns were looked at, and there are at least so many.
    """

    ranked_ids: NDArray[np.int64]
    places: NDArray[np.int32]
    symmetries: NDArray[np.int16]
    rows: NDArray[np.int16]
    columns: NDArray[np.int16]
    reversed: NDArray[np.bool_]
    total: int
    more: bool = False

    def __len__(self) -> int:
        return len(self.places)

    @property
    def pattern_ids(self) -> NDArray[np.int64]:
        """The number of each occurrence's pattern."""
        return self.ranked_ids.take(self.places)

    def with_more(self) -> "Matches":
        """Return these, of a query that did not look at all patterns."""
        return Matches(
            self.ranked_ids,
            self.places,
            self.symmetries,
            self.rows,
            self.columns,
            self.reversed,
            self.total,
            more=True,
        )

    def some(self, which: NDArray[np.bool_] | NDArray[np.intp] | slice, total: int) -> "Matches":
        """Return only some of these, of so many."""
        return Matches(
            self.ranked_ids,
            self.places[which],
            self.symmetries[which],
            self.rows[which],
            self.columns[which],
            self.reversed[which],
            total,
        )
