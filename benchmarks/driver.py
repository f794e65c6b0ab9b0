"""What a run costs besides the games: how many it records, rates and reports in a second on one core.

    python -m benchmarks.driver [--seconds 20] [--workers 1000] [--game-seconds 10]

Workers are simulated: each game lasts its time and has the result and the 100 moves of one real game. The
rest is a run as it is: selection, ratings, the results database on this disk, records, the history.
"""

import heapq
import os
import tempfile
import time
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from arena.control.toml_file import read
from arena.jobs import GameJob, GameResult
from arena.match.game import play
from arena.results.database import ResultsDatabase
from arena.results.registration import Heading
from arena.results.series import Series
from arena.runner.competition import Competition, RunResources
from arena.runner.event_log import EventLog
from arena.runner.files import CompetitionFiles
from arena.runner.game_jobs import JobMaker, setting_of
from arena.runner.stopping import StopRequests
from arena.selection.kinds import selector_for
from arena.terminal.display import Display
from arena.workers.interface import WorkerLost, Workers
from benchmarks import arguments
from benchmarks.process_usage import resident_bytes

# A run is measured in parts, which show whether later games cost more.
PARTS: Final = 6


class Mark(NamedTuple):
    """How far a run is: seconds, processor time of this process in seconds, and its memory in bytes."""

    seconds: float
    processor: float
    memory: int

    @classmethod
    def now(cls) -> "Mark":
        """At this moment."""
        return cls(time.monotonic(), time.process_time(), resident_bytes(os.getpid()))


class Finished(Display):
    """Marks how far the run is with every part of the games that is made known."""

    def __init__(self, games: int) -> None:
        self.each = max(1, games // PARTS)
        self.marks: list[Mark] = []
        self._games = 0

    def result(self, text: str) -> None:
        self._games += 1
        if self._games % self.each == 0:
            self.marks.append(Mark.now())


class SimulatedWorkers(Workers):
    """`size` workers whose games last `seconds` each, the first ones spread over that time."""

    def __init__(self, size: int, seconds: float) -> None:
        self._size, self._seconds = size, seconds
        self._games: list[tuple[float, str, GameJob]] = []
        self._begun = 0
        self._played: GameResult | None = None

    @property
    def size(self) -> int:
        return self._size

    def submit(self, job: GameJob) -> None:
        if self._played is None:
            self._played = play(replace(job, live_path=None, log_path=None))
        share = min(1.0, (self._begun + 1) / self._size)
        self._begun += 1
        heapq.heappush(self._games, (time.monotonic() + self._seconds * share, job.game_id, job))

    def next_result(self, timeout: float) -> GameResult | WorkerLost | None:
        if not self._games:
            return None
        wait = self._games[0][0] - time.monotonic()
        if wait > 0:
            time.sleep(min(wait, timeout))
            if self._games[0][0] > time.monotonic():
                return None
        _, _, job = heapq.heappop(self._games)
        assert self._played is not None
        return replace(
            self._played, game_id=job.game_id, attempt=job.attempt, started=time.time() - self._seconds
        )

    def stop(self) -> None:
        self._games.clear()


def main() -> None:
    """Run a competition of simulated games for a while, and print what it took."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--seconds", type=arguments.positive, default=20.0, help="how long")
    parser.add_argument("--workers", type=arguments.count, default=1000, help="how many workers")
    parser.add_argument("--game-seconds", type=arguments.positive, default=10.0, help="how long a game lasts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        path = Path(name, "driver.toml")
        players = "".join(
            f'[players.{player}]\nprotocol = "python"\ncommand = "arena.players.random_moves:random_moves"\n'
            for player in "abcd"
        )
        path.write_text(
            f'[competition]\nkind = "all-play-all"\n[game]\nname = "go"\nboard_size = 9\n{players}'
        )
        control, files = read(path), CompetitionFiles(path)
        selector = selector_for(control)
        database = stack.enter_context(closing(ResultsDatabase.open(files.results)))
        heading = Heading(
            files.name, control.kind, "", selector.description, selector.total,
            setting_of(control.game), [control.players[name] for name in control.competitors],
        )  # fmt: skip
        series = Series.register(database, heading)
        series.describe(heading)
        log = stack.enter_context(EventLog(files.log))
        workers = SimulatedWorkers(options.workers, options.game_seconds)
        games = round(options.seconds * options.workers / options.game_seconds)
        finished = Finished(games)
        resources = RunResources(files, series, log, StopRequests(files), workers, None, finished)
        Competition(control, selector, JobMaker(control, files), resources).run(games)
    # The first part is left out: some workers have no game yet, and the memory grows to its size.
    print(
        f"{options.workers:,} workers, games of {options.game_seconds:g} s, load {os.getloadavg()[0]:.1f}\n"
    )
    most = options.workers / options.game_seconds
    print(
        f"| games | games a second, of the {most:,.0f} that {options.workers:,} workers can play "
        "| own processor time a game | of one core | memory |"
    )
    print("|---|---|---|---|---|")
    for number, (before, after) in enumerate(pairwise(finished.marks), start=2):
        seconds, used = after.seconds - before.seconds, after.processor - before.processor
        rate = f"{finished.each / seconds:.0f} | {used / finished.each * 1e3:.2f} ms"
        share, memory = 100 * used / seconds, after.memory / 2**20
        print(f"| to {number * finished.each:,} | {rate} | {share:.0f} % | {memory:.0f} MiB |")


if __name__ == "__main__":
    main()
