"""The settings of a ringmaster's control file, with paths as the ringmaster writes them."""

from collections.abc import Mapping
from typing import Any, Final, NoReturn

from arena.control import values
from arena.control.ringmaster.definitions import Definition
from arena.control.table import ControlError, TomlTable

MAX_DESCRIPTION: Final = 100_000


class SettingsTable(TomlTable):
    """Settings at the top of the file, or the arguments of a definition called `whose` (`player a`).

    Other than TOML tables, definitions may leave settings out by giving None.
    """

    def __init__(self, settings: Mapping[str, Any], whose: str = "") -> None:
        super().__init__({name: _listed(value) for name, value in settings.items()})
        self._whose = whose

    def at(self, name: str) -> str:
        """`'komi'`, or `matchup 1: 'komi'`."""
        return f"{self._whose}: '{name}'" if self._whose else f"'{name}'"

    def call(self, whose: str) -> None:
        """Call the definition so from now on, since it has a name of its own."""
        self._whose = whose

    def finish(self) -> None:
        """Raise ControlError about an argument that there is not."""
        for name in self.rest():
            raise ControlError(f"{self._whose}: unknown argument '{name}'")

    def refuse(self, why: str) -> NoReturn:
        """Raise ControlError about the whole definition."""
        raise ControlError(f"{self._whose}: {why}")

    def has(self, name: str) -> bool:
        """Whether a setting is given, be it as None."""
        return name in self._values

    def definition(self, name: str) -> Any:
        """A value that is looked at later: a definition, a function, or a list or dictionary of them."""
        return self.need(name, lambda value: value)


def arguments(value: object, word: str, whose: str) -> SettingsTable:
    """The arguments of a definition. Raises ControlError if it is none, or one of another kind."""
    if not isinstance(value, Definition) or value.word != word:
        raise ControlError(f"{whose}: not a {word}")
    return SettingsTable(value.arguments, whose)


def or_none(reader: values.Reader[values.T]) -> values.Reader[values.T | None]:
    """A reader that accepts None as well."""
    return lambda value: None if value is None else reader(value)


def description(value: object) -> str:
    """Text of some length, or None."""
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > MAX_DESCRIPTION or "\0" in value:
        raise ValueError(f"must be text of at most {MAX_DESCRIPTION} characters, without NUL")
    return value.strip()


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
