"""The programs of the compose file work together, with its arguments and configurations but no containers."""

import os
import re
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
import trustme

from tests.academy.cli.conftest import run
from tests.academy.store.shared_log.nats_servers import BINARY
from tests.arena.cli.command import arena
from tests.deploy.manifests import COMPOSE, compose, compose_programs
from tests.ports import free_ports
from tests.waiting import until

BIN = Path(sys.executable).parent
PROGRAMS = {program.name: program for program in compose_programs()}
NATS = sorted(name for name in PROGRAMS if name.startswith("nats"))
ACADEMY = sorted(name for name in PROGRAMS if name.startswith("academy"))
SECONDS = 60.0


class Running:
    """The programs of the compose file on this machine, each port and folder in another place."""

    def __init__(self, folder: Path, processes: ExitStack) -> None:
        self.folder, self._processes = folder, processes
        self.tls = folder / "tls"
        self.tls.mkdir()
        authority = trustme.CA()
        authority.cert_pem.write_to_path(self.tls / "authority.pem")
        certificate = authority.issue_cert("localhost", "127.0.0.1")
        certificate.private_key_pem.write_to_path(self.tls / "server.key")
        for blob in certificate.cert_chain_pems:
            blob.write_to_path(self.tls / "server.pem", append=True)
        names = [*NATS, *ACADEMY, "arena", "web"]
        ports = {"nats": (4222, 6222, 8222), "academy": (50551, 9464), "arena": (50561, 9474), "web": (8443,)}
        listening = [(name, port) for name in names for port in ports[name.partition("-")[0]]]
        self.ports: Mapping[tuple[str, int], int] = dict(
            zip(listening, free_ports(len(listening)), strict=True)
        )

    def _here(self, name: str, text: str) -> str:
        """Write a text of a program's arguments or configuration for this machine."""
        folders = {"/tls/": self.tls, "/data/": self.folder / name, "/var/lib/nats": self.folder / name}
        folders |= {"/backups": self.folder / "backups", "/tournaments": self.folder / "tournaments"}
        folders |= {"/run/watch.token": self.folder / "watch.token"}
        for inside, outside in folders.items():
            text = re.sub(
                rf"(?<![\w/]){inside}", f"{outside}/" if inside.endswith("/") else str(outside), text
            )
        text = re.sub(
            r"(?:0\.0\.0\.0|127\.0\.0\.1):(\d+)", lambda at: f"127.0.0.1:{self.ports[name, int(at[1])]}", text
        )
        # A name that stands for several is one of them here.
        text = text.replace("=academy:", "=academy-1:")
        text = re.sub(
            r"(nats-\d|academy-\d|arena):(\d+)", lambda at: f"127.0.0.1:{self.ports[at[1], int(at[2])]}", text
        )
        return re.sub(
            r"(?<=[/,])(nats-\d)(?=[,\s]|$)", lambda at: f"127.0.0.1:{self.ports[at[1], 4222]}", text
        )

    def start(self, name: str) -> None:
        """Start a program of the compose file."""
        program, environment = PROGRAMS[name], dict(os.environ)
        if name in NATS:
            environment |= compose()["services"][name]["environment"]
            configuration = self.folder / f"{name}.conf"
            client = f'listen: "127.0.0.1:{self.ports[name, 4222]}"\n'
            text = (COMPOSE / "nats.conf").read_text(encoding="utf-8")
            configuration.write_text(client + self._here(name, text), encoding="utf-8")
            command = [str(BINARY), "--config", str(configuration)]
        else:
            executable, *words = program.command
            command = [str(BIN / Path(executable).name), *(self._here(name, word) for word in words)]
        with (self.folder / f"{name}.log").open("w", encoding="utf-8") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        self._processes.callback(process.wait)
        self._processes.callback(process.kill)

    def read(self, address: str) -> str:
        """Read a page once it is there."""
        context = ssl.create_default_context(cafile=str(self.tls / "authority.pem"))
        end = time.monotonic() + SECONDS
        while True:
            try:
                with urllib.request.urlopen(address, timeout=5, context=context) as page:
                    return str(page.read().decode())
            except OSError:
                if time.monotonic() > end:
                    logs = (f"{log.name}: {log.read_text()[-600:]}" for log in self.folder.glob("*.log"))
                    raise AssertionError("\n".join(logs)) from None
                time.sleep(0.2)

    def metrics(self, name: str, port: int) -> str:
        """Read the metrics of a program once it has them."""
        return self.read(f"http://127.0.0.1:{self.ports[name, port]}/metrics")


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    with ExitStack() as processes:
        (tmp_path / "tournaments").mkdir()
        started = Running(tmp_path, processes)
        for name in NATS:
            started.start(name)
        for name in NATS:
            assert "ok" in started.read(f"http://127.0.0.1:{started.ports[name, 8222]}/healthz")
        tokens = str(tmp_path / "tournaments" / "arena.tokens")
        watcher = arena("token", "pages", "--role", "watcher", "--tokens", tokens)
        assert watcher.returncode == 0, watcher.stderr
        (tmp_path / "watch.token").write_text(watcher.stdout, encoding="ascii")
        # All at once, as containers do.
        for name in (*ACADEMY, "arena", "web"):
            started.start(name)
        yield started


def test_a_token_made_at_one_server_is_good_at_the_others_and_a_visitor_can_sign_in(running: Running) -> None:
    # On a busy machine a server may miss the log for a moment.
    until(lambda: all("academy_shared_log_up 1.0" in running.metrics(name, 9464) for name in ACADEMY))
    library = str(running.folder / "academy-1" / "library")
    made = run("tokens", "create", "boss", "--role", "admin", "--data", library)
    assert made.exit_code == 0, made.err
    ca = ("--tls-ca", str(running.tls / "authority.pem"))
    for name in ACADEMY:
        address = ("--address", f"127.0.0.1:{running.ports[name, 50551]}")
        end = time.monotonic() + SECONDS
        while "boss" not in (listed := run("tokens", "list", "--token", made.out.strip(), *address, *ca)).out:
            assert time.monotonic() < end, listed.err
            time.sleep(0.2)
    assert "arena_build_info" in running.metrics("arena", 9474)
    page = running.read(f"https://127.0.0.1:{running.ports['web', 8443]}/")
    assert "token" in page and "password" in page
