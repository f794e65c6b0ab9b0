"""How soon a new server of a shared log answers for full games, from a snapshot and from the log.

    python -m benchmarks.new_server [--games 100] [--rounds 3]

That takes an hour or more: with 100 games a start from the log takes a quarter of one.

All games have full libraries and are learnt through the log. Beside the time on the clock stands the
processor time of the server, which other load on the machine does not change much. The last row is a server
that starts again with the folder it has.
"""

import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Final

from academy.store.contest_commands import ReportContest
from academy.store.library_store import Store
from academy.store.shared_log import snapshots
from academy.store.shared_log.address import LogAddress
from academy.store.shared_log.jetstream import JetStreamLog
from benchmarks import arguments
from benchmarks.load import full_game
from benchmarks.restart import Start, start
from tests.academy.store.shared_log.nats_servers import NatsServer

TAUGHT: Final = 12


def teach(folder: Path, log: LogAddress, count: int) -> tuple[list[str], str]:
    """Have a server learn games; return their ids and a token."""
    with Store(folder, log=log) as store:
        games = [full_game.teach(store, f"go-{number:04d}") for number in range(count)]
        for number, game_id in enumerate(games):
            played = full_game.reports(game_id, TAUGHT, first=number * TAUGHT)
            for learnt in [store.submit(ReportContest(report, "")) for report in played]:
                learnt.result()
        token, _ = full_game.tokens(store)
    return games, token


def measure(what: str, rounds: int, begin: Callable[[], Start]) -> None:
    """Print a row."""
    starts: list[Start] = []
    processor: list[float] = []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        starts.append(begin())
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    serving, answered = (
        median(getattr(begun, name) for begun in starts) for name in ("serving", "all_answered")
    )
    print(f"| {what} | {serving:.1f} | {answered:.1f} | {median(processor):.1f} |", flush=True)


def main() -> None:
    """Print the rows."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--games", type=arguments.count, default=100)
    parser.add_argument("--rounds", type=arguments.count, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as parent:
        nats = NatsServer(Path(parent) / "nats", max_payload="8MB")
        try:
            run(Path(parent), nats.address("bench"), options.games, options.rounds)
        finally:
            nats.kill()


def run(parent: Path, log: LogAddress, count: int, rounds: int) -> None:
    """Teach, and print the rows."""
    old, new = parent / "old", parent / "new"
    games, token = teach(old, log, count)
    # It has served, so it has its pattern caches, and the snapshot has them.
    start(old, games, token)
    begun = time.perf_counter()
    with Store(old) as store:
        made = snapshots.make(store.environment)
        room = store.environment.room().used
    print(
        f"{count} full games: a folder of {room / 1e6:,.0f} MB, {made.followed:,} messages; a snapshot of "
        f"{made.size / 1e6:,.0f} MB made in {time.perf_counter() - begun:.1f} s\n"
    )
    print(
        "| a server that starts with | listens after s | all games answered after s "
        "| processor s until then |\n|---|---|---|---|"
    )
    follow = ("--log", log.text)

    def begin(options: Sequence[str] = follow) -> Start:
        shutil.rmtree(new, ignore_errors=True)
        return start(new, games, token, options=options)

    measure("an empty folder, a snapshot", rounds, begin)
    with closing(JetStreamLog(log)) as connection:
        connection.run(connection.stream.delete_object_store(f"{log.stream}-snapshots"))
    measure("an empty folder, the log", rounds, begin)
    measure("its own folder", rounds, lambda: start(old, games, token))


if __name__ == "__main__":
    main()
