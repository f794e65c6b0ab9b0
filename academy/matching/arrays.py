"""Arrays that grow."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", np.int16, np.int32, np.int64, np.bool_)


def grown(array: NDArray[Number], capacity: int, axis: int = 0) -> NDArray[Number]:
    """Return a copy with room for `capacity` entries along an axis; the new ones are zero."""
    shape = list(array.shape)
    shape[axis] = capacity
    larger = np.zeros(shape, dtype=array.dtype)
    larger[tuple(slice(length) for length in array.shape)] = array
    return larger
