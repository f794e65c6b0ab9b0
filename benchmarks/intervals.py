"""A median of times with its interval, without an assumption on how times are spread."""

import math
from collections.abc import Sequence
from statistics import median


def median_with_interval(values: Sequence[float], decimals: int) -> str:
    """Write a median with its 95 % interval, by the order of the values."""
    ordered, middle = sorted(values), len(values) // 2
    beside = math.ceil(0.98 * math.sqrt(len(ordered)))
    low, high = ordered[max(middle - beside, 0)], ordered[min(middle + beside, len(ordered) - 1)]
    return f"{median(ordered):.{decimals}f} [{low:.{decimals}f}, {high:.{decimals}f}]"
