"""The settings of protocols that other packages add: of their players, and of the table [PROTOCOL]."""

from collections.abc import Mapping
from typing import Any

from arena.control.table import TomlTable
from arena.players.protocols import InvalidListenerError, Setting, added_protocols, dial_in_protocol


def read_settings(table: TomlTable, settings: Mapping[str, Setting]) -> dict[str, Any]:
    """The values of settings in a table, with their defaults. Raises ControlError."""
    return {name: table.take(name, setting.read, setting.default) for name, setting in settings.items()}


def listeners(file: TomlTable) -> dict[str, dict[str, Any]]:
    """The settings of each protocol's listener that the file has a table of. Raises ControlError."""
    tables: dict[str, dict[str, Any]] = {}
    for name in added_protocols():
        table, protocol = file.table(name), dial_in_protocol(name)
        if table is None or protocol is None:
            continue
        tables[name] = read_settings(table, protocol.listener_settings)
        table.finish()
        try:
            protocol.check_listener(tables[name])
        except InvalidListenerError as error:
            table.fail(error.setting, error.why)
    return tables
