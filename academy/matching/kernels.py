"""Which of the two kernels answers queries: compiled with Numba where that is installed, else NumPy's.

The environment variable ACADEMY_MATCHING_KERNEL, read once, forces one: `numba`, `numpy`, or `auto`.
"""

import os
import threading
from functools import cache
from importlib.util import find_spec
from typing import Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from academy.matching.matches import Matches, MatchLimits, RankedRows
from academy.matching.successors import BoardChanges, Successors

VARIABLE: Final = "ACADEMY_MATCHING_KERNEL"
NAMES: Final = ("numba", "numpy")

# Set where the compiled kernel is made ready in the background, until it is; NumPy's answers meanwhile.
not_ready: Final = threading.Event()


class UnknownKernelError(ValueError):
    """A kernel that does not exist or cannot be used here."""


class MatchFunction(Protocol):
    """How a kernel is called; both answer the same."""

    def __call__(self, boards: NDArray[np.uint8], library: RankedRows, limits: MatchLimits) -> Matches:
        """Return the matches on one board or two: (board, cell)."""


class MatchSuccessorsFunction(Protocol):
    """How a kernel is called for the positions after moves."""

    def __call__(
        self, states: NDArray[np.uint8], changes: BoardChanges, library: RankedRows, limits: MatchLimits
    ) -> Successors:
        """Return the matches before the moves, and what each move ends and brings.

        The limits hold for the matches before, and for the new ones of each move.
        """


class Kernel(NamedTuple):
    """One way to answer queries."""

    match: MatchFunction
    match_successors: MatchSuccessorsFunction


@cache
def chosen() -> str:
    """Return the name of the kernel that is used. Raises UnknownKernelError for a variable set wrongly."""
    name = os.environ.get(VARIABLE, "auto")
    installed = find_spec("numba") is not None
    if name == "auto":
        return "numba" if installed else "numpy"
    if name not in NAMES:
        raise UnknownKernelError(f"{VARIABLE} is {name!r}: it must be auto, {' or '.join(NAMES)}")
    if name == "numba" and not installed:
        raise UnknownKernelError(
            f"{VARIABLE} is 'numba', which is not installed: install academy-arena[fast], or leave it unset"
        )
    return name


def in_use() -> str:
    """Return the name of the kernel that answers now: NumPy's until the compiled one is ready."""
    return "numpy" if not_ready.is_set() else chosen()


@cache
def kernel(name: str) -> Kernel:
    """Return a kernel by name. The first use of `numba` imports it, which takes a while."""
    if name == "numba":
        from academy.matching.compiled import collect, successors

        return Kernel(collect.match, successors.match_successors)
    from academy.matching import numpy_kernel

    return Kernel(numpy_kernel.match, numpy_kernel.match_successors)
