"""What a shared log costs a server: reads and reports beside a server whose folder has a log of its own.

    python -m benchmarks.shared_log

Both servers have one full game and run at the same time, with one NATS server that writes each message to the
disk before it is acknowledged. They are asked in turns, so that what else the machine does counts for both.
The rows of two servers have them read at once, and write at once: to one game, and to a game each. The last
line is the room that contests take.
"""

import itertools
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import mean, median, stdev
from typing import Final

from academy.store.game_registration import RegisterGame
from academy.store.library_store import Store
from academy.store.maintenance.compaction import compact
from benchmarks import arguments
from benchmarks.load import full_game
from benchmarks.load.processes import MATCH, REPORT, Generator, Server
from benchmarks.load.wire import Load
from benchmarks.store import GAME, play
from tests.academy.store.examples import go_game, report
from tests.academy.store.shared_log.nats_servers import NatsServer

FIRST, SECOND = "go-0000", "go-0001"
ROUNDS: Final = 8
SECONDS: Final = 1.5
# So short, and with enough contests, that no bot comes to a contest that another one has reported.
REPORTING_SECONDS: Final = 0.8
REPORTS: Final = 1_000
BOTS: Final = 8
CONTESTS_OF_A_BATCH: Final = 200
BATCHES: Final = 10


class Measured:
    """A server with its tokens."""

    def __init__(self, server: Server, token: str, arena: str) -> None:
        self.server, self.token, self.arena = server, token, arena
        self._questions = full_game.questions(FIRST, 64)

    def begin_reading(self, generator: Generator, bots: int) -> None:
        """Have bots ask about patterns, as fast as it answers."""
        generator.begin(self.server.port, MATCH, self.token, self._questions, bots=bots, seconds=SECONDS)

    def begin_reports(self, generator: Generator, game_id: str, first: int) -> None:
        """Report contests that are new to it, from this number on, as fast as it takes them."""
        fresh = [*full_game.reports(game_id, REPORTS, first)]
        generator.begin(self.server.port, REPORT, self.arena, fresh, bots=BOTS, seconds=REPORTING_SECONDS)


def both(here: Load, there: Load) -> Load:
    """What two load generators measured at once, as one: the times are the slower one's."""
    return Load(here.rate + there.rate, max(here.p50, there.p50), max(here.p99, there.p99), 0.0)


def ratio(shared: Sequence[Load], own: Sequence[Load]) -> str:
    """The mean of the rounds' ratios with its standard error."""
    ratios = [there.rate / here.rate for there, here in zip(shared, own, strict=True)]
    return f"{mean(ratios):.2f} ± {stdev(ratios) / len(ratios) ** 0.5:.2f}"


def row(what: str, loads: Sequence[Load], beside: str = "") -> None:
    rate, p50, p99 = (median(getattr(load, name) for load in loads) for name in ("rate", "p50", "p99"))
    print(f"| {what} | {rate:,.0f} | {p50 * 1e3:.1f} / {p99 * 1e3:.1f} | {beside} |", flush=True)


def main() -> None:
    """Print the rows."""
    arguments.parser(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as parent, ExitStack() as running:
        nats = NatsServer(Path(parent) / "nats", max_payload="8MB")
        running.callback(nats.kill)
        folders = {name: Path(parent) / name for name in ("own", "one", "two")}
        tokens: dict[str, tuple[str, str]] = {}
        for name, log in (("own", None), ("one", nats.address("bench"))):
            with Store(folders[name], log=log) as store:
                for game_id in (FIRST, SECOND):
                    full_game.teach(store, game_id)
                tokens[name] = full_game.tokens(store)

        def serve(name: str, of: str) -> Measured:
            server = running.enter_context(Server(folders[name]))
            return Measured(server, *tokens[of])

        own, first = serve("own", "own"), serve("one", "one")
        generators = [running.enter_context(Generator()) for _ in range(2)]
        measure_alone(own, first, generators[0])
        begun = time.perf_counter()
        with Store(folders["two"], log=nats.address("bench")):
            print(f"\nA new server reads the log in {time.perf_counter() - begun:.1f} s.")
        second = serve("two", "one")
        measure_reads((first, second), generators)
        measure_both((first, second), generators)
        for compacted in (False, True):
            folder = Path(parent) / ("compacted" if compacted else "room")
            measure_room(folder, nats, Path(parent) / "nats", compacted=compacted)


def measure_alone(own: Measured, first: Measured, generator: Generator) -> None:
    """Print the rows of one server that writes."""
    loads: dict[str, list[Load]] = {"own": [], "one": [], "own reports": [], "one reports": []}
    for _ in range(ROUNDS):
        for name, server in (("own", own), ("one", first)):
            server.begin_reading(generator, bots=16)
            loads[name].append(generator.result())
    for number in range(ROUNDS):
        for name, server in (("own reports", own), ("one reports", first)):
            server.begin_reports(generator, FIRST, number * REPORTS)
            loads[name].append(generator.result())
    print(
        "| one server | a second | p50 / p99 ms | of the own log's, mean of the rounds |\n|---|---|---|---|"
    )
    row("consultations, own log", loads["own"])
    row("consultations, shared log", loads["one"], ratio(loads["one"], loads["own"]))
    row("reports, own log", loads["own reports"])
    row("reports, shared log", loads["one reports"], ratio(loads["one reports"], loads["own reports"]))


def measure_reads(servers: Sequence[Measured], generators: Sequence[Generator]) -> None:
    """Print the rows of two load generators that ask one server, and two."""
    loads: tuple[list[Load], list[Load]] = ([], [])
    for _ in range(ROUNDS):
        for pair, measured in zip(([servers[0], servers[0]], servers), loads, strict=True):
            for server, generator in zip(pair, generators, strict=True):
                server.begin_reading(generator, bots=8)
            measured.append(both(*(generator.result() for generator in generators)))
    print("\n| consultations | a second | p50 / p99 ms | of one server's |\n|---|---|---|---|")
    row("one server", loads[0])
    row("two servers", loads[1], ratio(loads[1], loads[0]))


def measure_both(servers: Sequence[Measured], generators: Sequence[Generator]) -> None:
    """Print the rows of two servers that write at once."""
    print(
        "\n| two servers write at once | a second, both together | p50 / p99 ms "
        "| share that the slower one wrote |\n|---|---|---|---|"
    )
    numbers = itertools.count(10_000_000, REPORTS)
    for what, games in (("one game", (FIRST, FIRST)), ("a game each", (FIRST, SECOND))):
        together: list[Load] = []
        shares: list[float] = []
        for _ in range(ROUNDS):
            for server, generator, game_id in zip(servers, generators, games, strict=True):
                server.begin_reports(generator, game_id, next(numbers))
            here, there = (generator.result() for generator in generators)
            together.append(both(here, there))
            shares.append(min(here.rate, there.rate) / together[-1].rate)
        row(f"reports to {what}", together, f"{median(shares):.2f}")


def measure_room(folder: Path, nats: NatsServer, streams: Path, *, compacted: bool = False) -> None:
    """Print the bytes of a contest (60 plies on 9x9, four proposals) in the folder and the stream.

    With `compacted` the folder is compacted after each batch, so its file has the rooms of earlier events.
    """
    with Store(folder, log=nats.address(folder.name)) as store:
        store.run(RegisterGame(go_game(game_id=GAME), "benchmark"))
        rooms = []
        for batch in range(BATCHES):
            play(store, [report(f"{batch}/{number}", plies=60) for number in range(CONTESTS_OF_A_BATCH)])
            if compacted:
                compact(store, keep=CONTESTS_OF_A_BATCH)
            stored = sum(path.stat().st_size for path in streams.rglob("*") if path.is_file())
            rooms.append((store.environment.room().used, stored))
    # The first contests bring most of the patterns, and the room that compaction needs.
    rooms = rooms[2:] if compacted else rooms
    folders, streamed = (
        [(later[part] - before[part]) / CONTESTS_OF_A_BATCH for before, later in itertools.pairwise(rooms)]
        for part in (0, 1)
    )
    how = "compacted after each batch" if compacted else "not compacted"
    print(
        f"\nA contest takes {min(folders):,.0f} to {max(folders):,.0f} bytes of the folder, on average "
        f"{mean(folders):,.0f}, and {max(streamed):,.0f} bytes of the stream ({len(folders)} times "
        f"{CONTESTS_OF_A_BATCH}, {how})."
    )


if __name__ == "__main__":
    main()
