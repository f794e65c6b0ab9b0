"""Curves as SVG, with their scales beside them as text. The style sheet has the colours."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup, escape

__all__ = ["Curve", "Scale", "draw_curves", "rating_scale"]

_WIDTH: Final = 600
_HEIGHT: Final = 100
_COLOURS: Final = 8
# How near ticks come to the ends, whose own texts are longer across, as shares of the scale.
_EDGE_BELOW: Final = 0.2
_EDGE_ACROSS: Final = 0.28
_MOST_STEPS: Final = 4
# Shorter scales across need no numbers.
_LEAST_NUMBERED: Final = 10
# Intervals of several curves stand beside each other at the right.
_INTERVAL_WIDTH: Final = 9


@dataclass(frozen=True)
class Curve:
    """One curve.

    Attributes:
        number: Which colour it has, from 1.
        points: How far to the right each point lies, and how high.
        name: What it shows; "" where the page says it.
        likely: Between which heights its end lies with 95 %; None where that is not known.
    """

    number: int
    points: Sequence[tuple[float, float]]
    name: str = ""
    likely: tuple[float, float] | None = None

    @property
    def colour(self) -> str:
        """The class that gives it its colour."""
        return f"seat-{(self.number - 1) % _COLOURS + 1}"


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
        numbered: Whether numbers stand between these.
    """

    right: float
    least: float
    most: float
    now: float | None = None
    levels: Sequence[float] = ()
    pattern: str = "{:g}"
    ends: tuple[str, str] = ("", "")
    numbered: bool = True


def draw_curves(curves: Sequence[Curve], scale: Scale, label: str) -> Markup:
    """Draw curves; `label` says what the chart shows to those who do not see it."""
    wide, high = scale.right or 1.0, (scale.most - scale.least) or 1.0

    def right(value: float) -> float:
        return _WIDTH * value / wide

    def down(value: float) -> float:
        return _HEIGHT * (1 - (value - scale.least) / high)

    parts = [
        f'<line class="level" x1="0" x2="{_WIDTH}" y1="{down(level):.1f}" y2="{down(level):.1f}"/>'
        for level in scale.levels
    ]
    # Rounded to the same text as an end, or as each other, they would say nothing.
    ticks = {scale.pattern.format(tick): tick for tick in _ticks(scale.least, scale.most, _EDGE_BELOW)}
    least, most = scale.pattern.format(scale.least), scale.pattern.format(scale.most)
    heights = [(tick, text) for text, tick in ticks.items() if text not in (least, most)]
    parts += [
        f'<line class="tick" x1="0" x2="{_WIDTH}" y1="{down(tick):.1f}" y2="{down(tick):.1f}"/>'
        for tick, _ in heights
    ]
    parts += _intervals(curves, down)
    for curve in curves:
        points = " ".join(f"{right(x):.1f},{down(y):.1f}" for x, y in curve.points)
        title = f"<title>{escape(curve.name)}</title>" if curve.name else ""
        parts.append(f'<polyline class="{curve.colour}" points="{points}">{title}</polyline>')
    if scale.now is not None:
        at = right(scale.now)
        parts.append(f'<line class="now" x1="{at:.1f}" x2="{at:.1f}" y1="0" y2="{_HEIGHT}"/>')
    ends = (
        f'<span class="from">{escape(scale.ends[0])}</span><span class="to">{escape(scale.ends[1])}</span>'
        if any(scale.ends)
        else ""
    )
    beside = "".join(
        f'<text x="100%" y="{100 * (down(tick) + 3) / (_HEIGHT + 6):.1f}%" dy="0.32em">{escape(text)}</text>'
        for tick, text in heights
    )
    below = "".join(
        f'<text x="{100 * tick / wide:.1f}%" y="1em">{tick:,.0f}</text>'
        for tick in (_ticks(0, wide, _EDGE_ACROSS) if scale.numbered and wide >= _LEAST_NUMBERED else ())
    )
    return Markup(
        f'<div class="chart-frame"><span class="most">{escape(most)}</span>'
        f'<span class="least">{escape(least)}</span>'
        f'<svg class="chart" role="img" aria-label="{escape(label)}" viewBox="0 -3 {_WIDTH} {_HEIGHT + 6}" '
        f'preserveAspectRatio="none">{"".join(parts)}</svg>'
        f'<svg class="axis" aria-hidden="true">{beside}</svg>'
        f'<svg class="axis across" aria-hidden="true">{below}</svg>{ends}</div>'
    )


def _ticks(least: float, most: float, edge: float) -> list[float]:
    """A few round values between the ends of a scale."""
    span = most - least
    if span <= 0:
        return []
    power = 10.0 ** math.floor(math.log10(span / _MOST_STEPS))
    step = next(times * power for times in (1, 2, 5, 10) if times * power * _MOST_STEPS >= span * 0.999)
    first, last = math.ceil((least + edge * span) / step), math.floor((most - edge * span) / step)
    return [number * step for number in range(first, last + 1)]


def _intervals(curves: Sequence[Curve], down: Callable[[float], float]) -> Iterator[str]:
    """Where the curves' ends lie with 95 %: over the whole width for one curve, else bars at the right."""
    for place, curve in enumerate(curves, 1):
        if curve.likely is None:
            continue
        lower, upper = (min(max(down(height), -3), _HEIGHT + 3) for height in curve.likely)
        if len(curves) == 1:
            yield f'<rect class="range" x="0" width="{_WIDTH}" y="{upper:.1f}" height="{lower - upper:.1f}"/>'
        else:
            at = _WIDTH - _INTERVAL_WIDTH * (len(curves) - place + 0.5)
            points = f"{at:.1f},{lower:.1f} {at:.1f},{upper:.1f}"
            yield f'<polyline class="ends {curve.colour}" points="{points}"/>'


def rating_scale(curves: Sequence[Curve], games: int, ends: tuple[str, str]) -> Scale:
    """Return a scale as high as the curves of ratings, and as their intervals as far as these leave room."""
    values = [value for curve in curves for _, value in curve.points]
    least, most = min(values), max(values)
    room = max(most - least, 1.0)
    likely = [height for curve in curves for height in curve.likely or ()]
    reached = [min(max(height, least - room), most + room) for height in likely]
    return Scale(games, min([least, *reached]), max([most, *reached]), pattern="{:.0f}", ends=ends)
