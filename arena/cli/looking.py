"""Actions that look at results: show, report."""

import json
from typing import Annotated

import typer

from arena.cli.competition import ControlFile, ResultsUrl, TrustControlFile, opened
from arena.output import say
from arena.run import read_results


def add_to(application: typer.Typer) -> None:
    """Add the actions."""
    for action in (show, report):
        application.command()(action)


def show(
    control: ControlFile,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON for other programs.")] = False,
    results: ResultsUrl = None,
    trust: TrustControlFile = False,
) -> None:
    """Show the results so far, also while the competition runs."""
    settings, files = opened(control, results, trust)
    found = read_results(settings, files)
    if as_json:
        say(json.dumps({**found.as_json(), "running": files.running()}, indent=2, default=str))
    else:
        say(found.as_text(), end="")


def report(control: ControlFile, results: ResultsUrl = None, trust: TrustControlFile = False) -> None:
    """Write the report file anew."""
    settings, files = opened(control, results, trust)
    files.write_report(read_results(settings, files).as_text())
    say(str(files.report))
