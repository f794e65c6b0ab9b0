"""Three NATS servers and three ACADEMY servers under load, of which some are hurt at a time.

    python -m research.shared_log_faults [--rounds 20] [--seed 1] [--kinds kill pause]

Each ACADEMY server is a process that opens contests, proposes and reports, one after the other, and prints
what was acknowledged; every third contest is reported by all three. A round hurts some of the six and lets
them recover; then each of the three must write again. What can be done to them is listed in `KINDS`; all but
killing and pausing needs hosts (`simulated_hosts`). In the end every acknowledged report must be in each
folder once, and the folders must agree byte for byte. Ends with 1 on a fault.
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
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from academy.store import event_log, tokens
from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.environment import Environment
from academy.store.errors import LogUnavailableError, StoreError
from academy.store.game_registration import RegisterGame
from academy.store.library_store import Store
from academy.store.maintenance.agreement import disagreements
from academy.store.shared_log.address import LogAddress
from benchmarks import arguments
from research import simulated_hosts
from research.crash_loop import reported_contests
from research.simulated_hosts import Host
from tests.academy.store.examples import contest, endgame_proposal, go_game, report, submission
from tests.academy.store.shared_log.nats_servers import NatsServer, Place, start_cluster

# Long, as the machine may do other things at higher priority.
_SETTLING_SECONDS: Final = 180.0
_QUESTION_SECONDS: Final = 0.1
_WRONG_SECONDS: Final = 400 * 86_400
# The chance that a fault hits one server instead of all, and that a server is paused instead of killed.
_ALONE: Final = 0.4
_STOPPED: Final = 0.4


def write(folder: Path, log: str, name: str) -> None:
    """Be a server: play contests, and answer questions, until standard input ends."""
    ended = threading.Event()
    printing = threading.Lock()

    def say(text: str) -> None:
        with printing:
            print(text, flush=True)

    def wait_for_end() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=wait_for_end, daemon=True).start()
    with _open(folder, LogAddress.parse(log), say) as store:

        def ask() -> None:
            while not ended.wait(_QUESTION_SECONDS):
                store.read(event_log.last_sequence)
                say("answered")

        asking = threading.Thread(target=ask)
        asking.start()
        number = 0
        while not ended.is_set():
            contest_id = f"all/{number}" if number % 3 == 0 else f"{name}/{time.time_ns()}"
            try:
                _teach(store, contest_id)
            except StoreError as error:
                # Whether it was done is not known: again.
                say(f"refused {error}")
                ended.wait(_QUESTION_SECONDS)
                continue
            say(f"reported {contest_id}")
            number += 1
        asking.join()


def _open(folder: Path, log: LogAddress, say: Callable[[str], None]) -> Store:
    while True:
        try:
            return Store(folder, log=log)
        except LogUnavailableError as error:
            # As a server that its unit starts again.
            say(f"refused {error}")


def _teach(store: Store, contest_id: str) -> None:
    store.run(RegisterGame(go_game(), "arena"))
    request = report(contest_id, plies=20)
    if not contest_id.startswith("all/"):
        _, tickets = store.run(OpenContest(contest(contest_id)))
        for ticket in tickets:
            assert store.read(tokens.authenticate, ticket, time.time()).contest_id == contest_id
        store.run(submission(contest_id, 1, [endgame_proposal(request)], "gnugo 1"))
    store.run(ReportContest(request, "arena"))


class Writer:
    """A server's process, and what it has acknowledged."""

    def __init__(self, place: Place, log: str) -> None:
        self.folder, self._command, self._log = place.folder, place.command, log
        self.acknowledged: set[str] = set()
        self.refused = self.answered = 0
        self.last_refusal = ""
        self.start()

    def start(self) -> None:
        """Start it, or start it again."""
        self._process = subprocess.Popen(
            [
                *(*self._command, sys.executable, "-m", "research.shared_log_faults"),
                *("--write", str(self.folder), self._log, self.folder.name),
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
            kind, _, what = line.strip().partition(" ")
            if kind == "reported" and what:
                self.acknowledged.add(what)
            if kind == "refused":
                self.refused += 1
                self.last_refusal = what
            self.answered += kind == "answered"

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """Whether it has ended by itself."""
        return self._process.poll() is not None

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


@dataclass(frozen=True)
class Servers:
    """The six, and the hosts they run at: first those of NATS. Without hosts all are at this one."""

    chance: random.Random
    nats: Sequence[NatsServer]
    writers: Sequence[Writer]
    hosts: Sequence[Host]

    def choose(self) -> tuple[str, "NatsServer | Writer", "Host | None"]:
        """Choose one of the six; return its name, its process and its host."""
        number = self.chance.randrange(len(self.nats) + len(self.writers))
        six: list[NatsServer | Writer] = [*self.nats, *self.writers]
        victim = six[number]
        host = self.hosts[number] if self.hosts else None
        kind = "NATS" if isinstance(victim, NatsServer) else "ACADEMY"
        return f"{kind} {number % len(self.nats)}", victim, host

    def rest(self, shortest: float, longest: float) -> None:
        """Wait for a time between these seconds."""
        time.sleep(self.chance.uniform(shortest, longest))


def kill(servers: Servers) -> str:
    """One is ended by kill -9, and started again."""
    name, victim, _ = servers.choose()
    victim.kill()
    servers.rest(0.0, 3.0)
    victim.start()
    return name


def pause(servers: Servers) -> str:
    """One is stopped by SIGSTOP for a while."""
    name, victim, _ = servers.choose()
    victim.pause()
    servers.rest(0.5, 6.0)
    victim.resume()
    return name


def lose_two_nats(servers: Servers) -> str:
    """Two NATS servers are gone: all writes are refused, all questions are answered."""
    lost = servers.chance.sample(range(len(servers.nats)), 2)
    stopped = servers.chance.random() < _STOPPED
    for number in lost:
        servers.nats[number].pause() if stopped else servers.nats[number].kill()
    # What was acknowledged before may still be on its way.
    time.sleep(1.0)
    acknowledged = _written_by_one(servers)
    refused = [writer.refused for writer in servers.writers]
    _wait("not all servers refuse writes", lambda: _have_grown(servers, refused, "refused"))
    new = _written_by_one(servers) - acknowledged
    assert not new, f"written without a quorum: {sorted(new)}"
    answered = [writer.answered for writer in servers.writers]
    _wait("not all questions are answered", lambda: _have_grown(servers, answered, "answered"))
    for number in lost:
        servers.nats[number].resume() if stopped else servers.nats[number].start()
    return f"{lost} {'paused' if stopped else 'killed'}"


def _written_by_one(servers: Servers) -> set[str]:
    """Return what was acknowledged and needed a write: a report that another server has made needs none."""
    acknowledged = set().union(*(writer.acknowledged for writer in servers.writers))
    return {contest_id for contest_id in acknowledged if not contest_id.startswith("all/")}


def _have_grown(servers: Servers, before: Sequence[int], what: str) -> bool:
    return all(getattr(writer, what) > count for writer, count in zip(servers.writers, before, strict=True))


def cut_academy(servers: Servers) -> str:
    """An ACADEMY server is cut off from all NATS servers, or from one: then it writes by another."""
    number = servers.chance.randrange(len(servers.writers))
    host = servers.hosts[len(servers.nats) + number]
    nats = servers.hosts[: len(servers.nats)]
    alone = servers.chance.random() < _ALONE
    if alone:
        nats = [servers.chance.choice(nats)]
    with _cut(servers, [host], nats) as ways:
        servers.rest(2.0, 12.0)
        if alone:
            writer = servers.writers[number]
            count = len(writer.acknowledged)
            _wait("it does not write by another NATS server", lambda: len(writer.acknowledged) > count)
    return f"ACADEMY {number} from {len(nats)} NATS, {ways}"


def cut_nats(servers: Servers) -> str:
    """A NATS server is cut off from the two others, or from everything."""
    number = servers.chance.randrange(len(servers.nats))
    host = servers.hosts[number]
    whole = servers.chance.random() < _ALONE
    others = [other for other in servers.hosts[: None if whole else len(servers.nats)] if other is not host]
    with _cut(servers, [host], others) as ways:
        servers.rest(2.0, 12.0)
    return f"NATS {number} from {len(others)} others, {ways}"


def split(servers: Servers) -> str:
    """One NATS server and one ACADEMY server are on one side, the rest is on the other."""
    number, count = servers.chance.randrange(len(servers.writers)), len(servers.nats)
    few = [servers.chance.choice(servers.hosts[:count]), servers.hosts[count + number]]
    with _cut(servers, few, [host for host in servers.hosts if host not in few]) as ways:
        servers.rest(2.0, 12.0)
    return f"{few[0].name} and {few[1].name}, {ways}"


@contextmanager
def _cut(servers: Servers, some: Sequence[Host], others: Sequence[Host]) -> Iterator[str]:
    ways = servers.chance.choice(("both ways", "what they send", "what they get"))
    try:
        if ways != "what they get":
            for host in some:
                host.cut(others)
        if ways != "what they send":
            for other in others:
                other.cut(some)
        yield ways
    finally:
        for host in servers.hosts:
            host.heal(servers.hosts)


def fill_disk(servers: Servers) -> str:
    """One's disk is full for a while. NATS gives up its streams then, until it is started again."""
    name, victim, host = servers.choose()
    assert host is not None
    host.fill_disk()
    servers.rest(2.0, 8.0)
    host.empty_disk()
    if isinstance(victim, NatsServer):
        victim.kill()
        victim.start()
    return name


def lose_power(servers: Servers) -> str:
    """The machine of one, of all NATS servers or of all six loses its power: with all that is not durable."""
    six: list[NatsServer | Writer] = [*servers.nats, *servers.writers]
    alone = [servers.chance.randrange(len(six))]
    lost = servers.chance.choice((alone, range(len(servers.nats)), range(len(six))))
    for number in lost:
        servers.hosts[number].lose_power()
    for number in lost:
        six[number].kill()
    servers.rest(0.0, 3.0)
    for number in lost:
        servers.hosts[number].regain_power()
        six[number].start()
    return ", ".join(servers.hosts[number].name for number in lost)


def slow_disk(servers: Servers) -> str:
    """One's disk does only some writes a second."""
    name, _, host = servers.choose()
    assert host is not None
    writes = servers.chance.choice((3, 10, 30))
    host.slow_disk(writes)
    servers.rest(3.0, 10.0)
    host.slow_disk(0)
    return f"{name}, {writes} writes a second"


def set_clock(servers: Servers) -> str:
    """One's clock is 400 days off, and right again later."""
    name, victim, _ = servers.choose()
    seconds = servers.chance.choice((-1, 1)) * _WRONG_SECONDS
    simulated_hosts.set_clock(victim.pid, seconds)
    servers.rest(2.0, 6.0)
    if servers.chance.random() < _ALONE:
        victim.kill()
        victim.start()
        simulated_hosts.set_clock(victim.pid, seconds)
        servers.rest(2.0, 6.0)
    simulated_hosts.set_clock(victim.pid, 0)
    return f"{name}, {seconds // 86_400:+} days"


KINDS: Final[dict[str, Callable[[Servers], str]]] = {
    kind.__name__: kind
    for kind in (
        kill,
        pause,
        lose_two_nats,
        cut_academy,
        cut_nats,
        split,
        fill_disk,
        lose_power,
        slow_disk,
        set_clock,
    )
}
# These need no hosts.
_ANYWHERE: Final = ("kill", "pause", "lose_two_nats")


def do_round(servers: Servers, kind: str) -> str:
    """Hurt some, let them recover, and wait until all write again; return what was done."""
    servers.rest(0.5, 2.0)
    done = KINDS[kind](servers)
    before = [len(writer.acknowledged) for writer in servers.writers]

    def all_write() -> bool:
        for writer in servers.writers:
            assert not writer.has_ended, f"{writer.folder.name} ended by itself"
        return all(
            len(writer.acknowledged) > count for writer, count in zip(servers.writers, before, strict=True)
        )

    begun = time.monotonic()
    _wait("a server does not write any longer", all_write)
    return f"{kind}, {done}; all write after {time.monotonic() - begun:.1f} s"


def _wait(what: str, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _SETTLING_SECONDS
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def find_faults(writers: Sequence[Writer]) -> list[str]:
    """Return what is lost, double or different in the folders."""
    faults = []
    acknowledged = set().union(*(writer.acknowledged for writer in writers))
    for writer in writers:
        with Environment(writer.folder, read_only=True) as folder, folder.reading() as transaction:
            counted = Counter(reported_contests(transaction))
        faults += [f"{writer.folder.name}: {lost} is lost" for lost in sorted(acknowledged - counted.keys())]
        faults += [
            f"{writer.folder.name}: {twice} is {times} times there"
            for twice, times in counted.items()
            if times > 1
        ]
    with Environment(writers[0].folder, read_only=True) as first:
        for writer in writers[1:]:
            with Environment(writer.folder, read_only=True) as other:
                faults += [f"{writer.folder.name}: {finding.what}" for finding in disagreements(first, other)]
    return faults


def main() -> None:
    """Run the rounds."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--rounds", type=arguments.count, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="what is done to them")
    parser.add_argument("--folder", type=Path, help="where to keep what they write, for inspection")
    parser.add_argument("--write", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        folder, log, name = options.write
        write(Path(folder), log, name)
        return
    kinds = options.kinds
    needs_hosts = not set(kinds) <= set(_ANYWHERE)
    if needs_hosts:
        if missing := simulated_hosts.why_not():
            sys.exit(f"only {' '.join(_ANYWHERE)} without {missing}: choose of these by --kinds")
        cannot = {"slow_disk": not Host.can_be_slow(), "set_clock": not simulated_hosts.can_set_clocks()}
        kinds = [kind for kind in kinds if not cannot.get(kind)]
        if left_out := [kind for kind in options.kinds if kind not in kinds]:
            print(f"left out, as this machine cannot: {' '.join(left_out)}", file=sys.stderr)
        if not kinds:
            parser.error("no kind is left: choose others by --kinds")
        simulated_hosts.enter()
    with ExitStack() as made:
        folder = options.folder or Path(made.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(exist_ok=True)
        hosts = made.enter_context(simulated_hosts.make_hosts(folder, 6)) if needs_hosts else []
        places = _places(folder, hosts)
        nats = start_cluster(places[:3])
        for server in nats:
            made.callback(server.kill)
        log = "nats://" + ",".join(server.host for server in nats) + "/faults"
        writers = [Writer(place, log) for place in places[3:]]
        for writer in writers:
            made.callback(writer.kill)
        servers = Servers(random.Random(options.seed), nats, writers, hosts)
        _wait("not all servers begin to write", lambda: all(writer.acknowledged for writer in writers))
        faults = run_rounds(servers, kinds, options.rounds)
        print(*faults, f"{_count(writers)}, {len(faults)} faults", sep="\n")
    sys.exit(bool(faults))


def _places(folder: Path, hosts: Sequence[Host]) -> list[Place]:
    names = ("nats-0", "nats-1", "nats-2", "one", "two", "three")
    if not hosts:
        return [Place(folder / name) for name in names]
    return [
        Place(host.disk / name, host.address, host.command) for host, name in zip(hosts, names, strict=True)
    ]


def run_rounds(servers: Servers, kinds: Sequence[str], rounds: int) -> list[str]:
    """Do the kinds in a random order, each as often as the others; return the faults."""
    order = [
        kind for _ in range(-(-rounds // len(kinds))) for kind in servers.chance.sample(kinds, len(kinds))
    ]
    for number, kind in enumerate(order[:rounds], 1):
        try:
            done = do_round(servers, kind)
        except AssertionError as error:
            refusals = "; ".join(writer.last_refusal for writer in servers.writers)
            return [f"round {number}: {kind}: {error} ({refusals})"]
        print(f"round {number}: {done}; {_count(servers.writers)}", flush=True)
    codes = [writer.end() for writer in servers.writers]
    # Opened once more, each folds what the others wrote last; from its host, as the log is there.
    for writer in servers.writers:
        writer.start()
        codes.append(writer.end())
    return [f"a server ended with {code}" for code in codes if code] + find_faults(servers.writers)


def _count(writers: Sequence[Writer]) -> str:
    acknowledged = sum(len(writer.acknowledged) for writer in writers)
    return f"{acknowledged:,} acknowledged, {sum(writer.refused for writer in writers)} refused"


if __name__ == "__main__":
    main()
