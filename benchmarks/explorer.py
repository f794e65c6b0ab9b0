"""How long a step in the opening explorer takes, and how much a page weighs: `python -m benchmarks.explorer`.

`academy-web` serves a library, that of `make demo` unless another one is named. A visitor follows known moves
down a line and begins again where it ends, as people do with the arrow keys.
"""

import http.client
import random
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Final

from benchmarks import arguments
from benchmarks.intervals import median_with_interval
from benchmarks.process_usage import children, processor_seconds

_MOVE: Final = re.compile(r'<a href="([^"]+)" data-move')
_GAME: Final = re.compile(r'<th scope="row"><a href="/games/([^"]+)"')
_UNMEASURED: Final = 20
_FILTER: Final = "elo=0"


@dataclass
class Steps:
    """The pages of one kind: milliseconds and packed bytes of each."""

    milliseconds: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def describe(self) -> str:
        times = sorted(self.milliseconds)
        return (
            f"{len(times)} pages, p50 {median_with_interval(times, 1)} ms, "
            f"p99 {times[int(0.99 * (len(times) - 1))]:.1f} ms, "
            f"at most {max(self.sizes) / 1_000:.1f} kB packed"
        )


class Visitor:
    """A visitor with one connection."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def get(self, path: str, steps: Steps) -> str:
        """Ask for a page twice, packed and plain; the first answer is measured."""
        begun = time.perf_counter()
        packed = self._ask(path, {"Accept-Encoding": "gzip"})
        steps.milliseconds.append(1_000 * (time.perf_counter() - begun))
        steps.sizes.append(len(packed))
        return self._ask(path, {}).decode()

    def _ask(self, path: str, headers: dict[str, str]) -> bytes:
        self._connection.request("GET", path, headers=headers)
        response = self._connection.getresponse()
        body = response.read()
        if response.status != http.client.OK:
            raise RuntimeError(f"{path}: status {response.status}")
        return body


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--library", type=Path, default=Path("build/demo-library"))
    parser.add_argument("--steps", type=arguments.count, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    pages = subprocess.Popen(
        [sys.executable, "-m", "web.cli", "--library", str(options.library), "--address", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert pages.stdout is not None
        address = pages.stdout.readline()
        if not address:
            sys.exit(f"{options.library}: has no pages; `make demo` makes a library, --library names another")
        port = int(address.split(":")[2].partition("/")[0])
        measure(Visitor(port), options.steps, random.Random(options.seed), pages.pid)
    finally:
        pages.terminate()
        pages.wait(30)


def measure(visitor: Visitor, count: int, chance: random.Random, pid: int) -> None:
    """Print a line for the first pages, one for steps, and one for steps with a filter."""
    first = Steps()
    games = _GAME.findall(visitor.get("/", first))
    for game_id in games:
        visitor.get(f"/games/{game_id}/openings", first)
    print("first pages:", first.describe())
    for name, parameters in (("steps", ""), ("steps with a filter", _FILTER)):
        steps, path = Steps(), ""
        spent, begun = 0.0, 0.0
        for number in range(count + _UNMEASURED):
            if number == _UNMEASURED:
                steps, spent, begun = Steps(), _cpu_seconds(pid), time.monotonic()
            path = path or f"/games/{chance.choice(games)}/openings?{parameters}"
            moves = _MOVE.findall(visitor.get(path, steps))
            path = unescape(chance.choice(moves)) if moves else ""
        spent, passed = _cpu_seconds(pid) - spent, time.monotonic() - begun
        # Each page is asked for twice.
        cpu = 1_000 * spent / (2 * count)
        print(f"{name}: {steps.describe()}; {cpu:.1f} ms of processor a page in {passed:.0f} s")


def _cpu_seconds(pid: int) -> float:
    """Processor time of a process and of those that it started."""
    begun = [pid]
    for process in begun:
        begun += children(process)
    return sum(map(processor_seconds, begun))


if __name__ == "__main__":
    main()
