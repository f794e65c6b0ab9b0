"""Plots of reports, as SVG: ratings with their error bars, and how a tuner's best values came about."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from arena.selection.tuner import TuningState

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
    parts = []
    for tick in ticks(low, high):
        parts += [_line(x(tick), _TOP, x(tick), bottom), _label(x(tick), bottom + 14, f"{tick:g}")]
    parts.append(_label((left + _WIDTH - _RIGHT) / 2, height - 4, unit))
    for place, bar in enumerate(bars):
        y = _TOP + _ROW * place + _ROW // 2
        name = _short(bar.name, _LONGEST_NAME)
        label = f"{bar.name}: {bar.value:.1f}" + ("" if bar.error is None else f" ± {bar.error:.1f}")
        parts.append(f'<g class="bar"><title>{escape(label)}</title>')
        parts.append(f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{escape(name)}</text>')
        if bar.error:
            start, end = x(bar.value - bar.error), x(bar.value + bar.error)
            parts.append(_line(start, y, end, y, "error"))
            parts += [_line(at, y - 5, at, y + 5, "error") for at in (start, end)]
        parts.append(f'<circle cx="{x(bar.value)}" cy="{y}" r="4.5"/></g>')
    return _picture("ratings", height, f"{unit} of each player with its error", parts)


def _picture(kind: str, height: float, label: str, parts: Iterable[str]) -> str:
    return (
        f'<div class="scroll"><svg class="{kind}" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'height="{height}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg></div>'
    )


def _line(x1: float, y1: float, x2: float, y2: float, kind: str = "grid") -> str:
    return f'<line class="{kind}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>'


def _label(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text class="tick" x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


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
        f"<h3>{escape(code)}</h3>{_path(code, games, [step.values[place] for step in tuning.path])}"
        for place, code in enumerate(tuning.parameters)
    )


def _path(code: str, games: Sequence[int], values: Sequence[Any]) -> str:
    heights, marks = _scale(values)
    low, high = min(heights), max(heights)
    margin = (high - low) * 0.08 or 0.5
    low, high = low - margin, high + margin
    last = max(games[-1], 1)

    def x(count: float) -> float:
        return round(_LEFT + count / last * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(value: float) -> float:
        return round(_HEIGHT - _BOTTOM - (value - low) / (high - low) * (_HEIGHT - _TOP - _BOTTOM), 1)

    parts = []
    for at, text in marks or [(tick, f"{tick:g}") for tick in ticks(low, high)[::2]]:
        parts.append(_line(_LEFT, y(at), _WIDTH - _RIGHT, y(at)))
        parts.append(_label(_LEFT - 8, y(at) + 4, text, "end"))
    parts += [_label(x(tick), _HEIGHT - 18, f"{tick:g}") for tick in ticks(0, last)]
    parts.append(_label((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 4, "games"))
    # A value stays the best until another is: steps, not slopes.
    steps = [f"{x(games[0])},{y(heights[0])}"]
    for count, before, value in zip(games[1:], heights, heights[1:], strict=False):
        steps += [f"{x(count)},{y(before)}", f"{x(count)},{y(value)}"]
    parts.append(f'<polyline class="path" points="{" ".join(steps)}"/>')
    parts.append(f'<circle cx="{x(games[-1])}" cy="{y(heights[-1])}" r="4.5"/>')
    return _picture("tuning", _HEIGHT, f"best value of {code} by games played", parts)


def _scale(values: Sequence[Any]) -> tuple[list[float], list[tuple[float, str]]]:
    """Values as heights; those that are not numbers stand on lines, which are given with their names."""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return [float(value) for value in values], []
    names = [str(value) for value in values]
    lines = {name: float(place) for place, name in enumerate(dict.fromkeys(names))}
    marks = [(height, _short(name, _LONGEST_VALUE)) for name, height in lines.items()]
    return [lines[name] for name in names], marks[:_MOST_NAMES]


def _short(name: str, longest: int) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1]}…"
