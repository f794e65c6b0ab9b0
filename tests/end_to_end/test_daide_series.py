"""Seven bots play a series over DAIDE, by the commands that a user types; one of each kind is a process."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import create_engine, text

from arena.jobs import Fault, GameJob, PlayerSetup
from arena.match.game import GameProgress, play
from clients.bots.diplomacy import daide
from clients.bots.diplomacy.daide import DaideClient
from referees.api import Termination
from referees.diplomacy.daide.tokens import vocabulary
from referees.diplomacy.map import shipped_map
from tests.arena.cli.command import running_arena
from tests.referees.diplomacy.daide_server.rooms import PATIENCE, daide_player, open_door

REPOSITORY = Path(__file__).parents[2]
POWERS = ("AUS", "ENG", "FRA", "GER", "ITA", "RUS", "TUR")
FRANCE = 3
CONTROL = """
[competition]
kind = "mars"
seed = 6

[game]
name = "diplomacy"
move_limit = 500
year_limit = 1

[daide]
address = "127.0.0.1:0"

[[series]]
name = "seven"
selector = "least-played"
games = 2

[players.first]
protocol = "daide"
client = "seven"
start_seconds = 150

[players.second]
protocol = "daide"
client = "seven"
start_seconds = 150
"""


@contextmanager
def bots(port: int, names: list[tuple[str, str]], *more: str) -> Iterator[list[subprocess.Popen[bytes]]]:
    """A process for each kind of bot and the name that it says."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-m", "clients.bots.diplomacy.daide", "--port", str(port), *more]
    programs = [
        subprocess.Popen([*command, "--bot", kind, "--name", name], env=environment) for kind, name in names
    ]
    try:
        yield programs
    finally:
        for program in programs:
            program.kill()
            program.wait()


def test_seven_bots_play_a_series_to_its_end(tmp_path: Path) -> None:
    control = tmp_path / "series.toml"
    control.write_text(CONTROL)
    with running_arena(control) as (address, output, run), ThreadPoolExecutor(4) as threads:
        port = int(address.rpartition(":")[2])
        more = ("--games", "0", "--patience", "1")
        with bots(port, [(kind, "seven") for kind in ("random", "hold", "tactical")], *more) as programs:
            others = [
                threads.submit(daide.main, ["--port", str(port), *more, "--bot", kind, "--name", "seven"])
                for kind in ("random", "random", "random", "hold")
            ]
            assert run.wait(200) == 0, output.read_text()
            # When the server is gone they end, and they had understood everything.
            assert [program.wait(PATIENCE) for program in programs] == [0] * 3
            assert [other.result(PATIENCE) for other in others] == [None] * 4
    with create_engine(f"sqlite:///{tmp_path / 'series.results.sqlite'}").connect() as database:
        games = database.execute(text('SELECT "Years", "Termination" FROM "SAGA_Game"')).all()
        players = database.execute(text('SELECT "Problem", "Disorder" FROM "SAGA_Player"')).all()
    assert len(games) == 2 and {game.Years for game in games} == {1}
    assert [tuple(player) for player in players] == [(0, None)] * 14
    for record in (tmp_path / "series.games").iterdir():
        played = json.loads(record.read_text())
        assert set(played["players"].values()) <= {"first", "second"}
        assert set(played["phases"][0]["moves"]) == set(POWERS)
        orders = [order for phase in played["phases"] for moves in phase["moves"].values() for order in moves]
        assert orders


def test_a_bot_that_is_killed_is_in_civil_disorder_and_the_game_is_finished() -> None:
    words = vocabulary(shipped_map("standard"))
    heard: list[str] = []

    def watch(address: tuple[str, int]) -> None:
        with DaideClient(*address) as client:
            client.send(words.tokens("OBS"))
            while not heard or heard[-1] != "OFF":
                heard.append(words.text(client.receive(200)))

    with open_door(*POWERS, board="standard") as door:
        watcher = threading.Thread(target=watch, args=(door.address,), daemon=True)
        watcher.start()
        with bots(door.address[1], [("random", "FRA")], "--seed", "6") as (program,):
            made = 0

            def kill_after_two_turns(progress: GameProgress) -> None:
                nonlocal made
                made += len(progress.moves)
                if made >= 14 and program.poll() is None:
                    program.kill()
                    program.wait()

            players = tuple(
                daide_player(door, code, start_seconds=150.0, reconnect_seconds=0.5, exit_seconds=PATIENCE)
                if code == "FRA"
                else PlayerSetup(code, ("arena.players.random_moves:random_moves",), protocol="python")
                for code in POWERS
            )
            job = GameJob("0", "diplomacy", {"year_limit": 3}, players, seed=1, move_limit=2000)
            result = play(job, on_progress=kill_after_two_turns)
            left = program.wait(PATIENCE)
        watcher.join(PATIENCE)
    assert left == -9
    assert result.outcome is not None, result.void_reason
    assert (result.outcome.termination, result.outcome.rounds) == (Termination.FROZEN, 3)
    assert [usage.fault for usage in result.usage] == [
        Fault.DISCONNECTED if seat == FRANCE else Fault.NONE for seat in range(1, 8)
    ]
    of_france = [move for move in result.moves if move.seat == FRANCE]
    own = sum(not move.stand_in for move in of_france)
    assert 0 < own < len(of_france) and all(move.stand_in for move in of_france[own:])
    assert not any(move.stand_in for move in result.moves if move.seat != FRANCE)
    assert heard.count("CCD (FRA)") == 1
    assert heard[-1] == "OFF"
    assert "(AUS ('AUS') ()" in next(line for line in heard if line.startswith("SMR"))
