"""Who may call the service: a TOML file of names, roles and digests of tokens.

A watcher may look at everything; an operator may start and stop competitions too, which runs the programs
their control files name; a player may dial in under its own name, and nothing else.
"""

import fcntl
import hashlib
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from hmac import compare_digest
from pathlib import Path
from typing import Final

import structlog

from academy.wire.errors import NotAuthenticatedError, NotPermittedError
from academy.wire.files import write_whole
from academy.wire.tokens import digest_of
from referees.toml_text import InvalidTomlError, read_toml

MAX_BYTES: Final = 2**20
_log = structlog.get_logger()
_HEADING: Final = re.compile(r"\s*\[")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9!$%&*+.:;<=>?^_~-]{0,63}")


class ServiceRole(Enum):
    """What a token is good for."""

    WATCHER = "watcher"
    OPERATOR = "operator"
    PLAYER = "player"


class TokensError(ValueError):
    """A file of tokens that can't be used, or a change of it that can't be made; the message says why."""


@dataclass(frozen=True)
class ServiceCaller:
    """Who calls."""

    name: str
    role: ServiceRole


class Tokens:
    """The tokens of a file, which is read again when it has changed. Raises TokensError and OSError.

    Where it can't be read any more, those it had before stay good.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: tuple[int, int] | None = None
        self._callers: dict[bytes, ServiceCaller] = {}
        self._complaint = ""
        self._look()

    def authenticate(self, token: str) -> ServiceCaller:
        """Whose token this is. Raises NotAuthenticatedError."""
        if not token:
            raise NotAuthenticatedError("the call has no token")
        self._look_if_readable()
        wanted = digest_of(token)
        caller = next((known for key, known in self._callers.items() if compare_digest(key, wanted)), None)
        if caller is None:
            raise NotAuthenticatedError(
                "the token is not known here; `arena token` makes tokens, `arena member rotate` a member's"
            )
        return caller

    def holder(self, digest: bytes) -> ServiceCaller | None:
        """Whose token has a digest now, None where nobody's has."""
        self._look_if_readable()
        return self._callers.get(digest)

    def callers(self) -> Sequence[ServiceCaller]:
        """Who has a token, by name. Raises TokensError and OSError."""
        self._look()
        return sorted(self._callers.values(), key=lambda caller: caller.name)

    def create(self, name: str, role: ServiceRole) -> str:
        """Make a watcher's or player's token, and return it.

        Raises NotPermittedError, TokensError, OSError.
        """
        if role is ServiceRole.OPERATOR:
            raise NotPermittedError(
                "operators' tokens are made where the service runs: `arena token --role operator`"
            )
        return add_token(self._path, name, role)

    def revoke(self, name: str) -> None:
        """End the rights of a watcher or player. Raises NotPermittedError, TokensError and OSError."""
        if ServiceCaller(name, ServiceRole.OPERATOR) in self.callers():
            raise NotPermittedError(
                "operators' tokens are revoked where the service runs: `arena token --revoke`"
            )
        remove_token(self._path, name)

    def _look_if_readable(self) -> None:
        """Look at the file; what is wrong with it is for the log, once, and not for callers."""
        complaint = ""
        try:
            self._look()
        except (TokensError, OSError) as error:
            complaint = str(error)
        if complaint not in ("", self._complaint):
            _log.error("tokens can't be read; those of before stay good until this is mended", why=complaint)
        self._complaint = complaint

    def _look(self) -> None:
        try:
            state = self._path.stat()
        except FileNotFoundError:
            raise TokensError(
                f"{self._path}: there is no file of tokens; `arena token NAME --role operator` begins one"
            ) from None
        if (state.st_mtime_ns, state.st_size) != self._read:
            self._callers = read_tokens(self._path)
            self._read = state.st_mtime_ns, state.st_size


def add_token(path: Path, name: str, role: ServiceRole) -> str:
    """Make a token and add its digest to the file; returns the token, which is kept nowhere.

    Raises TokensError for an invalid name, one that is there already and a file without room, and OSError.
    """
    if not _NAME.fullmatch(name):
        raise TokensError(
            f"{name!r} is not a name: write 1 to 64 letters of ASCII, digits and signs of !$%&*+.:;<=>?^_~-, "
            "a letter or digit first"
        )
    token = secrets.token_urlsafe(32)
    with _lock(path):
        if path.exists() and name in (caller.name for caller in read_tokens(path).values()):
            raise TokensError(f"{name!r} has a token already: revoke it (`arena token --revoke`) for another")
        before = path.read_bytes() if path.exists() else b""
        table = f'["{name}"]\nrole = "{role.value}"\nsha256 = "{digest_of(token).hex()}"\n'
        if before and not before.endswith(b"\n"):
            # Not all editors end the last line.
            table = f"\n{table}"
        if len(before) + len(table) > MAX_BYTES:
            raise TokensError(f"{path} has no room: it may have {MAX_BYTES} bytes; revoke tokens first")
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w") as file:
            file.write(table)
    return token


def remove_token(path: Path, name: str) -> None:
    """Take a token out of the file; all else in it stays. Raises TokensError and OSError."""
    with _lock(path):
        before = read_tokens(path)
        if name not in (caller.name for caller in before.values()):
            raise TokensError(f"{path} has no token of {name[:80]!r}")
        kept, inside = [], False
        for line in path.read_text().splitlines(keepends=True):
            if _HEADING.match(line):
                inside = line.strip() in (f'["{name}"]', f"['{name}']", f"[{name}]")
            if not inside:
                kept.append(line)
        rest = "".join(kept).encode()
        if _callers(path, rest) != {key: caller for key, caller in before.items() if caller.name != name}:
            raise TokensError(f"{path}: [{name}] is written in a way of its own; delete it by hand")
        write_whole(path, [rest], private=True)


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Keep other changes of the file away: the service's, and those of commands."""
    with path.with_name(f"{path.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def read_tokens(path: Path) -> dict[bytes, ServiceCaller]:
    """Who has a token, by its digest. Raises TokensError and OSError."""
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise TokensError(f"{path} is longer than {MAX_BYTES} bytes")
    return _callers(path, content)


def _callers(path: Path, content: bytes) -> dict[bytes, ServiceCaller]:
    try:
        tables = read_toml(content.decode())
    except (InvalidTomlError, UnicodeDecodeError) as error:
        raise TokensError(f"{path} can't be read: {error}") from None
    callers = {}
    for name, table in tables.items():
        try:
            key = bytes.fromhex(table["sha256"])
            callers[key] = ServiceCaller(name, ServiceRole(table["role"]))
        except (KeyError, TypeError, ValueError) as error:
            raise TokensError(f"{path}: [{name}] needs role and sha256: {error}") from None
        if len(key) != hashlib.sha256().digest_size:
            raise TokensError(f"{path}: [{name}] sha256 must have 64 hexadecimal digits")
    return callers
