"""What most actions are given: a competition, by its control file, and where its results are."""

from pathlib import Path
from typing import Annotated

import typer

from arena.competition_files import CompetitionFiles
from arena.control.settings import Control
from arena.control.table import ControlError
from arena.control.toml_file import read

ControlFile = Annotated[
    Path, typer.Argument(metavar="CONTROL", help="The competition's control file.", show_default=False)
]
ResultsUrl = Annotated[
    str | None,
    typer.Option(
        "--results",
        metavar="URL",
        help="The results database, such as postgresql://host/name, instead of the one the control file says.",
        show_default=False,
    ),
]
TrustControlFile = Annotated[
    bool,
    typer.Option(
        "--trust-control-file",
        help="Execute a control file that is a Python program; it may do whatever you may.",
    ),
]


def opened(control: Path, results: str | None, trust: bool) -> tuple[Control, CompetitionFiles]:
    """The competition of a control file. Raises ControlError."""
    try:
        return read(control), CompetitionFiles(control.absolute(), results)
    except ControlError:
        raise
    except ValueError as error:
        raise ControlError(str(error)) from None
