"""Where files named in a control file are."""

import shutil
import sysconfig
from pathlib import Path


def path_from(folder: Path, name: str) -> Path:
    """A file's path: from the control file's folder, `~` being the user's home."""
    return folder / Path(name).expanduser()


def located(command: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """The command with its program's place: beside the control file if it has a `/`, else on PATH.

    Programs installed together with this one are found even when their folder is not on PATH.
    """
    program = command[0]
    if "/" in program:
        program = str(path_from(folder, program))
    elif shutil.which(program) is None:
        program = shutil.which(program, path=sysconfig.get_path("scripts")) or program
    return program, *command[1:]
