"""The processes of a benchmark: a server under load, and the generator of its load."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import grpc

from academy.v1 import consultation_pb2 as messages
from benchmarks.load.wire import Load

PLAY: Final = "/academy.v1.ConsultationService/Play"
MATCH: Final = "/academy.v1.ConsultationService/MatchPatterns"
SUCCESSORS: Final = "/academy.v1.ConsultationService/MatchSuccessors"
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
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout

    def tell(self, line: str) -> None:
        self._in.write(line + "\n")
        self._in.flush()

    def hear(self) -> str:
        line = self._out.readline()
        assert line, f"{self._process.args!r}: ended with {self._process.wait()}"
        return line

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._in.close()
        self._process.wait(300)
        self._out.close()


class Generator(Child):
    """A load generator, on a core of its own if one is named."""

    def __init__(self, core: int = -1) -> None:
        super().__init__("benchmarks.load.wire", "--core", str(core))

    def begin(self, port: int, path: str, token: str, questions: Sequence[Any], **pace: Any) -> None:
        """Begin to ask; `pace` has the number of `bots`, the `seconds`, and the `rate` if it is limited.

        Where the method is a stream, it is asked about patterns.
        """
        streaming = path.rpartition("/")[2].startswith("Play")
        if streaming:
            questions = [messages.PlayRequest(request_id=1, patterns=question) for question in questions]
        written = [question.SerializeToString().hex() for question in questions]
        order = {"port": port, "path": path, "token": token, "questions": written, "streaming": streaming}
        self.tell(json.dumps(order | pace))

    def result(self) -> Load:
        """Wait for what came of it."""
        return Load(**json.loads(self.hear()))

    def ask(self, port: int, path: str, token: str, questions: Sequence[Any], **pace: Any) -> Load:
        """Ask, and return what came of it."""
        self.begin(port, path, token, questions, **pace)
        return self.result()


class Server(Child):
    """A server of one process with an echo and a no-op beside it, on a core of its own if one is named."""

    def __init__(self, folder: Path, core: int = -1) -> None:
        super().__init__("benchmarks.load.serving", str(folder), str(core))
        ports = json.loads(self.hear())
        self.port, self.echo_port, self.no_op_port = (
            ports[name] for name in ("port", "echo_port", "no_op_port")
        )

    def answer(self, token: str, request: messages.MatchPatternsRequest) -> messages.MatchPatternsResponse:
        """Ask once, as a client does."""
        with grpc.insecure_channel(f"127.0.0.1:{self.port}") as channel:
            call = channel.unary_unary(
                MATCH,
                messages.MatchPatternsRequest.SerializeToString,
                messages.MatchPatternsResponse.FromString,
            )
            return call(request, metadata=(("authorization", f"Bearer {token}"),))

    def prepare_echo(self, answer: messages.MatchPatternsResponse) -> None:
        """Have the echo and the no-op answer with this from now on."""
        with grpc.insecure_channel(f"127.0.0.1:{self.echo_port}") as channel:
            message = messages.MatchPatternsResponse
            channel.unary_unary(ECHO + "SetAnswer", message.SerializeToString, message.FromString)(answer)
