"""The files that one warm call enters at the server, in the order in which it enters them.

    python -m benchmarks.walks

A server in this process answers each kind of call some times, while `sys.setprofile` watches its event loop
and the store's writer. Shown is the shortest walk. A change is a call of a function of ours in
another file than the one before.
"""

import argparse
import asyncio
import sys
import tempfile
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Final

import grpc

from academy.matching.warming import warm_up
from academy.service.server import AcademyServer, ServerSettings
from academy.store.library_store import Store
from academy.store.tokens import CreateToken, Role
from academy.store.writer import WriteContext
from academy.v1 import consultation_pb2, consultation_pb2_grpc, contests_pb2, contests_pb2_grpc
from academy.wire import logs
from academy.wire.addresses import ServerAddress
from benchmarks.load import full_game

PACKAGE: Final = Path(__file__).resolve().parents[1] / "academy"
WARM_CALLS: Final = 10
CONTESTS: Final = 5
REPORTS: Final = 5
ASKED: Final = "MatchPatterns in a contest"
FIRST: Final = "LookUpOpening in a contest, counted"
AGAIN: Final = "LookUpOpening in a contest, the same again"
QUESTIONS: Final = (ASKED, FIRST, AGAIN)
SECONDS: Final = 60.0


class Walk:
    """Notes calls of functions of ours in the thread where it is installed."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        """Note a call, as `sys.setprofile` reports it."""
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(str(PACKAGE)):
            self.calls.append((str(Path(name).relative_to(PACKAGE.parent)), frame.f_code.co_qualname))

    def files(self) -> list[str]:
        """The files entered, each once, in order."""
        return list(dict.fromkeys(file for file, _ in self.calls))

    def changes(self) -> int:
        """How often a call is of another file than the one before."""
        return sum(before[0] != after[0] for before, after in zip(self.calls, self.calls[1:], strict=False))


@dataclass(frozen=True)
class WatchWriter:
    """Have the store's writer profiled, or no longer."""

    profile: Any

    def execute(self, work: WriteContext) -> None:
        """Install it in the writer's thread."""
        sys.setprofile(self.profile)


class EventLoopThread:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine there and return its result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(SECONDS)

    def watch(self, call: Callable[[], object], writer: Store) -> Walk:
        """Make a call and note what the thread and a store's writer enter meanwhile."""
        walk = Walk()
        writer.run(WatchWriter(walk))
        walk.calls.clear()

        async def install(profile: Any) -> None:
            sys.setprofile(profile)

        self.run(install(walk))
        call()
        self.run(install(None))
        calls = list(walk.calls)
        writer.run(WatchWriter(None))
        walk.calls = calls
        return walk


def show(name: str, walk: Walk, listed: bool) -> None:
    """Print how far a call goes."""
    files, functions = walk.files(), set(walk.calls)
    print(
        f"{name}: {len(walk.calls)} calls of {len(functions)} functions, {len(files)} files, "
        f"{walk.changes()} changes"
    )
    before = ""
    for file, function in walk.calls if listed else ():
        print(f"  {file if file != before else '':40} {function}")
        before = file


def main() -> None:
    """Print the walk of each kind of call."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="show each function, not files alone")
    listed = parser.parse_args().all
    logs.configure("warning", "json")
    warm_up()
    thread = EventLoopThread()
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "data") as store:
        game_id = full_game.teach(store)
        token = store.run(CreateToken("arena", Role.ARENA))[1]

        async def make() -> AcademyServer:
            return AcademyServer(store, ServerSettings(address=ServerAddress.parse("127.0.0.1:0")))

        server: AcademyServer = thread.run(make())
        address = thread.run(server.start())
        with grpc.insecure_channel(str(address)) as channel:
            contests = contests_pb2_grpc.ContestServiceStub(channel)
            consultation = consultation_pb2_grpc.ConsultationServiceStub(channel)
            arena = (("authorization", f"Bearer {token}"),)
            (question,) = full_game.questions(game_id, 1, 1)
            question.positions[0].player = 1
            question.positions[0].expected_value = 0.2
            walks: dict[str, list[Walk]] = {name: [] for name in QUESTIONS}
            for number in range(CONTESTS):
                contest = contests_pb2.Contest(contest_id=f"walk/{number}", game_id=game_id)
                for player in ("ann", "bob"):
                    contest.players.add(name=player, elo=1_500.0)
                opened = contests.OpenContest(
                    contests_pb2.OpenContestRequest(contest=contest), metadata=arena
                )
                ticket = (("authorization", f"Bearer {opened.tickets[0]}"),)
                question.contest_id = contest.contest_id
                opening = consultation_pb2.LookUpOpeningRequest(
                    game_id=game_id, contest_id=contest.contest_id, player=1, moves=[]
                )
                ask = partial(consultation.MatchPatterns, question, metadata=ticket)
                look_up = partial(consultation.LookUpOpening, opening, metadata=ticket)
                # What the store answers is remembered for a second: the shortest walks are of warm calls.
                calls: list[tuple[str, Callable[[], object]]]
                calls = [*WARM_CALLS * [(ASKED, ask)], (FIRST, look_up), *WARM_CALLS * [(AGAIN, look_up)]]
                for name, call in calls:
                    walks[name].append(thread.watch(call, store))
            for name, watched in walks.items():
                show(name, min(watched, key=Walk.changes), listed)
            reported = []
            for report in full_game.reports(game_id, REPORTS):
                contests.OpenContest(contests_pb2.OpenContestRequest(contest=report.contest), metadata=arena)
                reported.append(thread.watch(partial(contests.ReportContest, report, metadata=arena), store))
            show("ReportContest", min(reported, key=Walk.changes), listed)
        thread.run(server.stop(0.0))


if __name__ == "__main__":
    main()
