"""The long run over random games finds what is broken, and can be run in pieces."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from referees.diplomacy import NOBODY, Phase, PhaseAdjudication, Position, Season, adjudicate, shipped_map
from research import diplomacy_invariants as invariants
from research.diplomacy_invariants import BrokenInvariantError, Tally, compare, look_at, play
from tests.referees.diplomacy.positions import orders, position

STANDARD = shipped_map("standard")
ADRIATIC = STANDARD.location("ADR")


@pytest.mark.parametrize(("name", "games"), [("standard", 8), ("straits", 8)])
def test_random_games_keep_all_invariants(name: str, games: int) -> None:
    tally = Tally()
    for number in range(games):
        play(number, shipped_map(name), 8, tally)
    assert tally.games == games
    assert tally.phases > games * 16


def test_a_game_depends_on_its_number_alone() -> None:
    once, again = Tally(), Tally()
    for number in (3, 4):
        play(number, STANDARD, 4, once)
    for number in (4, 3):
        play(number, STANDARD, 4, again)
    assert once == again


@pytest.mark.parametrize(
    ("broken", "what"),
    [
        (lambda p: replace(p, units=(*p.units, STANDARD.unit(0, "A VIE"))), "two units in a province"),
        (
            lambda p: replace(p, units=(p.units[0]._replace(location=STANDARD.location("ADR")),)),
            "an army at sea",
        ),
        (lambda p: replace(p, owners=p.owners[:-1]), "a centre without an entry"),
        (lambda p: replace(p, phase=Phase.RETREATS), "dislodged units out of retreats"),
    ],
)
def test_a_position_that_cannot_be_is_found(broken: Callable[[Position], Position], what: str) -> None:
    look_at(position("AUS A VIE"))
    with pytest.raises(BrokenInvariantError, match=what):
        look_at(broken(position("AUS A VIE")))


@pytest.mark.parametrize(
    ("broken", "what"),
    [
        (lambda a: replace(a, units=()), "units lost in moves"),
        (lambda a: replace(a, season=Season.SPRING), "S1901M after S1901M"),
        (lambda a: replace(a, owners=(NOBODY,) * 34), "centres change hands before autumn is over"),
    ],
)
def test_a_phase_that_cannot_be_is_found(broken: Callable[[Position], Position], what: str) -> None:
    start = position("AUS A VIE; ITA A VEN")
    played = adjudicate(start, orders(start, "AUS A VIE - TYR; ITA A VEN - TYR"))
    compare(played)
    with pytest.raises(BrokenInvariantError, match=what):
        compare(_Ended(played, broken(played.after)))  # type: ignore[arg-type]


class _Ended:
    """An adjudication that led elsewhere."""

    def __init__(self, played: PhaseAdjudication, after: Position) -> None:
        self.position, self.results, self.after = played.position, played.results, after


def test_a_run_goes_on_where_one_was_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = tmp_path / "progress"
    for games, summary in (("3", "3 games, "), ("5", "2 games, ")):
        command = ["diplomacy_invariants", "--years", "2", "--games", games, "--progress", str(progress)]
        monkeypatch.setattr(sys, "argv", command)
        assert invariants.main() == 0
        assert capsys.readouterr().out.startswith(summary)
        assert progress.read_text() == f"{games} standard 2\n"


@pytest.mark.parametrize(
    ("progress", "message"),
    [
        ("", "has '', not the number of a game and 'standard 2'; name another file"),
        ("3 straits 2", "has '3 straits 2', not the number of a game and 'standard 2'; name another file"),
        ("5 standard 2", "all games to 4 were played; give more --games, or another file"),
    ],
)
def test_a_run_that_would_play_nothing_or_other_games_is_refused(
    progress: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "progress"
    file.write_text(progress)
    command = ["diplomacy_invariants", "--years", "2", "--games", "5", "--progress", str(file)]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit):
        invariants.main()
    assert f"{file}: {message}" in capsys.readouterr().err


def test_an_adjudicator_that_fails_is_reported_with_the_game(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> NoReturn:
        raise IndexError("beyond the map")

    monkeypatch.setattr(sys, "argv", ["diplomacy_invariants", "--first", "17", "--games", "2"])
    monkeypatch.setattr(invariants, "adjudicate", fails)
    with pytest.raises(IndexError):
        invariants.main()
    assert capsys.readouterr().err == "game 17:\n"


def test_a_fault_is_reported_with_its_game_and_ends_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["diplomacy_invariants", "--games", "2", "--years", "1"])
    monkeypatch.setattr(invariants, "all_legal_orders", lambda position: [{0: []}] * 7)
    assert invariants.main() == 1
    assert capsys.readouterr().out == "game 0: a unit without a legal order\n"
