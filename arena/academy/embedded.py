"""ACADEMY run by the arena itself: a child process on a Unix socket, watched and restarted."""

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from arena.academy.client import CALL_SECONDS
from clients.connection import Connection

START_SECONDS: Final = 30.0
STOP_SECONDS: Final = 20.0
MAX_RESTARTS: Final = 3
RESTARTS_WITHIN_SECONDS: Final = 60.0
_TAIL_BYTES: Final = 2000


class EmbeddedAcademyError(RuntimeError):
    """The embedded ACADEMY can't be started, or keeps ending; the message shows its last words."""


class EmbeddedAcademy:
    """A server process on the knowledge in a folder.

    It ends with this process, however this ends. Start and restart it from the main thread: the
    kernel takes the starting thread for its parent. Its output goes to `log_path`.
    """

    def __init__(self, data: Path, log_path: Path) -> None:
        self._data = data
        self._log_path = log_path
        self._process: subprocess.Popen[bytes] | None = None
        self._folder = _socket_folder(log_path)
        self._starts: list[float] = []

    @property
    def target(self) -> str:
        """The address it listens on."""
        # A server of a killed arena may take some time to end, and then removes its own socket.
        return f"unix:{self._folder}/{os.getpid()}"

    def start(self) -> Connection:
        """Start the server, wait until it is ready, return how to reach it. Raises EmbeddedAcademyError."""
        _make_private(self._folder)
        token_file = self._folder / "token"
        command = [
            *(sys.executable, "-P", "-m", "academy", "serve"),
            *("--data", str(self._data), "--address", self.target),
            *("--embedded-token-file", str(token_file), "--embedded-in", str(os.getpid())),
        ]
        # A shared log that the user's shell names is that of another server.
        environment = {name: value for name, value in os.environ.items() if name != "ACADEMY_LOG"}
        self._starts.append(time.monotonic())
        with self._log_path.open("ab") as log:
            log_start = log.tell()
            self._process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_SECONDS
        while not (token_file.exists() and self._serving()):
            if self._process.poll() is not None:
                raise self._failure(f"ended with status {self._process.returncode}", log_start)
            if time.monotonic() > deadline:
                self.stop()
                raise self._failure(f"was not ready after {START_SECONDS:g} seconds", log_start)
            time.sleep(0.02)
        token = token_file.read_text(encoding="ascii").strip()
        token_file.unlink()
        return Connection(self.target, token, timeout=CALL_SECONDS)

    def restart_if_dead(self) -> Connection | None:
        """Start the server again if it has ended; return the connection to it then, None while it lives.

        Raises EmbeddedAcademyError when it ends more than 3 times within a minute.
        """
        if self._process is None or self._process.poll() is None:
            return None
        recent = [start for start in self._starts if start > time.monotonic() - RESTARTS_WITHIN_SECONDS]
        if len(recent) > MAX_RESTARTS:
            raise self._failure(f"keeps ending, last with status {self._process.returncode}", 0)
        return self.start()

    def stop(self) -> None:
        """End the server: let it finish its work, then by force. Doing it twice is harmless."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def close(self) -> None:
        """End the server and remove its socket."""
        self.stop()
        if self._starts:
            shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def process_id(self) -> int | None:
        """The server's process id while it is started."""
        return self._process.pid if self._process else None

    def _serving(self) -> bool:
        with grpc.insecure_channel(self.target) as channel:
            try:
                # The published type stubs of the health service leave its methods out.
                answer: health_pb2.HealthCheckResponse = health_pb2_grpc.HealthStub(channel).Check(  # type: ignore[attr-defined]
                    health_pb2.HealthCheckRequest(), timeout=1.0
                )
            except grpc.RpcError:
                return False
        return answer.status == health_pb2.HealthCheckResponse.SERVING

    def _failure(self, what: str, log_start: int) -> EmbeddedAcademyError:
        with self._log_path.open("rb") as log:
            log.seek(max(log_start, self._log_path.stat().st_size - _TAIL_BYTES))
            output = log.read().decode("utf-8", "replace").strip()
        return EmbeddedAcademyError(
            f"the embedded ACADEMY on {self._data} {what}; it wrote: {output or '(nothing)'} "
            f"(all of it is in {self._log_path})"
        )


def _socket_folder(log_path: Path) -> Path:
    """A folder for the socket, because its path must be short: always the same one for a competition."""
    name = hashlib.sha256(str(log_path.absolute()).encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"academy-{os.getuid()}-{name}"


def _make_private(folder: Path) -> None:
    """Make the folder, empty and closed to others. Raises EmbeddedAcademyError if somebody else made it."""
    with contextlib.suppress(FileNotFoundError):
        if folder.lstat().st_uid != os.getuid() or folder.is_symlink():
            raise EmbeddedAcademyError(f"{folder} belongs to somebody else; remove it, or set TMPDIR")
        shutil.rmtree(folder)
    folder.mkdir(mode=0o700)
