"""What the arena costs: games a second, its own processor time a game, and whether either grows.

    python -m benchmarks.arena [--games 10000]

Two engines in C that cost next to nothing (`engines/random_go.c`) play about 100 plies on 9x9, started
for each game, two games at a time, each worker with its engines on one core. In the same run the same
engines play through a bare loop that only relays their moves: what pipes and processes cost by themselves.
"""

import argparse
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Final

SOURCE: Final = Path(__file__).parent / "engines" / "random_go.c"
# Gomill's ringmaster 0.8.3 on a setting like this one, measured on a machine like this one (it needs
# Python 2, so it can't run here): games a second, and its own milliseconds a game over 40 games.
RINGMASTER_RATE: Final = 72.0
RINGMASTER_CPU: Final = (17, 19)
WARM_GAMES: Final = 20
THINKING_MS: Final = 50
_TICK: Final = os.sysconf("SC_CLK_TCK")


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


def control(folder: Path, engine: Path, *, moves: int = 50, milliseconds: int = 0) -> Path:
    """Write the competition's control file."""
    path = folder / f"bench-{moves}-{milliseconds}.toml"
    path.write_text(
        '[competition]\nkind = "all-play-all"\nparallel = 2\npin_cores = true\ncheck_players = false\n'
        '[game]\nname = "go"\nboard_size = 9\n'
        + "".join(
            f'[players.{name}]\ncommand = "{engine} {{seed}} {moves} {milliseconds}"\n' for name in "ab"
        )
    )
    return path


@contextmanager
def running(control: Path) -> Iterator["Run"]:
    """Run a competition while the block lasts."""
    process = subprocess.Popen(
        [sys.executable, "-m", "arena.cli", "run", "--quiet", control],
        env={**os.environ, "COLUMNS": "100"},
    )
    try:
        yield Run(process.pid, control.with_suffix(".results.sqlite"))
    finally:
        process.terminate()
        process.wait()


class Run:
    """A competition in progress, looked at from outside."""

    def __init__(self, pid: int, results: Path) -> None:
        self._pid = pid
        self._results = results

    def sample(self) -> Sample:
        """Look now."""
        pids = [self._pid, *_workers(self._pid)]
        return Sample(
            time.monotonic(), self._games(), sum(map(_own_cpu, pids)), sum(_resident(pid) for pid in pids)
        )

    def at(self, games: int) -> Sample:
        """Look when so many games are finished."""
        while self._games() < games:
            time.sleep(0.02)
        return self.sample()

    def _games(self) -> int:
        if not self._results.exists():
            return 0
        with closing(sqlite3.connect(f"file:{self._results}?mode=ro", uri=True)) as database:
            try:
                (count,) = database.execute("SELECT coalesce(max(GameId), 0) FROM SAGA_Game").fetchone()
            except sqlite3.OperationalError:  # The tables are not there yet.
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
    """The guardians of the workers, with the workers; engines, the workers' children, are not the arena's."""
    guardians = [
        child for child in _children(pid) if b"arena.workers" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]
    return guardians + [worker for guardian in guardians for worker in _children(guardian)]


def _children(pid: int) -> list[int]:
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def _own_cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def _resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def bare_loop(engine: Path, seconds: float) -> tuple[float, float]:
    """Games a second, and own milliseconds a game, of a loop in each of two processes that relays moves."""
    cores = sorted(os.sched_getaffinity(0))
    context = get_context("fork")
    with context.Pool(2) as pool:
        done = pool.starmap(_relay, [(engine, cores[place % len(cores)], seconds) for place in range(2)])
    return sum(rate for rate, _ in done), sum(cost for _, cost in done) / len(done)


def _relay(engine: Path, core: int, seconds: float) -> tuple[float, float]:
    os.sched_setaffinity(0, {core})
    games, began = 0, time.monotonic()
    before = resource.getrusage(resource.RUSAGE_SELF)
    while time.monotonic() < began + seconds:
        _relay_game(engine, games)
        games += 1
    after = resource.getrusage(resource.RUSAGE_SELF)
    own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return games / (time.monotonic() - began), own / games * 1e3


def _relay_game(engine: Path, seed: int) -> None:
    engines = [
        subprocess.Popen(
            [engine, str(seed + seat), "50"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        for seat in range(2)
    ]
    pipes = [(each.stdin.fileno(), each.stdout.fileno()) for each in engines if each.stdin and each.stdout]
    passes, mover = 0, 0
    while passes < 2:
        colour = b"bw"[mover : mover + 1]
        os.write(pipes[mover][0], b"genmove " + colour + b"\n")
        vertex = os.read(pipes[mover][1], 4096)[2:].strip()
        passes = passes + 1 if vertex == b"pass" else 0
        mover = 1 - mover
        os.write(pipes[mover][0], b"play " + colour + b" " + vertex + b"\n")
        os.read(pipes[mover][1], 4096)
    for each in engines:
        each.communicate(b"quit\n")


def per_game(first: Sample, last: Sample) -> float:
    """The arena's own milliseconds a game between two samples."""
    return (last.cpu - first.cpu) / (last.games - first.games) * 1e3


def rate(first: Sample, last: Sample) -> float:
    """Games a second between two samples."""
    return (last.games - first.games) / (last.clock - first.clock)


def measure_speed(folder: Path, engine: Path, seconds: float) -> None:
    """Print games a second and what each costs, beside the bare loop of the same run."""
    with running(control(folder, engine)) as run:
        first = run.at(WARM_GAMES)
        time.sleep(seconds)
        last = run.sample()
        plies = run.plies()
    bare_rate, bare_cpu = bare_loop(engine, seconds / 2)
    print("| games started for each other, 9x9, two at a time | games/s | own CPU a game |")
    print("|---|---|---|")
    print(f"| the arena, {plies:.0f} plies | {rate(first, last):.0f} | {per_game(first, last):.1f} ms |")
    print(f"| a bare loop that relays the same moves | {bare_rate:.0f} | {bare_cpu:.1f} ms |")
    low, high = RINGMASTER_CPU
    print(f"| the ringmaster (measured earlier) | {RINGMASTER_RATE:.0f} | {low} to {high} ms |")


def measure_thinking(folder: Path, engine: Path, seconds: float) -> None:
    """Print what share of a core the arena takes while engines think."""
    with running(control(folder, engine, milliseconds=THINKING_MS)) as run:
        first = run.at(1)
        time.sleep(seconds)
        last = run.sample()
    share = (last.cpu - first.cpu) / (last.clock - first.clock)
    print(f"\nEngines that think {THINKING_MS} ms a move: the arena takes {share:.2%} of a core.")


def measure_growth(folder: Path, engine: Path, games: int) -> None:
    """Print the cost of a game and the memory as results pile up."""
    print("\n| games so far | games/s | own CPU a game | resident |")
    print("|---|---|---|---|")
    # Short games, so that what grows, if anything does, is not hidden by play.
    with running(control(folder, engine, moves=5)) as run:
        before = run.at(WARM_GAMES)
        for step in range(5):
            after = run.at(max(before.games + 1, games * (step + 1) // 5))
            cost, speed = per_game(before, after), rate(before, after)
            print(f"| {after.games:,} | {speed:.0f} | {cost:.2f} ms | {after.resident / 2**20:.1f} MiB |")
            before = after


def main() -> None:
    """Measure all, in a fresh folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=10_000, help="how far growth is followed (0: not)")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long each speed is taken")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        engine = compiled(folder)
        measure_speed(folder, engine, options.seconds)
        measure_thinking(folder, engine, options.seconds)
        if options.games:
            measure_growth(folder, engine, options.games)


if __name__ == "__main__":
    main()
