"""In which order a query tells patterns."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class RankOrder(NamedTuple):
    """`rows[place]` is the row told there; `places[row]` is that place, -1 for a row that is not told."""

    rows: NDArray[np.int32]
    places: NDArray[np.int32]


def order_of(rows: NDArray[np.int32], count: int) -> RankOrder:
    """Put rows, of so many, in an order."""
    places = np.full(count, -1, dtype=np.int32)
    places[rows] = np.arange(len(rows), dtype=np.int32)
    return RankOrder(rows, places)
