"""A server under load, and what the load generator says of it."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

import grpc

from academy.v1 import consultation_pb2 as messages
from benchmarks.load.wire import Load

SERVICE: Final = "/academy.v1.ConsultationService/"
REPORT: Final = "/academy.v1.ContestService/ReportContest"
ECHO: Final = "/benchmark.Echo/"


class Child:
    """A process that takes its work line by line, and answers so."""

    def __init__(self, module: str, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def tell(self, line: str) -> None:
        self._pipe(self._process.stdin).write(line + "\n")
        self._pipe(self._process.stdin).flush()

    def hear(self) -> str:
        line = self._pipe(self._process.stdout).readline()
        assert line, f"{self._process.args!r}: ended with {self._process.wait()}"
        return line

    def close(self) -> None:
        self._pipe(self._process.stdin).close()
        self._process.wait(300)
        self._pipe(self._process.stdout).close()

    @staticmethod
    def _pipe(pipe: IO[str] | None) -> IO[str]:
        assert pipe is not None
        return pipe


class Generator(Child):
    """A load generator, on a core of its own if one is named."""

    def __init__(self, core: int = -1) -> None:
        super().__init__("benchmarks.load.wire", "--core", str(core))

    def begin(  # noqa: PLR0913 - the fields of the order in JSON
        self,
        port: int,
        path: str,
        token: str,
        questions: Sequence[bytes],
        *,
        bots: int,
        seconds: float,
        streaming: bool = False,
        rate: float = 0.0,
    ) -> None:
        order: dict[str, Any] = {
            "host": "127.0.0.1",
            "port": port,
            "path": path,
            "token": token,
            "questions": [question.hex() for question in questions],
            "bots": bots,
            "streaming": streaming,
            "seconds": seconds,
            "rate": rate,
        }
        self.tell(json.dumps(order))

    def result(self) -> Load:
        return Load(**json.loads(self.hear()))


class Server(Child):
    """A server of one process with an echo and a no-op beside it, on a core of its own if one is named."""

    def __init__(self, folder: Path, core: int = -1) -> None:
        super().__init__("benchmarks.load.serving", str(folder), str(core))
        ports = json.loads(self.hear())
        self.port, self.echo_port, self.no_op_port = (
            ports[name] for name in ("port", "echo_port", "no_op_port")
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def answer(self, token: str, request: messages.MatchPatternsRequest) -> messages.MatchPatternsResponse:
        """Ask once, as a client does."""
        with grpc.insecure_channel(f"127.0.0.1:{self.port}") as channel:
            call = channel.unary_unary(
                SERVICE + "MatchPatterns",
                messages.MatchPatternsRequest.SerializeToString,
                messages.MatchPatternsResponse.FromString,
            )
            return call(request, metadata=(("authorization", f"Bearer {token}"),))

    def prepare_echo(self, answer: messages.MatchPatternsResponse) -> None:
        """Have the echo and the no-op answer with this from now on."""
        with grpc.insecure_channel(f"127.0.0.1:{self.echo_port}") as channel:
            message = messages.MatchPatternsResponse
            channel.unary_unary(ECHO + "SetAnswer", message.SerializeToString, message.FromString)(answer)
