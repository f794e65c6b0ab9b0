"""What the arena costs: games a second, its own processor time a game, and whether either grows.

    python -m benchmarks.arena [--games 100000]

Two engines in C that cost next to nothing (`engines/random_go.c`) play about 100 plies on 9x9, started
for each game or kept, two games at a time, each worker with its engines on one core. In the same run the same
engines play through a bare loop that only relays their moves: what pipes and processes cost by themselves.
"""

import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks import arguments
from benchmarks.process_usage import children, processor_seconds, resident_bytes

SOURCE: Final = Path(__file__).parent / "engines" / "random_go.c"
# Gomill's ringmaster 0.8.3 on a setting like this one, measured on a machine like this one (it needs
# Python 2, so it can't run here): games a second, and its own milliseconds a game over 40 games.
RINGMASTER_RATE: Final = 72.0
RINGMASTER_CPU: Final = (17, 19)
WARM_GAMES: Final = 20
THINKING_MS: Final = 50
COPIED_GAMES: Final = 1000
_TABLES: Final = ("SAGA_Game", "ARENA_Attempt", "ARENA_Game", "SAGA_Player", "ARENA_Seat", "ARENA_Rating")
# The game's number in its matchup, which its name ends with.
_NUMBER: Final = "CAST(substr(Name, length(Matchup) + 2) AS INTEGER)"


@dataclass(frozen=True)
class Sample:
    """How far a run is: seconds on the clock, games finished, seconds of the arena's own processor time."""

    clock: float
    games: int
    cpu: float
    resident: int


def compiled(folder: Path) -> Path:
    """Compile the engine. Raises CalledProcessError."""
    engine = folder / "random_go"
    subprocess.run(["cc", "-O2", "-o", engine, SOURCE], check=True)
    return engine


def control(
    folder: Path,
    engine: Path,
    *,
    name: str = "speed",
    milliseconds: int = 0,
    records: bool = True,
    restart: bool = True,
) -> Path:
    """Write the competition's control file; `records` is whether each game has its own record file."""
    path = folder / f"{name}.toml"
    path.write_text(
        '[competition]\nkind = "all-play-all"\nparallel = 2\npin_cores = true\ncheck_players = false\n'
        f"record_games = {str(records).lower()}\n"
        '[game]\nname = "go"\nboard_size = 9\n'
        + "".join(
            f'[players.{player}]\ncommand = "{engine} {{seed}} 50 {milliseconds}"\n'
            f"restart = {str(restart).lower()}\n"
            for player in "ab"
        )
    )
    return path


@contextmanager
def running(control: Path, *options: str) -> Iterator["Run"]:
    """Run a competition, with more options of `arena run`, while the block lasts."""
    process = subprocess.Popen([*_command(control), *options], env={**os.environ, "COLUMNS": "100"})
    try:
        yield Run(process, control.with_suffix(".results.sqlite"))
    finally:
        process.terminate()
        process.wait()


def _command(control: Path) -> list[str]:
    return [sys.executable, "-m", "arena.cli", "run", "--quiet", str(control)]


class Run:
    """A competition in progress, looked at from outside."""

    def __init__(self, process: subprocess.Popen[bytes], results: Path) -> None:
        self._process = process
        self._results = results

    def sample(self) -> Sample:
        """Look now."""
        pids = [self._process.pid, *_workers(self._process.pid)]
        return Sample(
            time.monotonic(), self._games(), sum(map(processor_seconds, pids)), sum(map(resident_bytes, pids))
        )

    def at(self, games: int) -> Sample:
        """Look when this number of games is finished. Raises RuntimeError where the arena ends before."""
        while True:
            # Looked at first: an arena may finish the last game and end.
            ended = self._process.poll() is not None
            if self._games() >= games:
                return self.sample()
            if ended:
                raise RuntimeError(f"the arena ended with {self._process.returncode} before {games} games")
            time.sleep(0.02)

    def _games(self) -> int:
        if not self._results.exists():
            return 0
        with closing(sqlite3.connect(f"file:{self._results}?mode=ro", uri=True)) as database:
            try:
                (count,) = database.execute("SELECT coalesce(max(GameId), 0) FROM SAGA_Game").fetchone()
            except sqlite3.OperationalError:  # The tables do not exist yet.
                return 0
            return int(count)

    def plies(self) -> float:
        """The mean length of the games so far."""
        with closing(sqlite3.connect(f"file:{self._results}?mode=ro", uri=True)) as database:
            (mean,) = database.execute(
                "SELECT 1.0 * count(*) / count(DISTINCT GameId) FROM ARENA_Move"
            ).fetchone()
            return float(mean)


def _workers(pid: int) -> list[int]:
    """The nursery, the guardians and the workers; engines, the workers' children, are not the arena's."""
    nursery = [
        child for child in children(pid) if b"arena.workers" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]
    guardians = [guardian for process in nursery for guardian in children(process)]
    return [*nursery, *guardians, *(worker for guardian in guardians for worker in children(guardian))]


def bare_loop(engine: Path, seconds: float, *, restart: bool = True) -> tuple[float, float]:
    """Games a second, and own milliseconds a game, of a loop in each of two processes that relays moves."""
    cores = sorted(os.sched_getaffinity(0))
    context = get_context("fork")
    with context.Pool(2) as pool:
        done = pool.starmap(
            _relay, [(engine, cores[place % len(cores)], seconds, restart) for place in range(2)]
        )
    return sum(rate for rate, _ in done), sum(cost for _, cost in done) / len(done)


def _relay(engine: Path, core: int, seconds: float, restart: bool) -> tuple[float, float]:
    os.sched_setaffinity(0, {core})
    games, began = 0, time.monotonic()
    before = resource.getrusage(resource.RUSAGE_SELF)
    engines: list[subprocess.Popen[bytes]] = []
    while time.monotonic() < began + seconds:
        engines = engines or [_started(engine, games + seat) for seat in range(2)]
        _relay_game([_pipes(child) for child in engines])
        games += 1
        if restart:
            _end(engines)
    after = resource.getrusage(resource.RUSAGE_SELF)
    own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    _end(engines)
    return games / (time.monotonic() - began), own / games * 1e3


def _started(engine: Path, seed: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [engine, str(seed), "50"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    )


def _end(engines: list[subprocess.Popen[bytes]]) -> None:
    while engines:
        engines.pop().communicate(b"quit\n")


def _pipes(engine: subprocess.Popen[bytes]) -> tuple[int, int]:
    assert engine.stdin is not None and engine.stdout is not None
    return engine.stdin.fileno(), engine.stdout.fileno()


def _relay_game(pipes: Sequence[tuple[int, int]]) -> None:
    for to_engine, from_engine in pipes:
        os.write(to_engine, b"clear_board\n")
        os.read(from_engine, 4096)
    passes, mover = 0, 0
    while passes < 2:
        colour = b"bw"[mover : mover + 1]
        os.write(pipes[mover][0], b"genmove " + colour + b"\n")
        vertex = os.read(pipes[mover][1], 4096)[2:].strip()
        passes = passes + 1 if vertex == b"pass" else 0
        mover = 1 - mover
        os.write(pipes[mover][0], b"play " + colour + b" " + vertex + b"\n")
        os.read(pipes[mover][1], 4096)


def per_game(first: Sample, last: Sample) -> float:
    """The arena's own milliseconds a game between two samples."""
    return (last.cpu - first.cpu) / (last.games - first.games) * 1e3


def rate(first: Sample, last: Sample) -> float:
    """Games a second between two samples."""
    return (last.games - first.games) / (last.clock - first.clock)


def measure_speed(folder: Path, engine: Path, seconds: float) -> None:
    """Print games a second and what each costs, beside the bare loop of the same run."""
    print("| 9x9, two games at a time | games/s | of the bare loop's | own CPU a game |")
    print("|---|---|---|---|")
    for restart, what in ((True, "started for each game"), (False, "kept")):
        path = control(folder, engine, name=f"speed-{restart}", restart=restart)
        with running(path) as run:
            first = run.at(WARM_GAMES)
            time.sleep(seconds)
            last = run.sample()
            plies = run.plies()
        bare_rate, bare_cpu = bare_loop(engine, seconds / 2, restart=restart)
        speed = rate(first, last)
        share = speed / bare_rate
        print(
            f"| the arena, engines {what}, {plies:.0f} plies | {speed:.0f} | {share:.2f} "
            f"| {per_game(first, last):.1f} ms |"
        )
        print(f"| a bare loop that relays moves, engines {what} | {bare_rate:.0f} | | {bare_cpu:.1f} ms |")
    low, high = RINGMASTER_CPU
    print(f"| the ringmaster (measured earlier) | {RINGMASTER_RATE:.0f} | | {low} to {high} ms |")


def measure_start(folder: Path, engine: Path, starts: int) -> None:
    """Print how long a start takes to its first stored result, and the processor time until then."""
    clocks, costs = [], []
    for number in range(starts):
        began = time.monotonic()
        with running(control(folder, engine, name=f"start{number}")) as run:
            first = run.at(1)
        clocks.append(first.clock - began)
        costs.append(first.cpu)
    print(f"A start to its first result: {median(clocks):.2f} s, {median(costs):.2f} s of processor time.\n")


def measure_thinking(folder: Path, engine: Path, seconds: float) -> None:
    """Print what share of a core the arena takes while engines think."""
    with running(control(folder, engine, name="thinking", milliseconds=THINKING_MS)) as run:
        first = run.at(1)
        time.sleep(seconds)
        last = run.sample()
    share = (last.cpu - first.cpu) / (last.clock - first.clock)
    print(f"\nEngines that think {THINKING_MS} ms a move: the arena takes {share:.2%} of a core.")


def measure_growth(folder: Path, engine: Path, most: int, seconds: float) -> None:
    """Print the cost of a game and the memory where results have piled up already."""
    path = control(folder, engine, name="growth", records=False)
    subprocess.run([*_command(path), "--max-games", str(COPIED_GAMES)], check=True)
    print("\n| games in the database | first game after | games/s | own CPU a game | resident |")
    print("|---|---|---|---|---|")
    games = COPIED_GAMES
    while games <= most:
        copy_games(path.with_suffix(".results.sqlite"), games)
        began = time.monotonic()
        with running(path) as run:
            first = run.at(games + 1)
            started = time.monotonic() - began
            before = run.at(games + WARM_GAMES)
            time.sleep(seconds)
            after = run.sample()
        speed, cost = rate(before, after), per_game(before, after)
        print(
            f"| {games:,} | {started:.1f} s | {speed:.0f} | {cost:.2f} ms | {first.resident / 2**20:.0f} MiB"
            f", {after.games - first.games:,} games later {after.resident / 2**20:.0f} |"
        )
        games *= 10


def copy_games(results: Path, games: int) -> None:
    """Copy the first COPIED_GAMES games, under later numbers, until these and their copies number `games`.

    Games that were played since are forgotten, so that no number is there twice.
    """
    with closing(sqlite3.connect(results)) as database, database:
        for table in _TABLES:
            if table != "ARENA_Attempt":
                database.execute(f"DELETE FROM {table} WHERE GameId > {COPIED_GAMES}")
        database.execute(f"DELETE FROM ARENA_Attempt WHERE {_NUMBER} >= {COPIED_GAMES}")
        database.execute("DELETE FROM ARENA_Void")
        for shift in range(COPIED_GAMES, games, COPIED_GAMES):
            for table in _TABLES:
                columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
                named = "Matchup" in columns
                values = [_shifted(column, shift, named=named) for column in columns]
                number = "GameId" if "GameId" in columns else f"1 + {_NUMBER}"
                those = f"{number} <= {COPIED_GAMES}"
                database.execute(f"INSERT INTO {table} SELECT {', '.join(values)} FROM {table} WHERE {those}")


def _shifted(column: str, shift: int, *, named: bool) -> str:
    """The column's value in a copy; rows that are `named` hold their game's name, the others a player's."""
    name = f"Matchup || '_' || ({_NUMBER} + {shift})"
    match column:
        case "GameId":
            return f"GameId + {shift}"
        case "Name" if named:
            return name
        case "ContestId":
            return f"replace(ContestId, '/' || Name || '/', '/' || {name} || '/')"
        case _:
            return f'"{column}"'


def main() -> None:
    """Measure all, in a fresh folder."""
    parser = arguments.parser(__doc__)
    parser.add_argument(
        "--games", type=int, default=100_000, help="games in the database, at most (0: no growth)"
    )
    parser.add_argument(
        "--seconds", type=arguments.positive, default=10.0, help="how long each speed is taken"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        engine = compiled(folder)
        measure_start(folder, engine, starts=9)
        measure_speed(folder, engine, options.seconds)
        measure_thinking(folder, engine, options.seconds)
        if options.games:
            measure_growth(folder, engine, options.games, options.seconds / 2)


if __name__ == "__main__":
    main()
