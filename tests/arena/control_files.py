"""Control files for the tests of whole competitions: quick games of Go on 5x5."""

import sys
from collections.abc import Mapping
from pathlib import Path

from tests.arena.contest_server import TOKEN, ContestServer
from tests.arena.engines import ENGINE, GNUGO

PASSING = 'protocol = "python"\ncommand = "tests.arena.engines:always_pass"'
SLOW = 'protocol = "python"\ncommand = "tests.arena.engines:sleepy"'
AWAITING_THE_TEST = (
    'protocol = "python"\ncommand = "tests.arena.engines:awaiting_the_test"\nmove_seconds = 60'
)
RANDOM = 'protocol = "python"\ncommand = "arena.players.random_moves:random_moves"'
MISSING = 'protocol = "python"\ncommand = "tests.arena.engines:missing"'
GNU_GO = f'command = "{GNUGO} --mode gtp --level 1"'
# Families that learn and are bred by a program.
FAMILIES = """
[competition]
kind = "generations"
generations = 3
rounds = 3
seed = 5
parallel = 2
[game]
name = "go"
board_size = 3
komi = 0.5
move_limit = 20
[players.panel]
protocol = "python"
command = "arena.players.random_moves:random_moves"
[families.evolving]
size = 3
keep = 1
[families.evolving.player]
protocol = "python"
command = "arena.players.random_moves:random_moves"
environment = { LEVEL = "{level}" }
[families.evolving.parameters.level]
low = 0
high = 9
[families.learning]
size = 2
keep = 1
child = "PYTHON child.py"
first = { LEVEL = 1 }
[families.learning.player]
protocol = "python"
command = "arena.players.random_moves:random_moves"
environment = { LEVEL = "{LEVEL}" }
"""
# The program that breeds them, `child.py`.
PROGRAM = """
import json, random, sys
asked = json.loads(sys.stdin.readline())
chance = random.Random()  # by no seed: what it answers is kept
best = asked["members"][0]
print(json.dumps({"values": {"LEVEL": round(best["values"]["LEVEL"] + chance.random(), 6)},
                  "parents": [best["name"]]}))
"""
TUNER = """[competition]
kind = "mc_tuner"
opponent = "steady"
games = 6
exploration = 0.4
initial_visits = 2
initial_wins = 1
check_players = false
[game]
name = "hex"
board_size = 3
[players.steady]
command = "arena.players.random_moves:random_moves"
protocol = "python"
[candidate]
command = "arena.players.random_moves:random_moves"
protocol = "python"
environment = { LEVEL = "{level}" }
[parameters.level]
low = 1
high = 4
split = 2
"""


def random_players(*names: str) -> str:
    """The tables of players who move at random."""
    return "".join(f"[players.{name}]\n{RANDOM}\n" for name in names)


def misbehaving(fault: str) -> str:
    return f'command = "{sys.executable} -I -S {ENGINE} {fault}"'


def write_control(
    folder: Path,
    players: Mapping[str, str],
    server: ContestServer | None = None,
    competition: str = "rounds = 2",
    more: str = "",
    seed: str = "seed = 2",
) -> Path:
    """Write a control file `contest.toml`; `players` are the settings of each.

    Without the `seed` games of random moves may run into the limit of moves, and have no result.
    """
    academy = "" if server is None else f'[academy]\naddress = "{server.address}"\ntoken = "{TOKEN}"\n'
    tables = "\n".join(f"[players.{name}]\n{settings}" for name, settings in players.items())
    path = folder / "contest.toml"
    own_seed = "" if "seed = " in competition else seed
    path.write_text(
        f'[competition]\nkind = "all-play-all"\n{competition}\n{own_seed}\n'
        '[game]\nname = "go"\nboard_size = 5\nkomi = 0.5\nmove_limit = 60\n'
        f"{tables}\n{academy}{more}\n"
    )
    return path
