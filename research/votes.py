"""Which Elo weighs a vote: that of its day, or the proposer's present one? `python -m research.votes`.

Bots of different strength begin with one Elo, play Go on 5x5 and propose patterns to ACADEMY. Then contests
that ACADEMY does not hear of are played. What patterns on their boards expect is compared with the results,
each pattern's votes being weighed in both ways. The difference of the Brier scores, contest by contest, says
which way foretells more.
"""

import math
import random
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Final

from academy.knowledge.votes import ELO_SCALE, VALUE_SCALE
from academy.v1 import contests_pb2, libraries_pb2, libraries_pb2_grpc
from arena.academy.embedded import EmbeddedAcademy
from benchmarks import arguments
from clients.academy import Academy
from clients.bots.strength import Strength
from clients.connection import Connection
from clients.seat import Seat
from referees.api import referee
from research.contests import Entrant, play

SETTINGS: Final = {"board_size": 5, "komi": 0.5, "ko": "positional_superko"}
LEVELS: Final = {"weakest": 2, "weak": 6, "middle": 15, "good": 40, "strong": 80}
LATE_SHARE: Final = 0.5
DIFFERENT: Final = 0.01
BOT: Final = "-m clients.bots.any_game go --set board_size=5 --set komi=0.5 --set ko=positional_superko"


@dataclass(frozen=True)
class Values:
    """A pattern's value, its votes weighed by the Elo of their day, and by the proposers' present one."""

    then: float
    now: float


def control(rounds: int, seed: int) -> str:
    """The control file of the competition that ACADEMY learns from."""
    players = "".join(
        f'\n[players.{name}]\ncommand = "{sys.executable} {BOT} --playouts {playouts} --academy"\n'
        "restart = false\n"
        for name, playouts in LEVELS.items()
    )
    return (
        f'[competition]\nkind = "all-play-all"\nrounds = {rounds}\nseed = {seed}\nrecord_games = false\n'
        '[game]\nname = "go"\nboard_size = 5\nkomi = 0.5\nko = "positional_superko"\nmove_limit = 75\n'
        f'[academy]\ndata = "votes-{seed}.academy"\n{players}'
    )


def values(connection: Connection, game_id: str) -> dict[int, Values]:
    """Every pattern's values, from its votes; patterns with folded votes are left out."""
    with connection.channel() as channel:
        records = list(
            libraries_pb2_grpc.LibraryServiceStub(channel).ExportLibrary(
                libraries_pb2.ExportLibraryRequest(game_id=game_id), metadata=connection.metadata
            )
        )
    present = {rating.player: rating.elo for record in records for rating in record.history.ratings}
    by_pattern = {}
    for record in records:
        if record.HasField("pattern") and not record.pattern.HasField("folded"):
            votes = record.pattern.votes
            expected = [vote.value_millionths / VALUE_SCALE for vote in votes]
            then = [vote.elo_hundredths / ELO_SCALE for vote in votes]
            now = [present.get(vote.player, elo) for vote, elo in zip(votes, then, strict=True)]
            by_pattern[record.pattern.pattern_id] = Values(_mean(expected, then), _mean(expected, now))
    return by_pattern


def _mean(expected: list[float], elos: list[float]) -> float:
    weights = [max(1.0, elo) for elo in elos]
    return math.fsum(map(math.prod, zip(weights, expected, strict=True))) / math.fsum(weights)


def unheard(contests: int, seed: int) -> Iterator[contests_pb2.ReportContestRequest]:
    """Contests that ACADEMY does not hear of: each pair of levels in turn."""
    rules = referee("go").from_settings(SETTINGS)
    pairs = [*combinations(LEVELS, 2)]
    for number in range(contests):
        chance = random.Random(f"unheard/{seed}/{number}")
        names = chance.sample(pairs[number % len(pairs)], 2)
        entrants = [Entrant(name, Strength("monte-carlo", playouts=LEVELS[name]), 1000.0) for name in names]
        yield play(rules, f"unheard/{number}", entrants, f"unheard/{seed}/{number}").report


def differences(
    academy: Academy, known: Mapping[int, Values], reports: Iterator[contests_pb2.ReportContestRequest]
) -> Iterator[tuple[float, float]]:
    """For each contest with patterns on its later boards: the Brier scores of both ways."""
    rules = referee("go").from_settings(SETTINGS)
    spec = rules.spec()
    for report in reports:
        position = rules.start(0)
        then: list[float] = []
        now: list[float] = []
        for number, ply in enumerate(report.plies, 1):
            position = rules.play(position, {ply.player: rules.read_move(position, ply.player, ply.move)})
            if number <= len(report.plies) * LATE_SHARE:
                continue
            score = 1.0 if report.results[ply.player - 1] == contests_pb2.RESULT_WIN else 0.0
            seat = Seat(spec.game_id, spec.geometry, ply.player)
            (matches,) = academy.patterns(seat, [rules.board(position, 1)])
            expected = [known[match.pattern_id] for match in matches if match.pattern_id in known]
            if expected:
                for way, scores in (("then", then), ("now", now)):
                    mean = statistics.fmean(getattr(value, way) for value in expected)
                    scores.append((mean - score) ** 2)
        if then:
            yield statistics.fmean(then), statistics.fmean(now)


def main() -> None:
    """Play, or go on playing, and print both ways' scores."""
    parser = arguments.parser(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--rounds", type=arguments.count, default=15, help="contests of each pair that ACADEMY learns from"
    )
    parser.add_argument("--unheard", type=arguments.at_least(2), default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    file = options.folder / f"votes-{options.seed}.toml"
    file.write_text(control(options.rounds, options.seed))
    subprocess.run([sys.executable, "-m", "arena.cli", "run", str(file), "--quiet"], check=True)
    with closing(EmbeddedAcademy(file.with_suffix(".academy"), file.with_suffix(".server.log"))) as server:
        connection = server.start()
        known = values(connection, "go-5x5")
        with Academy(connection) as academy:
            scores = [*differences(academy, known, unheard(options.unheard, options.seed))]
    differing = sum(abs(value.then - value.now) > DIFFERENT for value in known.values())
    sys.stdout.write(
        f"{len(known)} patterns, {differing} of them with values that differ by more than {DIFFERENT:g}\n"
        f"{compare(scores, options.unheard)}\n"
    )


def compare(scores: Sequence[tuple[float, float]], played: int) -> str:
    """Return both ways' scores as a sentence; exit where too few of the contests had any."""
    if len(scores) < 2:
        sys.exit(
            f"{len(scores)} of {played} contests had patterns on their boards, which is too few: "
            "play more by --rounds and --unheard"
        )
    gains = [then - now for then, now in scores]
    error = 2.0 * statistics.stdev(gains) / len(gains) ** 0.5
    return (
        f"{len(scores)} contests: Brier score {statistics.fmean(then for then, _ in scores):.4f} by the Elo "
        f"of the day, {statistics.fmean(now for _, now in scores):.4f} by the present one; that is "
        f"better by {statistics.fmean(gains):+.5f} ± {error:.5f}"
    )


if __name__ == "__main__":
    main()
