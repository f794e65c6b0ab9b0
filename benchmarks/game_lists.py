"""How long an arena's service takes for lists and tables of a competition with many games.

    python -m benchmarks.game_lists [--games 100000] [--folder FOLDER]

Eight players play two rounds of real games. The rows of these games are then copied in the database, under
names of their own, up to the number wanted. A service is asked over gRPC, as pages and commands ask
it. Given are the median and the longest time of a call, and the service's processor time of one.
"""

import argparse
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import grpc

from arena.results.database import ResultsDatabase, sqlite_url
from arena.results.totals import count_totals
from arena.v1 import competitions_pb2, competitions_pb2_grpc
from benchmarks import arguments

CALLS: Final = 20
_GAMES: Final = 100_000
_PLAYERS: Final = "abcdefgh"
_CONTROL: Final = """\
[competition]
kind = "all-play-all"
competitors = [{names}]
check_players = false
record_games = false
[game]
name = "hex"
board_size = 3
"""
_PLAYER: Final = """\
[players.{name}]
command = "arena.players.random_moves:random_moves"
protocol = "python"
"""
_FIRST_ATTEMPTS: Final = " WHERE instr(Name, '.') = 0"
# The columns of each table that differ between a game and its copy, as SQL.
_COPIED: Final = {
    "SAGA_Game": {"GameId": "GameId + :shift"},
    "SAGA_Player": {"GameId": "GameId + :shift"},
    "ARENA_Attempt": {"Name": "Name || '.' || :shift", "ContestId": "ContestId || '.' || :shift"},
    "ARENA_Game": {
        "GameId": "GameId + :shift",
        "Name": "Matchup || '_' || (CAST(substr(Name, instr(Name, '_') + 1) AS INTEGER) + :rounds)",
        "ContestId": "ContestId || '.' || :shift",
    },
    "ARENA_Seat": {"GameId": "GameId + :shift"},
    "ARENA_Rating": {"GameId": "GameId + :shift"},
}


def play(folder: Path) -> Path:
    """Play two rounds of real games."""
    control = folder / "many.toml"
    names = ", ".join(f'"{name}"' for name in _PLAYERS)
    players = "".join(_PLAYER.format(name=name) for name in _PLAYERS)
    control.write_text(_CONTROL.format(names=names) + players)
    command = [sys.executable, "-m", "arena.cli", "run", str(control), "--quiet", "--max-games", "56"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return control


def copy_games(results: Path, games: int) -> None:
    """Copy the rows of the games that were played up to the number wanted."""
    with closing(sqlite3.connect(results)) as database, database:
        played, highest = database.execute('SELECT COUNT(*), MAX("GameId") FROM "ARENA_Game"').fetchone()
        for copy in range(1, games // played):
            for table, changes in _COPIED.items():
                columns = [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')]
                values = ", ".join(changes.get(column, f'"{column}"') for column in columns)
                first = f' WHERE "GameId" <= {highest}' if "GameId" in columns else _FIRST_ATTEMPTS
                copied = f'INSERT INTO "{table}" SELECT {values} FROM "{table}"{first}'
                database.execute(copied, {"shift": copy * highest, "rounds": copy * played // 28})
    with closing(ResultsDatabase.open(sqlite_url(results))) as opened, opened.transaction() as connection:
        count_totals(connection)


@contextmanager
def served(folder: Path) -> Iterator[tuple[competitions_pb2_grpc.CompetitionServiceStub, Any, int]]:
    """Serve the competition; give the service, what a call needs, and the number of its process."""
    tokens, arena = folder / "tokens", [sys.executable, "-m", "arena.cli"]
    tokens.unlink(missing_ok=True)
    token = subprocess.run(
        [*arena, "token", "eye", "--role", "watcher", "--tokens", str(tokens)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    service = subprocess.Popen(
        [*arena, "serve", str(folder), "--tokens", str(tokens), "--address", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert service.stdout is not None
        address = service.stdout.readline().split()[-1]
        with grpc.insecure_channel(address) as channel:
            metadata = [("authorization", f"Bearer {token}")]
            yield competitions_pb2_grpc.CompetitionServiceStub(channel), metadata, service.pid
    finally:
        service.terminate()
        service.communicate(timeout=30)


def measure(folder: Path) -> None:
    """Print the median and the longest time of each question."""
    name = "many"

    def games(token: str = "", **which: Any) -> competitions_pb2.ListGamesRequest:
        chosen = competitions_pb2.GameFilter(**which) if which else None
        return competitions_pb2.ListGamesRequest(
            name=name, page_size=50, newest_first=True, page_token=token, filter=chosen
        )

    won = competitions_pb2.PLAYER_OUTCOME_WON
    with served(folder) as (stub, metadata, process):
        table = competitions_pb2.GetStandingsRequest(name=name)
        middle = str(stub.GetStandings(table, metadata=metadata, timeout=120).games // 2)
        questions: dict[str, tuple[Callable[..., Any], Any]] = {
            "the newest games": (stub.ListGames, games()),
            "games in the middle": (stub.ListGames, games(middle)),
            "a player's games": (stub.ListGames, games(player="a")),
            "a player's wins against another": (
                stub.ListGames,
                games(player="a", opponent="b", outcome=won),
            ),
            "games with a fault": (stub.ListGames, games(faults=True)),
            "long games": (stub.ListGames, games(min_moves=9)),
            "games that ended by score": (stub.ListGames, games(termination="score")),
            "games with an opening": (stub.ListGames, games(opening="none")),
            "standings": (stub.GetStandings, table),
            "all ratings over time": (stub.GetHistory, competitions_pb2.GetHistoryRequest(name=name)),
            "a rating over time": (
                stub.GetHistory,
                competitions_pb2.GetHistoryRequest(name=name, player="a"),
            ),
            "the competitions": (stub.ListCompetitions, competitions_pb2.ListCompetitionsRequest()),
            "a game": (stub.GetGame, competitions_pb2.GetGameRequest(name=name, game_id="AvB_0")),
        }
        for what, (ask, request) in questions.items():
            seconds, before = [], _processor_seconds(process)
            for _ in range(CALLS):
                began = time.perf_counter()
                ask(request, metadata=metadata, timeout=120)
                seconds.append(time.perf_counter() - began)
            longest = 1e3 * max(seconds)
            used = 1e3 * (_processor_seconds(process) - before) / CALLS
            middle_one = 1e3 * statistics.median(seconds)
            print(f"{what:32} {middle_one:8.1f} ms {longest:8.1f} ms {used:8.1f} ms", flush=True)


def _processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Make the competition where there is none, and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=arguments.count, help="of a new competition (100,000)")
    parser.add_argument("--folder", type=Path, help="where the competition is kept for the next time")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        if not (folder / "many.toml").exists():
            copy_games(play(folder).with_suffix(".results.sqlite"), options.games or _GAMES)
        elif options.games is not None:
            parser.error(f"{folder} has a competition with games: leave out --games, or take another folder")
        measure(folder)


if __name__ == "__main__":
    main()
