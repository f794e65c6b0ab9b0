"""The descent of families as SVG: a row for each place, a line for each member, thin ones from parents."""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from arena.v1 import competitions_pb2

__all__ = ["draw_descent"]

_WIDTH: Final = 600.0
_ROW: Final = 14
_GAP: Final = 12
_LEFT: Final = 10.0


def draw_descent(members: Sequence[competitions_pb2.FamilyMember]) -> Markup:
    """Draw members of families, at least one, in the order of their births, as wide as a chart.

    Names, scores and values are the titles of their lines; colours from red to green are scores.
    """
    families = list(dict.fromkeys(member.family for member in members))
    top, tops = 14, {}
    for family in families:
        tops[family] = top
        top += _ROW * (1 + max(member.place for member in members if member.family == family)) + _GAP
    first = min(member.born for member in members)
    step = (_WIDTH - 2 * _LEFT) / max(1, max(member.last for member in members) - first)
    by_name = {member.name: member for member in members}

    def at(member: competitions_pb2.FamilyMember, generation: int) -> tuple[float, float]:
        x = round(_LEFT + step * (generation - first), 1)
        return x, tops[member.family] + _ROW * (member.place + 0.5)

    label = Markup('<text x="{}" y="{}">{}</text>')
    parts = [label.format(_WIDTH / 2, tops[name], name) for name in families]
    for member in members:
        x, y = at(member, member.born)
        for parent in (by_name[name] for name in member.parents if name in by_name):
            from_x, from_y = at(parent, max(parent.born, min(parent.last, member.born - 1)))
            parts.append(
                Markup('<line class="parent" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(from_x, from_y, x, y)
            )
    for member in members:
        (x, y), (end, _) = at(member, member.born), at(member, member.last)
        scored = member.HasField("score")
        score = f"{member.score:.3f} in {member.games} games" if scored else "no game yet"
        colour = f"hsl({round(120 * member.score) if scored else 60} 65% 42%)"
        parts.append(
            Markup(
                '<g stroke="{}" fill="{}"><title>{}: {}; {}</title>'
                '<line x1="{}" y1="{}" x2="{}" y2="{}" stroke-width="3"/><circle cx="{}" cy="{}" r="{}"/></g>'
            ).format(
                colour,
                colour,
                member.name,
                score,
                member.values,
                x,
                y,
                end,
                y,
                x,
                y,
                5 if member.alive else 4,
            )
        )
    return Markup('<svg class="descent" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        int(_WIDTH), top, f"Descent of {len(members)} members", Markup("").join(parts)
    )
