"""Tables of aligned plain text."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class TextColumn:
    """A column: its cells, aligned to the `right` or left, and the blanks that follow it.

    A `heading` stands over this column and the next `span` - 1; an empty one over none.
    """

    cells: Sequence[str]
    heading: str = ""
    right: bool = False
    padding: int = 1
    span: int = 1


def rendered(columns: Sequence[TextColumn]) -> list[str]:
    """The lines of a table: its headings, then its rows; without blanks at their ends."""
    widths = [max(map(len, column.cells), default=0) for column in columns]
    place = 0
    while place < len(columns):
        covered = range(place, place + columns[place].span)
        wide = sum(widths[i] for i in covered) + sum(columns[i].padding for i in covered[:-1])
        widths[covered[-1]] += max(0, len(columns[place].heading) - wide)
        place = covered.stop
    heading = ""
    at = 0
    for column, width in zip(columns, widths, strict=True):
        if column.heading:
            text = column.heading.rjust(width) if column.right and column.span == 1 else column.heading
            heading = heading.ljust(at) + text
        at += width + column.padding
    rows = []
    for number in range(max(len(column.cells) for column in columns)):
        row = ""
        for column, width in zip(columns, widths, strict=True):
            cell = column.cells[number] if number < len(column.cells) else ""
            row += (cell.rjust(width) if column.right else cell.ljust(width)) + " " * column.padding
        rows.append(row.rstrip())
    return [heading.rstrip(), *rows]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """A plain table whose first row is its headings: the first column to the left, others to the right."""
    columns = list(zip(*rows, strict=True))
    return rendered(
        [
            TextColumn(cells, heading, right=place > 0, padding=2)
            for place, (heading, *cells) in enumerate(columns)
        ]
    )
