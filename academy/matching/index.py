"""The matching index of one library of patterns."""

from collections.abc import Mapping
from functools import lru_cache
from threading import Lock
from typing import Any, Final

from numpy.typing import NDArray

from academy.knowledge.boards import Board, Geometry, GraphGeometry, HexGeometry
from academy.knowledge.patterns import InvalidPatternError, Pattern
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import GridSymmetry, NodeSymmetry
from academy.matching.anchoring import anchored
from academy.matching.ground import ground_of
from academy.matching.images import Neighbourhood, SymmetryGroup
from academy.matching.kept_rows import kept_rows
from academy.matching.matches import Matches
from academy.matching.rows import PatternRows
from academy.matching.snapshot import Snapshot

# To be raised with every change of what rows hold or mean, so that kept ones of before are not used.
LAYOUT: Final = 2
_BOARDS_REMEMBERED: Final = 32


class PatternIndex:
    """Patterns of one game by number, and where on a board they occur.

    Patterns are matched as they are stored, for player 1: `match_both` also asks for player 2 of a
    symmetric game. Any thread may change the index or query it at any time: a query is answered from the
    `snapshot` it began with, and sees all changes made before.
    """

    def __init__(self, spec: GameSpec, kernel: str | None = None) -> None:
        """Begin without patterns; queries are answered by a kernel (None: by the one in use at the time)."""
        self._spec = spec
        self._kernel = kernel
        self._group, neighbourhood = _around(spec.geometry, spec.symmetry_group)
        self._ground = ground_of(spec, self._group, neighbourhood)
        self._rows = PatternRows(self._group.count, neighbourhood)
        self._row_of: dict[int, int] = {}
        # What is in neither yet: rows are taken apart when one of them changes.
        self._kept: Mapping[str, NDArray[Any]] | None = None
        self._lock = Lock()
        self._snapshot: Snapshot | None = None

    def __len__(self) -> int:
        kept = self._kept
        return len(self._row_of) if kept is None else len(kept["rows"])

    def __contains__(self, pattern_id: int) -> bool:
        with self._lock:
            self._take_apart()
            return pattern_id in self._row_of

    def put(self, pattern_id: int, pattern: Pattern) -> None:
        """Add a pattern, or replace the one of that number.

        Raises InvalidPatternError where it cannot occur in the game's geometry; the index then stays as it
        was.
        """
        self._spec.check_pattern(pattern)
        if isinstance(self._spec.geometry, GraphGeometry):
            _check_nodes(pattern, self._spec.geometry.size)
        found = anchored(pattern, self._group, isinstance(self._spec.geometry, HexGeometry))
        with self._lock:
            self._take_apart()
            if pattern_id in self._row_of:
                self._remove(pattern_id)
            self._row_of[pattern_id] = self._rows.append(pattern_id, found)
            self._snapshot = None

    def remove(self, pattern_id: int) -> None:
        """Remove a pattern. Raises KeyError for a number that is not in the index."""
        with self._lock:
            self._take_apart()
            self._remove(pattern_id)
            self._snapshot = None

    def _remove(self, pattern_id: int) -> None:
        self._rows.remove(self._row_of.pop(pattern_id))
        renumbered = self._rows.compacted()
        if renumbered:
            self._row_of = renumbered

    def kept(self) -> dict[str, NDArray[Any]]:
        """Return what the index holds as arrays that do not change any more, to `restore` another from."""
        with self._lock:
            self._take_apart()
            return self._rows.kept()

    def restore(self, kept: Mapping[str, NDArray[Any]]) -> None:
        """Fill an index that is empty yet with what another one of the same game held.

        The arrays must be as `kept` gave them under the same `LAYOUT`: they are not looked through.
        """
        with self._lock:
            self._kept = kept
            self._snapshot = None

    def _take_apart(self) -> None:
        if self._kept is not None:
            self._row_of = self._rows.restore(self._kept)
            self._kept = None

    def snapshot(self) -> Snapshot:
        """Return the patterns as they are now; the same object until the next change."""
        known = self._snapshot
        if known is None:
            with self._lock:
                rows = self._rows.now() if self._kept is None else kept_rows(self._kept)
                known = self._snapshot = Snapshot(self._spec, self._ground, rows, self._kernel)
        return known

    def match(self, board: Board) -> Matches:
        """Return every place where a pattern lies on the board (see `Snapshot.match`)."""
        return self.snapshot().match(board)

    def match_both(self, board: Board) -> Matches:
        """Match for player 1 and, at once, for player 2 of a symmetric game, on the board reversed.

        Raises InvalidBoardError like `match`.
        """
        return self.snapshot().match(board, both=True)


@lru_cache(maxsize=_BOARDS_REMEMBERED)
def _around(
    geometry: Geometry, symmetries: tuple[GridSymmetry, ...] | tuple[NodeSymmetry, ...]
) -> tuple[SymmetryGroup, Neighbourhood]:
    """What all games of a board and its symmetries have in common."""
    group = SymmetryGroup(symmetries)
    return group, Neighbourhood(geometry, group)


def _check_nodes(pattern: Pattern, size: int) -> None:
    for row, node in pattern.cells:
        if row != 0 or not 0 <= node < size:
            raise InvalidPatternError(
                f"cell {(row, node)} of a pattern: on this board it is (0, node), node 0 to {size - 1}"
            )
