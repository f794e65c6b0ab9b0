"""Pairing a round of 1,000 waiting bots by the league's ratings: how long it takes, and how well it pairs.

    python -m benchmarks.pairing

Each round reads the ratings from a league on SQLite, as a standing arena does. Prints the time on the wall
and of the processor, how far apart paired players are, how often pairs met again within three rounds, who
waited twice in succession, and by how much first and second seats differ.
"""

import math
import random
import statistics
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

from sqlalchemy import insert, select

from arena.control.plans import StandingPlan
from arena.jobs import PlayerSetup
from arena.league.database import open_league
from arena.league.players import Entrant, enter
from arena.league.tables import PLAYER, RATING
from arena.ratings.elo import expected_score
from arena.results.database import utc_now
from arena.runner.league import strengths_in
from arena.selection.selector import CompletedGame
from arena.selection.standing import ROUNDS_APART, Standing
from benchmarks import arguments
from referees.api import Outcome, Termination

GAME = "go-9x9"
# The deviation of the players' Elo, and how far two of them are apart on average.
DEVIATION = 300
RANDOM_APART = 2 * DEVIATION / math.sqrt(math.pi)


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--players", type=arguments.at_least(2), default=1_000)
    parser.add_argument("--rounds", type=arguments.count, default=100)
    chosen = parser.parse_args()
    pair(chosen.players, chosen.rounds)


def pair(players: int, rounds: int) -> None:
    chance = random.Random(1)
    names = [f"bot{number}" for number in range(players)]
    elo = {name: chance.gauss(1500, DEVIATION) for name in names}
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(open_league(str(Path(folder) / "league.db"), create=True)) as league,
    ):
        with league.sole_transaction() as connection:
            for name in names:
                enter(connection, Entrant(name, anchor=1500.0 if name == "bot0" else None))
            ids = connection.execute(select(PLAYER.c.PlayerId, PLAYER.c.Name)).all()
            connection.execute(
                insert(RATING),
                [
                    {
                        "Game": GAME, "PlayerId": key, "Elo": elo[name], "Games": 50, "Score": 25.0,
                        "Unknown": 0,
                        "LastPlayed": utc_now(), "Likeliest": elo[name] + chance.gauss(0, 40),
                        "Error": chance.uniform(40, 120), "EstimatedGames": 50,
                    }
                    for key, name in ids
                ],
            )  # fmt: skip
        setups = {name: PlayerSetup(name, (), "grpc") for name in names}
        pool = Standing(StandingPlan(tuple(names)))
        pool.ratings = lambda able: strengths_in(league, GAME, [setups[name] for name in able])
        walls, processor, apart, seats = [], [], [], Counter[str]()
        last: list[set[frozenset[str]]] = []
        again = waited_twice = 0
        waited: set[str] = set()
        for _ in range(rounds):
            begun, used = time.perf_counter(), time.process_time()
            fixture = pool.next_game()
            walls.append(time.perf_counter() - begun)
            processor.append(time.process_time() - used)
            pairs: set[frozenset[str]] = set()
            while fixture is not None:
                first, second = fixture.players
                pairs.add(frozenset((first, second)))
                seats[first] += 1
                seats[second] -= 1
                apart.append(abs(elo[first] - elo[second]))
                won = 1 if chance.random() < expected_score(elo[first] - elo[second]) else 2
                outcome = Outcome((won,), Termination.SCORE, "+")
                pool.completed(CompletedGame(fixture.game_id, fixture.players, outcome))
                pool.dropped(fixture)
                fixture = pool.next_game() if pool._waiting else None
            again += sum(pair in earlier for earlier in last[-ROUNDS_APART:] for pair in pairs)
            last.append(pairs)
            left = set(names).difference(*pairs)
            waited_twice += len(left & waited)
            waited = left
    for what, times in (("on the wall", walls), ("of the processor", processor)):
        ordered = sorted(times)
        print(
            f"{players} players, {rounds} rounds, {what}: median {1e3 * statistics.median(times):.1f} ms, "
            f"95 % within {1e3 * ordered[int(0.95 * len(ordered))]:.1f} ms"
        )
    print(f"paired players are {statistics.mean(apart):.0f} Elo apart (at random: {RANDOM_APART:.0f})")
    print(f"pairs that met again within {ROUNDS_APART} rounds: {again} of {sum(map(len, last))}")
    print(
        f"waited twice in succession: {waited_twice}; seats differ by at most {max(map(abs, seats.values()))}"
    )


if __name__ == "__main__":
    main()
