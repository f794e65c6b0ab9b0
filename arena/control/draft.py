"""A control file half read: what the kinds of competition need to read the rest."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from arena.control import values
from arena.control.game import GameSettings
from arena.control.table import TomlTable
from arena.jobs import PlayerSetup, TimeControl


@dataclass(frozen=True)
class Draft:
    """The file's tables, its game and its players; `clock` is everybody's, None without one."""

    file: TomlTable
    competition: TomlTable
    game: GameSettings
    players: Mapping[str, PlayerSetup]
    folder: Path
    clock: TimeControl | None = None

    @property
    def seats(self) -> int:
        """How many players a game has."""
        return self.game.rules().seats

    def only_for_two(self, kind: str) -> None:
        """Raise ControlError if the game is not one of two players."""
        if self.seats != 2:
            self.competition.fail(
                "kind", f"{kind} is for games of two players, {self.game.name} has {self.seats}"
            )

    def player(self, table: TomlTable, setting: str) -> str:
        """The name of a player that has a table. Raises ControlError."""
        name = table.need(setting, values.text)
        self._check(table, setting, name)
        return name

    def names(
        self, table: TomlTable, setting: str, default: tuple[str, ...] | None, least: int
    ) -> tuple[str, ...]:
        """Names of at least so many different players; without a default they must be given."""
        reader = values.several(values.identifier, 702)
        names = table.need(setting, reader) if default is None else table.take(setting, reader, default)
        for name in names:
            self._check(table, setting, name)
            if names.count(name) > 1:
                table.fail(setting, f"{name!r} stands there more than once")
        if len(names) < least:
            table.fail(
                setting, f"{len(names)} given, at least {least} {'is' if least == 1 else 'are'} needed"
            )
        return names

    def _check(self, table: TomlTable, setting: str, name: str) -> None:
        if name not in self.players:
            table.fail(setting, f"{name!r} has no table [players.{name}]")
