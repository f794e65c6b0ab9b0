"""The files that one warm call enters at the server, in the order in which it enters them.

    python -m benchmarks.walks

A server in this process answers each kind of call some times, while `sys.setprofile` watches its event loop
and the store's writer. Shown is the shortest walk. A change is a call of a function of ours in
another file than the one before.
"""

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any, Final

from academy.matching.warming import warm_up
from academy.store.writer import WriteContext
from academy.v1 import consultation_pb2, contests_pb2
from benchmarks import arguments
from benchmarks.load import full_game
from tests.academy.service.running import Running, serving

PACKAGE: Final = Path(__file__).resolve().parents[1] / "academy"
WARM_CALLS: Final = 10
CONTESTS: Final = 5
REPORTS: Final = 5
ASKED: Final = "a consultation (`MatchPatterns`, in a contest)"
FIRST: Final = "an opening look-up that writes its count, in a contest"
AGAIN: Final = "the same look-up again, whose count is kept"
REPORTED: Final = "a contest's report, to the library"


class Walk:
    """Notes calls of functions of ours in the thread where it is installed."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        """Note a call, as `sys.setprofile` reports it."""
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(str(PACKAGE)) and _begins(frame):
            self.calls.append((str(Path(name).relative_to(PACKAGE.parent)), frame.f_code.co_qualname))

    def files(self) -> list[str]:
        """The files entered, each once, in order."""
        return list(dict.fromkeys(file for file, _ in self.calls))

    def changes(self) -> int:
        """How often a call is of another file than the one before."""
        return sum(before != after for (before, _), (after, _) in pairwise(self.calls))


def _begins(frame: FrameType) -> bool:
    """Whether a call begins; `sys.setprofile` also reports a generator or a coroutine that goes on as one."""
    return frame.f_code.co_code[frame.f_lasti + 1] == 0


@dataclass(frozen=True)
class WatchWriter:
    """Have the store's writer profiled, or no longer."""

    profile: Any

    def execute(self, work: WriteContext) -> None:
        """Install it in the writer's thread."""
        sys.setprofile(self.profile)


def watch(server: Running, call: Callable[[], object]) -> Walk:
    """Make a call and note what the server's event loop and its store's writer enter meanwhile."""
    walk = Walk()

    async def install(profile: Any) -> None:
        sys.setprofile(profile)

    server.store.run(WatchWriter(walk))
    walk.calls.clear()
    server.within(install(walk))
    call()
    server.within(install(None))
    calls = list(walk.calls)
    server.store.run(WatchWriter(None))
    walk.calls = calls
    return walk


def contest_walks(server: Running, game_id: str, number: int) -> list[tuple[str, Walk]]:
    """The walks of the questions in a contest, the first of which find nothing remembered."""
    contest = contests_pb2.Contest(contest_id=f"walk/{number}", game_id=game_id)
    for player in ("ann", "bob"):
        contest.players.add(name=player, elo=1_500.0)
    opened = server.arena().contests.OpenContest(contests_pb2.OpenContestRequest(contest=contest))
    consultation = server.client(opened.tickets[0]).consultation
    (question,) = full_game.questions(game_id, 1)
    question.contest_id = contest.contest_id
    question.positions[0].expected_value = 0.2
    opening = consultation_pb2.LookUpOpeningRequest(
        game_id=game_id, contest_id=contest.contest_id, player=1, moves=[]
    )
    ask = partial(consultation.MatchPatterns, question)
    look_up = partial(consultation.LookUpOpening, opening)
    # What the store answers is remembered for a second: the shortest walks are of warm calls.
    calls: list[tuple[str, Callable[[], object]]]
    calls = [*WARM_CALLS * [(ASKED, ask)], (FIRST, look_up), *WARM_CALLS * [(AGAIN, look_up)]]
    return [(name, watch(server, call)) for name, call in calls]


def report_walk(server: Running, report: contests_pb2.ReportContestRequest) -> Walk:
    """The walk of a contest's report."""
    arena = server.arena().contests
    arena.OpenContest(contests_pb2.OpenContestRequest(contest=report.contest))
    return watch(server, partial(arena.ReportContest, report))


def main() -> None:
    """Print how far each kind of call goes, and its walk."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--all", action="store_true", help="show each function too, call by call")
    listed = parser.parse_args().all
    warm_up()
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "data") as server:
        game_id = full_game.teach(server.store)
        walks = [pair for number in range(CONTESTS) for pair in contest_walks(server, game_id, number)]
        reports = full_game.reports(game_id, REPORTS)
        walks += [(REPORTED, report_walk(server, report)) for report in reports]
    print("| call | files | changes of file |\n|---|---|---|")
    shortest = {
        name: min((walk for known, walk in walks if known == name), key=Walk.changes)
        for name in (ASKED, FIRST, AGAIN, REPORTED)
    }
    for name, walk in shortest.items():
        print(f"| {name} | {len(walk.files())} | {walk.changes()} |")
    for name, walk in shortest.items() if listed else ():
        print(f"\n{name}")
        before = ""
        for file, function in walk.calls:
            print(f"  {file if file != before else '':40} {function}")
            before = file


if __name__ == "__main__":
    main()
