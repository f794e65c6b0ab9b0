"""How far a command is that takes events in again, on a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def counting_events(total: int) -> Iterator[Callable[[], None]]:
    """Yield what is called for each of `total` events; a pipe or a file on standard error gets nothing."""
    # They load for longer than most commands take.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("events"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    hidden = not sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=hidden) as progress:
        task = progress.add_task("", total=total)
        yield lambda: progress.advance(task)
