"""What a consultation costs at the server, beside a no-op echo of the same messages in the same process.

    python -m benchmarks.server

The server has one core and the load generator another. Every figure is the median of interleaved rounds.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import grpc

from academy.store.library_store import Store
from academy.store.tokens import CreateToken, Role
from academy.v1 import consultation_pb2 as messages
from benchmarks.load import full_game

ROUNDS = 5
SECONDS = 1.5
SERVICE = "/academy.v1.ConsultationService/"
ECHO = "/benchmark.Echo/"


class Bench:
    """A server of one process and a load generator, each on a core of its own."""

    def __init__(self, folder: Path) -> None:
        with Store(folder) as store:
            self.games = full_game.fill(store)
            _, self.token = store.run(CreateToken("bot", Role.BOT))
        self.server = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.load.serving", str(folder), "0"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.client = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.load.wire", "--core", "1"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        told = json.loads(self.server.stdout.readline())
        self.port, self.echo_port = told["port"], told["echo_port"]

    def close(self) -> None:
        for process in (self.client, self.server):
            process.stdin.close()
            process.wait(20)

    def answer(self, request: messages.MatchPatternsRequest) -> messages.MatchPatternsResponse:
        call = self._call(self.port, SERVICE + "MatchPatterns", messages.MatchPatternsRequest)
        return call(request, metadata=(("authorization", f"Bearer {self.token}"),))

    def prepare_echo(self, answer: messages.MatchPatternsResponse) -> None:
        self._call(self.echo_port, ECHO + "SetAnswer", messages.MatchPatternsResponse)(answer)

    @staticmethod
    def _call(port, path, request_type):
        channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        return channel.unary_unary(
            path, request_type.SerializeToString, messages.MatchPatternsResponse.FromString
        )

    def load(
        self, echo: bool, questions: list[bytes], bots: int, streaming: bool, seconds: float = SECONDS
    ) -> dict:
        method = "Play" if streaming else "Unary" if echo else "MatchPatterns"
        order = {
            "host": "127.0.0.1",
            "port": self.echo_port if echo else self.port,
            "path": (ECHO if echo else SERVICE) + method,
            "token": "" if echo else self.token,
            "questions": [question.hex() for question in questions],
            "bots": bots,
            "streaming": streaming,
            "seconds": seconds,
        }
        self.client.stdin.write(json.dumps(order) + "\n")
        self.client.stdin.flush()
        return json.loads(self.client.stdout.readline())


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder) / "data")
        try:
            print(f"{'':32}{'calls/s':>9}{'echo':>9}{'ratio':>7}{'p50 ms':>8}{'p99 ms':>8}{'bytes':>7}")
            for name, positions, bots, streaming in (
                ("unary, 1 bot", 1, 1, False),
                ("unary, 16 bots", 1, 16, False),
                ("unary, 64 bots", 1, 64, False),
                ("stream, 1 bot", 1, 1, True),
                ("stream, 16 bots", 1, 16, True),
                ("stream, 64 bots", 1, 64, True),
                ("unary, 16 positions, 16 bots", 16, 16, False),
                ("stream, 16 positions, 16 bots", 16, 16, True),
            ):
                asked = full_game.questions(bench.games[0], 64, positions)
                sizes = sorted(
                    (len(bench.answer(each).SerializeToString()), place)
                    for place, each in enumerate(asked[:16])
                )
                bench.prepare_echo(bench.answer(asked[sizes[len(sizes) // 2][1]]))
                raw = [
                    (
                        messages.PlayRequest(request_id=1, patterns=each) if streaming else each
                    ).SerializeToString()
                    for each in asked
                ]
                own, echo = [], []
                for _ in range(ROUNDS):
                    echo.append(bench.load(True, raw, bots, streaming))
                    own.append(bench.load(False, raw, bots, streaming))
                rate, noop = (median(each["rate"] for each in found) for found in (own, echo))
                p50, p99, size = (median(each[key] for each in own) for key in ("p50", "p99", "answer_bytes"))
                ratio = median(one["rate"] / two["rate"] for one, two in zip(own, echo, strict=True))
                print(
                    f"{name:32}{rate:9,.0f}{noop:9,.0f}{ratio:7.2f}{p50 * 1e3:8.2f}{p99 * 1e3:8.2f}{size:7.0f}",
                    flush=True,
                )
        finally:
            bench.close()


if __name__ == "__main__":
    main()
