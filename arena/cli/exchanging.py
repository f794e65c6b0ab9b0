"""Actions that take results out and in as SAGA: export, import."""

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.competition import ControlFile, ResultsUrl, opened
from arena.output import say


def add_to(application: typer.Typer) -> None:
    """Add the actions."""
    application.command()(export)
    application.command("import")(import_)


def export(
    control: ControlFile,
    target: Annotated[
        Path,
        typer.Argument(metavar="TARGET", help="A new SQLite file (.sqlite, .db), or a new folder for CSV."),
    ],
    saga1: Annotated[bool, typer.Option("--saga1/--saga2", help="SAGA 1.0 or 2.0.")] = False,
    whole: Annotated[
        bool, typer.Option("--all", help="All that the results database holds, not this competition alone.")
    ] = False,
    results: ResultsUrl = None,
) -> None:
    """Write the results as SAGA's tables for other programs."""
    from arena.results.database import ResultsDatabase
    from arena.results.exchange.exporting import export as export_saga

    _, files = opened(control, results)
    files.check_results()
    with closing(ResultsDatabase.open(files.results, create=False)) as database:
        export_saga(database, target, "saga1" if saga1 else "saga2", None if whole else files.name)
    say(str(target))


def import_(
    control: ControlFile,
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="A SQLite file, or a folder of CSV files.")
    ],
    results: ResultsUrl = None,
) -> None:
    """Take SAGA's tables, of either edition, into the results database of a competition."""
    from arena.results.database import ResultsDatabase
    from arena.results.exchange.importing import import_saga

    _, files = opened(control, results)
    with files.locked(), closing(ResultsDatabase.open(files.results)) as database:
        imported = import_saga(database, source)
    say(f"{imported.games} games of {', '.join(imported.series) or 'no series'}")
