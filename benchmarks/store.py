"""What the store costs: contests a second, loading and following a full game, checking it, bytes a contest.

    python -m benchmarks.store

Contests are random 60-ply games on 9x9 with every board reported, and two endgame proposals a player. Times
are medians of the rounds that the row gives.
"""

import random
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from statistics import median
from typing import Any

from academy.knowledge.settings import Library
from academy.store import game_tables
from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.game_registration import RegisterGame
from academy.store.library_import import ImportLibraries
from academy.store.library_store import Store
from academy.store.maintenance.check import check
from academy.v1 import contests_pb2, pattern_pb2
from benchmarks import arguments
from tests.academy.store.examples import contest, endgame_proposal, go_game, report, submission

ROUNDS = 5
GAME = "go-9x9"
CONTESTS = 100
SINGLE = 100
PATTERNS = {Library.MIDDLE_GAME: 1_000, Library.ENDGAME: 5_000}


def timed(what: str, act: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Do something several times, print a row with the median of the times it took, and return that (s)."""
    taken = []
    for _ in range(rounds):
        begun = time.perf_counter()
        act()
        taken.append(time.perf_counter() - begun)
    middle = median(taken)
    shown = f"{middle * 1e3:,.1f} ms" if middle > 1e-4 else f"{middle * 1e6:,.1f} us"
    print(f"| {what} | {shown} | {rounds:,} |", flush=True)
    return middle


def random_patterns(library: Library, count: int) -> list[pattern_pb2.PatternRecord]:
    """Patterns of 3x3 to 5x5 with mixed codes and three votes each."""
    chance = random.Random(library.value)
    patterns = []
    for number in range(count):
        rows, columns = chance.randint(3, 5), chance.randint(3, 5)
        cells = "\n".join("".join(chance.choices("-xo12#", k=columns)) for _ in range(rows))
        votes = [
            pattern_pb2.Vote(
                player=f"player {voter}",
                elo_hundredths=chance.randrange(100_000, 200_000),
                value_millionths=chance.randrange(1_000_000),
            )
            for voter in chance.sample(range(50), 3)
        ]
        patterns.append(pattern_pb2.PatternRecord(pattern_id=number + 1, cells=cells, player=1, votes=votes))
    return patterns


def play(store: Store, reports: list[contests_pb2.ReportContestRequest]) -> None:
    """Open, propose and report all contests, as fast as the writer takes them."""
    waiting: list[Future[Any]] = []
    for contest_report in reports:
        contest_id = contest_report.contest.contest_id
        waiting.append(store.submit(OpenContest(contest(contest_id))))
        for seat in (1, 2):
            proposals = [endgame_proposal(contest_report, seat=seat, back=back) for back in range(2)]
            waiting.append(store.submit(submission(contest_id, seat, proposals, "benchmark")))
        waiting.append(store.submit(ReportContest(contest_report, "benchmark")))
        if len(waiting) > 1_000:
            for future in waiting:
                future.result()
            waiting.clear()
    for future in waiting:
        future.result()


def main() -> None:
    """Measure in a fresh folder."""
    arguments.parser(__doc__).parse_args()
    print("| what | median | of |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "data"
        with Store(folder) as store, Store(Path(parent) / "others") as others:
            held = measure(store, others, folder / "data.mdb")
        timed("opening the folder", lambda: Store(folder).close())
    print(f"\n{held}")


def measure(store: Store, others: Store, file: Path) -> str:
    """Print the rows of everything that is done with an open store; return what its one game then holds.

    Further games go into `others`: what is checked must be one game's log.
    """
    patterns = {library: random_patterns(library, count) for library, count in PATTERNS.items()}
    games = iter([*((others, f"go-{number}") for number in range(1, ROUNDS)), (store, GAME)])

    def taught() -> None:
        into, game = next(games)
        into.run(RegisterGame(go_game(game_id=game), "benchmark"))
        into.run(ImportLibraries(game, patterns, [], False, "benchmark"))

    timed("registering a game and importing 6,000 patterns", taught)
    batches = iter(
        [[report(f"{batch}/{number}", plies=60) for number in range(CONTESTS)] for batch in range(ROUNDS)]
    )
    size = file.stat().st_size
    what = f"{CONTESTS:,} contests with 4 proposals each, grouped"
    taken = timed(what, lambda: play(store, next(batches)))
    grown = (file.stat().st_size - size) / (ROUNDS * CONTESTS)
    print(f"| that is, contests a second | {CONTESTS / taken:,.0f} | {ROUNDS} |")
    print(f"| bytes of the file a contest | {grown:,.0f} | all |")
    single = iter([report(f"single-{number}", plies=60) for number in range(SINGLE)])
    single_report = "one report, acknowledged before the next"
    timed(single_report, lambda: store.run(ReportContest(next(single), "benchmark")), SINGLE)
    timed("following: loading a full game", lambda: store.follow().refresh(GAME))
    follower = store.follow()
    follower.refresh(GAME)
    timed("following: nothing new", lambda: follower.refresh(GAME), 10_000)
    more = iter([report(f"more-{number}", plies=60) for number in range(SINGLE)])

    def one_more() -> None:
        store.run(ReportContest(next(more), "benchmark"))
        follower.refresh(GAME)

    timed("one report, then following it", one_more, SINGLE)

    def load() -> None:
        with store.environment.reading() as transaction:
            game_tables.load(transaction, GAME)

    timed("writing: loading a full game", load)
    replayed = ROUNDS * CONTESTS + 2 * SINGLE
    timed(f"checking with replay of {replayed:,} contests", lambda: list(check(store.environment)))
    held = follower.refresh(GAME)
    sizes = " and ".join(f"{len(entries):,} {library.value}" for library, entries in held.libraries.items())
    return f"The game then holds {sizes} patterns and {len(held.openings.nodes):,} opening nodes."


if __name__ == "__main__":
    main()
