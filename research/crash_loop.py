"""Server processes killed at random moments under load: is all that was acknowledged there, once?

    python -m research.crash_loop [--rounds 200] [--processes 2] [--callers 4] [--shared-port] [--compact]

A round lets the load run until some reports were acknowledged and for up to half a second more, kills one
process as a loss of power would, starts it again, and looks at the folder: every acknowledged report and
proposal is there once, and `academy check` has no finding. Every fiftieth round and the last compare the
libraries with a replay of the event log. With `--shared-port` it is one `academy serve --processes`, of
which a child is killed or the parent; with `--compact` the log is compacted at random moments meanwhile,
and some of the compactions are killed too.
SIGTERM or Ctrl-C ends it early, and its servers. Ends with 1 on a fault.
"""

import random
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from academy.service.workers import signals
from academy.store import event_log, game_tables
from academy.store.codec.packing import unpack_message
from academy.store.environment import Environment, TableName, Transaction
from academy.store.maintenance.check import check
from academy.store.v1.records_pb2 import ContestRecord
from academy.v1.proposals_pb2 import Proposal
from benchmarks import arguments
from research.mixed_load import GAME, Acknowledged, Load
from research.server_processes import ServerProcesses, SharedPortProcesses

ROUNDS = 200
REPLAY_EVERY = 50
LONGEST_ROUND = 0.5
# Acknowledged in each round before the kill, so that there is work to lose; or this many seconds.
FEWEST_REPORTS = 3
LONGEST_WAIT = 10.0
# So few that a short loop has something to give up.
_KEPT: Final = (1, 20, 200)
# What is allowed to be in its way: it says so and is run again.
_BUSY: Final = "compact again"


class Compactions:
    """The compactions of one data folder, one after the other, each a process of its own."""

    def __init__(self, data: Path, chance: random.Random) -> None:
        """None is begun yet."""
        self.done = 0
        self.killed = 0
        self.faults: list[str] = []
        self._data = data
        self._chance = chance
        self._doomed = False
        self._running: subprocess.Popen[str] | None = None

    def begin_or_kill(self) -> None:
        """Begin one where none runs; kill the one that does, if it is one of those to be killed."""
        running = self._running
        if running is not None and running.poll() is None:
            if self._doomed and self._chance.random() < 0.5:
                running.kill()
                running.communicate()
                self.killed += 1
                self._running = None
            return
        self._see_to_ended()
        # Decided beforehand, so that most end well however many rounds they take.
        self._doomed = self._chance.random() < 0.25
        keep = str(self._chance.choice(_KEPT))
        self._running = subprocess.Popen(
            [sys.executable, "-m", "academy", "compact", "--data", str(self._data), "--keep", keep],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )

    def _see_to_ended(self) -> None:
        """Wait for the one that runs, if any, and note what became of it."""
        if self._running is None:
            return
        _, errors = self._running.communicate()
        if self._running.returncode == 0:
            self.done += 1
        elif _BUSY not in errors:
            self.faults.append(f"a compaction ended with {self._running.returncode}: {errors.strip()}")
        self._running = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let the last one end, or kill it where all ends with a fault."""
        if self._running is not None and fault is not None:
            self._running.kill()
            self._running.communicate()
        else:
            self._see_to_ended()


@dataclass
class Outcome:
    """What a loop came to: faults, what had been acknowledged, and how often what was done."""

    faults: list[str] = field(default_factory=list)
    acknowledged: Acknowledged = field(default_factory=Acknowledged)
    rounds: int = 0
    killed: Counter[str] = field(default_factory=Counter)
    compacted: int = 0

    def untried(self, shared_port: bool, compact: bool) -> list[str]:
        """List the calls that were never answered or cut, and the processes that were never killed."""
        taken = self.acknowledged
        done: dict[str, object] = {
            "report acknowledged": taken.reports,
            "proposal acknowledged": taken.proposals,
            "admin change acknowledged": taken.admin_changes,
            "call cut off": taken.interrupted,
        }
        kinds = ("child", "parent") if shared_port else ("server",)
        done |= {f"{kind} killed": self.killed[kind] for kind in kinds}
        if compact:
            done["compaction ended"] = self.compacted
        return [what for what, times in done.items() if not times]


def sleep_through(seconds: float) -> bool:
    """Wait for `seconds`, always."""
    time.sleep(seconds)
    return True


@contextmanager
def pausing_until_stopped() -> Iterator[Callable[[float], bool]]:
    """What waits for `seconds`, and is False once SIGTERM or Ctrl-C has come."""
    with signals(signal.SIGTERM, signal.SIGINT) as end_signals:
        yield lambda seconds: not select.select([end_signals], [], [], seconds)[0]


def crash_loop(  # noqa: PLR0913 - the options of its command line
    folder: Path,
    rounds: int,
    processes: int,
    callers: int,
    *,
    shared_port: bool = False,
    compact: bool = False,
    pause: Callable[[float], bool] = sleep_through,
) -> Outcome:
    """Run it. `pause` waits for some seconds, and is False once the loop is to end early."""
    chance = random.Random(rounds)
    outcome = Outcome()
    with (
        (SharedPortProcesses if shared_port else ServerProcesses)(folder, processes) as servers,
        Compactions(servers.data, chance) as compactions,
    ):
        load = Load(servers, callers, "crash")
        ended = False
        # On a slow machine a few rounds more, until everything has been tried.
        while outcome.rounds < 20 * rounds:
            ended = not (_at_work(load, pause) and pause(chance.uniform(0.0, LONGEST_ROUND)))
            if ended:
                break
            if compact:
                compactions.begin_or_kill()
            outcome.rounds += 1
            outcome.killed[servers.kill(chance)] += 1
            # What was acknowledged before the look must be seen by it.
            outcome.acknowledged = load.taken()
            replay = outcome.rounds % REPLAY_EVERY == 0
            seen = [*find_faults(servers.data, outcome.acknowledged, replay=replay), *compactions.faults]
            servers.restart()
            seen += servers.faults()
            outcome.faults += [f"round {outcome.rounds}: {what}" for what in seen]
            outcome.compacted = compactions.done
            outcome.killed["compaction"] = compactions.killed
            if outcome.faults or outcome.acknowledged.unexpected:
                break
            if outcome.rounds % 10 == 0:
                _print(outcome)
            if outcome.rounds >= rounds and not outcome.untried(shared_port, compact):
                break
        load.stop()
        outcome.acknowledged = load.taken()
    outcome.compacted = compactions.done
    outcome.faults += [f"a call was refused: {what}" for what in outcome.acknowledged.unexpected]
    # A loop that is ended early does not wait for a replay.
    last = [*compactions.faults, *find_faults(servers.data, outcome.acknowledged, replay=not ended)]
    outcome.faults += [f"at the end: {what}" for what in last]
    untried = outcome.untried(shared_port, compact)
    if untried and not ended and not outcome.faults:
        outcome.faults.append(f"not everything was tried: no {', no '.join(untried)}")
    return outcome


def _at_work(load: Load, pause: Callable[[float], bool]) -> bool:
    """Wait until the servers have acknowledged reports again; False when the loop is to end early."""
    before, deadline = len(load.taken().reports), time.monotonic() + LONGEST_WAIT
    while len(load.taken().reports) < before + FEWEST_REPORTS and time.monotonic() < deadline:
        if not pause(0.02):
            return False
    return True


def _print(outcome: Outcome) -> None:
    taken = outcome.acknowledged
    print(
        f"round {outcome.rounds:4}: {len(taken.reports):6,} reports, {len(taken.proposals):6,} proposals, "
        f"{taken.admin_changes:5,} admin changes acknowledged, {taken.interrupted:5,} calls cut, "
        f"{outcome.compacted:3,} compactions",
        flush=True,
    )


def find_faults(data: Path, taken: Acknowledged, *, replay: bool) -> Iterator[str]:
    """Yield what is not as it was acknowledged, and what `academy check` finds."""
    with Environment(data, read_only=True) as environment:
        with environment.reading() as transaction:
            logged = Counter(reported_contests(transaction))
            contests = [
                unpack_message(ContestRecord, value) for _, value in transaction.scan(TableName.CONTESTS)
            ]
            stored = [unpack_message(Proposal, value) for _, value in transaction.scan(TableName.PROPOSALS)]
            learnt = game_tables.read_measures(
                game_tables.stored_table(transaction, TableName.MEASURES, GAME)
            ).contests
        reported = {record.contest.contest_id for record in contests if record.event}
        if learnt != len(reported):
            yield f"{learnt} contests were learnt from, {len(reported)} were reported"
        for contest_id, times in logged.items():
            if times > 1:
                yield f"contest {contest_id} was counted {times} times"
        for contest_id in sorted(taken.reports - reported):
            yield f"the report of contest {contest_id} was acknowledged and is lost"
        for proposal_id in sorted(taken.proposals - {proposal.proposal_id for proposal in stored}):
            yield f"proposal {proposal_id} was acknowledged and is lost"
        yield from repeated(stored)
        for finding in check(environment, replay=replay):
            yield f"check: {finding.game_id} {finding.what}"


def repeated(proposals: Iterable[Proposal]) -> Iterator[str]:
    """Yield the proposals that are there more than once: of one seat, for one library, of the same cells."""
    times = Counter(
        (
            proposal.contest_id,
            proposal.seat,
            proposal.content.library,
            proposal.content.ply,
            proposal.content.cells,
        )
        for proposal in proposals
    )
    for (contest_id, seat, _, ply, _), count in times.items():
        if count > 1:
            yield f"a proposal of seat {seat} in contest {contest_id}, ply {ply}, is there {count} times"


def reported_contests(transaction: Transaction) -> Iterator[str]:
    """Yield the contests of which the log has a report, each as often as it has one."""
    for event in event_log.scan(transaction):
        if event.WhichOneof("kind") == "contest_reported":
            yield event.contest_reported.report.contest.contest_id


def main() -> int:
    """Run the loop from the command line."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--rounds", type=arguments.count, default=ROUNDS)
    parser.add_argument("--processes", type=arguments.count, default=2)
    parser.add_argument("--callers", type=arguments.count, default=4)
    parser.add_argument("--shared-port", action="store_true", help="one academy serve --processes")
    parser.add_argument("--compact", action="store_true", help="compact the log meanwhile")
    options = parser.parse_args()
    begun = time.monotonic()
    with (
        pausing_until_stopped() as pause,
        tempfile.TemporaryDirectory(prefix="academy-crash-") as folder,
    ):
        outcome = crash_loop(
            Path(folder),
            options.rounds,
            options.processes,
            options.callers,
            shared_port=options.shared_port,
            compact=options.compact,
            pause=pause,
        )
    for fault in outcome.faults:
        print(fault)
    taken = outcome.acknowledged
    killed = ", ".join(f"{times:,} of a {what}" for what, times in sorted(outcome.killed.items()))
    print(
        f"{'FAULTY' if outcome.faults else 'SOUND'}: {options.processes} processes, {outcome.rounds:,} kills "
        f"({killed}) in {time.monotonic() - begun:.0f} s; {len(taken.reports):,} reports and "
        f"{len(taken.proposals):,} proposals acknowledged, {taken.admin_changes:,} admin changes, "
        f"{taken.interrupted:,} calls cut off, {outcome.compacted:,} compactions"
    )
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    sys.exit(main())
