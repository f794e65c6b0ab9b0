"""The fuzzing of the kernels, for a moment: the long run is by hand."""

import sys
from typing import NoReturn

import pytest

from benchmarks import fuzz_matching
from benchmarks.fuzz_matching import check


def test_kernels_agree_with_the_reference_on_boards_that_have_matches() -> None:
    assert sum(map(check, range(20))) > 0


def test_a_kernel_that_fails_is_reported_with_the_seed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> NoReturn:
        raise IndexError("beyond the board")

    monkeypatch.setattr(fuzz_matching, "check_moves", fails)
    monkeypatch.setattr(sys, "argv", ["fuzz_matching", "--seed", "17"])
    with pytest.raises(IndexError):
        fuzz_matching.main()
    assert capsys.readouterr().err == "seed 17:\n"
