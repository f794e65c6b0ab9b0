"""A table of a control file that knows its path, and which of its settings were asked for."""

import difflib
from typing import Any, NoReturn, TypeVar

from arena.control.values import Reader

T = TypeVar("T")
Default = TypeVar("Default")


class ControlError(ValueError):
    """A control file that can't be used; the message starts with the path of the faulty setting."""


class TomlTable:
    """The settings under one heading. `path` is the heading, empty for the file itself."""

    def __init__(self, values: dict[str, Any], path: str = "") -> None:
        self._values = values
        self._path = path
        self._known: list[str] = []

    def at(self, name: str) -> str:
        """The path of a setting, as people look for it in the file."""
        return f"{self._path}.{name}" if self._path else name

    def fail(self, name: str, why: str) -> NoReturn:
        """Raise ControlError about a setting of this table."""
        raise ControlError(f"{self.at(name)}: {why}")

    def need(self, name: str, reader: Reader[T]) -> T:
        """The value of a setting that must be there. Raises ControlError."""
        if name not in self._values:
            self._known.append(name)
            alike = difflib.get_close_matches(name, set(self._values) - set(self._known), n=1)
            self.fail(name, f"is missing; did you mean it by {alike[0]!r}?" if alike else "is missing")
        value: T | None = self.take(name, reader, None)
        assert value is not None
        return value

    def take(self, name: str, reader: Reader[T], default: Default) -> T | Default:
        """The value of a setting, or the default where it is left out. Raises ControlError."""
        self._known.append(name)
        if name not in self._values:
            return default
        try:
            return reader(self._values[name])
        except ValueError as error:
            self.fail(name, str(error))

    def table(self, name: str) -> "TomlTable | None":
        """The table under a name, or None where there is none. Raises ControlError."""
        self._known.append(name)
        if name not in self._values:
            return None
        if not isinstance(self._values[name], dict):
            self.fail(name, f"must be a table headed [{self.at(name)}]")
        return TomlTable(self._values[name], self.at(name))

    def tables(self) -> dict[str, "TomlTable"]:
        """All tables in this one, by name; anything else in it is an error."""
        return {name: found for name in self._values if (found := self.table(name)) is not None}

    def array(self, name: str) -> "list[TomlTable]":
        """The tables of an array ([[matchups]]) in order, none if it is not there. Raises ControlError."""
        self._known.append(name)
        items = self._values.get(name, [])
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            self.fail(name, f"must be tables, each headed [[{self.at(name)}]]")
        return [TomlTable(item, f"{self.at(name)}[{place}]") for place, item in enumerate(items)]

    def rest(self) -> dict[str, Any]:
        """The settings nobody has asked for; from now on they count as known."""
        rest = {name: value for name, value in self._values.items() if name not in self._known}
        self._known.extend(rest)
        return rest

    def finish(self) -> None:
        """Raise ControlError if there are settings nobody asked for, naming ones that look alike."""
        for name in self._values:
            if name not in self._known:
                near = difflib.get_close_matches(name, self._known, n=2)
                hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "known here are: "
                self.fail(name, f"unknown setting; {hint}{'' if near else ', '.join(sorted(self._known))}")
