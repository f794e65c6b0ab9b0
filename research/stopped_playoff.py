"""A long playoff stopped in every way there is: does each game count once, and is no process left?

    python -m research.stopped_playoff [--games 200] [--rounds 2] [--parallel 2] [--levels 0 1]

Two levels of GNU Go play on 9x9 in a terminal of their own. Each round stops the run by Ctrl-X, by
`arena stop`, by SIGKILL of the arena alone and by Ctrl-C, and takes it up again; then it plays to the end.
Ends with 1 on a fault.
"""

import os
import pty
import random
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.runner.exit_status import ExitStatus
from benchmarks import arguments
from benchmarks.process_usage import children

MARK: Final = "STOPPED_PLAYOFF"
LONGEST_WAIT: Final = 600.0
LEFT_OVER_SECONDS = 3.0
CONTROL: Final = """
[competition]
kind = "playoff"
games = {games}
alternating = true
parallel = {parallel}

[game]
name = "go"
board_size = 9
komi = 6.5
self_capture = false
scorer = "players"

[[matchups]]
players = ["weak", "strong"]

[players.weak]
command = "{gnugo} --mode gtp --level {levels[0]} --capture-all-dead --chinese-rules --seed {{seed}}"

[players.strong]
command = "{gnugo} --mode gtp --level {levels[1]} --capture-all-dead --chinese-rules --seed {{seed}}"
"""


class Run:
    """`arena run` in the foreground of a terminal; its processes bear a mark that their children inherit."""

    def __init__(self, control: Path) -> None:
        self._mark = f"{MARK}={uuid.uuid4().hex}"
        self._orphans: list[int] = []
        self._leader, self._terminal = pty.fork()
        if self._leader == 0:
            os._exit(_lead(control, self._mark))

    def kill(self) -> None:
        """SIGKILL for the arena itself. What it started is to end by itself, not by the terminal's end."""
        os.kill(self._leader, signal.SIGSTOP)
        (arena,) = children(self._leader)
        os.kill(arena, signal.SIGKILL)
        self._orphans = self.left_over()
        os.kill(self._leader, signal.SIGCONT)

    def press(self, key: bytes) -> None:
        """Type a key."""
        os.write(self._terminal, key)

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition, or for the run's end."""
        deadline = time.monotonic() + LONGEST_WAIT
        while not condition() and self._reads():
            if time.monotonic() > deadline:
                raise TimeoutError(f"no end of waiting within {LONGEST_WAIT:.0f} s")

    def end(self) -> int:
        """Wait for the end; the exit status, as a shell gives it."""
        self.until(lambda: False)
        _, status = os.waitpid(self._leader, 0)
        os.close(self._terminal)
        return os.waitstatus_to_exitcode(status)

    def left_over(self) -> list[int]:
        """Processes that are still there when killed ones have had `LEFT_OVER_SECONDS` to end."""
        deadline = time.monotonic() + LEFT_OVER_SECONDS
        while (left := self._processes()) and time.monotonic() < deadline:
            time.sleep(0.02)
        return [*self._orphans, *left]

    def _processes(self) -> list[int]:
        # Wherever they stand in the tree.
        processes = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdecimal():
                try:
                    marked = self._mark.encode() in (folder / "environ").read_bytes().split(b"\0")
                except OSError:
                    continue
                if marked:
                    processes.append(int(folder.name))
        return processes

    def _reads(self) -> bool:
        """Take what is shown, so that the run does not wait; False once all have closed the terminal."""
        if select.select([self._terminal], [], [], 0.05)[0]:
            try:
                return bool(os.read(self._terminal, 65536))
            except OSError:
                return False
        return True


def _lead(control: Path, mark: str) -> int:
    """Be the leader of the terminal's session, as a shell is, until the arena ends."""
    signal.signal(signal.SIGINT, lambda number, frame: None)
    name, _, value = mark.partition("=")
    arena = subprocess.Popen(
        [sys.executable, "-m", "arena.cli", "run", str(control)],
        env={**os.environ, name: value, "TERM": "xterm"},
    )
    status = arena.wait()
    return status if status >= 0 else 128 - status


@dataclass(frozen=True)
class Way:
    """A way to stop a run, and the exit status that it must have then."""

    name: str
    stop: Callable[[Run, Path], None]
    status: int


def _ask(run: Run, control: Path) -> None:
    subprocess.run([sys.executable, "-m", "arena.cli", "stop", str(control)], check=True)


WAYS: Final = (
    Way("Ctrl-X", lambda run, control: run.press(b"\x18"), ExitStatus.DONE),
    Way("stop", _ask, ExitStatus.DONE),
    Way("kill -9", lambda run, control: run.kill(), 128 + signal.SIGKILL),
    Way("Ctrl-C", lambda run, control: run.press(b"\x03"), ExitStatus.INTERRUPTED),
)


def results(control: Path) -> list[str]:
    """The stored results' names, in the order they were stored."""
    path = control.with_suffix(".results.sqlite")
    if not path.exists():
        return []
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        try:
            stored = database.execute(
                """
                SELECT coalesce("Name", 'a game without a name')
                FROM "SAGA_Game" LEFT JOIN "ARENA_Game" USING ("GameId") ORDER BY "GameId"
                """
            )
            return [name for (name,) in stored]
        except sqlite3.OperationalError:  # the tables are not made yet
            return []


def stopped(control: Path, way: Way, after: int) -> list[str]:
    """Take the playoff up, stop it after a number of results; return what was wrong."""
    before = results(control)
    run = Run(control)
    run.until(lambda: len(results(control)) >= len(before) + after)
    began = time.monotonic()
    way.stop(run, control)
    status = run.end()
    seconds = time.monotonic() - began
    left, now = run.left_over(), results(control)
    print(
        f"{way.name:8} {len(before):4} -> {len(now):4} results, exit status {status:3} "
        f"after {seconds:5.2f} s, {len(left)} processes left",
        flush=True,
    )
    faults = []
    if status != way.status:
        faults.append(f"{way.name}: exit status {status}, not {way.status}")
    if left:
        faults.append(f"{way.name}: processes {left} are left")
    if now[: len(before)] != before:
        faults.append(f"{way.name}: earlier results have changed")
    return faults


def played_out(control: Path, games: int) -> list[str]:
    """Play to the end; what was wrong."""
    run = Run(control)
    status = run.end()
    faults = [] if status == ExitStatus.DONE else [f"the end: exit status {status}"]
    if left := run.left_over():
        faults.append(f"the end: processes {left} are left")
    width = len(str(games - 1))
    wanted = [f"0_{number:0{width}}" for number in range(games)]
    history = control.with_suffix(".hist").read_text().splitlines()
    records = control.with_suffix(".games").iterdir()
    for what, there in (
        ("results", results(control)),
        ("history", [line.split()[0] for line in history]),
        ("records", [path.stem for path in records]),
    ):
        if sorted(there) != wanted:
            faults.append(f"the end: {len(there)} {what}, {len(set(there))} different, not {games}")
    print(f"the end  {len(results(control)):12} results, exit status {status:3}", flush=True)
    return faults


def main() -> None:
    """Run it, and say what was wrong."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--games", type=arguments.count, default=200)
    parser.add_argument("--rounds", type=arguments.count, default=2, help="how often each way is tried")
    parser.add_argument("--parallel", type=arguments.count, default=2)
    parser.add_argument("--levels", type=int, nargs=2, default=(0, 1))
    chosen = parser.parse_args()
    gnugo = shutil.which("gnugo") or shutil.which("gnugo", path="/usr/games")
    if gnugo is None:
        sys.exit("gnugo is not installed")
    if chosen.games < 4 * len(WAYS) * chosen.rounds * chosen.parallel:
        sys.exit(f"--games {chosen.games} are too few to be stopped {len(WAYS) * chosen.rounds} times")
    chance = random.Random(chosen.games)
    most = chosen.games // (2 * len(WAYS) * chosen.rounds)
    faults = []
    with tempfile.TemporaryDirectory(prefix="stopped-playoff-") as folder:
        control = Path(folder) / "cup.toml"
        control.write_text(
            CONTROL.format(games=chosen.games, parallel=chosen.parallel, levels=chosen.levels, gnugo=gnugo)
        )
        for _ in range(chosen.rounds):
            for way in WAYS:
                faults += stopped(control, way, chance.randint(1, most))
        faults += played_out(control, chosen.games)
    if faults:
        sys.exit("\n".join(faults))
    print(f"{chosen.games} games, each counted once")


if __name__ == "__main__":
    main()
