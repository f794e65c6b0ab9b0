"""A standing arena's day in short: bots come, go, crash and cheat, and the arena is killed with -9.

    python -m benchmarks.standing_day [BOTS] [SECONDS] [KILLS]

The bots are members of a pool of Go on 5x5. One in ten crashes in a game at times, one in ten plays illegal
moves at times; all of them leave now and then and come back. At even times the service and its run are
killed. At the end no game may be lost or double: what the results had before a kill is there, and the league
has each game once.
"""

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import grpc

from arena.league.database import open_league
from arena.league.members import Application, Members
from arena.league.pools import PAUSED, Pools
from arena.v1 import players_pb2, players_pb2_grpc, pools_pb2
from clients import Connection

PLAYED = "SELECT ContestId FROM ARENA_Game"


class Bot:
    """A member that plays at random, in one stream after the other."""

    def __init__(self, address: str, name: str, token: str, number: int) -> None:
        self.name = name
        self._where = Connection(address, token=token)
        self._crashes, self._cheats = number % 10 == 1, number % 10 == 2
        self._chance = random.Random(number)

    async def live(self) -> None:
        """Come and go until this is cancelled."""
        while True:
            with suppress(grpc.RpcError, asyncio.InvalidStateError):
                await self._visit(self._chance.uniform(10, 60))
            await asyncio.sleep(self._chance.uniform(0.5, 5))

    async def _visit(self, seconds: float) -> None:
        leaves, playing = time.monotonic() + seconds, 0
        async with self._where.asyncio_channel() as channel:
            stream = players_pb2_grpc.PlayerServiceStub(channel).Play(metadata=self._where.metadata)
            hello = players_pb2.Hello(player=self.name, want_legal_moves=True)
            await stream.write(players_pb2.PlayRequest(hello=hello))
            while playing or time.monotonic() < leaves:
                message = await stream.read()
                if not isinstance(message, players_pb2.PlayResponse):
                    # The stream has ended.
                    return
                match message.WhichOneof("message"):
                    case "game_start":
                        playing += 1
                        ready = players_pb2.Ready(seat_id=message.game_start.seat_id)
                        await stream.write(players_pb2.PlayRequest(ready=ready))
                    case "move_request":
                        if self._crashes and self._chance.random() < 0.005:
                            return
                        await stream.write(players_pb2.PlayRequest(move=self._move(message.move_request)))
                    case "game_end":
                        playing -= 1

    def _move(self, wanted: players_pb2.MoveRequest) -> players_pb2.Move:
        cheats = self._cheats and self._chance.random() < 0.01
        text = "Z99" if cheats else self._chance.choice(list(wanted.legal_moves))
        return players_pb2.Move(seat_id=wanted.seat_id, request=wanted.request, text=text)


def serve(folder: Path, address: str) -> subprocess.Popen[bytes]:
    """The service, which answers now."""
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


async def day(folder: Path, bots: int, seconds: float, kills: int) -> None:
    """Play, kill, and check."""
    address, tokens = f"unix:{folder}/arena", {}
    (folder / "arena.tokens").touch()
    with closing(open_league(str(folder / "league.db"), create=True)) as league:
        for number in range(bots):
            name = "bot" + "".join("bcdefghjkm"[int(digit)] for digit in str(number))
            tokens[name] = Members(league).register(Application(name), "", "k" * 32, open_to_all=True)[1]
        settings = pools_pb2.PoolSettings(
            game="go",
            settings_json='{"board_size": 5, "ko": "positional_superko"}',
            move_limit=60,
            games_at_once=2,
        )
        settings.move_time.FromSeconds(10)
        Pools(league).add("day", settings.SerializeToString(deterministic=True))
        service = serve(folder, address)
        lives = [
            asyncio.create_task(Bot(address, name, token, number).live())
            for number, (name, token) in enumerate(tokens.items())
        ]
        results, known = folder / "day.results.sqlite", set[tuple[str, ...]]()
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
    played = rows(results, PLAYED)
    in_league = rows(folder / "league.db", "SELECT ContestId FROM LEAGUE_Game")
    ended = Counter(kind for (kind,) in rows(results, "SELECT Termination FROM ARENA_Game"))
    seats = Counter(name for (name,) in rows(results, "SELECT Name FROM ARENA_Rating"))
    void = rows(results, "SELECT Reason FROM ARENA_Void")
    print(f"{bots} bots, {seconds:g} s, killed {kills} times: {len(played)} games")
    print(f"void or interrupted: {len(void)}; ended by: {dict(ended)}")
    print(f"{len(seats)} bots played, {min(seats.values())} to {max(seats.values())} games each")
    print(f"lost by a kill: {len(known - set(played))}; double: {len(played) - len(set(played))}")
    print(f"in the league: {len(in_league)}, double {len(in_league) - len(set(in_league))}")
    if known - set(played) or sorted(played) != sorted(in_league):
        raise SystemExit("games are lost or double")


def main() -> None:
    """Live a day in a folder of its own."""
    words = sys.argv[1:]
    bots, seconds, kills = (
        int(words[0]) if words else 200,
        float(words[1]) if len(words) > 1 else 600.0,
        int(words[2]) if len(words) > 2 else 9,
    )
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(day(Path(folder), bots, seconds, kills))


if __name__ == "__main__":
    main()
