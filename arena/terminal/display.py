"""What a person sees while a competition runs: in a terminal, in a log or pipe, or next to nothing."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final

from arena.output import complain, count_text, say
from arena.terminal.progress import RunProgress, duration_text, pace_text

PROGRESS_SECONDS: Final = 60.0


class Display(AbstractContextManager["Display"]):
    """Shows a run as it goes, in a `with` block. This one shows warnings and answers to Ctrl-X."""

    def show(self, progress: Callable[[], RunProgress]) -> None:
        """Bring up to date what is shown; the progress is asked for only when it is drawn."""

    def result(self, text: str) -> None:
        """Show a finished game."""

    def note(self, text: str) -> None:
        """Show what the run waits for from now on, "" for its games alone."""

    def note_machines(self, text: str) -> None:
        """Show which machines came or went."""

    def acknowledge(self, text: str) -> None:
        """Show that a key was noticed."""
        complain(text)

    def warning(self, text: str) -> None:
        """Show a failure that does not stop the run."""
        complain(f"warning: {text}")

    def __exit__(self, *error: object) -> None:
        return None


class PlainDisplay(Display):
    """A line a result, and a line a minute on how far the run is: for logs and pipes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._note = ""
        self._again = clock() + PROGRESS_SECONDS

    def show(self, progress: Callable[[], RunProgress]) -> None:
        """Print a line when a minute has gone by."""
        if self._clock() >= self._again:
            self._again = self._clock() + PROGRESS_SECONDS
            say(progress_line(progress()))

    def result(self, text: str) -> None:
        """Print a line."""
        say(text)

    def note_machines(self, text: str) -> None:
        """Print a line."""
        say(text)

    def note(self, text: str) -> None:
        """Print it once."""
        if text and text != self._note:
            say(text)
        self._note = text


def progress_line(progress: RunProgress) -> str:
    """How far a run is, how fast, and how long it has to go: `cup: 12/200 games, 3.2 games/min, ...`."""
    parts = [f"{progress.title}: {count_text(progress.standings.games, progress.total)} games"]
    if progress.games_per_second is not None:
        parts.append(pace_text(progress.games_per_second))
    if progress.seconds_left is not None:
        parts.append(f"about {duration_text(progress.seconds_left)} to go")
    return ", ".join(parts)


def display_for(quiet: bool) -> Display:
    """The display that suits where the output goes."""
    if quiet:
        return Display()
    # It loads Rich, which a quiet run begins without.
    from arena.terminal.live_display import terminal_display

    return terminal_display() or PlainDisplay()
