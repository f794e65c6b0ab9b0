"""The matching index of one library of patterns."""

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Board, GraphGeometry, InvalidBoard
from academy.knowledge.cells import State
from academy.knowledge.patterns import InvalidPattern, Pattern
from academy.knowledge.spec import GameSpec
from academy.matching.anchoring import AnchorKind, anchored
from academy.matching.images import Cells, Neighbourhood, SymmetryGroup
from academy.matching.matches import Matches
from academy.matching.rows import PatternRows
from academy.matching.sieve import Hits, sieve_all
from academy.matching.table import Surroundings, tables

_STATES: Final = bytes(State)


class PatternIndex:
    """Patterns of one game by id, and where on a board they occur.

    Patterns are matched as they are stored, for player 1: `match_both` also asks for player 2 of a
    symmetric game. An index is for one thread at a time; a query sees all changes made before it.
    """

    def __init__(self, spec: GameSpec) -> None:
        geometry = spec.geometry
        self._spec = spec
        self._group = SymmetryGroup(spec.symmetry_group)
        self._neighbourhood = Neighbourhood(self._group)
        self._rows: dict[AnchorKind, PatternRows] = {}
        self._places: dict[int, tuple[AnchorKind, int]] = {}
        self._board_rows, self._board_columns = (
            (1, geometry.size) if isinstance(geometry, GraphGeometry) else (geometry.rows, geometry.columns)
        )

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, pattern_id: int) -> bool:
        return pattern_id in self._places

    def put(self, pattern_id: int, pattern: Pattern) -> None:
        """Add a pattern, or replace the one of that id.

        Raises InvalidPattern where it cannot occur in the game's geometry; the index then stays as it was.
        """
        self._spec.check_pattern(pattern)
        if isinstance(self._spec.geometry, GraphGeometry):
            self._check_nodes(pattern, self._spec.geometry.size)
        found = anchored(pattern, self._group)
        if pattern_id in self._places:
            self.remove(pattern_id)
        if found.kind not in self._rows:
            self._rows[found.kind] = PatternRows(self._group.count)
        numbers = self._neighbourhood.use(found.offsets)
        self._places[pattern_id] = found.kind, self._rows[found.kind].append(pattern_id, found, numbers)

    def remove(self, pattern_id: int) -> None:
        """Remove a pattern. Raises KeyError for an id that is not in the index."""
        kind, row = self._places[pattern_id]
        patterns = self._rows[kind]
        self._neighbourhood.release(patterns.offset_numbers(row))
        moved = patterns.remove(row)
        if moved is not None:
            self._places[moved] = kind, row
        del self._places[pattern_id]
        renumbered = self._neighbourhood.dropped()
        if renumbered is not None:
            for patterns in self._rows.values():
                patterns.renumber(renumbered)

    def match(self, board: Board) -> Matches:
        """Return every place where a pattern, under any of the game's symmetries, lies on the board.

        Raises InvalidBoard for a board of another geometry or with cells that hold no state.
        """
        self._check_board(board)
        surroundings = Surroundings(self._board_rows, self._board_columns, board.states)
        found = [np.zeros((4, 0), dtype=np.int64)]
        for kind, patterns in self._rows.items():
            anchors = surroundings.anchors(kind)
            if len(patterns) and len(anchors):
                hits = sieve_all(tables(surroundings, anchors, self._neighbourhood), patterns)
                found.append(_placed(patterns, hits, anchors))
        columns = np.concatenate(found, axis=1)
        # All hits of a pattern are in one part, and in order there.
        pattern_ids, *places = columns.take(np.argsort(columns[0], kind="stable"), axis=1)
        return Matches(pattern_ids, *(column.astype(np.int16) for column in places))

    def match_many(self, boards: Iterable[Board]) -> list[Matches]:
        """Match each board. Raises InvalidBoard like `match`."""
        return [self.match(board) for board in boards]

    def match_both(self, board: Board) -> tuple[Matches, Matches]:
        """Match for player 1 and for player 2 of a symmetric game.

        The places of the second are those on `spec.reversed_board(board)`. Raises InvalidBoard like `match`,
        and InvalidGame where the game's reversal does not map its board onto itself.
        """
        return self.match(board), self.match(self._spec.reversed_board(board))

    def _check_nodes(self, pattern: Pattern, size: int) -> None:
        for row, node in pattern.cells:
            if row != 0 or not 0 <= node < size:
                raise InvalidPattern(
                    f"cell {(row, node)} of a pattern: on this board it is (0, node), node 0 to {size - 1}"
                )

    def _check_board(self, board: Board) -> None:
        if board.geometry != self._spec.geometry:
            raise InvalidBoard(f"a board that is not one of {self._spec.game_id!r}: its geometry differs")
        if len(board.states) != board.geometry.size:
            raise InvalidBoard(f"a board of {len(board.states)} states for {board.geometry.size} cells")
        unknown = board.states.translate(None, _STATES)
        if unknown:
            allowed = ", ".join(str(int(state)) for state in State)
            raise InvalidBoard(f"state {unknown[0]} on a board: it must be one of {allowed}")


def _placed(patterns: PatternRows, hits: Hits, anchors: Cells) -> NDArray[np.int64]:
    corners = anchors.take(hits.anchors, axis=0) - patterns.anchors[hits.rows, hits.symmetries]
    return np.stack([patterns.pattern_ids.take(hits.rows), hits.symmetries, corners[:, 0], corners[:, 1]])
