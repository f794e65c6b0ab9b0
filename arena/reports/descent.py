"""The descent of a competition's families: as lines of text, as JSON, and drawn as SVG.

In the drawing time goes to the right, a generation a column. Each place of a family is a row, and a member is
a line from its first generation to its last; thin lines lead to it from its parents.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from html import escape
from typing import Any, Final

from arena.control.changed_settings import abridge
from arena.reports.text import align_rows
from arena.selection.generations import Descendant, Descent

_COLUMN: Final = 36
_ROW: Final = 16
_LEFT: Final = 130
_TOP: Final = 24
_GAP: Final = 14
# Wider drawings are narrowed to this by narrower columns.
_MOST_WIDTH: Final = 2400
_LEAST_COLUMN: Final = 6.0
_BETWEEN_NUMBERS: Final = 30.0


def descent_lines(descent: Descent) -> list[str]:
    """All members in the order of their births: who, from whom and how, until when, and what they scored."""
    rows = [["member", "generations", "score", "games", "how", "parents", "values"]]
    for member in descent.members:
        lived = f"{member.born}" if member.last == member.born else f"{member.born}-{member.last}"
        rows.append(
            [
                member.name,
                f"{lived}{' +' if member.alive else ''}",
                "-" if member.score is None else f"{member.score:.3f}",
                str(member.games),
                member.variation,
                ", ".join(member.parents) or "-",
                abridge(member.text),
            ]
        )
    if descent.generation < descent.generations:
        state = f"generation {descent.generation} (of 0 to {descent.generations - 1}); + plays now"
    else:
        state = f"all {descent.generations} generations are over; + played in the last one"
    return [state, *align_rows(rows)]


def descent_as_json(descent: Descent) -> Mapping[str, Any]:
    """The same for other programs."""
    return asdict(descent)


def descent_drawing(descent: Descent) -> str:
    """The picture as an SVG element without styles or scripts; colours are presentation attributes."""
    columns = max(1, max((member.last for member in descent.members), default=0) + 1)
    step = max(_LEAST_COLUMN, min(_COLUMN, (_MOST_WIDTH - _LEFT) / columns))
    tops, height = _lay_out(descent.families)
    width = round(_LEFT + step * columns + 20)
    label = f"descent of {len(descent.members)} members in {columns} generations"
    parts = [*_grid(descent.families, tops, columns, step)]
    by_name = {member.name: member for member in descent.members}

    def at(member: Descendant, generation: float) -> tuple[float, float]:
        return (
            round(_LEFT + step * (generation + 0.5), 1),
            tops[member.family] + _ROW * (member.place + 0.5),
        )

    for member in descent.members:
        x, y = at(member, member.born)
        for parent in (by_name[name] for name in member.parents if name in by_name):
            from_x, from_y = at(parent, min(member.born - 1, parent.last) if member.born else 0)
            parts.append(
                f'<line x1="{from_x}" y1="{from_y}" x2="{x}" y2="{y}" stroke="#7a7f87" stroke-width="0.8"/>'
            )
    for member in descent.members:
        parts.append(_life(member, at(member, member.born), at(member, member.last)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="descent" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" role="img" '
        f'aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def _lay_out(families: Mapping[str, int]) -> tuple[dict[str, int], int]:
    """Where each family's rows begin, and the height of all."""
    tops, y = {}, _TOP
    for name, size in families.items():
        tops[name] = y
        y += _ROW * size + _GAP
    return tops, y


def _grid(families: Mapping[str, int], tops: Mapping[str, int], columns: int, step: float) -> Iterator[str]:
    """The numbers of generations above, and the families' names at the left."""
    every = next(
        count for count in (1, 2, 5, 10, 20, 50, 100, 1000, 10_000) if count * step >= _BETWEEN_NUMBERS
    )
    for generation in range(0, columns, every):
        x = round(_LEFT + step * (generation + 0.5), 1)
        yield (
            f'<text x="{x}" y="{_TOP - 8}" font-size="11" fill="#7a7f87" text-anchor="middle">'
            f"{generation}</text>"
        )
    for name, size in families.items():
        middle = tops[name] + _ROW * size / 2 + 4
        yield (
            f'<text x="{_LEFT - 8}" y="{middle}" font-size="12.5" fill="#7a7f87" text-anchor="end">'
            f"{escape(abridge(name)[:18])}</text>"
        )


def _life(member: Descendant, start: tuple[float, float], end: tuple[float, float]) -> str:
    score = "no game yet" if member.score is None else f"{member.score:.3f} in {member.games} games"
    title = f"{member.name}: {score}; {abridge(member.text)}"
    # From red to green by its score; members that play now are larger.
    hue = round(120 * (0.5 if member.score is None else member.score))
    colour = f"hsl({hue},65%,42%)"
    return (
        f"<g><title>{escape(title)}</title>"
        f'<line x1="{start[0]}" y1="{start[1]}" x2="{end[0]}" y2="{end[1]}" stroke="{colour}" '
        f'stroke-width="3"/>'
        f'<circle cx="{start[0]}" cy="{start[1]}" r="{5 if member.alive else 4}" fill="{colour}"/></g>'
    )
