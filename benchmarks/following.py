"""How soon a server shows what another process has committed: `python -m benchmarks.following`.

This process writes into the data folder that a server of full libraries reads, and asks that server over and
over from the moment a write is acknowledged until the answer shows it: first alone, then beside sixteen bots
that ask a thousand times a second.
"""

import itertools
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

import grpc

from academy.store.codec.games import library_from_proto
from academy.store.contest_commands import ReportContest
from academy.store.library_commands import DeletePattern, RestorePattern
from academy.store.library_store import Store
from academy.v1 import consultation_pb2 as messages
from academy.v1 import consultation_pb2_grpc
from benchmarks import arguments
from benchmarks.load import full_game
from benchmarks.load.processes import MATCH, Generator, Server

WRITES: Final = 100
BOTS: Final = 16
ASKED_A_SECOND: Final = 1_000.0
# Far more than what is measured: one that never follows is an error, no figure.
LONGEST: Final = 30.0


class NotFollowedError(RuntimeError):
    """The other process does not show what was committed."""


class Reader:
    """Asks a server that another process writes for."""

    def __init__(self, stub: consultation_pb2_grpc.ConsultationServiceStub, token: str, game_id: str) -> None:
        self._stub = stub
        self._metadata = (("authorization", f"Bearer {token}"),)
        self._opening = messages.LookUpOpeningRequest(game_id=game_id, player=1)
        self._question = full_game.questions(game_id, 1)[0]

    def visits(self) -> int:
        """How many contests have gone through the first position."""
        return self._stub.LookUpOpening(self._opening, metadata=self._metadata).position.visits

    def has_more_visits_than(self, before: int) -> bool:
        """Whether contests have gone through the first position beyond the number `before`."""
        return self.visits() > before

    def patterns(self) -> messages.PatternTable:
        """The strongest patterns on a position."""
        return self._stub.MatchPatterns(self._question, metadata=self._metadata).patterns


def until(shown: Callable[[], bool]) -> float:
    """Ask until it is shown; return the seconds. Raises NotFollowedError after `LONGEST` seconds."""
    begun = time.perf_counter()
    while not shown():
        if time.perf_counter() > begun + LONGEST:
            raise NotFollowedError(f"a commit was not shown within {LONGEST:.0f} s")
    return time.perf_counter() - begun


def reports(store: Store, reader: Reader, game_id: str, first: int) -> list[float]:
    """Seconds until the first position counts a contest that was reported."""
    delays = []
    for report in full_game.reports(game_id, WRITES, first):
        before = reader.visits()
        store.run(ReportContest(report, "benchmark"))
        delays.append(until(partial(reader.has_more_visits_than, before)))
    return delays


def changes(store: Store, reader: Reader, game_id: str) -> list[float]:
    """Seconds until a pattern that was deleted is matched no longer, and one that was restored is again."""
    table = reader.patterns()
    number, library = table.pattern_ids[0], library_from_proto(table.libraries[0])
    delays = []
    for _ in range(WRITES // 2):
        store.run(DeletePattern(game_id, library, number, "benchmark"))
        delays.append(until(lambda: number not in reader.patterns().pattern_ids))
        store.run(RestorePattern(game_id, library, number, "benchmark"))
        delays.append(until(lambda: number in reader.patterns().pattern_ids))
    return delays


@contextmanager
def others_asking(port: int, token: str, game_id: str) -> Iterator[None]:
    """Have other bots ask the same server all the while."""
    questions, enough = full_game.questions(game_id, 64), threading.Event()

    def ask() -> None:
        while not enough.is_set():
            generator.ask(port, MATCH, token, questions, bots=BOTS, seconds=1.0, rate=ASKED_A_SECOND)

    with Generator() as generator, ThreadPoolExecutor(1) as executor:
        asking = executor.submit(ask)
        try:
            yield
        finally:
            enough.set()
            asking.result()


def _print(what: str, seconds: list[float]) -> None:
    times = sorted(1e3 * delay for delay in seconds)
    most = times[len(times) * 99 // 100 - 1]
    print(f"| {what} | {median(times):.1f} | {most:.1f} | {times[-1]:.1f} |", flush=True)


def main() -> None:
    """Print a table."""
    arguments.parser(__doc__).parse_args()
    print(f"| {WRITES} writes of another process each | answered after ms: median | 99 of 100 | all |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "data"
        with Store(folder) as store:
            game_id = full_game.teach(store)
            token, _ = full_game.tokens(store)
            with Server(folder) as server, grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
                reader = Reader(consultation_pb2_grpc.ConsultationServiceStub(channel), token, game_id)
                reader.patterns()
                first = itertools.count(0, WRITES)

                def measure(beside: str) -> None:
                    delays = reports(store, reader, game_id, next(first))
                    _print("a contest reported, counted by its opening" + beside, delays)
                    _print("a pattern deleted or restored" + beside, changes(store, reader, game_id))

                measure("")
                with others_asking(server.port, token, game_id):
                    measure(f", {BOTS} other bots asking")


if __name__ == "__main__":
    main()
