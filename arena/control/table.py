"""What all tables of a control file share."""

from collections.abc import Callable, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from arena.control.validation import SettingError


class Table(BaseModel):
    """The settings under one heading."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        defer_build=True,
        arbitrary_types_allowed=True,
    )


def require_partners(table: Table, partners: Mapping[str, str]) -> None:
    """Raise SettingError for a setting that is given without the one that it belongs to."""
    for setting, partner in partners.items():
        if setting in table.model_fields_set and partner not in table.model_fields_set:
            raise SettingError(setting, f"belongs to {partner}, which is not given: leave it out")


def check_path(setting: str, path: Path, is_there: Callable[[Path], bool], why: str) -> None:
    """Raise SettingError for a path that does not exist, or is not of the kind that `is_there` looks for."""
    try:
        if is_there(path):
            return
    except OSError as error:  # A name that is too long, or a folder that may not be read.
        why = f"{why}: {error.strerror}"
    raise SettingError(setting, why)
