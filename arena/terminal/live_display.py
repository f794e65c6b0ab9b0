"""A run as a picture on the terminal, drawn again as it goes on."""

import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from arena.terminal.display import Display, progress_line
from arena.terminal.progress import GameInProgress, RunProgress, duration_text
from arena.terminal.standings_table import standings_table
from referees.legible_text import legible

LAST_RESULTS: Final = 6
MOST_GAMES: Final = 8
MOST_PLAYERS: Final = 20
# Drawing costs some milliseconds: seldom while nothing happens, not too often when much does.
QUIET_SECONDS: Final = 1.0
BUSY_SECONDS: Final = 0.25
# On a closed terminal nothing can be drawn; the signal of its end ends the run.
_UNLESS_CLOSED: Final = suppress(OSError)


class LiveDisplay(Display):
    """Redraws at most four times a second; warnings stay on the screen above the picture."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._clock = clock
        self._results: deque[str] = deque(maxlen=LAST_RESULTS)
        self._note = ""
        self._changed = True
        self._drawn = -QUIET_SECONDS

    def show(self, progress: Callable[[], RunProgress]) -> None:
        """Redraw if it is time to."""
        if self._clock() - self._drawn >= (BUSY_SECONDS if self._changed else QUIET_SECONDS):
            picture = self._picture(progress())
            with _UNLESS_CLOSED:
                self._live.update(picture, refresh=True)
            self._drawn, self._changed = self._clock(), False

    def result(self, text: str) -> None:
        """Put a result among the last ones."""
        self._results.append(text)
        self._changed = True

    def note(self, text: str) -> None:
        """Put it into the picture."""
        if text != self._note:
            self._note, self._changed = text, True

    def note_machines(self, text: str) -> None:
        """Print above the picture."""
        with _UNLESS_CLOSED:
            self._live.console.print(_line(text))

    def acknowledge(self, text: str) -> None:
        """Print above the picture."""
        with _UNLESS_CLOSED:
            self._live.console.print(_line(text, "bold"))

    def warning(self, text: str) -> None:
        """Print above the picture."""
        with _UNLESS_CLOSED:
            self._live.console.print(Text(legible(f"warning: {text}"), style="yellow"))

    def __enter__(self) -> Self:
        with _UNLESS_CLOSED:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        with _UNLESS_CLOSED:
            self._live.stop()

    def _picture(self, progress: RunProgress) -> RenderableType:
        # Where the picture is higher than the screen its end is cut off: what matters most comes first.
        parts: list[RenderableType] = [_line(progress_line(progress), "bold")]
        if self._note:
            parts.append(_line(self._note, "bold yellow"))
        elif progress.halt_key:
            parts.append(_line("(Ctrl-X to stop when the games in progress are over)", "dim"))
        if progress.waiting_reports:
            parts.append(_line(f"{progress.waiting_reports} reports wait for ACADEMY", "yellow"))
        if progress.startable is not None:
            parts.append(_line(f"will start at most {_games(progress.startable)} more in this run"))
        parts += [_line(_game_line(game), "dim") for game in progress.in_progress[:MOST_GAMES]]
        if len(progress.in_progress) > MOST_GAMES:
            parts.append(_line(f"and {_games(len(progress.in_progress) - MOST_GAMES)} more", "dim"))
        if not progress.tuner:
            parts += [Text(), standings_table(progress.standings, MOST_PLAYERS)]
        if progress.lines:
            parts += [Text(), *map(_line, progress.lines)]
        if self._results:
            parts += [Text(), *map(_line, self._results)]
        return Group(*parts)


def _line(text: str, style: str = "") -> Text:
    return Text(legible(text), style=style, overflow="ellipsis", no_wrap=True)


def _games(count: int) -> str:
    return "1 game" if count == 1 else f"{count} games"


def _game_line(game: GameInProgress) -> str:
    where = f", on {game.machine}" if game.machine else ""
    return f"{game.game_id}: {' vs '.join(game.players)}, {duration_text(game.seconds)}{where}"


def terminal_display() -> LiveDisplay | None:
    """The display for standard output; None where that is not a terminal that can be drawn on."""
    console = Console(file=sys.stdout)
    # Rich takes a pipe for a terminal where FORCE_COLOR is set.
    drawable = sys.stdout.isatty() and console.is_terminal and not console.is_dumb_terminal
    return LiveDisplay(console) if drawable else None
