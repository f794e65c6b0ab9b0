"""The command `arena`: run competitions, look at them, stop them.

Exit status: 0 the run ended as it should; 1 an error; 2 wrong usage; 3 interrupted by Ctrl-C or
SIGTERM; 4 halted by void games; 5 as 0, but ACADEMY could not be told of all games yet.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from sqlalchemy.exc import SQLAlchemyError

from arena.competition import RunEnd
from arena.competition_files import AlreadyRunning, CompetitionFiles
from arena.control.settings import Control, MissingToken
from arena.control.table import ControlError
from arena.control.toml_file import read
from arena.display import standings_table
from arena.embedded import EmbeddedFailure
from arena.interruption import Interrupted
from arena.players.failures import PlayerFailure
from arena.players.player import InvalidParameters
from arena.reset import reset as reset_competition
from arena.results.database import ResultsError
from arena.run import check_players, read_results
from arena.run import run as run_competition
from clients.connection import AcademyRefusal, AcademyUnavailable

ERROR: Final = 1
INTERRUPTED: Final = 3
HALTED: Final = 4
UNDELIVERED: Final = 5

app = typer.Typer(help=__doc__, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)
ControlFile = Annotated[
    Path, typer.Argument(metavar="CONTROL", help="The competition's control file (TOML).")
]


def main() -> None:
    """Run the command; the console's entry point."""
    try:
        app()
    except PlayerFailure as error:
        _fail(f"{error}\n(`arena check` shows what players write to their standard error)")
    except (
        ControlError,
        ResultsError,
        AlreadyRunning,
        InvalidParameters,
        MissingToken,
        AcademyUnavailable,
        AcademyRefusal,
        EmbeddedFailure,
        SQLAlchemyError,
        OSError,
    ) as error:
        _fail(str(error))
    except (Interrupted, KeyboardInterrupt):
        print("arena: interrupted; games in progress will be played again", file=sys.stderr)
        sys.exit(INTERRUPTED)


def _fail(message: str) -> None:
    print(f"arena: {message}", file=sys.stderr)
    sys.exit(ERROR)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"arena {version('academy-arena')}")
        raise typer.Exit


@app.callback()
def arena(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Run competitions of game-playing programs."""


@app.command()
def run(
    control: ControlFile,
    parallel: Annotated[
        int | None, typer.Option("--parallel", "-j", min=1, max=1023, help="Games at a time.")
    ] = None,
    max_games: Annotated[
        int | None, typer.Option("--max-games", "-g", min=0, help="Start no more games than this.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show nothing but warnings.")] = False,
    log_protocol: Annotated[
        bool, typer.Option("--log-protocol", help="Write what is said to and by players to files.")
    ] = False,
) -> None:
    """Run a competition, or go on with it.

    Exit status: 0 completed or stopped as asked; 1 error; 2 usage; 3 interrupted; 4 halted by void
    games; 5 reports to ACADEMY still wait.
    """
    settings, files = _open(control)
    ended = run_competition(
        settings,
        files,
        parallel=parallel or settings.parallel,
        max_games=max_games,
        quiet=quiet,
        log_protocol=log_protocol,
    )
    if not quiet:
        results = read_results(settings, files)
        Console().print(standings_table(results.standings))
        print(f"{files.name}: {ended.end.value}; report: {files.report}")
    if ended.end is RunEnd.HALTED:
        print("arena: halted by void games; the log says why", file=sys.stderr)
        raise typer.Exit(HALTED)
    if ended.undelivered:
        raise typer.Exit(UNDELIVERED)


@app.command()
def show(
    control: ControlFile,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON for other programs.")] = False,
) -> None:
    """Show the results so far, also while the competition runs."""
    settings, files = _open(control)
    results = read_results(settings, files)
    if as_json:
        print(json.dumps({**results.as_json(), "running": files.running()}, indent=2, default=str))
    else:
        print(results.as_text(), end="")


@app.command()
def report(control: ControlFile) -> None:
    """Write the report file anew."""
    settings, files = _open(control)
    files.write_report(read_results(settings, files).as_text())
    print(files.report)


@app.command()
def stop(control: ControlFile) -> None:
    """Ask a running competition to stop when its games in progress are over."""
    _, files = _open(control)
    if not files.running():
        raise ResultsError(f"the competition {files.name} is not running")
    files.request_stop()


@app.command()
def reset(control: ControlFile) -> None:
    """Delete all results and other outputs of a competition. What ACADEMY learnt from it stays.

    Contests that are open at ACADEMY are ended first. Exit status 5: some could not be; they are named.
    """
    settings, files = _open(control)
    left = reset_competition(settings, files)
    if left is not None:
        print(f"arena: {left}", file=sys.stderr)
        raise typer.Exit(UNDELIVERED)


@app.command()
def check(control: ControlFile) -> None:
    """Start every player and see whether it gets ready to play, with its standard error shown."""
    settings, _ = _open(control)
    check_players(settings, quiet=False, tell=lambda text: print(text, flush=True))


def _open(control: Path) -> tuple[Control, CompetitionFiles]:
    try:
        return read(control), CompetitionFiles(control.absolute())
    except ControlError:
        raise
    except ValueError as error:
        raise ControlError(str(error)) from None


if __name__ == "__main__":
    main()
