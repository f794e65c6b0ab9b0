"""What a consultation costs at the server, beside no-ops of the same messages in the same process.

    python -m benchmarks.server

The server has one core and the load generator another. Figures are medians of interleaved rounds. The
second table puts a consultation together step by step. The third reports contests while others consult: the
server may use all cores there.
"""

import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from academy.store.library_store import Store
from academy.v1 import consultation_pb2 as messages
from benchmarks import arguments
from benchmarks.load import full_game
from benchmarks.load.processes import ECHO, MATCH, PLAY, REPORT, SUCCESSORS, Generator, Server
from benchmarks.load.wire import Load

ROUNDS: Final = 5
SECONDS: Final = 0.4
# Linux takes the processor from programs with precedence (`chrt`) once they had 95 % of a second of it.
PAUSE: Final = 0.15
REPORTS_PER_SECOND: Final = 40.0
WRITING_SECONDS: Final = 2.5

CANDIDATE_MOVES: Final = (16, 100, 400)
# The load generator sends a question at once, so it must fit into the window that HTTP/2 begins with.
POSITIONS_AT_ONCE: Final = 100


class Way(NamedTuple):
    """A way to ask."""

    name: str
    positions: int
    bots: int
    streaming: bool


WAYS: Final = (
    Way("call, 1 bot", 1, 1, False),
    Way("call, 16 bots", 1, 16, False),
    Way("call, 64 bots", 1, 64, False),
    Way("stream, 1 bot", 1, 1, True),
    Way("stream, 16 bots", 1, 16, True),
    Way("stream, 64 bots", 1, 64, True),
    Way("call of 16 positions, 16 bots", 16, 16, False),
    Way("stream of 16 positions, 16 bots", 16, 16, True),
)

STEPS: Final = (WAYS[1], WAYS[4], WAYS[7])


def asked(way: Way, game_id: str) -> list[messages.MatchPatternsRequest]:
    return full_game.questions(game_id, 64, way.positions)


def typical(
    server: Server, token: str, questions: list[messages.MatchPatternsRequest]
) -> messages.MatchPatternsResponse:
    """Have the echo answer with a consultation's answer of median size, and return that."""
    answers = sorted(
        (server.answer(token, answer) for answer in questions[:15]), key=lambda response: response.ByteSize()
    )
    server.prepare_echo(answers[len(answers) // 2])
    return answers[len(answers) // 2]


def interleaved(
    generator: Generator,
    way: Way,
    questions: list[messages.MatchPatternsRequest],
    asked_at: list[tuple[int, str, str]],
) -> list[list[Load]]:
    """Ask at several ports, paths and with tokens, in turns; return the rounds of each."""
    loads: list[list[Load]] = [[] for _ in asked_at]
    for _ in range(ROUNDS):
        for (port, path, token), results in zip(asked_at, loads, strict=True):
            results.append(generator.ask(port, path, token, questions, bots=way.bots, seconds=SECONDS))
            time.sleep(PAUSE)
    return loads


def consultation(server: Server, token: str, way: Way) -> tuple[int, str, str]:
    return server.port, PLAY if way.streaming else MATCH, token


def no_op(server: Server, token: str, way: Way) -> tuple[int, str, str]:
    _, path, _ = consultation(server, token, way)
    return server.no_op_port, path, token


def echo(server: Server, way: Way, work: str = "") -> tuple[int, str, str]:
    return server.echo_port, ECHO + ("Play" if way.streaming else "Unary") + work, ""


def measure(server: Server, generator: Generator, token: str, way: Way, game_id: str) -> None:
    """Print a row."""
    questions = asked(way, game_id)
    answer = typical(server, token, questions)
    places = [echo(server, way), no_op(server, token, way), consultation(server, token, way)]
    echoed, idle, own = interleaved(generator, way, questions, places)
    rate = median(load.rate for load in own)
    listed = sum(len(position.patterns) for position in answer.positions)
    print(
        f"| {way.name} | {rate:,.0f} | {rate * way.positions:,.0f} | {_share(own, idle)} "
        f"| {_share(own, echoed)} | {_times(own)} | {listed:,} "
        f"| {median(load.answer_bytes for load in own):,.0f} |",
        flush=True,
    )


def _share(own: list[Load], other: list[Load]) -> str:
    """How fast another one is, and what share of that is kept."""
    kept = median(mine.rate / theirs.rate for mine, theirs in zip(own, other, strict=True))
    return f"{median(load.rate for load in other):,.0f} | {kept:.2f}"


def measure_successors(server: Server, generator: Generator, token: str, game_id: str, moves: int) -> None:
    """Print a row: a position and its candidate moves in one call, and the positions after them in others."""
    together = full_game.successor_questions(game_id, 16, moves)
    separate = [full_game.after_moves(question, POSITIONS_AT_ONCE) for question in together]
    loads: list[list[Load]] = [[], []]
    for _ in range(ROUNDS):
        for path, questions, results in ((SUCCESSORS, together, loads[0]), (MATCH, separate, loads[1])):
            results.append(generator.ask(server.port, path, token, questions, bots=1, seconds=SECONDS))
            time.sleep(PAUSE)
    mean_moves = sum(len(question.moves) for question in together) / len(together)
    mean_positions = sum(len(question.positions) for question in separate) / len(separate)
    successors, apart = (1e6 / median(load.rate for load in results) for results in loads)
    print(
        f"| {mean_moves:,.0f} | {successors:,.0f} us | {successors / mean_moves:.1f} us "
        f"| {apart / mean_positions:.1f} us | {median(load.answer_bytes for load in loads[0]):,.0f} |",
        flush=True,
    )


def measure_steps(server: Server, generator: Generator, token: str, way: Way, game_id: str) -> None:
    """Print a row: what one answer takes when more and more is done for it."""
    questions = asked(way, game_id)
    typical(server, token, questions)
    places = [echo(server, way, work) for work in ("", "Match", "Write")]
    places += [no_op(server, token, way), consultation(server, token, way)]
    loads = interleaved(generator, way, questions, places)
    times = (f"{1e6 / median(load.rate for load in rounds):,.0f} us" for rounds in loads)
    print(f"| {way.name} | {' | '.join(times)} |", flush=True)


def measure_writing(folder: Path, token: str, arena: str, game_id: str) -> None:
    """Print how fast consultations are answered at half their peak, without and with reports."""
    way = WAYS[4]
    questions = asked(way, game_id)
    count = round(2 * ROUNDS * (WRITING_SECONDS + 2) * REPORTS_PER_SECOND)
    contests = [*full_game.reports(game_id, count)]
    with Generator() as consulting, Generator() as reporting, Server(folder) as server:

        def consult(rate: float) -> None:
            pace = {"bots": way.bots, "seconds": WRITING_SECONDS, "rate": rate}
            consulting.begin(server.port, PLAY, token, questions, **pace)

        consult(0.0)
        peak = consulting.result().rate
        quiet: list[Load] = []
        busy: list[Load] = []
        reports: list[Load] = []
        for turn in range(ROUNDS):
            consult(peak / 2)
            quiet.append(consulting.result())
            part = contests[turn * count // ROUNDS : (turn + 1) * count // ROUNDS]
            consult(peak / 2)
            reporting.begin(
                server.port, REPORT, arena, part, bots=8, seconds=WRITING_SECONDS, rate=REPORTS_PER_SECOND
            )
            busy.append(consulting.result())
            reports.append(reporting.result())
    print(
        "\n| consultations at half their peak | a second | p50 / p99 ms "
        "| reports a minute | report p50 / p99 ms |"
    )
    print("|---|---|---|---|---|")
    for name, loads, writes in (("alone", quiet, []), ("while contests are reported", busy, reports)):
        row = f"| {name} | {median(load.rate for load in loads):,.0f} | {_times(loads)} |"
        if writes:
            row += f" {60 * median(load.rate for load in writes):,.0f} | {_times(writes)} |"
        print(row if writes else row + " | |", flush=True)


def _times(loads: list[Load]) -> str:
    return f"{median(load.p50 for load in loads) * 1e3:.2f} / {median(load.p99 for load in loads) * 1e3:.2f}"


def main() -> None:
    """Measure in a fresh folder: everything, or the part that is named."""
    parser = arguments.parser(__doc__)
    parser.add_argument("part", nargs="?", choices=["writing"], help="measure this alone")
    part = parser.parse_args().part
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "data"
        with Store(folder) as store:
            game_id = full_game.teach(store)
            token, arena = full_game.tokens(store)
        if part is None:
            measure_asking(folder, token, game_id)
        measure_writing(folder, token, arena, game_id)


def measure_asking(folder: Path, token: str, game_id: str) -> None:
    """Print what consultations cost beside the echo."""
    print(
        "| asked by | calls/s | positions/s | no-op/s | kept | echo/s | kept "
        "| p50 / p99 ms | placements | bytes an answer |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    with Generator(core=1) as generator, Server(folder, core=0) as server:
        for way in WAYS:
            measure(server, generator, token, way, game_id)
        print(
            "\n| an answer takes | echo | and matching | and writing the answer | no-op | the consultation |"
        )
        print("|---|---|---|---|---|---|")
        for way in STEPS:
            measure_steps(server, generator, token, way, game_id)
        print(
            "\n| candidate moves, 1 bot | the call takes | a move | a position in calls of up to "
            f"{POSITIONS_AT_ONCE} | bytes an answer |"
        )
        print("|---|---|---|---|---|")
        for moves in CANDIDATE_MOVES:
            measure_successors(server, generator, token, game_id, moves)


if __name__ == "__main__":
    main()
