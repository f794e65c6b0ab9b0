"""`arena serve` as a real process, and how tests ask it."""

import importlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from arena.service.tokens import ServiceRole, add_token
from arena.v1 import competitions_pb2 as messages
from arena.v1 import competitions_pb2_grpc
from clients import AcademyRefusedError
from tests.arena.cli.command import Done, arena

SECONDS = 180.0


class Service:
    """`arena serve` on a folder, with more options."""

    def __init__(
        self,
        folder: Path,
        *more: str,
        address: str = "127.0.0.1:0",
        tokens: dict[str, str] | None = None,
        environment: dict[str, str] | None = None,
    ) -> None:
        """`tokens` are those of a service that served the folder before."""
        self.tokens_file = file = folder / "arena.tokens"
        self.tokens = tokens or {
            name: add_token(file, name, role)
            for name, role in (
                ("me", ServiceRole.OPERATOR),
                ("eye", ServiceRole.WATCHER),
                ("one", ServiceRole.PLAYER),
                ("two", ServiceRole.PLAYER),
            )
        }
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "arena.cli", "serve", str(folder), "--tokens", str(file)),
                *("--address", address, *(more or ("--allow-uploads",))),
            ],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        match = re.search(r" at (\S+)$", line.strip())
        assert match is not None, line
        self.address = match[1]
        self.channel = grpc.insecure_channel(self.address)
        self.stub = competitions_pb2_grpc.CompetitionServiceStub(self.channel)

    def ask(self, method: str, request: Any, who: str = "me", stub: Any = None) -> Any:
        token = self.tokens.get(who, who)
        metadata = (("authorization", f"Bearer {token}"),) if token else ()
        return getattr(stub or self.stub, method)(request, metadata=metadata, timeout=SECONDS)

    def call(self, method: str, request: Any, who: str = "me", service: str = "Member") -> Any:
        """Ask another of its services."""
        module = importlib.import_module(f"arena.v1.{service.lower()}s_pb2_grpc")
        return self.ask(method, request, who, getattr(module, f"{service}ServiceStub")(self.channel))

    def arena(self, *words: str | Path, who: str = "me") -> Done:
        """Run the command at the service."""
        return arena(*words, "--address", self.address, "--token", self.tokens.get(who, who))

    def get(self, name: str) -> messages.Competition:
        response = self.ask("GetCompetition", messages.GetCompetitionRequest(name=name), "eye")
        competition: messages.Competition = response.competition
        return competition

    def wait_for(self, name: str, wanted: Callable[[messages.Competition], bool]) -> messages.Competition:
        deadline = time.monotonic() + SECONDS
        while not wanted(competition := self.get(name)):
            assert time.monotonic() < deadline, competition
            time.sleep(0.1)
        return competition

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(SECONDS)

    def close(self) -> None:
        self.channel.close()
        try:
            self.end()
        finally:
            self.process.kill()
            self.process.wait()


def reason(error: Any) -> tuple[grpc.StatusCode, str]:
    status = rpc_status.from_call(error)
    assert status is not None
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info) and info.domain == "arena"
    return error.code(), info.reason


def refused(call: Callable[[], object]) -> str:
    """The reason for which a service refuses a call, of the library for bots or of a test's own."""
    with pytest.raises((AcademyRefusedError, grpc.RpcError)) as refusal:
        call()
    error = refusal.value
    return error.reason if isinstance(error, AcademyRefusedError) else reason(error)[1]
