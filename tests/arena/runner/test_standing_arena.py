"""A standing arena with players that dial in: a bot, GNU Go over the connector, and one that stays away."""

import json
import os
import random
import subprocess
import sys
import threading
from pathlib import Path

from clients.connection import Connection
from clients.remote_game import Engine, Game, GameTurn
from clients.remote_play import dial_in
from tests.arena.cli.command import ARENA, arena
from tests.arena.engines import GNUGO, needs_gnugo
from tests.waiting import until

CONTROL = """
[competition]
kind = "standing"
parallel = 2
[game]
name = "go"
board_size = 5
komi = 0.5
ko = "positional_superko"
self_capture = false
move_limit = 60
[remote]
address = "unix:lobby"
[players.anchor]
protocol = "python"
command = "arena.players.random_moves:random_moves"
fixed_elo = 0
[players.rambler]
protocol = "grpc"
version = "2"
[players.gnugo]
protocol = "grpc"
[players.away]
protocol = "grpc"
[league]
url = "sqlite:///league.db"
"""


def rambler(game: Game) -> object:
    chance = random.Random(game.seed)

    def choose(turn: GameTurn) -> str:
        return chance.choice(turn.legal_moves)

    return choose


@needs_gnugo
def test_players_that_are_there_meet_and_the_one_away_holds_up_nobody(tmp_path: Path) -> None:
    control = tmp_path / "pool.toml"
    address = f"unix:{tmp_path / 'lobby'}"
    control.write_text(CONTROL.replace("unix:lobby", address))
    running = subprocess.Popen([*ARENA, "run", str(control), "-q"], stdout=subprocess.DEVNULL)
    connector = None
    try:
        tokens = tmp_path / "pool.tokens"
        until(lambda: all((tokens / name).exists() for name in ("rambler", "gnugo")), running)
        connector = subprocess.Popen(
            [
                sys.executable, "-m", "clients.bots.gtp_connector", "--player", "gnugo", "--address", address,
                "--token-file", str(tokens / "gnugo"), "--", str(GNUGO), "--mode", "gtp", "--level", "1",
            ],
            stdout=subprocess.PIPE, text=True, env={**os.environ},
        )  # fmt: skip
        where = Connection.to_arena(address, token_file=tokens / "rambler")
        bot = threading.Thread(
            target=dial_in,
            args=(where, "rambler", rambler, Engine("Rambler", "2", legal_moves=True)),
            kwargs={"redial_seconds": 1.0},
        )
        bot.start()
        until(lambda: sum("gnugo" in line for line in history(control)) >= 3, running)
        assert arena("stop", control).returncode == 0
        assert running.wait() == 0
        bot.join()
    finally:
        running.kill()
        if connector is not None:
            connector.terminate()
    games = json.loads(arena("league", "show", tmp_path / "league.db", "--json").stdout)["games"]
    assert [game["games"] for game in games] == [len(history(control))]
    assert "pool (" in arena("show", control).stdout
    report = json.loads(arena("show", control, "--json").stdout)
    played = {player["name"]: player["games"] for player in report["players"]}
    assert played["away"] == 0 and min(played["anchor"], played["rambler"], played["gnugo"]) >= 2
    assert connector.stdout
    output = connector.stdout.read()
    # An engine that takes other rules than the arena's resigns.
    assert "gnugo" in output and "resigned" not in output


def history(control: Path) -> list[str]:
    """The games so far, a line each."""
    file = control.with_suffix(".hist")
    lines = file.read_text().splitlines() if file.exists() else []
    return [line for line in lines if line.lstrip().startswith("r")]
