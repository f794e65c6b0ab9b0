"""Arrays that grow at their end."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", np.uint8, np.uint16, np.int16, np.int32, np.int64, np.bool_)


def extended(array: NDArray[Number], used: int, added: NDArray[Number]) -> NDArray[Number]:
    """Write rows behind the first `used` ones of an array, or of a larger copy where they find no room."""
    end = used + len(added)
    if end > len(array):
        larger = np.zeros((max(2 * len(array), end), *array.shape[1:]), dtype=array.dtype)
        larger[:used] = array[:used]
        array = larger
    array[used:end] = added
    return array


def ranges(starts: NDArray[np.int32], lengths: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return start, start + 1, ... of each range, one range after the other."""
    ends = np.cumsum(lengths, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    steps: NDArray[np.int64] = np.repeat(starts - (ends - lengths), lengths)
    return np.arange(total) + steps
