"""Servers started for these pages alone: an ACADEMY on a library, an arena's service on competitions."""

import hashlib
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from clients.connection import Connection

__all__ = ["ServerStartError", "serving_competitions", "serving_library"]

_START_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 20.0
_TAIL: Final = 2_000
_OUTPUT: Final = "output"
_LOG: Final = "log"


class ServerStartError(RuntimeError):
    """A server cannot be started on a folder; the message has its last words."""


@contextmanager
def serving_library(data: Path) -> Iterator[Connection]:
    """Serve a folder of `academy serve --data` while the block runs; yield the connection.

    The server ends with this process, however this ends. Raises ServerStartError.
    """
    if not (data / "data.mdb").exists():
        what = "holds no data of ACADEMY" if data.is_dir() else "there is no such folder"
        raise ServerStartError(f"{data}: {what}; give a folder that `academy serve --data` made")
    with _folder() as folder:
        address, token_file = f"unix:{folder / 'socket'}", folder / "token"
        options = ("--data", data.resolve(), "--address", address, "--embedded-token-file", token_file)
        with _running(f"ACADEMY on {data}", folder, ("academy", "serve", *options), token_file.exists):
            yield Connection(address, token_file.read_text(encoding="ascii").strip())


@contextmanager
def serving_competitions(competitions: Path) -> Iterator[Connection]:
    """Serve competitions, those of a folder or one by its control file, while the block runs.

    Yields a watcher's connection. The service ends with this process, however this ends; competitions that
    others run go on. Raises ServerStartError.
    """
    if not competitions.exists():
        raise ServerStartError(f"{competitions}: there is no such folder, and no such control file")
    with _folder() as folder:
        address, token = f"unix:{folder / 'socket'}", secrets.token_urlsafe(32)
        tokens = folder / "tokens"
        digest = hashlib.sha256(token.encode()).hexdigest()
        tokens.write_text(f'["academy-web"]\nrole = "watcher"\nsha256 = "{digest}"\n')
        command = ("arena.cli", "serve", competitions.resolve(), "--address", address, "--tokens", tokens)
        with _running("the arena's service", folder, command, lambda: _has_output(folder)):
            yield Connection(address, token)


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder for a server's socket, whose path must be short."""
    folder = Path(tempfile.mkdtemp(prefix="academy-web-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _running(
    what: str, folder: Path, command: Sequence[object], is_ready: Callable[[], bool]
) -> Iterator[None]:
    """Run a module of ours with its arguments, from when it is ready to the block's end.

    Raises ServerStartError, with what it wrote into the folder.
    """
    with (folder / _OUTPUT).open("wb") as output, (folder / _LOG).open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-P", "-m", *map(str, command), "--embedded-in", str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=log,
            start_new_session=True,
        )
        try:
            _wait_for(what, is_ready, server, folder)
            yield
        finally:
            _stop(server)


def _wait_for(
    what: str, is_ready: Callable[[], bool], server: "subprocess.Popen[bytes]", folder: Path
) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not is_ready():
        if server.poll() is not None or time.monotonic() > deadline:
            written = (folder / _OUTPUT).read_bytes() + (folder / _LOG).read_bytes()
            words = written[-_TAIL:].decode("utf-8", "replace").strip()
            raise ServerStartError(f"{what} does not start: {words or 'it ended without a word'}")
        time.sleep(0.02)


def _has_output(folder: Path) -> bool:
    """Whether it has written where it listens."""
    return (folder / _OUTPUT).stat().st_size > 0


def _stop(server: "subprocess.Popen[bytes]") -> None:
    server.terminate()
    try:
        server.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
