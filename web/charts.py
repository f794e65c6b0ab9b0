"""Curves as SVG, with their scales beside them as text. The style sheet has the colours."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup, escape

__all__ = ["Curve", "Scale", "draw_curves"]

_WIDTH: Final = 600
_HEIGHT: Final = 100
_COLOURS: Final = 8


@dataclass(frozen=True)
class Curve:
    """One curve.

    Attributes:
        number: Which colour it has, from 1.
        points: How far to the right each point lies, and how high.
        name: What it shows; "" where the page says it.
    """

    number: int
    points: Sequence[tuple[float, float]]
    name: str = ""


@dataclass(frozen=True)
class Scale:
    """What a chart shows of its curves.

    Attributes:
        right: The right end; the left one is 0.
        least: The lower end.
        most: The upper end.
        now: Where a line from top to bottom stands; None for no line.
        levels: Heights at which lines stand from left to right.
        pattern: How heights are written.
        ends: What stands below the left and the right end.
    """

    right: float
    least: float
    most: float
    now: float | None = None
    levels: Sequence[float] = ()
    pattern: str = "{:g}"
    ends: tuple[str, str] = ("", "")


def draw_curves(curves: Sequence[Curve], scale: Scale, label: str) -> Markup:
    """Draw curves.

    Args:
        curves: The curves.
        scale: The ends of both ways, and lines.
        label: What the chart shows, for those who do not see it.
    """
    wide, high = scale.right or 1.0, (scale.most - scale.least) or 1.0

    def right(value: float) -> float:
        return _WIDTH * value / wide

    def down(value: float) -> float:
        return _HEIGHT * (1 - (value - scale.least) / high)

    parts = [
        f'<line class="level" x1="0" x2="{_WIDTH}" y1="{down(level):.1f}" y2="{down(level):.1f}"/>'
        for level in scale.levels
    ]
    for curve in curves:
        points = " ".join(f"{right(x):.1f},{down(y):.1f}" for x, y in curve.points)
        title = f"<title>{escape(curve.name)}</title>" if curve.name else ""
        kind = f"seat-{(curve.number - 1) % _COLOURS + 1}"
        parts.append(f'<polyline class="{kind}" points="{points}">{title}</polyline>')
    if scale.now is not None:
        at = right(scale.now)
        parts.append(f'<line class="now" x1="{at:.1f}" x2="{at:.1f}" y1="0" y2="{_HEIGHT}"/>')
    ends = (
        f'<span class="from">{escape(scale.ends[0])}</span><span class="to">{escape(scale.ends[1])}</span>'
        if any(scale.ends)
        else ""
    )
    return Markup(
        f'<div class="chart-frame"><span class="most">{escape(scale.pattern.format(scale.most))}</span>'
        f'<span class="least">{escape(scale.pattern.format(scale.least))}</span>'
        f'<svg class="chart" role="img" aria-label="{escape(label)}" viewBox="0 -3 {_WIDTH} {_HEIGHT + 6}" '
        f'preserveAspectRatio="none">{"".join(parts)}</svg>{ends}</div>'
    )
