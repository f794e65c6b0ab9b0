"""A standing arena's day in short: bots come, go, crash and cheat, and the arena is killed with -9.

    python -m benchmarks.standing_day

The bots are members of a pool of Go on 5x5, with strengths that are drawn beforehand. Who wins a game follows
from its id and the two strengths: the loser resigns, or loses otherwise. One bot in ten loses by leaving the
game at times, and one in ten by illegal moves. All of them leave now and then and come back. The day
begins with the first game that has ended; at even times the service and its run are killed.

At the end no game may be lost or double: what the results had before a kill is there, and the league has each
game once. A bot waits in a round that begins while it is there, has missed no game lately, and has no game.
The distances of the likeliest ratings from the strengths are compared with the ratings' errors.
"""

import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from datetime import datetime, timedelta
from pathlib import Path

import grpc
import numpy as np

from arena.league.database import LeagueDatabase, open_league
from arena.league.estimates import estimate_all
from arena.league.lists import LeagueReader, ListedRating
from arena.league.members import Application, Members
from arena.league.pools import PAUSED, Pools
from arena.league.recording import take_in
from arena.league.source import find_source_competition
from arena.ratings.bradley_terry import PRIOR
from arena.ratings.elo import expected_score
from arena.ratings.pentanomial import NORMAL_95
from arena.results.database import ResultsDatabase, sqlite_url, utc_now
from arena.v1 import players_pb2, players_pb2_grpc, pools_pb2
from benchmarks import arguments
from clients import Connection

PLAYED = "SELECT ContestId FROM ARENA_Game"
ATTEMPTS = "SELECT Name, Players, Started FROM ARENA_Attempt"
VOIDS = "SELECT Name, Reason FROM ARENA_Void WHERE Cause = 'void'"
# How many seconds a bot stays, and how long it is away; one time in ten for long.
STAYS = (10.0, 60.0)
AWAY = (0.5, 5.0)
LONG_AWAY = (40.0, 90.0)
# How many seconds the first game may take; the service and its run start before it.
FIRST_GAME = 120.0
# How long a bot must have been there to be seen when a round is paired.
SETTLES = timedelta(seconds=2)


class Bot:
    """A member of a strength, in one stream after the other."""

    def __init__(
        self, address: str, name: str, token: str, number: int, strengths: Mapping[str, float]
    ) -> None:
        self.name = name
        # When it was there: since the arena welcomed it, until it left or the stream broke.
        self.visits: list[tuple[datetime, datetime]] = []
        self._where = Connection(address, token=token)
        self._crashes, self._cheats = number % 10 == 1, number % 10 == 2
        self._chance = random.Random(number)
        self._strengths = strengths
        # The seats of the games that it is to lose.
        self._losing: set[int] = set()

    async def live(self) -> None:
        """Come and go until this is cancelled."""
        while True:
            came: list[datetime] = []
            with suppress(grpc.RpcError, asyncio.InvalidStateError):
                try:
                    await self._visit(self._chance.uniform(*STAYS), came)
                finally:
                    self.visits += [(time, utc_now()) for time in came]
            await asyncio.sleep(self._chance.uniform(*(LONG_AWAY if self._chance.random() < 0.1 else AWAY)))

    async def _visit(self, seconds: float, came: list[datetime]) -> None:
        leaves, playing = time.monotonic() + seconds, 0
        self._losing.clear()
        async with self._where.asyncio_channel() as channel:
            stream = players_pb2_grpc.PlayerServiceStub(channel).Play(metadata=self._where.metadata)
            hello = players_pb2.Hello(player=self.name, want_legal_moves=True)
            await stream.write(players_pb2.PlayRequest(hello=hello))
            while playing or time.monotonic() < leaves:
                try:
                    message = await asyncio.wait_for(
                        stream.read(), 60 if playing else leaves - time.monotonic()
                    )
                except TimeoutError:
                    return
                if not isinstance(message, players_pb2.PlayResponse):
                    # The stream has ended.
                    return
                match message.WhichOneof("message"):
                    case "welcome":
                        came.append(utc_now())
                    case "game_start":
                        playing += 1
                        start = message.game_start
                        if self._loses(start):
                            self._losing.add(start.seat_id)
                        ready = players_pb2.Ready(seat_id=start.seat_id)
                        await stream.write(players_pb2.PlayRequest(ready=ready))
                    case "move_request":
                        losing = message.move_request.seat_id in self._losing
                        if losing and self._crashes and self._chance.random() < 0.1:
                            return
                        answer = self._answer(message.move_request, losing)
                        await stream.write(players_pb2.PlayRequest(move=answer))
                    case "game_end":
                        playing -= 1
                        self._losing.discard(message.game_end.seat_id)

    def _loses(self, start: players_pb2.GameStart) -> bool:
        """Whether the game's chance is against this bot; the same for both of them."""
        first, second = (self._strengths[name] for name in start.players)
        first_wins = random.Random(start.game_id).random() < expected_score(first - second)
        return first_wins != (start.seat == 1)

    def _answer(self, wanted: players_pb2.MoveRequest, losing: bool) -> players_pb2.Move:
        answer = players_pb2.Move(seat_id=wanted.seat_id, request=wanted.request)
        if losing and wanted.request > 2:
            if self._cheats and self._chance.random() < 0.3:
                answer.text = "Z99"
            else:
                answer.resign = True
        else:
            answer.text = self._chance.choice([move for move in wanted.legal_moves if move != "pass"])
        return answer


def register(league: LeagueDatabase, count: int) -> dict[str, str]:
    """Register members; return their tokens by their names, which have no digits."""
    names = ["bot" + "".join("bcdefghjkm"[int(digit)] for digit in str(number)) for number in range(count)]
    members = Members(league)
    return {name: members.register(Application(name), "", "k" * 32, open_to_all=True)[1] for name in names}


def serve(folder: Path, address: str) -> subprocess.Popen[bytes]:
    """The service of a folder and of the league in it, which answers now."""
    (folder / "arena.tokens").touch()
    service = subprocess.Popen(
        [
            *(sys.executable, "-m", "arena.cli", "serve", str(folder), "--address", address),
            *("--tokens", str(folder / "arena.tokens"), "--league", str(folder / "league.db")),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert service.stdout is not None
    service.stdout.readline()
    return service


def rows(database: Path, query: str) -> list[tuple[str, ...]]:
    """What a query gives; nothing before the tables are made."""
    try:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30)) as connection:
            return connection.execute(query).fetchall()
    except sqlite3.OperationalError:
        return []


async def day(folder: Path, bots: int, seconds: float, kills: int, games_at_once: int) -> None:
    """Play, kill, and check."""
    address, chance = f"unix:{folder}/arena", random.Random(1)
    results, known = folder / "day.results.sqlite", set[tuple[str, ...]]()
    with closing(open_league(str(folder / "league.db"), create=True)) as league:
        tokens = register(league, bots)
        strengths = {name: chance.gauss(PRIOR, 300) for name in tokens}
        society = [
            Bot(address, name, token, number, strengths)
            for number, (name, token) in enumerate(tokens.items())
        ]
        settings = pools_pb2.PoolSettings(
            game="go",
            settings_json='{"board_size": 5, "ko": "positional_superko"}',
            move_limit=60,
            games_at_once=games_at_once,
        )
        settings.move_time.FromSeconds(10)
        Pools(league).add("day", settings.SerializeToString(deterministic=True))
        service = serve(folder, address)
        lives = [asyncio.create_task(bot.live()) for bot in society]
        latest = time.monotonic() + FIRST_GAME
        while not rows(results, PLAYED):
            if time.monotonic() > latest:
                service.terminate()
                await asyncio.to_thread(service.wait)
                raise SystemExit(f"no game has ended within {FIRST_GAME:g} s of the arena's start")
            await asyncio.sleep(0.1)
        for _ in range(kills):
            await asyncio.sleep(seconds / (kills + 1))
            known |= set(rows(results, PLAYED))
            run = (folder / "day.lock").read_text() if (folder / "day.lock").exists() else ""
            for process in (int(run or service.pid), service.pid):
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            service.wait()
            service = await asyncio.to_thread(serve, folder, address)
        await asyncio.sleep(seconds / (kills + 1))
        Pools(league).set_state("day", PAUSED)
        # Games in progress are played to their end.
        await asyncio.sleep(min(30.0, seconds / 2))
        service.send_signal(signal.SIGTERM)
        await asyncio.to_thread(service.wait)
        for life in lives:
            life.cancel()
        await asyncio.gather(*lives, return_exceptions=True)
        # A run that was killed leaves its last games to the next one, which a paused pool may not have.
        with closing(ResultsDatabase.open(sqlite_url(results), create=False)) as database:
            left = take_in(league, database, find_source_competition(database, "day"))
        estimate_all(league)
        ratings = LeagueReader(league).ratings("go-5x5")
    played = rows(results, PLAYED)
    in_league = rows(folder / "league.db", "SELECT ContestId FROM LEAGUE_Game")
    ended = Counter(kind for (kind,) in rows(results, "SELECT Termination FROM ARENA_Game"))
    void = Counter(cause for (cause,) in rows(results, "SELECT Cause FROM ARENA_Void"))
    print(f"{bots} bots, {seconds:g} s, killed {kills} times: {len(played)} games")
    print(f"not counted: {dict(void)}; ended by: {dict(ended)}")
    print(waits(rows(results, ATTEMPTS), rows(results, VOIDS), society))
    print(compared(ratings, strengths))
    print(f"lost by a kill: {len(known - set(played))}; double: {len(played) - len(set(played))}")
    double = len(in_league) - len(set(in_league))
    print(f"in the league: {len(in_league)}, double {double}; taken after the end: {left}")
    if known - set(played) or sorted(played) != sorted(in_league):
        raise SystemExit("games are lost or double")


def waits(
    attempts: Sequence[tuple[str, ...]], voids: Sequence[tuple[str, ...]], society: Sequence[Bot]
) -> str:
    """How many rounds bots waited in succession.

    A bot waits in a round that begins while it is there, if no game of the round is begun with it, unless it
    serves a penalty: it has made a game void, and has had no game since.
    """
    begun: dict[int, datetime] = {}
    playing: dict[int, set[str]] = defaultdict(set)
    for name, players, started in attempts:
        number, time = int(name.partition("_")[0][1:]), datetime.fromisoformat(started)
        begun[number] = min(time, begun.get(number, time))
        playing[number] |= set(json.loads(players))
    at_fault: dict[str, set[int]] = defaultdict(set)
    for name, reason in voids:
        for bot in society:
            if f"{bot.name}:" in reason or f"{bot.name} " in reason:
                at_fault[bot.name].add(int(name.partition("_")[0][1:]))
    longest = Counter[int]()
    for bot in society:
        waited, penalty = 0, False
        for number in sorted(begun):
            if bot.name in playing[number]:
                longest[waited] += 1
                waited, penalty = 0, number in at_fault[bot.name]
            elif penalty:
                continue
            elif any(came + SETTLES < begun[number] < left for came, left in bot.visits):
                waited += 1
            # A bot that left waits no longer.
            else:
                longest[waited] += 1
                waited = 0
        longest[waited] += 1
    return f"{len(begun)} rounds; bots' waits, by rounds: {dict(sorted(longest.items()))}"


def compared(ratings: Sequence[ListedRating], strengths: Mapping[str, float]) -> str:
    """The ratings' distances from the strengths in their errors."""
    apart = np.array([(rating.likeliest or 0.0) - strengths[rating.name] for rating in ratings])
    errors = np.array([rating.error or 0.0 for rating in ratings])
    scores = (apart - apart.mean()) / (errors / NORMAL_95)
    games = [rating.games for rating in ratings]
    return (
        f"{len(ratings)} bots, {min(games)} to {max(games)} games each, errors of {np.median(errors):.0f} "
        f"Elo; z-scores: deviation {scores.std():.2f}, largest {np.abs(scores).max():.1f}, "
        f"{np.mean(np.abs(scores) < NORMAL_95):.1%} within the errors"
    )


def main() -> None:
    """Live a day in a folder of its own."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--bots", type=arguments.at_least(2), default=200)
    parser.add_argument("--seconds", type=arguments.positive, default=600.0)
    parser.add_argument("--kills", type=int, default=9)
    parser.add_argument("--games-at-once", type=arguments.count, default=8)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(day(Path(folder), chosen.bots, chosen.seconds, chosen.kills, chosen.games_at_once))


if __name__ == "__main__":
    main()
