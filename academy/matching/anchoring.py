"""Choosing one of a pattern's cells as its anchor.

The *anchor* is the pattern's most central stone, or its most central other cell that must lie on the board.
A query then tries the pattern only where the board has a piece of that colour, and tests the other cells by
their offset from it.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.cells import Code
from academy.knowledge.patterns import InvalidPatternError, Pattern
from academy.matching.board_tables import AnchorKind, Cells, SymmetryGroup, axes_of

# The codes that need a test, and by code its number in that list.
TESTED_CODES: Final = np.array([code for code in Code if code is not Code.ANYTHING], dtype=np.uint8)
_UNKNOWN: Final = 255
_NUMBERS: Final = np.full(256, _UNKNOWN, dtype=np.uint8)
_NUMBERS[TESTED_CODES] = np.arange(len(TESTED_CODES), dtype=np.uint8)

# By code: the cells of a board that a pattern with this code at its anchor is tried at.
_KINDS: Final = np.full(256, AnchorKind.BOARD_CELL, dtype=np.uint8)
_KINDS[[Code.FIRST_SOLDIER, Code.FIRST_KING, Code.FIRST_PIECE]] = AnchorKind.FIRST_PIECE
_KINDS[[Code.SECOND_SOLDIER, Code.SECOND_KING, Code.SECOND_PIECE]] = AnchorKind.SECOND_PIECE

# How seldom a board satisfies a code: tests that fail most often come first. One '+' excludes more
# than a stone does, but the rest of an edge follows from it.
_FIRST_EDGE: Final = 1
_RARITY: Final = np.zeros(256, dtype=np.int32)
for _code, _rank in {
    Code.FIRST_KING: 0,
    Code.SECOND_KING: 0,
    Code.FIRST_SOLDIER: 2,
    Code.SECOND_SOLDIER: 2,
    Code.FIRST_PIECE: 2,
    Code.SECOND_PIECE: 2,
    Code.OFF_BOARD: 3,
    Code.EMPTY: 4,
    Code.NO_SECOND_PIECE: 5,
    Code.NO_FIRST_PIECE: 5,
}.items():
    _RARITY[_code] = _rank
_IMPLIED_BY_ANCHOR: Final = 6


@dataclass(frozen=True, slots=True, eq=False)
class AnchoredPattern:
    """A pattern as tests around its anchor, the most telling test first.

    Test i wants code `TESTED_CODES[codes[i]]` at `offsets[i]` from the anchor. The image under symmetry s
    has its anchor at `anchors[s]` from its cell (0, 0); `distinct[s]` is false where an earlier symmetry
    gives the same image.
    """

    kind: AnchorKind
    offsets: Cells
    codes: NDArray[np.uint8]
    anchors: NDArray[np.int16]
    distinct: NDArray[np.bool_]


def anchor_pattern(pattern: Pattern, group: SymmetryGroup, hexagonal: bool = False) -> AnchoredPattern:
    """Choose a pattern's anchor, and list its tests.

    Raises InvalidPatternError for a code that is not in the language.
    """
    cells = np.array(pattern.cells, dtype=np.int32)
    codes = np.frombuffer(pattern.codes, dtype=np.uint8)
    tested = codes != Code.ANYTHING
    unknown = tested & (_NUMBERS[codes] == _UNKNOWN)
    if unknown.any():
        place = int(np.flatnonzero(unknown)[0])
        raise InvalidPatternError(
            f"code {codes[place]} at cell {pattern.cells[place]} of a pattern: it must be one of "
            f"{', '.join(str(int(code)) for code in Code)}"
        )
    if not (tested & (codes != Code.OFF_BOARD)).any():
        raise InvalidPatternError("a pattern must hold at least one cell other than '#' and '+'")
    images = group.images(cells)
    if group.moves:
        corners = images.min(axis=1)
        anchor = _most_central_anchor(axes_of(cells, hexagonal), codes, tested)
        kind = AnchorKind(int(_KINDS[codes[anchor]]))
        anchors = images[:, anchor] - corners
        origin = cells[anchor]
    else:
        corners = np.zeros((group.count, 2), dtype=np.int32)
        kind = AnchorKind.WHOLE_GRAPH
        anchors = corners
        origin = corners[0]
    offsets = cells[tested] - origin
    order = _most_telling_first(offsets, codes[tested], kind)
    return AnchoredPattern(
        kind,
        offsets[order],
        _NUMBERS[codes[tested]][order],
        anchors.astype(np.int16),
        _first_of_equal_images(images - corners[:, None], codes),
    )


def _most_central_anchor(axes: Cells, codes: NDArray[np.uint8], tested: NDArray[np.bool_]) -> int:
    candidates = tested & (codes != Code.OFF_BOARD)
    stones = candidates & (_KINDS[codes] != AnchorKind.BOARD_CELL)
    chosen = np.flatnonzero(stones if stones.any() else candidates)
    low, high = axes[tested].min(axis=0), axes[tested].max(axis=0)
    reach = np.maximum(axes[chosen] - low, high - axes[chosen]).max(axis=1)
    return int(chosen[np.lexsort((_RARITY[codes[chosen]], reach))[0]])


def _most_telling_first(offsets: Cells, codes: NDArray[np.uint8], kind: AnchorKind) -> NDArray[np.intp]:
    ranks = _RARITY[codes]
    edges = np.flatnonzero(codes == Code.OFF_BOARD)
    if len(edges):
        ranks[edges[0]] = _FIRST_EDGE
    if kind != AnchorKind.WHOLE_GRAPH:
        at_anchor = np.flatnonzero(~offsets.any(axis=1))
        ranks[at_anchor[ranks[at_anchor] > 0]] = _IMPLIED_BY_ANCHOR
    return np.argsort(ranks, kind="stable")


def _first_of_equal_images(images: Cells, codes: NDArray[np.uint8]) -> NDArray[np.bool_]:
    keys = (images[:, :, 0].astype(np.int64) << 32) | (images[:, :, 1].astype(np.int64) << 8) | codes
    keys.sort(axis=1)
    seen: dict[bytes, int] = {}
    return np.array([seen.setdefault(key.tobytes(), number) == number for number, key in enumerate(keys)])
