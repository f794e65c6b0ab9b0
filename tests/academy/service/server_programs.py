"""`academy serve` as a process."""

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc

from academy.store.library_store import Store
from academy.store.tokens import CreateToken, Role
from tests.academy.service.running import Client

ACADEMY = (sys.executable, "-m", "academy")
SECONDS = 90


class Served:
    """A server process that has printed where it listens."""

    def __init__(self, process: subprocess.Popen[str], token: str) -> None:
        self.process = process
        self.token = token
        self.line = ""
        assert process.stdout is not None
        reader = threading.Thread(target=self._read)
        reader.start()
        reader.join(SECONDS)
        match = re.search(r" at (\S+);", self.line)
        assert match, f"no line that says where it listens: {self.line!r} {process.poll()}"
        self.address = match[1]

    def _read(self) -> None:
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline()

    def client(self) -> Client:
        return Client(grpc.insecure_channel(self.address), self.token)

    def ended(self) -> int:
        return self.process.wait(SECONDS)


def started(folder: Path, *options: str, stderr: int = subprocess.PIPE) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*ACADEMY, "serve", "--data", str(folder), *options],
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        stdin=subprocess.DEVNULL,
    )


@contextmanager
def served(folder: Path, *options: str) -> Iterator[Served]:
    with Store(folder) as store:
        _, token = store.run(CreateToken("admin", Role.ADMIN))
    process = started(folder, "--address", "127.0.0.1:0", *options)
    try:
        yield Served(process, token)
    finally:
        process.kill()
        process.wait(SECONDS)
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()
