"""How soon a server that starts again is warm: `python -m benchmarks.restart [--games 100]`.

All games have full libraries. They are copies of one that is learnt, as its records and pattern cache are.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

import grpc

from academy.store.contest_commands import ReportContest
from academy.store.environment import PATTERN_CACHES
from academy.store.library_commands import ChangeSettings
from academy.store.library_store import Store
from academy.v1 import consultation_pb2, consultation_pb2_grpc, game_pb2
from benchmarks import arguments
from benchmarks.load import full_game
from benchmarks.load.copied_games import copied
from benchmarks.process_usage import own_bytes

ROUNDS: Final = 5
TAUGHT: Final = 12


@dataclass(frozen=True)
class Start:
    """Seconds after the start of the process, seconds of the slowest first answer, and bytes of memory."""

    serving: float
    all_answered: float
    slowest: float
    memory: int


def start(
    folder: Path, games: list[str], token: str, weights: bool = False, options: Sequence[str] = ()
) -> Start:
    """Start a server, ask about each game once, with `weights` for what it has of these, too; stop it."""
    questions = [next(iter(full_game.questions(game, 1))) for game in games]
    position = questions[0].positions[0]
    command = [sys.executable, "-m", "academy", "serve", "--data", str(folder), "--address", "127.0.0.1:0"]
    command += ["--rate", "100000", *options]
    # As where it is installed: compiled once, also where the environment forbids that.
    environment = os.environ | {"PYTHONPYCACHEPREFIX": str(folder.parent / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    begun = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--log-level", "error"],
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        env=environment,
    )
    assert process.stdout is not None
    try:
        match = re.search(r" at (\S+);", process.stdout.readline())
        serving = time.perf_counter() - begun
        assert match
        taken = []
        with grpc.insecure_channel(match[1]) as channel:
            stub = consultation_pb2_grpc.ConsultationServiceStub(channel)
            for question in questions:
                asked_at = time.perf_counter()
                stub.MatchPatterns(question, metadata=(("authorization", f"Bearer {token}"),))
                taken.append(time.perf_counter() - asked_at)
            for game in games if weights else ():
                cells = [cell for cell, letter in enumerate(position.board) if letter == "-"]
                bearer = (("authorization", f"Bearer {token}"),)
                advice = consultation_pb2.AdviseRequest(game_id=game, position=position, cells=cells)
                stub.Advise(advice, metadata=bearer)
                stub.DownloadWeights(
                    consultation_pb2.DownloadWeightsRequest(game_id=game, player=1), metadata=bearer
                )
        answered = time.perf_counter() - begun
        return Start(serving, answered, max(taken), own_bytes(process.pid))
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        process.stdout.close()


def main() -> None:
    """Print a table."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--games", type=arguments.count, default=100)
    names = [f"go-{number:04}" for number in range(parser.parse_args().games)]
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "data"
        with Store(folder) as store:
            full_game.teach(store, names[0])
            token, _ = full_game.tokens(store)
        # The first start makes the pattern cache that is kept.
        start(folder, names[:1], token)
        copied(folder, names[0], names[1:])
        starts = [start(folder, names, token) for _ in range(ROUNDS)]
        bare = []
        for _ in range(ROUNDS):
            shutil.rmtree(folder / PATTERN_CACHES)
            bare.append(start(folder, names[:1], token))
        with Store(folder) as store:
            # Enough for 1,000 tesujis and 5,000 anchored patterns.
            weights = game_pb2.LibrarySettings(
                tesuji_capacity=1_000, evaluation=True, evaluation_patterns=5_000, analysed_patterns=0
            )
            store.run(ChangeSettings(names[0], weights, "benchmark"))
            for played in full_game.reports(names[0], TAUGHT):
                store.run(ReportContest(played, "benchmark"))
            learnt = store.follow().refresh(names[0])
            sizes = f"{len(learnt.tesujis):,} tesujis, {learnt.evaluation.patterns:,} anchored patterns"
        start(folder, names[:1], token)
        copied(folder, names[0], names[1:])
        weighed = [start(folder, names, token, weights=True) for _ in range(ROUNDS)]
    print("| restart with | serving after s | every game answered after s | slowest first answer ms | MiB |")
    print("|---|---|---|---|---|")
    _print(f"{len(names)} full games, pattern cache kept", starts)
    _print(f"the same, each with {sizes}, asked for", weighed)
    _print("without weights and without a kept pattern cache, one game asked about", bare)


def _print(what: str, starts: list[Start]) -> None:
    """Print the medians of some starts."""
    print(
        f"| {what} | {median(start.serving for start in starts):.2f} "
        f"| {median(start.all_answered for start in starts):.2f} "
        f"| {median(start.slowest for start in starts) * 1e3:.0f} "
        f"| {median(start.memory for start in starts) / 2**20:.0f} |"
    )


if __name__ == "__main__":
    main()
