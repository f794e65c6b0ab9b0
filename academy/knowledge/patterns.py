"""Patterns: pieces of board with what each cell accepts.

A pattern on a grid is a set of cells relative to each other; on a graph it is a set of named
nodes, which do not move. Values are normalised, so equal patterns compare equal.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from academy.knowledge.cells import CODE_LETTERS, SWAP_COLOURS, Code
from academy.knowledge.symmetries import Cell, GridSymmetry, NodeSymmetry

__all__ = ["MAX_PATTERN_CELLS", "InvalidPatternError", "Pattern", "graph_pattern", "grid_pattern"]

MAX_PATTERN_CELLS = 441  # 21 x 21: a whole Go board with its edge


class InvalidPatternError(ValueError):
    """A pattern that breaks a rule; the message names the value and the rule."""


@dataclass(frozen=True, slots=True, order=True)
class Pattern:
    """Cells in row-major order, the least row and the least column being 0, and a code for each.

    On a graph a cell is (0, node). Build one with `grid_pattern` or `graph_pattern`.
    """

    cells: tuple[Cell, ...]
    codes: bytes

    @property
    def rows(self) -> int:
        """Height of the box around the cells."""
        return 1 + max(row for row, _ in self.cells)

    @property
    def columns(self) -> int:
        """Width of the box around the cells."""
        return 1 + max(column for _, column in self.cells)

    def swapped(self) -> "Pattern":
        """Return the same cells with the players' colours exchanged."""
        return Pattern(self.cells, self.codes.translate(SWAP_COLOURS))

    def image(self, symmetry: GridSymmetry | NodeSymmetry) -> "Pattern":
        """Return the pattern under a symmetry, normalised.

        Args:
            symmetry: A symmetry of the pattern's kind of board.
        """
        cells, sources = _cells_image(self.cells, symmetry)
        return Pattern(cells, bytes([self.codes[source] for source in sources]))


@lru_cache(maxsize=1024)
def _cells_image(
    cells: tuple[Cell, ...], symmetry: GridSymmetry | NodeSymmetry
) -> tuple[tuple[Cell, ...], tuple[int, ...]]:
    """Where cells go, normalised, and for each of them the place it comes from: few shapes, many patterns."""
    if isinstance(symmetry, NodeSymmetry):
        images = [(0, symmetry.image[node]) for _, node in cells]
    else:
        images = [symmetry.image(row, column) for row, column in cells]
        top = min(row for row, _ in images)
        left = min(column for _, column in images)
        images = [(row - top, column - left) for row, column in images]
    sources = sorted(range(len(images)), key=images.__getitem__)
    return tuple(images[source] for source in sources), tuple(sources)


def _check(pattern: Pattern) -> Pattern:
    if len(pattern.cells) > MAX_PATTERN_CELLS:
        raise InvalidPatternError(f"a pattern has at most {MAX_PATTERN_CELLS} cells: this one has more")
    unknown = set(pattern.codes) - CODE_LETTERS.keys()
    if unknown:
        raise InvalidPatternError(
            f"code {min(unknown)} is not one of {', '.join(map(str, map(int, CODE_LETTERS)))}"
        )
    if len(set(pattern.cells)) != len(pattern.cells):
        raise InvalidPatternError("a pattern names the same cell twice")
    if not set(pattern.codes) - {Code.ANYTHING, Code.OFF_BOARD}:
        raise InvalidPatternError("a pattern must hold at least one cell other than '#' and '+'")
    return pattern


def grid_pattern(cells: Iterable[tuple[int, int, int]]) -> Pattern:
    """Make a pattern on a square or hexagonal board.

    Args:
        cells: (row, column, code) of each cell in any order; the least row and the least column become 0. A
            code is a `cells.Code`.

    Returns:
        The normalised pattern.

    Raises:
        InvalidPatternError: There are no cells or more than `MAX_PATTERN_CELLS`, a cell is named twice, a
            number is not a code, or the pattern holds nothing but `#` and `+`.
    """
    ordered = sorted(islice(cells, MAX_PATTERN_CELLS + 1))
    if not ordered:
        raise InvalidPatternError("a pattern has no cells")
    top = ordered[0][0]
    left = min(column for _, column, _ in ordered)
    return _check(
        Pattern(
            tuple((row - top, column - left) for row, column, _ in ordered),
            bytes(code for _, _, code in ordered),
        )
    )


def graph_pattern(nodes: Iterable[tuple[int, int]]) -> Pattern:
    """Make a pattern on a graph.

    Args:
        nodes: (index of the node, code) in any order.

    Returns:
        The normalised pattern.

    Raises:
        InvalidPatternError: As in `grid_pattern`.
    """
    ordered = sorted(islice(nodes, MAX_PATTERN_CELLS + 1))
    if not ordered:
        raise InvalidPatternError("a pattern has no cells")
    return _check(Pattern(tuple((0, node) for node, _ in ordered), bytes(code for _, code in ordered)))
