"""The text language of patterns: reader and writer.

Square boards are written as rows of letters; hexagonal boards as staggered rows, each letter half a
cell (one character) beside those above and below it; graph boards as one line `letter node` a node.
A pattern's label is a line `< proposers; elo; value; player >` below it.

    # - x b        - w          x PAR
    # - o -       # - o         - BUR
    - x - w      # - x #
                  - o -
    < 3; 165;      - -
      0.78; 2 >

Rows of a hexagonal pattern that all begin in the same column are taken as centred.
"""

import re
from collections.abc import Iterator
from typing import Final

from academy.knowledge.boards import Geometry, GraphGeometry, HexGeometry
from academy.knowledge.cells import CODE_LETTERS, LETTER_CODES
from academy.knowledge.error_details import WithDetails
from academy.knowledge.patterns import InvalidPatternError, Pattern, graph_pattern, grid_pattern
from academy.knowledge.votes import MAX_ELO, Signature

__all__ = ["PatternSyntaxError", "read_cells", "read_label", "write_cells"]

_LETTERS: Final = " ".join(CODE_LETTERS.values())
_SIGNATURE: Final = re.compile(r"<([^;<>]*);([^;<>]*);([^;<>]*);([^;<>]*)>")
# Longer than any number that a label may hold.
_MAX_DIGITS: Final = 40
_WHOLE: Final = re.compile(r"[0-9]{1,18}")
# Small values are written as 1e-06.
_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?(e-?[0-9]{1,2})?")


class PatternSyntaxError(WithDetails, InvalidPatternError):
    """Text that is not a pattern; `line` and `column` count from 1."""

    def __init__(self, line: int, column: int, what: str) -> None:
        super().__init__(f"line {line}, column {column}: {what}", line=line, column=column)
        self.line = line
        self.column = column
        # The fault without its place.
        self.what = what


def read_cells(text: str, geometry: Geometry) -> Pattern:
    """Read one pattern without its label.

    Args:
        text: The cells in the language of this module.
        geometry: The board of the game.

    Returns:
        The pattern.

    Raises:
        PatternSyntaxError: A letter or outline is not of the language, or the pattern says nothing or too
            much.
    """
    rows = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not rows:
        raise PatternSyntaxError(1, 1, "no cells")
    try:
        if isinstance(geometry, GraphGeometry):
            return graph_pattern(_read_nodes(rows, geometry))
        if isinstance(geometry, HexGeometry):
            return _without_gaps(grid_pattern(_read_hexagonal(rows)))
        return grid_pattern(_read_square(rows))
    except PatternSyntaxError:
        raise
    except InvalidPatternError as error:
        raise PatternSyntaxError(rows[0][0], 1, str(error)) from None


def write_cells(pattern: Pattern, geometry: Geometry) -> str:
    """Write a pattern's cells.

    Args:
        pattern: The pattern.
        geometry: The board of the game.

    Returns:
        Text from which `read_cells` makes the same pattern.
    """
    letters = [CODE_LETTERS[code] for code in pattern.codes]
    if isinstance(geometry, GraphGeometry):
        return "\n".join(
            f"{letter} {geometry.nodes[node]}"
            for (_, node), letter in zip(pattern.cells, letters, strict=True)
        )
    hexagonal = isinstance(geometry, HexGeometry)
    places = [(row, 2 * column + (row if hexagonal else 0)) for row, column in pattern.cells]
    left = min(place for _, place in places)
    lines = [""] * pattern.rows
    for (row, place), letter in zip(places, letters, strict=True):
        lines[row] = lines[row].ljust(place - left) + letter
    return "\n".join(lines)


def _code(line: int, column: int, letter: str) -> int:
    code = LETTER_CODES.get(letter)
    if code is None:
        raise PatternSyntaxError(line, column, f"letter {letter!r} is none of {_LETTERS}")
    return code


def _read_square(rows: list[tuple[int, str]]) -> Iterator[tuple[int, int, int]]:
    width = None
    for row, (line, text) in enumerate(rows):
        letters = [(column, letter) for column, letter in enumerate(text, 1) if letter not in " \t"]
        if width is None:
            width = len(letters)
        elif len(letters) != width:
            raise PatternSyntaxError(
                line,
                letters[-1][0],
                f"a row of {len(letters)} cells below rows of {width}: all must be as long",
            )
        for place, (column, letter) in enumerate(letters):
            yield row, place, _code(line, column, letter)


def _read_hexagonal(rows: list[tuple[int, str]]) -> Iterator[tuple[int, int, int]]:
    starts = {len(text) - len(text.lstrip()) for _, text in rows}
    counts = [len(text.split()) for _, text in rows]
    centred = len(rows) > 1 and len(starts) == 1
    parity = None
    for row, (line, text) in enumerate(rows):
        indent = max(counts) - counts[row] - min(starts) if centred else 0
        previous = None
        for column, letter in enumerate(text, 1):
            if letter == " ":
                continue
            code = _code(line, column, letter)
            if previous is not None and column < previous + 2:
                raise PatternSyntaxError(
                    line, column, "cells of a hexagonal pattern have a blank between them"
                )
            previous = column
            skewed = column + indent - row
            if parity is None:
                parity = skewed % 2
            elif skewed % 2 != parity:
                raise PatternSyntaxError(
                    line,
                    column,
                    "this cell is not half a cell beside the row above it"
                    + (
                        f": {counts[row]} cells centred below {counts[row - 1]}; indent the rows, or let "
                        "their numbers of cells differ by an odd number"
                        if centred
                        else ""
                    ),
                )
            yield row, (skewed - parity) // 2, code


def _without_gaps(pattern: Pattern) -> Pattern:
    """Let a hexagonal pattern pass whose every image has a cell in each of its rows, as text needs."""
    rows, columns = zip(*pattern.cells, strict=True)
    for lines in (set(rows), set(columns), {sum(cell) for cell in pattern.cells}):
        if len(lines) <= max(lines) - min(lines):
            raise InvalidPatternError(
                "a hexagonal pattern must have a cell in every row, in all three directions of rows"
            )
    return pattern


def _read_nodes(rows: list[tuple[int, str]], geometry: GraphGeometry) -> Iterator[tuple[int, int]]:
    for line, text in rows:
        words = text.split()
        if len(words) != 2 or len(words[0]) != 1:
            raise PatternSyntaxError(line, 1, f"{text.strip()!r} is not a letter and the name of a node")
        if words[1] not in geometry.nodes:
            column = text.index(words[1], text.index(words[0]) + 1) + 1
            raise PatternSyntaxError(line, column, f"there is no node {words[1]!r} on this board")
        yield geometry.nodes.index(words[1]), _code(line, text.index(words[0]) + 1, words[0])


def read_label(text: str, line: int = 1) -> Signature:
    """Read a pattern's label.

    Args:
        text: `< proposers; elo; value; player >`.
        line: The number of the line, for error messages.

    Returns:
        The label.

    Raises:
        PatternSyntaxError: It is not a label, or a number is out of range.
    """
    label = _SIGNATURE.fullmatch(text.strip())
    if label is None:
        raise PatternSyntaxError(
            line, 1, f"{text.strip()!r} is not a label '< proposers; elo; value; player >'"
        )
    numbers = []
    for name, group, written in (
        ("proposers", 1, _WHOLE),
        ("elo", 2, _NUMBER),
        ("value", 3, _NUMBER),
        ("player", 4, _WHOLE),
    ):
        digits = label[group].strip()
        if len(digits) > _MAX_DIGITS or not written.fullmatch(digits):
            blanks = len(label[group]) - len(label[group].lstrip())
            column = text.index("<") + 1 + label.start(group) + blanks
            raise PatternSyntaxError(line, column, f"{name} {digits[:_MAX_DIGITS]!r} is not a number")
        numbers.append(int(digits) if written is _WHOLE else float(digits))
    proposers, elo, value, player = numbers
    if proposers < 1 or player < 1 or abs(elo) > MAX_ELO or not 0.0 <= value <= 1.0:
        raise PatternSyntaxError(
            line,
            1,
            f"{text.strip()!r}: proposers and player are at least 1, Elo is from -{MAX_ELO:.0f} to "
            f"{MAX_ELO:.0f}, value in [0, 1]",
        )
    return Signature(int(proposers), float(elo), float(value), int(player))
