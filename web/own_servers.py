"""Servers started for these pages alone: an ACADEMY on a library, an arena's service on competitions."""

import hashlib
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from clients.connection import Connection

__all__ = ["ServerStartError", "serving_competitions", "serving_library"]

_START_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 20.0
_TAIL: Final = 2_000


class ServerStartError(RuntimeError):
    """A server cannot be started on a folder; the message has its last words."""


@contextmanager
def serving_library(data: Path) -> Iterator[Connection]:
    """Serve a data folder while the block runs.

    The server ends with this process, however this ends.

    Args:
        data: The folder that `academy serve --data` was given.

    Yields:
        The connection to it.

    Raises:
        ServerStartError: There is no such folder, or the server does not start on it.
    """
    if not data.is_dir():
        raise ServerStartError(f"{data}: there is no such folder; give one that `academy serve --data` made")
    # A socket's path must be short, so it is not in the data folder.
    folder = Path(tempfile.mkdtemp(prefix="academy-web-"))
    try:
        address, token_file = f"unix:{folder / 'socket'}", folder / "token"
        with (folder / "log").open("w+b") as log:
            server = subprocess.Popen(
                [
                    *(sys.executable, "-P", "-m", "academy", "serve", "--data", str(data.resolve())),
                    *("--address", address, "--embedded-token-file", str(token_file)),
                    *("--embedded-in", str(os.getpid())),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
            try:
                _wait_for(f"ACADEMY on {data}", token_file.exists, server, folder / "log")
                yield Connection(address, token_file.read_text(encoding="ascii").strip())
            finally:
                _stop(server)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def serving_competitions(competitions: Path) -> Iterator[Connection]:
    """Serve competitions while the block runs: those of a folder, or one by its control file.

    The service ends with this process, however this ends; competitions that others run go on.

    Args:
        competitions: The folder of control files, or one of them.

    Yields:
        The connection to the service, with a watcher's token.

    Raises:
        ServerStartError: There is no such file or folder, or the service does not start on it.
    """
    if not competitions.exists():
        raise ServerStartError(f"{competitions}: there is no such folder, and no such control file")
    folder = Path(tempfile.mkdtemp(prefix="academy-web-"))
    try:
        address, token = f"unix:{folder / 'socket'}", secrets.token_urlsafe(32)
        tokens, ready = folder / "tokens", folder / "ready"
        digest = hashlib.sha256(token.encode()).hexdigest()
        tokens.write_text(f'["academy-web"]\nrole = "watcher"\nsha256 = "{digest}"\n')
        with (folder / "log").open("w+b") as log, ready.open("wb") as output:
            server = subprocess.Popen(
                [
                    *(sys.executable, "-P", "-m", "arena.cli", "serve", str(competitions.resolve())),
                    *("--address", address, "--tokens", str(tokens), "--embedded-in", str(os.getpid())),
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=log,
                start_new_session=True,
            )
            try:
                _wait_for("the arena's service", lambda: ready.stat().st_size, server, folder / "log")
                yield Connection(address, token)
            finally:
                _stop(server)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(
    what: str, is_ready: Callable[[], object], server: "subprocess.Popen[bytes]", log: Path
) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not is_ready():
        if server.poll() is not None or time.monotonic() > deadline:
            words = log.read_bytes()[-_TAIL:].decode("utf-8", "replace").strip()
            raise ServerStartError(f"{what} does not start: {words or 'it ended without a word'}")
        time.sleep(0.02)


def _stop(server: "subprocess.Popen[bytes]") -> None:
    server.terminate()
    try:
        server.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
