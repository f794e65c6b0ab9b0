"""What a league costs: taking a game in, a rating list, and the likeliest ratings, as it grows.

    python -m benchmarks.league [--games 1000000] [--players 10000] [--league FILE or URL] [--copy N]

Players of known strengths meet those close to them. Games are recorded in batches, as an import does; at each
power of ten, and at the end, single games are recorded, as a run does. A league that was begun goes on.
With `--copy` the first N games of a new league are written in bulk, with all that the league has beside them:
ten million take minutes, not hours. PostgreSQL's user must be a superuser then.
"""

import random
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, update

from arena.league.database import LeagueDatabase, open_league
from arena.league.estimates import estimate
from arena.league.lists import LeagueReader
from arena.league.recording import BATCH, enter_competition, record
from arena.league.source import SourceCompetition, SourceGame, SourceSeat
from arena.league.tables import COMPETITION as COMPETITION_TABLE
from arena.ratings.elo import change_factor, expected_score
from benchmarks import arguments
from referees.api import Outcome, Termination

GAME = "go-9x9"
COMPETITION = SourceCompetition(1, "benchmark", "benchmark", "all-play-all")
SINGLE_GAMES = 100
LISTS = 5


class Society:
    """Players of normally distributed strengths, each of whom meets those near it."""

    def __init__(self, players: int) -> None:
        self._strengths = sorted(random.Random(1).gauss(1000, 300) for _ in range(players))

    def __len__(self) -> int:
        return len(self._strengths)

    def strength(self, name: str) -> float:
        return self._strengths[int(name[1:])]

    def games(self, first: int, count: int) -> list[SourceGame]:
        return [self._game(number) for number in range(first, first + count)]

    def _game(self, number: int) -> SourceGame:
        chance, players = random.Random(number), len(self._strengths)
        black = chance.randrange(players)
        apart = chance.choice((-1, 1)) * chance.randint(1, players // 20 + 1)
        white = min(players - 1, max(0, black + apart))
        if white == black:
            white = (black + 1) % players
        winner = 1 if chance.random() < expected_score(self._strengths[black] - self._strengths[white]) else 2
        return SourceGame(
            number + 1, f"benchmark/{number}/1", f"g{number}", GAME, datetime.now(UTC).replace(tzinfo=None),
            Outcome((winner,), Termination.SCORE, "B+1"),
            (SourceSeat(f"p{black}", "", 1000.0), SourceSeat(f"p{white}", "", 1000.0)),
        )  # fmt: skip

    def many_games(self, count: int) -> "ManyGames":
        """Games like the others, but of other chances, and all at once."""
        chance, strengths = np.random.default_rng(1), np.array(self._strengths)
        players = len(strengths)
        black = chance.integers(players, size=count)
        apart = chance.choice((-1, 1), count) * chance.integers(1, players // 20 + 2, count)
        white = np.clip(black + apart, 0, players - 1)
        white = np.where(white == black, (black + 1) % players, white)
        expected = 1 / (1 + 10 ** ((strengths[white] - strengths[black]) / 400))
        return ManyGames(players, black, white, chance.random(count) < expected)


@dataclass(frozen=True)
class ManyGames:
    """Games by number: the players by number, and whether black won."""

    players: int
    black: npt.NDArray[np.int64]
    white: npt.NDArray[np.int64]
    black_won: npt.NDArray[np.bool_]

    def copy_to(self, league: LeagueDatabase) -> None:
        """Write them into a new league as if it had recorded them one by one."""
        count, now = len(self.black), datetime.now(UTC).replace(tzinfo=None).isoformat(" ")
        elo = [1000.0] * self.players
        with league.sole_transaction() as connection:
            copy = partial(_copy, connection)
            if connection.dialect.name == "postgresql":
                # It would else look each seat's game up.
                connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
            copy("Player", (
                f"{number + 1}\tp{number}\t\tp{number}\t\\N\t\\N\t{now}\n" for number in range(self.players)
            ))  # fmt: skip
            copy("Game", (
                f"{number}\tbenchmark/{number - 1}/1\t1\tg{number - 1}\t{GAME}\t{now}\tB+1\t1\n"
                for number in range(1, count + 1)
            ))  # fmt: skip
            copy("Seat", self._seats(elo))
            lower, higher = np.minimum(self.black, self.white), np.maximum(self.black, self.white)
            pair, games = np.unique(lower * self.players + higher, return_inverse=True)
            points = np.bincount(games, (self.black == lower) == self.black_won)
            copy("Pair", (
                f"{GAME}\t{both // self.players + 1}\t{both % self.players + 1}\t{won}\t{often}\n"
                for both, won, often in zip(
                    pair.tolist(), points.tolist(), np.bincount(games).tolist(), strict=True)
            ))  # fmt: skip
            everyone = np.concatenate([self.black, self.white])
            won = np.bincount(np.where(self.black_won, self.black, self.white), minlength=self.players)
            met = np.bincount(everyone, minlength=self.players)
            copy("Rating", (
                f"{GAME}\t{number + 1}\t{elo[number]}\t{met[number]}\t{won[number]}\t0\t{now}\t\\N\t\\N\t0\n"
                for number in np.unique(everyone).tolist()
            ))  # fmt: skip
            copy("RatedGame", (f"{GAME}\t{count}\t0\n",))
            connection.execute(update(COMPETITION_TABLE).values(LastGame=count, Games=count))
            if connection.dialect.name == "postgresql":
                for table, last in (("Player", self.players), ("Game", count)):
                    sequence = f"""pg_get_serial_sequence('"LEAGUE_{table}"', '{table}Id')"""
                    connection.exec_driver_sql(f"SELECT setval({sequence}, {last})")
        with league.transaction() as connection:
            connection.exec_driver_sql("ANALYZE")

    def _seats(self, elo: list[float]) -> Iterator[str]:
        """The seats of all games in their order; `elo` is each player's after them."""
        for number, (black, white, won) in enumerate(
            zip(self.black.tolist(), self.white.tolist(), self.black_won.tolist(), strict=True), start=1
        ):
            first, second = elo[black], elo[white]
            change = won - expected_score(first - second)
            elo[black] = first + change_factor(first, second) * change
            elo[white] = second - change_factor(second, first) * change
            yield (
                f"{number}\t1\t{black + 1}\t{int(won)}\t{first}\t{elo[black]}\n"
                f"{number}\t2\t{white + 1}\t{int(not won)}\t{second}\t{elo[white]}\n"
            )


def _copy(connection: Connection, table: str, rows: Iterable[str]) -> None:
    """Write rows to a table of the league, as PostgreSQL's COPY has them: with tabs between values."""
    rows = iter(rows)
    driver: Any = connection.connection.driver_connection
    if connection.dialect.name == "postgresql":
        with driver.cursor().copy(f'COPY "LEAGUE_{table}" FROM STDIN') as copy:
            while block := "".join(islice(rows, 10_000)):
                copy.write(block)
        return
    for row in rows:
        for line in row.splitlines():
            values = [None if value == "\\N" else value for value in line.split("\t")]
            driver.execute(f'INSERT INTO "LEAGUE_{table}" VALUES ({", ".join("?" * len(values))})', values)


def milestones(done: int, games: int) -> Iterator[int]:
    """The numbers of games at which is measured: powers of ten, and the last."""
    power = 10_000
    while power < games:
        if power > done:
            yield power
        power *= 10
    yield games


def measure(league: LeagueDatabase, society: Society, games: int, copied: int) -> None:
    """Fill the league, and print a line of figures at each milestone."""
    with league.sole_transaction() as connection:
        enter_competition(connection, COMPETITION)
    done = sum(game.games for game in LeagueReader(league).games())
    if copied and not done:
        filled = seconds(lambda: society.many_games(copied).copy_to(league))
        print(f"{filled.wall:.0f} s for {copied} games in bulk")
        done = copied
    print(
        "| games | a game, in batches | a single game: median, 99 % | list of 100 "
        f"| list of all {len(society):,} | likeliest ratings of all | after {SINGLE_GAMES} games more "
        "| strengths within the error |\n|---|---|---|---|---|---|---|---|"
    )
    for milestone in milestones(done, games):
        began, at_first = time.perf_counter(), done
        while done < milestone - SINGLE_GAMES:
            count = min(BATCH, milestone - SINGLE_GAMES - done)
            record(league, COMPETITION, society.games(done, count))
            done += count
        batched = 1000 * (time.perf_counter() - began) / max(1, done - at_first)
        single = []
        for _ in range(SINGLE_GAMES):
            began = time.perf_counter()
            record(league, COMPETITION, society.games(done, 1))
            single.append(1000 * (time.perf_counter() - began))
            done += 1
        whole = seconds(lambda: estimate(league, GAME))
        record(league, COMPETITION, society.games(done, SINGLE_GAMES))
        done += SINGLE_GAMES
        of_few = seconds(lambda: estimate(league, GAME, only_new=True))
        reader = LeagueReader(league)
        lists = [
            sorted(seconds(partial(reader.ratings, GAME, limit)) for _ in range(LISTS))[LISTS // 2]
            for limit in (100, None)
        ]
        most = statistics.quantiles(single, n=100)[98]
        cells = (
            *(f"{done:,}", f"{batched:.2f} ms", f"{statistics.median(single):.1f} ms, {most:.1f} ms"),
            *(f"{1e3 * took.wall:.3g} ms ({1e3 * took.processor:.2g})" for took in lists),
            *(f"{took.wall:.3g} s ({took.processor:.2g})" for took in (whole, of_few)),
            f"{100 * inside(league, society):.1f} %",
        )
        print(f"| {' | '.join(cells)} |", flush=True)


class Seconds(NamedTuple):
    """What something took on the wall, and of a processor in this process."""

    wall: float
    processor: float


def seconds(function: Callable[[], object]) -> Seconds:
    began, used = time.perf_counter(), time.process_time()
    function()
    return Seconds(time.perf_counter() - began, time.process_time() - used)


def inside(league: LeagueDatabase, society: Society) -> float:
    """The share of players whose strength lies within the error of its rating."""
    ratings = LeagueReader(league).ratings(GAME)
    wrong = np.array([(rating.likeliest or 0.0) - society.strength(rating.name) for rating in ratings])
    errors = np.array([rating.error or 0.0 for rating in ratings])
    return float(np.mean(np.abs(wrong - wrong.mean()) < errors))


def main() -> None:
    """Measure, as the arguments say."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--games", type=arguments.count, default=1_000_000)
    parser.add_argument("--players", type=arguments.at_least(2), default=10_000)
    parser.add_argument("--league", default="benchmark-league.db", help="a file or a URL")
    parser.add_argument("--copy", type=int, default=0, help="how many games are written in bulk at first")
    options = parser.parse_args()
    with closing(open_league(options.league, create=True)) as league:
        measure(league, Society(options.players), options.games, options.copy)


if __name__ == "__main__":
    main()
