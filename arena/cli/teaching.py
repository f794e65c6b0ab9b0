"""The action that teaches ACADEMY from record files."""

import contextlib
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from academy.wire.command_line import not_nan
from arena.cli.arguments import ControlFile, open_competition
from arena.output import complain, say
from arena.ratings.elo import MOST_ELO
from arena.runner.exit_status import ExitStatus
from referees.api import UnreadableRecordError

if TYPE_CHECKING:
    from arena.academy.old_games import Lessons

_REASONS: Final = 20
_PROGRESS_SECONDS: Final = 1.0


def add_to(application: typer.Typer) -> None:
    """Add the action."""
    application.command()(teach)


def teach(
    control_file: ControlFile,
    records: Annotated[
        list[Path],
        typer.Argument(
            metavar="RECORDS",
            help="Files of finished games in the format of the game's records (SGF, PDN, JSON), and folders "
            "that hold some, however deep.",
            exists=True,
            show_default=False,
        ),
    ],
    elo: Annotated[
        float | None,
        typer.Option(
            min=-MOST_ELO,
            max=MOST_ELO,
            callback=not_nan,
            help="The rating of players whose records have none, instead of `start` of [ratings].",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Teach the ACADEMY of a control file from games that were played elsewhere.

    The [game] of the control file is what the games must be of, and its [academy] is who learns. Each game is
    checked by the referee and learnt once, however often it is given. Games that cannot be used are left out
    and counted by reason; the exit status is 1 where that is all of them.
    """
    from arena.academy.old_games import Lessons, OldGamesTeacher, record_files, teach_files
    from arena.academy.session import AcademySession
    from arena.control.settings import ControlError
    from arena.runner.stopping import interrupting

    control, files = open_competition(control_file, None)
    if control.academy is None or not control.academy.update:
        raise ControlError(f"{control_file} has no [academy] that learns: add one, without `update = false`")
    rules = control.game.rules()
    paths = list(record_files(records, rules.record_extension))
    if not paths:
        folders = ", ".join(map(str, records))
        raise UnreadableRecordError(f"no file in {folders} has a name that ends in .{rules.record_extension}")
    lessons = Lessons()
    # In the background of a script Ctrl-C's signal is ignored unless it gets a handler.
    before = {number: signal.signal(number, signal.default_int_handler) for number in interrupting()}
    try:
        with contextlib.ExitStack() as stack:
            if control.academy.embedded:
                # A run has its server at the same socket.
                stack.enter_context(files.locked())
            session = AcademySession(control.academy, rules.spec(), files.academy_log, complain)
            stack.enter_context(contextlib.closing(session))
            teacher = OldGamesTeacher(session, rules, control.elo.start if elo is None else elo)
            teach_files(teacher, rules, paths, lessons, _Progress().tell)
    except KeyboardInterrupt:
        _print(lessons)
        complain("arena: interrupted; the same command goes on")
        raise typer.Exit(ExitStatus.INTERRUPTED) from None
    except Exception:
        if lessons.games:
            _print(lessons)
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    _print(lessons)
    if not lessons.learnt + lessons.known:
        raise typer.Exit(ExitStatus.ERROR)


class _Progress:
    """Says on a terminal, once a second, how far it is."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _PROGRESS_SECONDS

    def tell(self, lessons: "Lessons", place: str) -> None:
        if sys.stderr.isatty() and time.monotonic() >= self._next:
            self._next = time.monotonic() + _PROGRESS_SECONDS
            complain(f"{_summary(lessons)}; at {place}")


def _summary(lessons: "Lessons") -> str:
    games = "1 game" if lessons.learnt == 1 else f"{lessons.learnt} games"
    return f"{games} learnt, {lessons.known} known before"


def _print(lessons: "Lessons") -> None:
    say(f"{_summary(lessons)}, {lessons.left_out.total()} left out")
    for why, count in lessons.left_out.most_common(_REASONS):
        say(f"  {count} x {why} ({lessons.first_places[why]})")
    if len(lessons.left_out) > _REASONS:
        say(f"  and {len(lessons.left_out) - _REASONS} more reasons")
