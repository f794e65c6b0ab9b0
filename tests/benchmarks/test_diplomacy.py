"""The figures of Diplomacy come as tables, with or without the package beside ours."""

import pytest

from benchmarks import diplomacy, diplomacy_package
from benchmarks.diplomacy_package import NotInstalledError, Played


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diplomacy, "YEARS", 1)
    monkeypatch.setattr(diplomacy, "BOT_YEARS", 1)
    monkeypatch.setattr("sys.argv", ["diplomacy", "--games", "5"])


def test_the_package_is_measured_beside_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["diplomacy", "--games", "5", "--package", "python"])
    monkeypatch.setattr(diplomacy_package, "random_play", lambda *_: Played(100, 1.0, 0.5))
    diplomacy.main()
    output = capsys.readouterr().out
    assert "| the package `diplomacy` 1.1.2 | 100 | 200 |" in output and "| times as many |" in output
    assert output.count("\n|---|") == 4


def test_the_report_says_that_it_cannot_be_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse() -> None:
        raise NotInstalledError("no network")

    monkeypatch.setattr(diplomacy_package, "installed", refuse)
    diplomacy.main()
    output = capsys.readouterr().out
    assert "could not be installed here: no network" in output
    assert "| this project |" in output and "package `diplomacy`" not in output


def test_rates_are_medians_of_the_rounds() -> None:
    rounds = [Played(10, 1.0, 0.1), Played(10, 2.0, 0.5), Played(10, 10.0, 1.0)]
    assert diplomacy.rate(rounds) == (5.0, 20.0)


def test_positions_made_by_hand_are_as_hard_as_they_say() -> None:
    position, orders = diplomacy.crowded(40)
    assert len(position.units) == 19 + 40
    assert sum(len(given) for given in orders.values()) == len(position.units)
    tangled, given = diplomacy.tangled()
    assert sum(map(len, given.values())) == len(tangled.units)
