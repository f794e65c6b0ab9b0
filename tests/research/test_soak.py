"""What the soak takes for flat, and that it runs: the long run is by hand."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from research import soak
from research.soak import SAMPLES, Sample, verdicts

FLAT = [
    Sample(
        at=60.0 * number,
        contests=100 * number,
        memory=1_000_000,
        file=2_000 * 100 * number,
        consultation=(0.01, 0.05),
        report=(0.02, 0.06),
    )
    for number in range(SAMPLES)
]


def _times(by: float, value: Any) -> Any:
    return tuple(by * part for part in value) if isinstance(value, tuple) else by * value


def grown(by: float, figure: str) -> list[Sample]:
    """The same, with one figure larger in the last third."""
    third = 2 * SAMPLES // 3
    larger = [replace(sample, **{figure: _times(by, getattr(sample, figure))}) for sample in FLAT[third:]]
    return FLAT[:third] + larger


def test_what_does_not_change_is_flat() -> None:
    assert all(flat for flat, _ in verdicts(FLAT))


@pytest.mark.parametrize(("figure", "named"), [("memory", "memory"), ("report", "report"), ("file", "file")])
def test_a_figure_that_doubles_is_not_flat(figure: str, named: str) -> None:
    growing = [what for flat, what in verdicts(grown(2.0, figure)) if not flat]
    assert growing and all(what.startswith(named) for what in growing)


@pytest.mark.parametrize(("pace", "kept"), [(100 / 60, True), (2.0, False)])
def test_the_pace_counts_by_what_was_played(pace: float, kept: bool) -> None:
    assert [flat for flat, what in verdicts(FLAT, pace) if what.startswith("pace")] == [kept]


def test_callers_play_no_more_than_is_due_and_lose_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(soak, "SAMPLES", 2)

    pace, begun = 1.0, time.monotonic()

    samples, faults = soak.soak(tmp_path, minutes=4 / 60, processes=1, callers=2, contests_a_second=pace)

    assert faults == []
    assert len(samples) == 2
    # The first is due at once.
    assert samples[-1].contests <= (time.monotonic() - begun) * pace + 1
    assert samples[-1].memory > 0 and samples[-1].file > 0


def test_a_soak_ends_early_when_stopped(tmp_path: Path) -> None:
    outcome = soak.soak(tmp_path, minutes=60, processes=1, callers=1, pause=lambda seconds: seconds > 120)

    assert outcome == ([], [])
