"""What a league costs: taking a game in, a rating list, and the likeliest ratings, as it grows.

    python -m benchmarks.league [--games 1000000] [--players 10000] [--league FILE or URL]

Players of known strengths meet those close to them. Games are recorded in batches, as an import does; at each
power of ten, and at the end, single games are recorded, as a run does. A league that was begun goes on.
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime

import numpy as np

from arena.league.database import LeagueDatabase, open_league
from arena.league.estimates import estimate
from arena.league.lists import LeagueReader
from arena.league.recording import BATCH, enter_competition, record
from arena.league.source import SourceCompetition, SourceGame, SourceSeat
from referees.api import Outcome, Termination

GAME = "go-9x9"
COMPETITION = SourceCompetition(1, "benchmark", "benchmark", "all-play-all")
SINGLE_GAMES = 100


class Society:
    """Players of normally distributed strengths, each of whom meets those near it."""

    def __init__(self, players: int) -> None:
        self._strengths = sorted(random.Random(1).gauss(1000, 300) for _ in range(players))

    def strength(self, name: str) -> float:
        return self._strengths[int(name[1:])]

    def games(self, first: int, count: int) -> list[SourceGame]:
        return [self._game(number) for number in range(first, first + count)]

    def _game(self, number: int) -> SourceGame:
        chance, players = random.Random(number), len(self._strengths)
        black = chance.randrange(players)
        white = min(
            players - 1, max(0, black + chance.choice((-1, 1)) * chance.randint(1, players // 20 + 1))
        )
        if white == black:
            white = (black + 1) % players
        apart = self._strengths[white] - self._strengths[black]
        winner = 1 if chance.random() < 1 / (1 + 10 ** (apart / 400)) else 2
        return SourceGame(
            number + 1, f"benchmark/{number}/1", f"g{number}", GAME, datetime.now(UTC).replace(tzinfo=None),
            Outcome((winner,), Termination.SCORE, "B+1"),
            (SourceSeat(f"p{black}", "", 1000.0), SourceSeat(f"p{white}", "", 1000.0)),
        )  # fmt: skip


def milestones(done: int, games: int) -> Iterator[int]:
    """The numbers of games at which is measured: powers of ten, and the last."""
    power = 10_000
    while power < games:
        if power > done:
            yield power
        power *= 10
    yield games


def measure(league: LeagueDatabase, society: Society, games: int) -> None:
    """Fill the league, and print a line of figures at each milestone."""
    with league.sole_transaction() as connection:
        enter_competition(connection, COMPETITION)
    done = sum(game.games for game in LeagueReader(league).games())
    print(
        "games, ms a game in batches, ms a single game: median, 99 %, ms a list of 100, of all, "
        "s a fit after many games, after 100 games, share of players within their errors"
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
        first = seconds(lambda: estimate(league, GAME))
        record(league, COMPETITION, society.games(done, SINGLE_GAMES))
        done += SINGLE_GAMES
        later = seconds(lambda: estimate(league, GAME))
        listing = 1000 * seconds(lambda: LeagueReader(league).ratings(GAME, 100))
        whole = 1000 * seconds(lambda: LeagueReader(league).ratings(GAME))
        print(
            f"{done}, {batched:.2f}, {statistics.median(single):.1f}, "
            f"{statistics.quantiles(single, n=100)[98]:.1f}, {listing:.0f}, {whole:.0f}, "
            f"{first:.1f}, {later:.1f}, {inside(league, society):.3f}",
            flush=True,
        )


def seconds(function: Callable[[], object]) -> float:
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def inside(league: LeagueDatabase, society: Society) -> float:
    """The share of players whose strength lies within the error of its rating."""
    ratings = LeagueReader(league).ratings(GAME)
    wrong = np.array([(rating.likeliest or 0.0) - society.strength(rating.name) for rating in ratings])
    errors = np.array([rating.error or 0.0 for rating in ratings])
    return float(np.mean(np.abs(wrong - wrong.mean()) < errors))


def main() -> None:
    """Measure, as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=1_000_000)
    parser.add_argument("--players", type=int, default=10_000)
    parser.add_argument("--league", default="benchmark-league.db", help="a file or a URL")
    arguments = parser.parse_args()
    with closing(open_league(arguments.league, create=True)) as league:
        measure(league, Society(arguments.players), arguments.games)


if __name__ == "__main__":
    main()
