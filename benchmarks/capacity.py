"""How many servers, cores and disks a number of bots needs, from the measured figures.

    python -m benchmarks.capacity [--minutes 10] [--questions 30] [--cores 8] [BOTS ...]

Nothing is measured here. Each process of a server is simulated as a queue: questions of the bots that are
connected to it, and what it reads of other processes' writes. The least number of processes is needed whose
busiest one answers 99 of 100 questions in time, and which hold a connection for each bot.
docs/how-to/capacity.md has the table and the assumptions.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from benchmarks import arguments

# Measured; docs/explanation/performance.md has them, and a test compares.
CONSULTATIONS_A_SECOND: Final = 3_114  # one process on one core, shared log
REPORTS_A_SECOND: Final = 442  # one server, shared log
REPORTS_OF_ALL: Final = 309  # two servers that write at once, to one game
FOLLOWING_SECONDS: Final = 0.0002  # what a process takes to read another's report
PROCESS_MIB: Final = 400  # 100 full games
FOLDER_BYTES: Final = 11_407  # for a contest with four proposals
STREAM_BYTES: Final = 2_241
GAMES_OF_A_RUN: Final = 1_023  # the most that `--parallel` allows
LARGEST_FILE: Final = 1 << 40
CONNECTIONS: Final = 4_096  # the most of a process
LISTENERS: Final = 8  # of a process: each has its share of the connections

# Assumed.
IN_TIME: Final = 0.01
FEWEST_SERVERS: Final = 3
NATS_CORES: Final = 1
_DAY: Final = 86_400
_ARRIVALS: Final = 200_000
_MOST_PROCESSES: Final = 4_096


@dataclass(frozen=True, slots=True)
class Load:
    """What bots do that always play: `bots` of them, two a game.

    A game takes `minutes`, in which each bot asks `questions` by calls, all of one position.
    """

    bots: int
    minutes: float = 10.0
    questions: float = 30.0

    @property
    def games(self) -> int:
        """Games in progress."""
        return math.ceil(self.bots / 2)

    @property
    def contests_a_second(self) -> float:
        return self.bots / 2 / (self.minutes * 60)

    @property
    def questions_a_second(self) -> float:
        return self.bots * self.questions / (self.minutes * 60)


@dataclass(frozen=True, slots=True)
class Need:
    """What a load needs when one server is lost: `processes` that answer, `holding` the bots' connections.

    `servers` are all, the lost one included.
    """

    processes: int
    holding: int
    servers: int
    cores: int
    p99: float
    log_share: float

    @property
    def processes_each(self) -> int:
        """Processes of one server, so that the others do when one is lost."""
        return math.ceil(max(self.processes, self.holding) / (self.servers - 1))


class OverloadError(ValueError):
    """A load that no number of servers carries."""


def waiting(questions: float, reports: float, chance: np.random.Generator) -> float:
    """Return in how many seconds 99 of 100 questions are answered by one process.

    Args:
        questions: How many come a second, each at a random time.
        reports: How many reports of others it reads a second.
        chance: Where random times come from.

    Raises:
        OverloadError: More comes than it can do.
    """
    rate = questions + reports
    if questions / CONSULTATIONS_A_SECOND + reports * FOLLOWING_SECONDS >= 1:
        raise OverloadError(f"{questions:,.0f} questions a second are more than a process can answer")
    between = chance.exponential(1 / rate, _ARRIVALS)
    asks = chance.random(_ARRIVALS) < questions / rate
    service = np.where(asks, chance.exponential(1 / CONSULTATIONS_A_SECOND, _ARRIVALS), FOLLOWING_SECONDS)
    # Lindley: a question waits as long as the one before it waited and took, minus the time between the two.
    steps = np.concatenate(([0.0], np.cumsum(service[:-1] - between[1:])))
    waits = steps - np.minimum.accumulate(steps)
    return float(np.quantile((waits + service)[asks], 0.99))


def _busiest(load: Load, processes: int, chance: np.random.Generator) -> float:
    """The share of the bots that the busiest process has, as each bot stays where it connected."""
    spread = chance.multinomial(load.bots, np.full(processes, 1 / processes), 100).max(axis=1)
    return float(np.median(spread)) / load.bots


def _holding(load: Load, chance: np.random.Generator) -> int:
    """How many processes hold a connection for each bot: the busiest of their listeners, too."""
    processes = math.ceil(load.bots / CONNECTIONS)
    while load.bots * _busiest(load, processes * LISTENERS, chance) > CONNECTIONS / LISTENERS:
        processes += 1
    return processes


def plan(load: Load, cores: int = 8, seed: int = 1) -> Need:
    """Return what a load needs, of servers that have `cores` each.

    Raises:
        OverloadError: The shared log takes fewer reports than the games bring, or the servers have too few
            cores.
    """
    if load.contests_a_second > REPORTS_OF_ALL:
        raise OverloadError(
            f"{load.bots:,} bots bring {load.contests_a_second:,.0f} reports a second, all servers of a log "
            f"together take {REPORTS_OF_ALL}: give groups of games servers and a log of their own"
        )
    learning = math.ceil(load.contests_a_second / REPORTS_A_SECOND)
    free = cores - learning - NATS_CORES
    if free < 1:
        raise OverloadError(
            f"{cores} cores: one is for NATS and {learning} for learning, one more must answer questions"
        )
    chance = np.random.default_rng(seed)
    processes = math.ceil(load.questions_a_second / CONSULTATIONS_A_SECOND)
    while processes <= _MOST_PROCESSES:
        try:
            share = _busiest(load, processes, chance)
            p99 = waiting(load.questions_a_second * share, load.contests_a_second, chance)
        except OverloadError:
            p99 = math.inf
        if p99 <= IN_TIME:
            servers = max(FEWEST_SERVERS, math.ceil(processes / free) + 1)
            taken = math.ceil(processes / (servers - 1)) + learning + NATS_CORES
            log_share = load.contests_a_second / REPORTS_OF_ALL
            return Need(processes, _holding(load, chance), servers, taken, p99, log_share)
        processes += 1
    raise OverloadError(f"{load.bots:,} bots: more than {_MOST_PROCESSES:,} processes would be needed")


def row(load: Load, need: Need) -> str:
    """A row of the table."""
    a_day = load.contests_a_second * _DAY
    folder, stream = a_day * FOLDER_BYTES / 1e9, a_day * STREAM_BYTES / 1e9
    runs = math.ceil(load.games / GAMES_OF_A_RUN)
    cells = (
        f"{load.bots:,}",
        f"{load.minutes:g}",
        f"{load.questions_a_second:,.0f}",
        f"{load.contests_a_second:,.1f}",
        f"{need.log_share:.0%}",
        f"{need.servers}",
        f"{need.processes_each}",
        f"{need.cores}",
        f"{need.processes_each * PROCESS_MIB / 1024:.1f}",
        f"{need.p99 * 1e3:.1f}",
        f"{folder:,.1f}",
        f"{stream:,.1f}",
        f"{LARGEST_FILE / 1e9 / folder:,.0f}",
        f"{runs}",
    )
    return f"| {' | '.join(cells)} |"


COLUMNS: Final = (
    *("bots", "minutes a game", "questions/s", "reports/s", "of what the log takes"),
    *("servers", "processes each", "cores each", "GiB each", "p99 ms"),
    *("folder GB/day", "stream GB/day", "days until the folder's file is full", "runs of the arena"),
)
HEAD: Final = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"


def main(command: Sequence[str] | None = None) -> None:
    """Print the table; loads that are too much are a line below it, and an error where all are."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("bots", nargs="*", type=arguments.count, default=[1_000, 10_000, 100_000])
    parser.add_argument(
        "--minutes", type=arguments.positive, nargs="+", default=[10.0, 1.0], help="how long games take"
    )
    parser.add_argument("--questions", type=arguments.positive, default=30.0, help="of a bot in a game")
    parser.add_argument("--cores", type=arguments.count, default=8, help="of a server")
    chosen = parser.parse_args(command)
    rows, refused = [], []
    for minutes in chosen.minutes:
        for bots in chosen.bots:
            load = Load(bots, minutes, chosen.questions)
            try:
                rows.append(row(load, plan(load, chosen.cores)))
            except OverloadError as error:
                refused.append(f"Games of {minutes:g} {'minute' if minutes == 1 else 'minutes'}: {error}.")
    if not rows:
        sys.exit("\n".join(refused))
    print("\n".join([HEAD, *rows, *([""] if refused else []), *refused]))


if __name__ == "__main__":
    main()
