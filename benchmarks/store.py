"""What the store costs: contests a second, loading and following a full game, checking it, bytes a contest.

    python -m benchmarks.store [FOLDER]

Contests are random 60-ply games on 9x9 with every board told, and two endgame proposals a player.
"""

import random
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from academy.knowledge.settings import Library
from academy.store import game_tables
from academy.store.check import check
from academy.store.contest_commands import OpenContest, RegisterGame, ReportContest
from academy.store.library_commands import ImportLibraries
from academy.store.library_store import Store
from academy.v1 import contests_pb2, pattern_pb2
from tests.academy.store.examples import contest, endgame_proposal, go_game, report, submission

CONTESTS = 2_000
PATTERNS = {Library.MIDDLE_GAME: 1_000, Library.ENDGAME: 5_000}


def timed(what: str, act: Callable[[], object], times: int = 1, unit: str = "ms") -> float:
    """Do something several times and print what one of them took."""
    begun = time.perf_counter()
    for _ in range(times):
        act()
    taken = (time.perf_counter() - begun) / times
    print(f"{what:50} {taken * (1e3 if unit == 'ms' else 1e6):10.1f} {unit}")
    return taken


def random_patterns(library: Library, count: int) -> list[pattern_pb2.PatternRecord]:
    """Patterns of 3x3 to 5x5 with mixed codes and three votes each."""
    chance = random.Random(library.value)
    found = []
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
        found.append(pattern_pb2.PatternRecord(pattern_id=number + 1, cells=cells, player=1, votes=votes))
    return found


def play(store: Store, told: list[contests_pb2.ReportContestRequest]) -> None:
    """Open, propose and report all contests, as fast as the writer takes them."""
    waiting: list[Future[Any]] = []
    for each in told:
        contest_id = each.contest.contest_id
        waiting.append(store.submit(OpenContest(contest(contest_id))))
        for seat in (1, 2):
            proposals = [endgame_proposal(each, seat=seat, back=back) for back in range(2)]
            waiting.append(store.submit(submission(contest_id, seat, proposals, "benchmark")))
        waiting.append(store.submit(ReportContest(each, "benchmark")))
        if len(waiting) > 1_000:
            for future in waiting:
                future.result()
            waiting.clear()
    for future in waiting:
        future.result()


def main() -> None:
    """Measure in a fresh folder."""
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as folder:
        with Store(Path(folder) / "data") as store:
            store.run(RegisterGame(go_game(), "benchmark"))
            patterns = {library: random_patterns(library, count) for library, count in PATTERNS.items()}
            timed(
                "importing 6,000 patterns",
                lambda: store.run(ImportLibraries("go-9x9", patterns, [], False, "benchmark")),
            )
            told = [report(f"c{number}") for number in range(CONTESTS)]
            size = (Path(folder) / "data" / "data.mdb").stat().st_size
            taken = timed(f"{CONTESTS:,} contests with 4 proposals each, grouped", lambda: play(store, told))
            print(f"{'that is':50} {CONTESTS / taken:10.0f} contests/s")
            grown = (Path(folder) / "data" / "data.mdb").stat().st_size - size
            print(f"{'and':50} {grown / CONTESTS:10.0f} bytes a contest")
            single = iter([report(f"single-{number}") for number in range(200)])
            timed(
                "one report, acknowledged before the next",
                lambda: store.run(ReportContest(next(single), "b")),
                200,
            )
            follower = store.follow()
            view = timed("following: loading a full game", lambda: follower.refresh("go-9x9"))
            assert view
            timed("following: nothing new", lambda: follower.refresh("go-9x9"), 10_000, "us")
            more = iter([report(f"more-{number}") for number in range(100)])

            def one_more() -> None:
                store.run(ReportContest(next(more), "benchmark"))
                follower.refresh("go-9x9")

            timed("one report, then following it", one_more, 100)
            held = follower.refresh("go-9x9")
            sizes = {library.value: len(entries) for library, entries in held.libraries.items()}
            print(f"    the game holds {sizes} and {len(held.openings.nodes):,} nodes")

            def load() -> None:
                with store.environment.reading() as transaction:
                    game_tables.load(transaction, "go-9x9")

            timed("writing: loading a full game", load)
            timed("checking with replay", lambda: list(check(store.environment)))
        timed("opening the folder", lambda: Store(Path(folder) / "data").close())


if __name__ == "__main__":
    main()
