"""Three NATS servers and three ACADEMY servers, of which one at a time is killed or paused under load.

    python -m research.shared_log_faults [--rounds 20] [--seed 1]

Each ACADEMY server is a process that opens contests, proposes and reports, one after the other, and prints
what was acknowledged; every third contest is reported by all three. A round kills one of the six (kill -9),
and starts it again after a moment, or pauses it (SIGSTOP). In the end every acknowledged report must be in
each folder once, and the folders must agree byte for byte. Ends with 1 on a fault.
"""

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Final

from academy.store import event_log
from academy.store.contest_commands import OpenContest, RegisterGame, ReportContest
from academy.store.environment import Environment
from academy.store.errors import LogUnavailableError
from academy.store.library_store import Store
from academy.store.maintenance.agreement import disagreements
from academy.store.shared_log.address import LogAddress
from tests.academy.store.examples import contest, endgame_proposal, go_game, report, submission
from tests.academy.store.shared_log.nats_servers import NatsServer, start_cluster

_SETTLING_SECONDS: Final = 60.0


def write(folder: Path, log: str, name: str) -> None:
    """Be a server: play contests until standard input ends."""
    ended = threading.Event()

    def wait_for_end() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=wait_for_end, daemon=True).start()
    with Store(folder, log=LogAddress.parse(log)) as store:
        print("open", flush=True)
        number = 0
        while not ended.is_set():
            contest_id = f"all/{number}" if number % 3 == 0 else f"{name}/{time.time_ns()}"
            try:
                _teach(store, contest_id)
            except LogUnavailableError:
                # Whether it was done is not known: again.
                print("refused", flush=True)
                continue
            print(f"reported {contest_id}", flush=True)
            number += 1


def _teach(store: Store, contest_id: str) -> None:
    store.run(RegisterGame(go_game(), "arena"))
    request = report(contest_id, plies=20)
    if not contest_id.startswith("all/"):
        store.run(OpenContest(contest(contest_id)))
        store.run(submission(contest_id, 1, [endgame_proposal(request)], "gnugo 1"))
    store.run(ReportContest(request, "arena"))


class Writer:
    """A server's process, and what it has acknowledged."""

    def __init__(self, folder: Path, log: str, name: str) -> None:
        self.folder, self._log, self._name = folder, log, name
        self.acknowledged: set[str] = set()
        self.refused = 0
        self.start()

    def start(self) -> None:
        """Start it, or start it again."""
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "research.shared_log_faults",
                "--write",
                str(self.folder),
                self._log,
                self._name,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, args=(self._process,))
        self._reader.start()

    def _read(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        for line in process.stdout:
            kind, _, contest_id = line.strip().partition(" ")
            if kind == "reported" and contest_id:
                self.acknowledged.add(contest_id)
            self.refused += kind == "refused"

    def kill(self) -> None:
        """End it as kill -9 does."""
        self._process.kill()
        self._process.wait()
        self._reader.join()

    def pause(self) -> None:
        """Stop it as SIGSTOP does."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        self._process.send_signal(signal.SIGCONT)

    def end(self) -> int:
        """Have it end well; return its exit code."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        code = self._process.wait(_SETTLING_SECONDS)
        self._reader.join()
        return code


def do_round(chance: random.Random, nats: list[NatsServer], writers: list[Writer]) -> str:
    """Hurt one of the six, and have it come back; return what was done."""
    kind, victims = chance.choice((("nats", nats), ("academy", writers)))
    number = chance.randrange(len(victims))
    victim: NatsServer | Writer = victims[number]
    time.sleep(chance.uniform(0.5, 2.0))
    paused = chance.random() < 0.4
    if paused:
        victim.pause()
        time.sleep(chance.uniform(0.5, 6.0))
        victim.resume()
    else:
        victim.kill()
        time.sleep(chance.uniform(0.0, 3.0))
        victim.start()
    return f"{kind} {number} {'paused' if paused else 'killed'}"


def find_faults(writers: list[Writer]) -> list[str]:
    """Return what is lost, double or different in the folders."""
    faults = []
    acknowledged = set().union(*(writer.acknowledged for writer in writers))
    for writer in writers:
        with Environment(writer.folder, read_only=True) as folder, folder.reading() as transaction:
            counted = Counter(
                event.contest_reported.report.contest.contest_id
                for event in event_log.scan(transaction)
                if event.WhichOneof("kind") == "contest_reported"
            )
        faults += [f"{writer.folder.name}: {lost} is lost" for lost in sorted(acknowledged - counted.keys())]
        faults += [
            f"{writer.folder.name}: {twice} is {times} times there"
            for twice, times in counted.items()
            if times > 1
        ]
    with Environment(writers[0].folder, read_only=True) as first:
        for writer in writers[1:]:
            with Environment(writer.folder, read_only=True) as other:
                found_here = [
                    f"{writer.folder.name}: {finding.what}" for finding in disagreements(first, other)
                ]
            faults += found_here
    return faults


def main() -> None:
    """Run the rounds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        folder, log, name = options.write
        write(Path(folder), log, name)
        return
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as parent:
        nats = start_cluster(Path(parent))
        log = "nats://" + ",".join(f"127.0.0.1:{server.port}" for server in nats) + "/faults"
        writers = [Writer(Path(parent) / name, log, name) for name in ("one", "two", "three")]
        try:
            while not all(writer.acknowledged for writer in writers):
                time.sleep(0.1)
            for number in range(1, options.rounds + 1):
                done = do_round(chance, nats, writers)
                print(f"round {number}: {done}; {_count(writers)}", flush=True)
            before = [len(writer.acknowledged) for writer in writers]
            deadline = time.monotonic() + _SETTLING_SECONDS
            while any(len(w.acknowledged) == count for w, count in zip(writers, before, strict=True)):
                assert time.monotonic() < deadline, "a server does not write any longer"
                time.sleep(0.1)
            codes = [writer.end() for writer in writers]
            # Opened once more, each folds what the others wrote last.
            for writer in writers:
                with Store(writer.folder):
                    pass
            faults = [f"a server ended with {code}" for code in codes if code] + find_faults(writers)
        finally:
            for writer in writers:
                writer.kill()
            for server in nats:
                server.kill()
    print(*faults, f"{_count(writers)}, {len(faults)} faults", sep="\n")
    sys.exit(bool(faults))


def _count(writers: list[Writer]) -> str:
    acknowledged = sum(len(writer.acknowledged) for writer in writers)
    return f"{acknowledged:,} acknowledged, {sum(writer.refused for writer in writers)} refused"


if __name__ == "__main__":
    main()
