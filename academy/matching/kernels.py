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

from academy.matching.changes import BoardChanges
from academy.matching.freed_memory import keep_freed_memory
from academy.matching.ground import BoardTables
from academy.matching.matches import Found, FoundEach
from academy.matching.order import RankOrder
from academy.matching.placement_lists import Fields, Lost, PlacementLists, Records
from academy.matching.rows import Rows
from academy.matching.successors import Differences

VARIABLE: Final = "ACADEMY_MATCHING_KERNEL"
NAMES: Final = ("numba", "numpy")

# Set while the compiled kernel is made ready in the background; NumPy's answers meanwhile.
still_loading: Final = threading.Event()


class UnknownKernelError(ValueError):
    """A kernel that does not exist or cannot be used here."""


class Find(Protocol):
    """How a kernel is asked; both answer the same."""

    def __call__(
        self,
        boards: NDArray[np.uint8],
        ground: BoardTables,
        rows: Rows,
        order: RankOrder,
        wanted: NDArray[np.bool_],
        most: int,
        each: int,
    ) -> Found:
        """Return the matches on some boards, (board, cell), and how many there are in all.

        Of each match: the row's place in `order`, symmetry, row, column, and the number of the board.
        Rows come as in `order`, without those that are not `wanted` (all are if that is empty); of a row on
        one board come `each` matches at most, and `most` in all.
        """


class FindEach(Protocol):
    """How a kernel is asked several queries in one call."""

    def __call__(
        self,
        boards: NDArray[np.uint8],
        ground: BoardTables,
        rows: Rows,
        order: RankOrder,
        wanted: NDArray[np.bool_],
        most: NDArray[np.int64],
        each: NDArray[np.int64],
    ) -> FoundEach:
        """Answer each query, (query, board, cell), under limits of its own as `Find` would."""


@cache
def chosen() -> str:
    """Return the name of the kernel that is used. Raises UnknownKernelError for a variable set wrongly."""
    wish = os.environ.get(VARIABLE, "auto")
    installed = find_spec("numba") is not None
    if wish == "auto":
        return "numba" if installed else "numpy"
    if wish not in NAMES:
        raise UnknownKernelError(f"{VARIABLE} is {wish!r}: it must be auto, {' or '.join(NAMES)}")
    if wish == "numba" and not installed:
        raise UnknownKernelError(
            f"{VARIABLE} is 'numba', which is not installed: install academy-arena[fast], or leave it unset"
        )
    return wish


class FindSuccessors(Protocol):
    """How a kernel is asked for the positions after moves."""

    def __call__(
        self,
        states: NDArray[np.uint8],
        ground: BoardTables,
        rows: Rows,
        changes: BoardChanges,
        codes: NDArray[np.uint8],
        order: RankOrder,
        wanted: NDArray[np.bool_],
        most: int,
        each: int,
    ) -> tuple[Found, Differences]:
        """Return the matches before the moves, and which of them each move ends and which it brings.

        Of move i are gone the matches `gone[gone_starts[i] : gone_starts[i + 1]]` of those before it, and new
        are places and (symmetries, rows, columns), likewise, and how many are new without limits. `most`
        and `each` hold for the matches before, as in `Find`, and for the new ones of each move. `codes` are
        the codes that tests count.
        """


class Write(Protocol):
    """How a kernel is asked to write an answer. Numbers may take more bytes than they need."""

    def __call__(
        self, lists: PlacementLists, lost: Lost, records: Records, fields: Fields
    ) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """Return the message, and the places of all patterns in its table, in order."""


class WriteEach(Protocol):
    """How a kernel is asked to write several answers in one call."""

    def __call__(
        self, lists: PlacementLists, ends: NDArray[np.int32], lost: Lost, records: Records, fields: Fields
    ) -> tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """Write each answer as `Write` would; the lists of answer i end before list `ends[i]`.

        Return the messages one behind the other, where each ends, their tables and where each of these ends.
        """


class Kernel(NamedTuple):
    """One way to answer queries."""

    find: Find
    find_each: FindEach
    find_successors: FindSuccessors
    write: Write
    write_each: WriteEach


@cache
def kernel(name: str) -> Kernel:
    """Return a kernel by name. The first use of `numba` imports it, which takes a while."""
    if name == "numba":
        from academy.matching.compiled import several, successors, telling, writing

        keep_freed_memory()
        return Kernel(
            telling.find, several.find_each, successors.find_successors, writing.write, several.write_each
        )
    from academy.matching.vectorised import several as vectorised_several
    from academy.matching.vectorised import sieve as vectorised_sieve
    from academy.matching.vectorised import successors as vectorised_successors
    from academy.matching.vectorised import writing as vectorised_writing

    return Kernel(
        vectorised_sieve.find,
        vectorised_several.find_each,
        vectorised_successors.find_successors,
        vectorised_writing.write,
        vectorised_several.write_each,
    )


def current() -> Kernel:
    """Return the kernel to ask now."""
    return kernel("numpy" if still_loading.is_set() else chosen())
