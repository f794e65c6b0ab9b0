"""What a person sees while a competition runs."""

import io

import pytest
from rich.console import Console

from arena.display import LAST_RESULTS, LiveDisplay, PlainDisplay, Progress, QuietDisplay, display_for
from arena.ratings.elo import EloRules
from arena.results.standings import Standings
from tests.arena.results.test_standings import game

STANDINGS = Standings(["a", "[b]"], EloRules(), [game(("a", "[b]"), (1,), cpu=(1.25, None))])


def test_the_live_display_shows_standings_games_and_last_results() -> None:
    screen = io.StringIO()
    with LiveDisplay(Console(file=screen, force_terminal=True, width=100, height=40)) as display:
        for number in range(LAST_RESULTS + 1):
            display.result(f"game AvB_{number}: a beat [b] B+1")
        display.warning("it is [late]")
        display.show(
            Progress("cup", STANDINGS, ("AvB_7", "AvB_8"), 20, waiting_reports=3, note="wait for it")
        )
        shown = screen.getvalue()
    assert "cup: 1/20 games" in shown
    assert "in progress: AvB_7 AvB_8" in shown
    assert "1.25" in shown and "[b]" in shown
    assert "game AvB_0" not in shown and f"game AvB_{LAST_RESULTS}" in shown
    assert "warning: it is [late]" in shown
    assert "3 reports wait for ACADEMY" in shown and "wait for it" in shown


def test_the_plain_display_prints_a_line_a_result(capsys: pytest.CaptureFixture[str]) -> None:
    with PlainDisplay() as display:
        for _ in range(2):
            display.show(Progress("cup", STANDINGS, (), None, note="waiting"))
        display.result("game AvB_0: a beat [b] B+1")
        display.warning("late")
    captured = capsys.readouterr()
    assert captured.out == "waiting\ngame AvB_0: a beat [b] B+1\n"
    assert captured.err == "warning: late\n"


def test_the_quiet_display_shows_nothing_but_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    with QuietDisplay() as display:
        display.show(Progress("cup", STANDINGS, (), None))
        display.result("game AvB_0: a beat [b] B+1")
        display.warning("late")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "warning: late\n")


def test_the_display_suits_the_output() -> None:
    assert isinstance(display_for(quiet=True), QuietDisplay)
    assert isinstance(display_for(quiet=False), PlainDisplay)
