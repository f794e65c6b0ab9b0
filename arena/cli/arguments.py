"""What most actions are given: a competition, by its control file, and where its results are."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:
    from sqlalchemy import URL

    from arena.control.settings import Control
    from arena.runner.files import CompetitionFiles
    from arena.service.competition_view import CompetitionView

# The greatest number that the fields of requests take.
MOST: Final = 2**31 - 1

ControlFile = Annotated[
    Path, typer.Argument(metavar="CONTROL", help="The competition's control file.", show_default=False)
]
CompetitionName = Annotated[
    str, typer.Argument(metavar="NAME", help="The competition's name at the service.", show_default=False)
]
ControlFileOrName = Annotated[
    Path,
    typer.Argument(
        metavar="CONTROL",
        help="The competition's control file; with --address its name at the service.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
ResultsUrl = Annotated[
    str | None,
    typer.Option(
        "--results",
        metavar="URL",
        help="The results database, such as postgresql://host/name, instead of the control file's.",
        show_default=False,
    ),
]


def files_of(file: Path, results: "URL | str | None" = None) -> "CompetitionFiles":
    """A competition's files, also where its control file has errors. Raises ControlError."""
    from arena.control.settings import ControlError
    from arena.runner.files import CompetitionFiles

    if not file.is_file():
        fault = "it is a folder; name a file in it" if file.is_dir() else "there is no such file"
        raise ControlError(f"can't read the control file {file}: {fault}")
    try:
        return CompetitionFiles(file.absolute(), results)
    except ValueError as error:
        raise ControlError(str(error)) from None


def open_competition(file: Path, results: str | None) -> "tuple[Control, CompetitionFiles]":
    """The competition of a control file. Raises ControlError."""
    from arena.control.control_file import read_control

    # An error in the file's name, or the URL, comes before errors in the file.
    files_of(file, results)
    control = read_control(file)
    return control, files_of(file, results or control.results)


def look_at_competition(file: Path, results: str | None) -> "CompetitionView":
    """The competition of a control file as it stands. Raises ControlError."""
    from arena.service.competition_view import CompetitionView

    files_of(file, results)
    return CompetitionView(file.stem, file, results)
