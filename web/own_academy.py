"""An ACADEMY started for these pages alone, on a folder that nobody else serves."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from clients.connection import Connection

__all__ = ["AcademyStartError", "serving_folder"]

_START_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 20.0
_TAIL: Final = 2_000


class AcademyStartError(RuntimeError):
    """ACADEMY cannot be started on a folder; the message has its last words."""


@contextmanager
def serving_folder(data: Path) -> Iterator[Connection]:
    """Serve a data folder while the block runs.

    The server ends with this process, however this ends.

    Args:
        data: The folder that `academy serve --data` was given.

    Yields:
        The connection to it.

    Raises:
        AcademyStartError: There is no such folder, or the server does not start on it.
    """
    if not data.is_dir():
        raise AcademyStartError(f"{data}: there is no such folder; give one that `academy serve --data` made")
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
                _wait_for(token_file, server, folder / "log", data)
                yield Connection(address, token_file.read_text(encoding="ascii").strip())
            finally:
                _stop(server)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(token_file: Path, server: "subprocess.Popen[bytes]", log: Path, data: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not token_file.exists():
        if server.poll() is not None or time.monotonic() > deadline:
            words = log.read_bytes()[-_TAIL:].decode("utf-8", "replace").strip()
            raise AcademyStartError(f"ACADEMY does not start on {data}: {words or 'it ended without a word'}")
        time.sleep(0.02)


def _stop(server: "subprocess.Popen[bytes]") -> None:
    server.terminate()
    try:
        server.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
