"""Whether a server becomes slower with what it holds: `python -m research.growth [--plot FILE]`.

Games have a twentieth of full libraries each, are copies of one, and all of them are asked about in turn.
Events are reports of contests of 60 plies; most of a long log is written without being learnt from, as only
its length matters.
"""

import tempfile
from collections.abc import Callable
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from academy.store import event_log, keys
from academy.store.environment import TableName, Transaction
from academy.store.library_store import Store
from academy.v1 import events_pb2
from benchmarks import arguments
from benchmarks.load import full_game
from benchmarks.load.copied_games import copied
from benchmarks.load.processes import MATCH, REPORT, Generator, Server
from benchmarks.load.wire import Load

GAMES: Final = (1, 10, 100, 1_000)
EVENTS: Final = (10_000, 100_000, 1_000_000)
SHARE: Final = 0.05
ROUNDS: Final = 5
SECONDS: Final = 0.6
BOTS: Final = 16
EVENTS_AT_ONCE: Final = 50_000

Figures = tuple[float, float, float, float]


def lengthen(store: Store, game_id: str, length: int) -> None:
    """Make a log as long as that, with events that change nothing."""
    report = next(full_game.reports(game_id, 1))
    reported = events_pb2.ContestReported(report=report)
    event = events_pb2.Event(game_id=game_id, actor="benchmark", time=Timestamp(), contest_reported=reported)
    packed = event_log.pack(event)
    while (last := store.read(event_log.last_sequence)) < length:
        end = min(length, last + EVENTS_AT_ONCE)

        def write(transaction: Transaction, first: int = last + 1, end: int = end) -> None:
            for sequence in range(first, end + 1):
                transaction.put(TableName.EVENTS, keys.number(sequence), packed)
                transaction.put(TableName.EVENTS_BY_GAME, keys.in_game(game_id, sequence))

        store.environment.write(write)


def measure(folder: Path, games: list[str], token: str, arena: str) -> Figures:
    """Return consultations a second and their p99, reports a second and their p99 (ms)."""
    questions_each = max(1, 64 // len(games))
    questions = list(chain.from_iterable(full_game.questions(game, questions_each) for game in games))
    consulted: list[Load] = []
    reported: list[Load] = []
    with Generator(core=1) as generator, Server(folder, core=0) as server:
        # Every game once, so that all are loaded.
        for question in questions[::questions_each]:
            server.answer(token, question)
        for number in range(ROUNDS):
            consulted.append(generator.ask(server.port, MATCH, token, questions, bots=BOTS, seconds=SECONDS))
            reports = [*full_game.reports(games[0], 1_000, first=1_000 * number)]
            reported.append(
                generator.ask(server.port, REPORT, arena, reports, bots=4, seconds=SECONDS, rate=40.0)
            )
    return (
        median(load.rate for load in consulted),
        median(load.p99 for load in consulted) * 1e3,
        median(load.p50 for load in reported) * 1e3,
        median(load.p99 for load in reported) * 1e3,
    )


def grown(games: int, prepare: Callable[[Store, str], None] = lambda store, game_id: None) -> Figures:
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "data"
        with Store(folder) as store:
            names = [full_game.teach(store, share=SHARE), *(f"go-{number:04}" for number in range(1, games))]
            prepare(store, names[0])
            token, arena = full_game.tokens(store)
        copied(folder, names[0], names[1:])
        return measure(folder, names, token, arena)


def main() -> None:
    """Print tables, and draw them where that is asked for."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--plot", type=Path, help="an SVG file to draw")
    parser.add_argument("--most-games", type=int, default=GAMES[-1])
    parser.add_argument("--most-events", type=int, default=EVENTS[-1])
    options = parser.parse_args()
    if options.plot and (options.most_games < GAMES[0] or options.most_events < EVENTS[0]):
        parser.error(f"nothing to draw below --most-games {GAMES[0]} or --most-events {EVENTS[0]}")
    by_games: dict[int, Figures] = {}
    by_events: dict[int, Figures] = {}
    head = "| {} | consultations/s | p99 ms | report p50 ms | p99 ms |\n|---|---|---|---|---|"
    print(head.format("games"))
    for games in (count for count in GAMES if count <= options.most_games):
        by_games[games] = grown(games)
        _print(games, by_games[games])
    print("\n" + head.format("events in the log"))
    for events in (count for count in EVENTS if count <= options.most_events):
        by_events[events] = grown(1, partial(lengthen, length=events))
        _print(events, by_events[events])
    if options.plot:
        _plot(options.plot, {"games": by_games, "events in the log": by_events})


def _print(size: int, figures: Figures) -> None:
    rate, p99, report, report_p99 = figures
    print(f"| {size:,} | {rate:,.0f} | {p99:.1f} | {report:.1f} | {report_p99:.1f} |", flush=True)


def _plot(file: Path, tables: dict[str, dict[int, Figures]]) -> None:
    import matplotlib

    matplotlib.use("svg")
    # The same figures are to make the same file.
    matplotlib.rcParams["svg.hashsalt"] = "growth"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, len(tables), figsize=(9, 5), sharex="col", layout="constrained")
    for column, (name, table) in enumerate(tables.items()):
        sizes = list(table)
        above, below = axes[0][column], axes[1][column]
        above.plot(sizes, [table[size][0] for size in sizes], marker="o")
        # Room above the highest point, whose marker would be cut through otherwise.
        above.set(xscale="log", ylim=(0, 1.1 * max(rate for rate, *_ in table.values())))
        above.set(ylabel="consultations a second")
        below.plot(sizes, [table[size][1] for size in sizes], marker="o", label="consultation, p99")
        below.plot(sizes, [table[size][2] for size in sizes], marker="s", label="report, p50")
        below.set(ylim=(0, 1.1 * max(max(p99, report) for _, p99, report, _ in table.values())))
        below.set(ylabel="ms", xlabel=name)
        below.legend()
    figure.savefig(file, metadata={"Date": None})


if __name__ == "__main__":
    main()
