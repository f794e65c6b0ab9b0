"""What a person sees while a competition runs."""

import io
import os
import sys

import pytest
from rich.console import Console

from arena.ratings.elo import EloRules
from arena.results.standings import Standings
from arena.terminal.display import PROGRESS_SECONDS, Display, PlainDisplay, display_for
from arena.terminal.live_display import BUSY_SECONDS, LAST_RESULTS, QUIET_SECONDS, LiveDisplay
from arena.terminal.progress import GameInProgress, RunProgress
from arena.terminal.standings_table import standings_text
from tests.arena.results.test_standings import game
from tests.arena.terminal.test_progress import Clock

STANDINGS = Standings(["a", "[b]"], EloRules(), [game(("a", "[b]"), (1,), cpu=(1.25, None))])
GAMES = (GameInProgress("AvB_7", ("a", "[b]"), 12.0), GameInProgress("AvB_8", ("[b]", "a"), 75.0))


def live(clock: Clock) -> tuple[LiveDisplay, io.StringIO]:
    screen = io.StringIO()
    return LiveDisplay(Console(file=screen, force_terminal=True, width=100, height=40), clock), screen


def test_the_live_display_shows_all_there_is_to_know() -> None:
    display, screen = live(Clock())
    with display:
        for number in range(LAST_RESULTS + 1):
            display.result(f"game AvB_{number}: a beat [b] B+1")
        display.warning("it is [late]")
        progress = RunProgress(
            "cup", STANDINGS, GAMES, 20, startable=1, games_per_second=0.5, seconds_left=38,
            waiting_reports=3, lines=["LLR 1.5"], halt_key=True,
        )  # fmt: skip
        display.show(lambda: progress)
        shown = screen.getvalue()
    assert "cup: 1/20 games, 30.0 games/min, about 38 s to go" in shown
    assert "AvB_7: a vs [b], 12 s" in shown and "AvB_8: [b] vs a, 1 min 15 s" in shown
    assert "will start at most 1 game more in this run" in shown
    assert "unknown" in shown
    assert "1.25" in shown and "LLR 1.5" in shown
    assert "game AvB_0" not in shown and f"game AvB_{LAST_RESULTS}" in shown
    assert "warning: it is [late]" in shown
    assert "3 reports wait for ACADEMY" in shown
    assert "Ctrl-X" in shown


def test_the_live_display_says_what_it_waits_for_instead_of_how_to_stop() -> None:
    display, screen = live(Clock())
    with display:
        display.note("waiting for the games in progress")
        display.show(lambda: RunProgress("cup", STANDINGS, halt_key=True))
        shown = screen.getvalue()
    assert "waiting for the games in progress" in shown and "Ctrl-X" not in shown


def test_the_live_display_draws_no_more_often_than_it_must() -> None:
    clock = Clock()
    display, _ = live(clock)
    drawn: list[float] = []

    def progress() -> RunProgress:
        drawn.append(clock.now)
        return RunProgress("cup", STANDINGS)

    with display:
        display.show(progress)
        for event in ("nothing", "nothing", "result", "result"):
            if event == "result":
                display.result("game AvB_1: a beat [b] B+1")
            clock.now += BUSY_SECONDS
            display.show(progress)
            display.show(progress)
        clock.now += QUIET_SECONDS
        display.show(progress)
    assert [at - 1000 for at in drawn] == [
        0,
        3 * BUSY_SECONDS,
        4 * BUSY_SECONDS,
        4 * BUSY_SECONDS + QUIET_SECONDS,
    ]


def test_names_cannot_command_the_terminal() -> None:
    display, screen = live(Clock())
    evil = Standings(["\x1b]0;title\x07"], EloRules())
    with display:
        display.warning("\x1b[2Jgone")
        display.result("\x9b2J")
        display.show(lambda: RunProgress("cup", evil, (GameInProgress("x", ("\x1b[8m",), 1.0),)))
    assert "\\x1b[2Jgone" in screen.getvalue() and "\x1b]0;" not in screen.getvalue()
    assert "\x1b[8m" not in screen.getvalue() and "\x9b" not in screen.getvalue()


def test_the_plain_display_prints_a_line_a_result(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    with PlainDisplay(clock) as display:
        for _ in range(2):
            display.note("waiting")
            display.show(lambda: RunProgress("cup", STANDINGS))
        display.result("game AvB_0: a beat [b] B+1")
        display.warning("late")
        clock.now += PROGRESS_SECONDS
        for _ in range(2):
            display.show(lambda: RunProgress("cup", STANDINGS, total=4, games_per_second=2.0))
    captured = capsys.readouterr()
    assert captured.out == "waiting\ngame AvB_0: a beat [b] B+1\ncup: 1/4 games, 2.0 games/s\n"
    assert captured.err == "warning: late\n"


def test_the_quiet_display_shows_nothing_but_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    with Display() as display:
        display.show(lambda: RunProgress("cup", STANDINGS))
        display.note("waiting")
        display.result("game AvB_0: a beat [b] B+1")
        display.acknowledge("Ctrl-X received")
        display.warning("late")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "Ctrl-X received\nwarning: late\n")


def test_the_display_suits_the_output() -> None:
    assert type(display_for(quiet=True)) is Display
    assert isinstance(display_for(quiet=False), PlainDisplay)


def test_colours_that_are_asked_for_put_no_moving_picture_into_a_pipe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert isinstance(display_for(quiet=False), PlainDisplay)


@pytest.mark.parametrize(("kind", "display"), [("xterm", LiveDisplay), ("dumb", PlainDisplay)])
def test_a_terminal_that_cannot_draw_gets_lines(
    monkeypatch: pytest.MonkeyPatch, kind: str, display: type[Display]
) -> None:
    ours, theirs = os.openpty()
    monkeypatch.setenv("TERM", kind)
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stdout", terminal)
        assert isinstance(display_for(quiet=False), display)
        monkeypatch.undo()
    os.close(ours)


# A name of 64 characters, the most there may be.
LONG = Standings(["a" * 64, "b"], EloRules(), [game(("a" * 64, "b"), (1,), cpu=(1.25, 2.5))] * 1_234)
FIGURES = ["1234", "1234", "0", "0", "0", "0", "0", "1234", "1010", "1.25"]


def test_the_standings_have_all_figures_and_names_whole_in_a_log() -> None:
    assert standings_text(LONG).splitlines()[1].split() == ["a" * 64, *FIGURES]


@pytest.mark.parametrize(("width", "whole"), [(80, len(FIGURES)), (40, 3)])
def test_a_narrow_terminal_shortens_names_and_no_figure(width: int, whole: int) -> None:
    screen = io.StringIO()
    display = LiveDisplay(Console(file=screen, force_terminal=True, color_system=None, width=width))
    with display:
        display.show(lambda: RunProgress("cup", LONG))
        line = next(line for line in screen.getvalue().splitlines() if line.startswith("aa"))
    name, *figures = line.split()
    assert name.endswith("…") and len(line) <= width
    assert figures[:whole] == FIGURES[:whole]
