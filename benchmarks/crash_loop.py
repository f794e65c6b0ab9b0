"""Server processes killed at random moments under load: is all that was acknowledged there, once?

    python -m benchmarks.crash_loop [--rounds 200] [--processes 2] [--callers 4]

A round lets the load run for up to half a second, kills one process as a loss of power would, starts it
again, and looks at the folder: every acknowledged report and proposal is there once, and `academy check` has
no finding. Every fiftieth round and the last compare the libraries with a replay of the event log. Ends with
1 on a fault.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from academy.store import event_log, game_tables
from academy.store.check import check
from academy.store.environment import Environment, Table, Transaction
from academy.store.messages import unpacked
from academy.store.v1.records_pb2 import ContestRecord
from academy.v1.proposals_pb2 import Proposal
from benchmarks.mixed_load import GAME, Acknowledged, Load, Site

ROUNDS = 200
REPLAY_EVERY = 50
LONGEST_ROUND = 0.5


def crash_loop(folder: Path, rounds: int, processes: int, callers: int) -> tuple[list[str], Acknowledged]:
    """Run it; return what was wrong, and what had been acknowledged."""
    chance = random.Random(rounds)
    with Site(folder, processes) as site:
        load = Load(site, callers, "crash")
        faults: list[str] = []
        # On a slow machine a few rounds more, until each kind of call was answered and one was cut.
        for turn in range(1, 20 * rounds + 1):
            time.sleep(chance.uniform(0.0, LONGEST_ROUND))
            number = chance.randrange(processes)
            site.kill(number)
            # What was acknowledged before the look must be seen by it.
            told = load.taken()
            replay = turn % REPLAY_EVERY == 0
            faults += [f"round {turn}: {what}" for what in wrong(site.data, told, replay=replay)]
            site.start(number)
            if faults or told.unexpected:
                break
            if turn % 10 == 0:
                print(
                    f"round {turn:4}: {len(told.reports):6,} reports, {len(told.proposals):6,} proposals, "
                    f"{told.admin_changes:5,} admin changes acknowledged, {told.interrupted:5,} calls cut",
                    flush=True,
                )
            if turn >= rounds and told.reports and told.proposals and told.admin_changes and told.interrupted:
                break
        load.stop()
        told = load.taken()
    faults += [f"a call was refused: {what}" for what in told.unexpected]
    faults += [f"at the end: {what}" for what in wrong(site.data, told, replay=True)]
    return faults, told


def wrong(data: Path, told: Acknowledged, *, replay: bool) -> Iterator[str]:
    """Yield what is not as it was acknowledged, and what `academy check` finds."""
    with Environment(data, read_only=True) as environment:
        with environment.reading() as transaction:
            logged = Counter(_reported(transaction))
            contests = [unpacked(ContestRecord, value) for _, value in transaction.scan(Table.CONTESTS)]
            stored = [unpacked(Proposal, value) for _, value in transaction.scan(Table.PROPOSALS)]
            learnt = game_tables.read_measures(game_tables.measures(transaction, GAME)).contests
        reported = {record.contest.contest_id for record in contests if record.event}
        if learnt != len(reported):
            yield f"{learnt} contests were learnt from, {len(reported)} were reported"
        for contest_id, times in logged.items():
            if times > 1:
                yield f"contest {contest_id} was counted {times} times"
        for contest_id in sorted(told.reports - reported):
            yield f"the report of contest {contest_id} was acknowledged and is lost"
        for proposal_id in sorted(told.proposals - {each.proposal_id for each in stored}):
            yield f"proposal {proposal_id} was acknowledged and is lost"
        yield from repeated(stored)
        for finding in check(environment, replay=replay):
            yield f"check: {finding.game_id} {finding.what}"


def repeated(proposals: Iterable[Proposal]) -> Iterator[str]:
    """Yield the proposals that are there more than once: of one seat, for one library, of the same cells."""
    times = Counter(
        (each.contest_id, each.seat, each.content.library, each.content.ply, each.content.cells)
        for each in proposals
    )
    for (contest_id, seat, _, ply, _), count in times.items():
        if count > 1:
            yield f"a proposal of seat {seat} in contest {contest_id}, ply {ply}, is there {count} times"


def _reported(transaction: Transaction) -> Iterator[str]:
    for event in event_log.scan(transaction):
        if event.WhichOneof("kind") == "contest_reported":
            yield event.contest_reported.report.contest.contest_id


def main() -> int:
    """Run the loop from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--callers", type=int, default=4)
    options = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="academy-crash-") as folder:
        faults, told = crash_loop(Path(folder), options.rounds, options.processes, options.callers)
    for fault in faults:
        print(fault)
    print(
        f"{'FAULTY' if faults else 'SOUND'}: {options.rounds} kills of {options.processes} processes in "
        f"{time.monotonic() - begun:.0f} s; {len(told.reports):,} reports and {len(told.proposals):,} "
        f"proposals acknowledged, {told.admin_changes:,} admin changes, {told.interrupted:,} calls cut off"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
