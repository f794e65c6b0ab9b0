"""Players that dial in, in a control file: their own settings, and [remote], where they do."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from academy.wire.addresses import Certificates, Endpoint, InvalidAddressError, ServerAddress
from arena.control import values
from arena.control.locations import path_from
from arena.control.settings import MissingTokenError
from arena.control.table import TomlTable
from arena.control.token_variables import token_in
from arena.lobby import DEFAULT_ADDRESS


def parameters(table: TomlTable, folder: Path) -> dict[str, Any]:
    """What a remote player's table says besides what all players' do. Raises ControlError."""
    given = {
        "token_env": table.take("token_env", values.text, None),
        "token_file": table.take("token_file", values.text, None),
        "reconnect_seconds": table.take("reconnect_seconds", values.number(0, 86_400), None),
    }
    if given["token_env"] is not None and given["token_file"] is not None:
        table.fail("token_env", "give only one of token_env and token_file")
    if isinstance(given["token_file"], str):
        given["token_file"] = str(path_from(folder, given["token_file"]))
    return {name: value for name, value in given.items() if value is not None}


def token_digest(name: str, parameters: Mapping[str, Any]) -> bytes | None:
    """The digest of the token that a player must have; None where it needs none. Raises MissingTokenError."""
    if (variable := parameters.get("token_env")) is not None:
        token = token_in(variable)
        if not token:
            raise MissingTokenError(f"players.{name}.token_env: the variable {variable} is not set")
    elif (file := parameters.get("token_file")) is not None:
        try:
            token = Path(file).read_text(encoding="ascii").strip()
        except (OSError, UnicodeError) as error:
            raise MissingTokenError(f"players.{name}.token_file: {error}") from None
        if not token:
            raise MissingTokenError(f"players.{name}.token_file: {file} is empty")
    else:
        return None
    return hashlib.sha256(token.encode()).digest()


def endpoint(table: TomlTable | None, folder: Path) -> Endpoint:
    """Where players dial in. Raises ControlError."""
    if table is None:
        return Endpoint(ServerAddress.parse(DEFAULT_ADDRESS))

    def file(value: object) -> Path:
        return path_from(folder, values.text(value))

    address = table.take("address", values.text, DEFAULT_ADDRESS)
    certificate, key = table.take("tls_cert", file, None), table.take("tls_key", file, None)
    insecure = table.take("insecure", values.flag, False)
    table.finish()
    try:
        found = Endpoint(ServerAddress.parse(address), Certificates(certificate, key), insecure)
        found.credentials()
    except InvalidAddressError as error:
        table.fail("address", str(error))
    return found
