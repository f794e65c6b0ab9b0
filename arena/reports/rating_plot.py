"""Ratings with their error bars, as an SVG picture."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

_ROW: Final = 26
_TOP: Final = 12
_BOTTOM: Final = 34
_WIDTH: Final = 760
_RIGHT: Final = 24
# What the widest names need at the size of the text, in fonts that may differ from ours.
_LETTER: Final = 8.5


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
    left = 20.0 + _LETTER * max(len(_short(bar.name)) for bar in bars)
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
        said = f"{bar.name}: {bar.value:.1f}" + ("" if bar.error is None else f" ± {bar.error:.1f}")
        parts.append(f'<g class="bar"><title>{escape(said)}</title>')
        parts.append(f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{escape(_short(bar.name))}</text>')
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


def _short(name: str) -> str:
    return name if len(name) <= 28 else f"{name[:27]}…"
