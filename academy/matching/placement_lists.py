"""What is told of placements, as arrays that a kernel writes as a message of protobuf.

Which field of the message is which is the caller's to say: kernels know only what all such messages share.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class PlacementLists(NamedTuple):
    """Lists of placements: list i is from `starts[i]` to before `starts[i + 1]` of each column.

    The first five are columns (see `matches.Matches`), `for_opponent` empty where that is not asked for. Of
    list i there are `totals[i]` placements, told or not, or with `more[i]` at least so many.
    """

    places: NDArray[np.int32]
    symmetries: NDArray[np.int16]
    rows: NDArray[np.int16]
    columns: NDArray[np.int16]
    for_opponent: NDArray[np.bool_]
    starts: NDArray[np.int32]
    totals: NDArray[np.int64]
    more: NDArray[np.bool_]


class Lost(NamedTuple):
    """Entries of the first list that each other one lacks: from `starts[i]` to before `starts[i + 1]`.

    Without `starts` the lists have nothing to do with each other.
    """

    starts: NDArray[np.int32]
    entries: NDArray[np.int32]


class Records(NamedTuple):
    """What is told of the patterns themselves, written before: `written[place, byte]`.

    Column i of the table, field `fields[i]`, is bytes `starts[i]` to before `starts[i + 1]`.
    """

    written: NDArray[np.uint8]
    starts: NDArray[np.int32]
    fields: NDArray[np.int32]


class Fields(NamedTuple):
    """The numbers, 1 to 15, of a message's fields.

    `first` is the first list, `other` any other one; where entries are lost that is a message, of which
    `gained` is the list and `lost` the entries. `table` are the patterns. The rest is a list's own.
    """

    first: int
    other: int
    gained: int
    lost: int
    table: int
    patterns: int
    symmetries: int
    rows: int
    columns: int
    for_opponent: int
    total: int
    more: int
