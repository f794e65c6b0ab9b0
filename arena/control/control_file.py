"""Reads a control file of either format: our own TOML, or the ringmaster's Python."""

from pathlib import Path

from arena.control import toml_file
from arena.control.settings import Control


def read_control(path: Path) -> Control:
    """Read a control file. A ringmaster's file is a program, which is executed.

    A file in TOML ends in `.toml` or at least does not begin with the ringmaster's competition_type.
    Raises ControlError, whose message names the faulty setting or line.
    """
    path = path.absolute()
    if path.suffix == ".toml":
        return toml_file.read(path)
    from arena.control.ringmaster import ctl_file

    text = toml_file.read_text(path, ctl_file.encoding)
    if path.suffix == ".ctl" or ctl_file.is_ringmasters(text):
        return ctl_file.read(path, text)
    return toml_file.parse(path, text)
