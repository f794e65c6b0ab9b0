"""What a person sees while a competition runs."""

import sys
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from arena.results.standings import Standings

LAST_RESULTS: Final = 6
LAST_WARNINGS: Final = 4


@dataclass(frozen=True)
class Progress:
    """How far a run is: games in progress by id, games wanted in all, reports ACADEMY has not yet."""

    title: str
    standings: Standings
    in_progress: Sequence[str]
    total: int | None
    waiting_reports: int = 0
    note: str = ""


class Display(ABC):
    """Shows a run as it goes. To be used in a `with` block."""

    @abstractmethod
    def show(self, progress: Progress) -> None:
        """Bring the standings up to date."""

    @abstractmethod
    def result(self, text: str) -> None:
        """Tell of a finished game."""

    def warning(self, text: str) -> None:
        """Tell of something that went wrong but does not stop the run."""
        print(f"warning: {text}", file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


class QuietDisplay(Display):
    """Nothing but warnings, on standard error."""

    def show(self, progress: Progress) -> None:
        """Show nothing."""

    def result(self, text: str) -> None:
        """Show nothing."""


class PlainDisplay(Display):
    """A line a result: for logs and pipes."""

    def __init__(self) -> None:
        self._note = ""

    def show(self, progress: Progress) -> None:
        """Say what is being waited for, once."""
        if progress.note != self._note:
            self._note = progress.note
            if progress.note:
                print(progress.note, flush=True)

    def result(self, text: str) -> None:
        """Print a line."""
        print(text, flush=True)


class LiveDisplay(Display):
    """The standings, the games in progress, the last results and warnings, redrawn in place."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._results: deque[str] = deque(maxlen=LAST_RESULTS)
        self._warnings: deque[str] = deque(maxlen=LAST_WARNINGS)
        self._progress: Progress | None = None

    def show(self, progress: Progress) -> None:
        """Redraw."""
        self._progress = progress
        self._live.update(self._picture(progress), refresh=True)

    def result(self, text: str) -> None:
        """Put a result among the last ones."""
        self._results.append(text)

    def warning(self, text: str) -> None:
        """Put a warning among the last ones."""
        self._warnings.append(text)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def _picture(self, progress: Progress) -> RenderableType:
        total = "" if progress.total is None else f"/{progress.total}"
        running = " ".join(progress.in_progress) or "none"
        parts: list[RenderableType] = [
            Text(f"{progress.title}: {progress.standings.games}{total} games", style="bold"),
            Text(f"in progress: {running}", style="dim", overflow="ellipsis", no_wrap=True),
            standings_table(progress.standings),
        ]
        if progress.waiting_reports:
            parts.append(Text(f"{progress.waiting_reports} reports wait for ACADEMY", style="yellow"))
        if progress.note:
            parts.append(Text(progress.note, style="bold yellow"))
        parts.extend(Text(text, overflow="ellipsis", no_wrap=True) for text in self._results)
        parts.extend(
            Text(f"warning: {text}", style="yellow", overflow="ellipsis", no_wrap=True)
            for text in self._warnings
        )
        return Group(*parts)


def standings_table(standings: Standings) -> Table:
    """The standings as a table, the best player first."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("player", no_wrap=True)
    for heading in ("games", "wins", "draws", "losses", "points", "Elo", "CPU s"):
        table.add_column(heading, justify="right")
    for player in standings.table():
        score = player.score
        cpu = "-" if player.mean_cpu is None else f"{player.mean_cpu:.2f}"
        table.add_row(
            Text(player.name),
            *map(str, (score.games, score.wins, score.draws, score.losses)),
            f"{player.points:g}",
            f"{player.elo:.0f}",
            cpu,
        )
    return table


def display_for(quiet: bool) -> Display:
    """The display that suits where the output goes."""
    if quiet:
        return QuietDisplay()
    console = Console()
    return LiveDisplay(console) if console.is_terminal else PlainDisplay()
