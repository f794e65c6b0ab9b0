"""How long matching takes: `python -m benchmarks.matching` prints the tables of docs/archive/performance.md.

All kinds of query are measured in turns, round by round, so that other work of the machine meets
them alike. Times are processor time of the asking thread: medians over rounds and positions; in brackets, the
median over positions of the least of the rounds, which other work on the machine disturbs less. Ratios are of
the latter.
"""

import os
import platform
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, islice
from statistics import median
from time import thread_time_ns, time
from typing import NamedTuple

from academy.knowledge.boards import Board, CellChange
from academy.knowledge.cells import Code, State
from academy.knowledge.patterns import Pattern
from academy.knowledge.spec import GameSpec
from academy.matching.index import PatternIndex
from academy.matching.matches import MatchQuery
from academy.matching.warming import warm_up
from benchmarks import arguments
from benchmarks.pattern_libraries import GO, HEX, MAP, library
from benchmarks.process_usage import resident_bytes
from tests.academy.matching.reference import all_matches

PATTERNS = 5_000
PLAIN = (0.5, 15.0, 2)
LOOSE = (0.60, 9.5, 1)
MOVES = (10, 100, 400)
GAMES = 100
NAIVE_PATTERNS = 100
CHANGED = 1_000
STARTS = 5
FULL_LIBRARIES = (1_000, 5_000)
START = """
from time import process_time, thread_time, time
from academy.knowledge.boards import Board, SquareGeometry
from academy.knowledge.cells import Code
from academy.knowledge.patterns import grid_pattern
from academy.knowledge.spec import GameSpec
from academy.matching import index, warming
spec = GameSpec("grid", SquareGeometry(1, 1))
patterns = index.PatternIndex(spec, "numba")
patterns.put(1, grid_pattern([(0, 0, Code.FIRST_PIECE)]))
begin = thread_time()
patterns.match(Board(spec.geometry, bytes([Code.EMPTY])))
answered = thread_time()
clocks = time(), process_time()
warming.warm_up("numba")
print(answered - begin, thread_time() - begin, clocks[1], clocks[0])
"""

Table = list[tuple[str, str]]


def microseconds(work: Callable[[], object]) -> float:
    begin = thread_time_ns()
    work()
    return (thread_time_ns() - begin) / 1e3


def filled(spec: GameSpec, patterns: dict[int, Pattern], kernel: str | None = None) -> PatternIndex:
    index = PatternIndex(spec, kernel)
    for number, pattern in patterns.items():
        index.put(number, pattern)
    return index


class Times(NamedTuple):
    """Microseconds: the median, and the median over positions of the least of the rounds."""

    usual: float
    least: float

    def __str__(self) -> str:
        return f"{self.usual:,.0f} us ({self.least:,.0f})"


def in_turns(rounds: int, tasks: dict[str, Sequence[Callable[[], object]]]) -> dict[str, Times]:
    """Time each task, which is the same thing on several positions."""
    times: dict[str, list[list[float]]] = {name: [] for name in tasks}
    for calls in tasks.values():
        calls[0]()
    for _ in range(rounds):
        for name, calls in tasks.items():
            # What came before has emptied the caches; a server's stay warm from query to query.
            calls[0]()
            times[name].append([microseconds(task) for task in calls])
    return {
        name: Times(
            median(chain.from_iterable(rounds_taken)), median(map(min, zip(*rounds_taken, strict=True)))
        )
        for name, rounds_taken in times.items()
    }


def on(query: Callable[[Board], object], boards: Sequence[Board]) -> list[Callable[[], object]]:
    return [partial(query, board) for board in boards]


def queries(rounds: int) -> Table:
    tasks: dict[str, Sequence[Callable[[], object]]] = {}
    table: Table = []
    for name, kind in (("plain", PLAIN), ("loose", LOOSE)):
        patterns, boards = library(GO, PATTERNS, *kind)
        compiled, vectorised = filled(GO, patterns, "numba"), filled(GO, patterns, "numpy")
        matches = median(compiled.match(board).listed for board in boards)
        tested = sum(code != Code.ANYTHING for pattern in patterns.values() for code in pattern.codes)
        table.append((f"{name} patterns", f"{tested / PATTERNS:.1f} tested cells, {matches:,.0f} matches"))
        tasks[f"{name}, numba"] = on(compiled.match, boards)
        tasks[f"{name}, numba, both perspectives"] = on(
            partial(compiled.match, both_perspectives=True), boards
        )
        snapshot = compiled.snapshot()
        tasks[f"{name}, numba, the first 256, 16 of each at most"] = [
            partial(snapshot.match, MatchQuery(board, None, 256, 16)) for board in boards
        ]
        tasks[f"{name}, numpy"] = on(vectorised.match, boards)
        if name == "plain":
            few = dict(islice(patterns.items(), NAIVE_PATTERNS))
            naive = microseconds(partial(all_matches, GO, few, boards[0])) * PATTERNS / NAIVE_PATTERNS
    for name, spec in (("hex 14x14, 12 symmetries", HEX), ("graph of 262 nodes", MAP)):
        patterns, boards = library(spec, PATTERNS, *PLAIN)
        for kernel in ("numba", "numpy"):
            tasks[f"{name}, {kernel}"] = on(filled(spec, patterns, kernel).match, boards)
    times = in_turns(rounds, tasks)
    least = {name: measured.least for name, measured in times.items()}
    table += [(name, str(measured)) for name, measured in times.items()]
    return [
        *table,
        ("loose / plain, numba", f"{least['loose, numba'] / least['plain, numba']:.2f}"),
        (
            "both perspectives / one, plain, numba",
            f"{least['plain, numba, both perspectives'] / least['plain, numba']:.2f}",
        ),
        ("numpy / numba, plain", f"{least['plain, numpy'] / least['plain, numba']:.1f}"),
        ("numpy / numba, loose", f"{least['loose, numpy'] / least['loose, numba']:.1f}"),
        (f"plain, naive Python ({NAIVE_PATTERNS} patterns, scaled)", f"{naive:,.0f} us"),
    ]


def successors(rounds: int) -> Table:
    table: Table = []
    for name, kind in (("plain", PLAIN), ("loose", LOOSE)):
        patterns, boards = library(GO, PATTERNS, *kind)
        index = filled(GO, patterns, "numba")
        snapshot = index.snapshot()
        some = boards[:5]
        tasks: dict[str, Sequence[Callable[[], object]]] = {"base": on(index.match, some)}
        for count in MOVES:
            tasks[f"{count}"] = [
                partial(snapshot.match_successors, MatchQuery(board), moves_on(board, count))
                for board in some
            ]
        times = in_turns(rounds, tasks)
        base = times["base"].least
        for count in MOVES:
            matches = snapshot.match_successors(MatchQuery(some[0]), moves_on(some[0], count))
            differences = matches.all_new.listed + len(matches.all_gone)
            allowed = 3 * base + 5 * count
            table.append(
                (
                    f"{name}, {count} moves",
                    f"{times[f'{count}']}: {times[f'{count}'].least / allowed:.2f} of three times the base "
                    f"and 5 us a move; {differences / count:.0f} differences a move",
                )
            )
    return table


def moves_on(board: Board, count: int) -> list[list[CellChange]]:
    """A stone on each empty cell, on some of them again where they are too few."""
    empty = [cell for cell, state in enumerate(board.states) if state == State.EMPTY]
    return [[(empty[number % len(empty)], State.FIRST_SOLDIER)] for number in range(count)]


def updates(_: int) -> Table:
    patterns, boards = library(GO, PATTERNS, *PLAIN)
    index = filled(GO, patterns)
    index.match(boards[0])
    times: dict[str, list[float]] = {"put": [], "remove": [], "query after a change": []}
    for number in range(CHANGED):
        times["remove"].append(microseconds(partial(index.remove, number)))
        times["put"].append(microseconds(partial(index.put, number, patterns[number])))
        times["query after a change"].append(microseconds(partial(index.match, boards[0])))
    return [
        (name, f"{median(taken):,.0f} us, 99 of 100 within {sorted(taken)[-len(taken) // 100]:,.0f}")
        for name, taken in times.items()
    ]


def memory(_: int) -> Table:
    patterns = library(GO, PATTERNS, *PLAIN)[0]
    cells = sum(len(pattern.cells) for pattern in patterns.values())
    tracemalloc.start()
    index = filled(GO, patterns)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    before = resident_bytes(os.getpid())
    games = [
        filled(GO, dict(islice(patterns.items(), size))) for _ in range(GAMES) for size in FULL_LIBRARIES
    ]
    resident = resident_bytes(os.getpid())
    return [
        (f"{len(index):,} patterns", f"{taken / 1e6:.2f} MB, {taken / cells:.0f} bytes a cell of a pattern"),
        (
            f"{len(games) // len(FULL_LIBRARIES)} games of full libraries",
            f"{(resident - before) / 1e6:,.0f} MB of {resident / 1e6:,.0f} MB resident",
        ),
    ]


def start(_: int) -> Table:
    warm_up("numba")
    command = [sys.executable, "-c", START]
    seconds = []
    for _ in range(STARTS):
        begun = time()
        figures = subprocess.run(command, check=True, capture_output=True).stdout.split()
        query, each_kind, processor, answered = map(float, figures)
        seconds.append((query, each_kind, processor, answered - begun))
    query, each_kind, processor, clock = (median(measured) for measured in zip(*seconds, strict=True))
    return [
        ("first query of a process, machine code kept before", f"{query:.2f} s"),
        (
            "from the start of the process, Python and all imports too, to its answer",
            f"{processor:.2f} s, on the clock {clock:.2f} s",
        ),
        ("one of each kind, which a server asks before it needs them", f"{each_kind:.2f} s"),
    ]


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--rounds", type=arguments.count, default=7)
    rounds = parser.parse_args().rounds
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    sections: dict[str, Callable[[int], Table]] = {
        "Queries": queries,
        "Successors": successors,
        "Updates": updates,
        "Memory": memory,
        "Start": start,
    }
    for title, section in sections.items():
        print(f"\n{title}, load {os.getloadavg()[0]:.1f}\n| what | measured |\n|---|---|")
        for what, measured in section(rounds):
            print(f"| {what} | {measured} |", flush=True)


if __name__ == "__main__":
    main()
