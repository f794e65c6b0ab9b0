"""The measurement of questions about openings comes to its end."""

import sys

import pytest

from benchmarks import openings


def test_all_four_rows_are_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(openings, "CONTESTS", 20)
    monkeypatch.setattr(openings, "QUESTIONS", 2)
    monkeypatch.setattr(sys, "argv", ["openings"])
    openings.main()
    rows = [line.split(" | ")[0] for line in capsys.readouterr().out.splitlines()[2:]]
    kinds = ("asked before", "new since a contest")
    assert rows == [f"| {kind}, {ahead} plies ahead" for ahead in (0, 6) for kind in kinds]
