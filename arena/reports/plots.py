"""Plots of reports, as SVG: ratings with their error bars, and how a tuner's best values came about."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from arena.selection.candidates import TuningState

_ROW: Final = 26
_TOP: Final = 12
_BOTTOM: Final = 34
_WIDTH: Final = 760
_RIGHT: Final = 24
# What the widest names need at the size of the text, in fonts that may differ from ours.
_LETTER: Final = 8.5
_HEIGHT: Final = 150
_LEFT: Final = 90
# At most this many values other than numbers have a line of their own.
_MOST_NAMES: Final = 12
# Longer names are cut: of players, and of values.
_LONGEST_NAME: Final = 28
_LONGEST_VALUE: Final = 12


@dataclass(frozen=True)
class Bar:
    """A player's mark: its value, and how far its interval reaches to either side (None: not known)."""

    name: str
    value: float
    error: float | None


def rating_plot(bars: Sequence[Bar], unit: str) -> str:
    """The picture, the first bar on top; empty where there are none. `unit` names the values."""
    if not bars:
        return ""
    left = 20.0 + _LETTER * max(len(_short(bar.name, _LONGEST_NAME)) for bar in bars)
    low = min(bar.value - (bar.error or 0.0) for bar in bars)
    high = max(bar.value + (bar.error or 0.0) for bar in bars)
    margin = (high - low) * 0.04 or 10.0
    low, high = low - margin, high + margin
    height = _TOP + _ROW * len(bars) + _BOTTOM

    def x(value: float) -> float:
        return round(left + (value - low) / (high - low) * (_WIDTH - left - _RIGHT), 1)

    bottom = _TOP + _ROW * len(bars)
    parts = [
        f'<svg class="ratings" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape(unit)} of each player with its error">'
    ]
    for tick in ticks(low, high):
        parts.append(f'<line class="grid" x1="{x(tick)}" y1="{_TOP}" x2="{x(tick)}" y2="{bottom}"/>')
        parts.append(
            f'<text class="tick" x="{x(tick)}" y="{bottom + 14}" text-anchor="middle">{tick:g}</text>'
        )
    parts.append(
        f'<text class="tick" x="{(left + _WIDTH - _RIGHT) / 2}" y="{height - 4}" text-anchor="middle">'
        f"{escape(unit)}</text>"
    )
    for place, bar in enumerate(bars):
        y = _TOP + _ROW * place + _ROW // 2
        name = _short(bar.name, _LONGEST_NAME)
        label = f"{bar.name}: {bar.value:.1f}" + ("" if bar.error is None else f" ± {bar.error:.1f}")
        parts.append(f'<g class="bar"><title>{escape(label)}</title>')
        parts.append(f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{escape(name)}</text>')
        if bar.error:
            start, end = x(bar.value - bar.error), x(bar.value + bar.error)
            parts.append(f'<line class="error" x1="{start}" y1="{y}" x2="{end}" y2="{y}"/>')
            parts += [
                f'<line class="error" x1="{at}" y1="{y - 5}" x2="{at}" y2="{y + 5}"/>' for at in (start, end)
            ]
        parts.append(f'<circle cx="{x(bar.value)}" cy="{y}" r="4.5"/></g>')
    return "".join([*parts, "</svg>"])


def ticks(low: float, high: float) -> list[float]:
    """Round values between two, four to ten of them: steps of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / 9.0
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(place * step, 10) for place in range(first, last + 1)]


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
    heights, marks = _scale(values)
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


def _scale(values: Sequence[Any]) -> tuple[list[float], list[tuple[float, str]]]:
    """Values as heights; those that are no numbers stand on lines, which are given with their names."""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return [float(value) for value in values], []
    names = [str(value) for value in values]
    lines = {name: float(place) for place, name in enumerate(dict.fromkeys(names))}
    marks = [(height, _short(name, _LONGEST_VALUE)) for name, height in lines.items()]
    return [lines[name] for name in names], marks[:_MOST_NAMES]


def _short(name: str, longest: int) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1]}…"
