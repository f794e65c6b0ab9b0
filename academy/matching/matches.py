"""Queries about a board, the order of patterns, and the occurrences that an answer lists."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Board
from academy.matching.board_tables import BoardTables
from academy.matching.rows import Rows

NO_LIMIT: Final = (1 << 62) - 1

Flags = NDArray[np.bool_]

# Those of `Matches` with an entry for each occurrence.
_COLUMNS: Final = ("places", "symmetries", "rows", "columns", "reversed")


class MatchQuery(NamedTuple):
    """One board to match, with limits.

    Only patterns whose place in the ranking is flagged in `wanted` (None: all) are looked for. At most
    `max_matches` are listed in all and `max_matches_each` for one pattern, so that a pattern of few cells
    leaves room for others. With `both_perspectives` the board is also matched as the other player of a
    symmetric game sees it; `max_matches_each` holds for each of the two boards.
    """

    board: Board
    wanted: Flags | None = None
    max_matches: int = NO_LIMIT
    max_matches_each: int = NO_LIMIT
    both_perspectives: bool = False


class MatchLimits(NamedTuple):
    """At most `total` matches are listed, and at most `per_pattern` of one pattern on one board."""

    total: int
    per_pattern: int


class Ranking(NamedTuple):
    """The order in which patterns come. A *place* is an index into this order.

    The pattern `pattern_ids[place]` is row `rows[place]`; `places[row]` is its place, -1 for a row without
    one.
    """

    pattern_ids: NDArray[np.int64]
    rows: NDArray[np.int32]
    places: NDArray[np.int32]


def rank_rows(pattern_ids: NDArray[np.int64], rows: NDArray[np.int32], count: int) -> Ranking:
    """Return a ranking of these rows, of `count` in all."""
    places = np.full(count, -1, dtype=np.int32)
    places[rows] = np.arange(len(rows), dtype=np.int32)
    return Ranking(pattern_ids, rows, places)


class RankedRows(NamedTuple):
    """What kernels read of a library: `wanted` has a flag for each place, or none where all are wanted."""

    tables: BoardTables
    rows: Rows
    ranking: Ranking
    wanted: Flags


class Matches(NamedTuple):
    """Occurrences, ordered by pattern, symmetry, row and column; entry i of each column is the i-th.

    The pattern `pattern_ids[i]`, turned to `pattern.image(spec.symmetry_group[symmetries[i]])`, lies on
    the board with its cell (0, 0) at (`rows[i]`, `columns[i]`). Both may be negative, or beyond the
    board, where the pattern hangs over the edge; a row or column 0 of the image need not hold a tested cell.
    On graph boards both are 0: the image names the nodes themselves. Where several
    symmetries give the same image, only the least is reported.

    Where two boards were matched at once, `reversed[i]` says that an occurrence is on the second, the board
    as the other player sees it (`spec.reversed_board`); those of a pattern on the first come before them.

    `places[i]` is the pattern's place in the ranking, of which `ranked_ids` are the numbers. `total` is how
    many occurrences there are, listed or not; with `more` the weaker patterns were not examined, and there
    may be more than that.
    """

    ranked_ids: NDArray[np.int64]
    places: NDArray[np.int32]
    symmetries: NDArray[np.int32]
    rows: NDArray[np.int32]
    columns: NDArray[np.int32]
    reversed: Flags
    total: int
    more: bool = False

    @property
    def listed(self) -> int:
        """How many occurrences are listed."""
        return len(self.places)

    @property
    def pattern_ids(self) -> NDArray[np.int64]:
        """The number of each occurrence's pattern."""
        return self.ranked_ids.take(self.places)

    def select(self, which: Flags | NDArray[np.intp] | slice, total: int) -> "Matches":
        """Return some of these occurrences, of `total`."""
        columns: dict[str, Any] = {name: getattr(self, name)[which] for name in _COLUMNS}
        return Matches(self.ranked_ids, **columns, total=total)


def join_matches(parts: Sequence[Matches]) -> Matches:
    """Return the matches of all parts, one part behind the other; all are of the first one's ranking."""
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS
    }
    return Matches(parts[0].ranked_ids, **columns, total=sum(part.total for part in parts))
