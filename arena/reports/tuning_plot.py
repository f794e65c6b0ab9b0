"""How a tuner's best values came about, as an SVG picture for each parameter."""

from collections.abc import Sequence
from html import escape
from typing import Any, Final

from arena.reports.rating_plot import ticks
from arena.selection.candidates import TuningState

_WIDTH: Final = 760
_HEIGHT: Final = 150
_LEFT: Final = 90
_RIGHT: Final = 24
_TOP: Final = 12
_BOTTOM: Final = 34
# Of values that are no numbers so many have a line of their own; longer names are cut.
_MOST_NAMES: Final = 12
_LONGEST_NAME: Final = 12


def tuning_plot(tuning: TuningState) -> str:
    """A picture of each parameter's best value over the games; empty before there are two steps."""
    if len(tuning.path) < 2:
        return ""
    games = [step.games for step in tuning.path]
    return "".join(
        f"<h3>{escape(code)}</h3>{_picture(code, games, [step.values[place] for step in tuning.path])}"
        for place, code in enumerate(tuning.parameters)
    )


def _picture(code: str, games: Sequence[int], values: Sequence[Any]) -> str:
    heights, marks = _scaled(values)
    low, high = min(heights), max(heights)
    margin = (high - low) * 0.08 or 0.5
    low, high = low - margin, high + margin
    first, last = 0, max(games[-1], 1)

    def x(count: float) -> float:
        return round(_LEFT + (count - first) / (last - first) * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(value: float) -> float:
        return round(_HEIGHT - _BOTTOM - (value - low) / (high - low) * (_HEIGHT - _TOP - _BOTTOM), 1)

    parts = [
        f'<svg class="tuning" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" '
        f'role="img" aria-label="best value of {escape(code)} after so many games">'
    ]
    for at, text in marks or [(tick, f"{tick:g}") for tick in ticks(low, high)[::2]]:
        parts.append(f'<line class="grid" x1="{_LEFT}" y1="{y(at)}" x2="{_WIDTH - _RIGHT}" y2="{y(at)}"/>')
        parts.append(
            f'<text class="tick" x="{_LEFT - 8}" y="{y(at) + 4}" text-anchor="end">{escape(text)}</text>'
        )
    for tick in ticks(first, last):
        parts.append(
            f'<text class="tick" x="{x(tick)}" y="{_HEIGHT - 18}" text-anchor="middle">{tick:g}</text>'
        )
    parts.append(
        f'<text class="tick" x="{(_LEFT + _WIDTH - _RIGHT) / 2}" y="{_HEIGHT - 4}" text-anchor="middle">'
        "games</text>"
    )
    # A value stays the best until another is: steps, not slopes.
    steps = [f"{x(games[0])},{y(heights[0])}"]
    for count, before, value in zip(games[1:], heights, heights[1:], strict=False):
        steps += [f"{x(count)},{y(before)}", f"{x(count)},{y(value)}"]
    parts.append(f'<polyline class="path" points="{" ".join(steps)}"/>')
    parts.append(f'<circle cx="{x(games[-1])}" cy="{y(heights[-1])}" r="4.5"/>')
    return "".join([*parts, "</svg>"])


def _scaled(values: Sequence[Any]) -> tuple[list[float], list[tuple[float, str]]]:
    """Values as heights; those that are no numbers stand on lines, which are given with their names."""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return [float(value) for value in values], []
    names = [str(value) for value in values]
    lines = {name: float(place) for place, name in enumerate(dict.fromkeys(names))}
    marks = [(height, _short(name)) for name, height in lines.items()]
    return [lines[name] for name in names], marks[:_MOST_NAMES]


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
