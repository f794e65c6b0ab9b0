"""Mixed load for an hour: does anything grow that should not?

    python -m research.soak [--minutes 60] [--processes 2] [--callers 4] [--contests-a-second 5]

Contests, consultations, proposals and admins' changes at a pace far below what the servers can do, so that
latencies tell of the servers and not of what waits (0: as fast as they are answered), while an admin compacts
the log now and then. Prints a line a sample and verdicts: memory of the processes, latencies and the file, of
the last third of the time against the second (in the first the libraries fill). Ends with 1 where one is not
flat, or the pace could not be kept: its latencies then say nothing. SIGTERM or Ctrl-C ends it early.
"""

import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import arguments
from research.crash_loop import find_faults, pausing_until_stopped, sleep_through
from research.mixed_load import Load
from research.server_processes import ServerProcesses

SAMPLES = 30
# A run that was ended early needs these for a third to say something.
FEWEST_SAMPLES = 9
CONTESTS_A_SECOND = 5.0
# The share of the contests due in the last two thirds of the time that must have been played.
PACE_KEPT = 0.95
# A server keeps this many events; replays begin at most so far back.
EVENTS_KEPT = 1_000
MEMORY_MAY_GROW = 1.10
LATENCY_MAY_GROW = 1.5
# A contest and its proposals are remembered for ever, so that no report is counted twice.
BYTES_A_CONTEST = 3_000


@dataclass(frozen=True)
class Sample:
    """What was seen over one stretch of time: seconds, bytes, contests in all, and latencies in seconds."""

    at: float
    contests: int
    memory: int
    file: int
    consultation: tuple[float, float]
    report: tuple[float, float]


def soak(
    folder: Path,
    minutes: float,
    processes: int,
    callers: int,
    contests_a_second: float = math.inf,
    pause: Callable[[float], bool] = sleep_through,
) -> tuple[list[Sample], list[str]]:
    """Run it; return the samples, and what was lost or refused.

    `pause` waits for some seconds, and is False once the run is to end early.
    """
    samples = []
    begun = time.monotonic()
    print(
        "| minute | contests | MiB of all processes | MiB on disk | consultation p50 / p99 ms "
        "| report p50 / p99 ms |\n|---|---|---|---|---|---|"
    )
    # Far above what the callers can ask on any machine.
    with ServerProcesses(folder, processes, ["--rate", "1000000"]) as servers:
        load = Load(servers, callers, "soak", contests_a_second)
        for number in range(1, SAMPLES + 1):
            if not pause(max(0.0, begun + minutes * 60 * number / SAMPLES - time.monotonic())):
                break
            taken = load.take_seconds()
            samples.append(
                Sample(
                    at=time.monotonic() - begun,
                    contests=len(load.taken().reports),
                    memory=servers.memory(),
                    file=_bytes_used(servers.data),
                    consultation=_percentiles([s for what, s in taken if what in ("opening", "patterns")]),
                    report=_percentiles([s for what, s in taken if what == "report"]),
                )
            )
            _print(samples[-1])
            if load.taken().unexpected:
                break
            _compact(servers.data)
        load.stop()
        acknowledged = load.taken()
        faults = [*acknowledged.unexpected, *find_faults(servers.data, acknowledged, replay=True)]
    return samples, faults


def _compact(data: Path) -> None:
    command = [sys.executable, "-m", "academy", "compact", "--data", str(data), "--keep", str(EVENTS_KEPT)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _bytes_used(data: Path) -> int:
    """Bytes the file takes on the disk."""
    return (data / "data.mdb").stat().st_blocks * 512


def _percentiles(seconds: list[float]) -> tuple[float, float]:
    if len(seconds) < 2:
        return (float("nan"), float("nan"))
    hundredths = statistics.quantiles(seconds, n=100)
    return hundredths[49], hundredths[98]


def _print(sample: Sample) -> None:
    latencies = (f"{1e3 * p50:.1f} / {1e3 * p99:.1f}" for p50, p99 in (sample.consultation, sample.report))
    sizes = (f"{size / 2**20:,.0f}" for size in (sample.memory, sample.file))
    cells = (f"{sample.at / 60:.3g}", f"{sample.contests:,}", *sizes, *latencies)
    print(f"| {' | '.join(cells)} |", flush=True)


def verdicts(samples: list[Sample], contests_a_second: float = math.inf) -> list[tuple[bool, str]]:
    """Return whether each thing is flat, and a finite pace was kept, with the figures."""
    third = len(samples) // 3
    before, after = samples[third : 2 * third], samples[2 * third :]

    def medians(figure: str, place: int | None = None) -> tuple[float, float]:
        def of(sample: Sample) -> float:
            value = getattr(sample, figure)
            return float(value if place is None else value[place])

        return statistics.median(map(of, before)), statistics.median(map(of, after))

    findings = []
    early, late = medians("memory")
    findings.append(
        (
            late <= MEMORY_MAY_GROW * early,
            f"memory {early / 2**20:.1f} -> {late / 2**20:.1f} MiB, may grow by {MEMORY_MAY_GROW:.2f}",
        )
    )
    for what in ("consultation", "report"):
        for place, name in enumerate(("p50", "p99")):
            early, late = medians(what, place)
            findings.append(
                (
                    late <= LATENCY_MAY_GROW * early,
                    f"{what} {name} {early * 1e3:.1f} -> {late * 1e3:.1f} ms, "
                    f"may grow by {LATENCY_MAY_GROW:.2f}",
                )
            )
    contests = after[-1].contests - before[0].contests
    if contests_a_second < math.inf:
        pace = contests / (after[-1].at - before[0].at)
        findings.append(
            (
                pace >= PACE_KEPT * contests_a_second,
                f"pace {pace:.2f} of {contests_a_second:g} contests a second, at least {PACE_KEPT:.0%}",
            )
        )
    grown = (after[-1].file - before[0].file) / max(contests, 1)
    findings.append(
        (
            grown <= BYTES_A_CONTEST,
            f"file {before[0].file / 2**20:.1f} -> {after[-1].file / 2**20:.1f} MiB over {contests:,} "
            f"contests, {grown:,.0f} bytes each, at most {BYTES_A_CONTEST:,}",
        )
    )
    return findings


def main() -> int:
    """Run it from the command line."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--minutes", type=arguments.positive, default=60.0)
    parser.add_argument("--processes", type=arguments.count, default=2)
    parser.add_argument("--callers", type=arguments.count, default=4)
    parser.add_argument(
        "--contests-a-second", type=float, default=CONTESTS_A_SECOND, help="0: without a limit"
    )
    options = parser.parse_args()
    pace = options.contests_a_second or math.inf
    with (
        pausing_until_stopped() as pause,
        tempfile.TemporaryDirectory(prefix="academy-soak-") as folder,
    ):
        samples, faults = soak(Path(folder), options.minutes, options.processes, options.callers, pace, pause)
    findings = verdicts(samples, pace) if len(samples) >= FEWEST_SAMPLES else []
    for flat, what in findings:
        print(f"{'KEPT  ' if flat else 'MISSED'} {what}")
    for fault in faults:
        print(f"FAULT {fault}")
    print(f"{'SOUND' if not faults else 'FAULTY'}: every acknowledged report and proposal, and the replay")
    return 0 if findings and all(flat for flat, _ in findings) and not faults else 1


if __name__ == "__main__":
    sys.exit(main())
