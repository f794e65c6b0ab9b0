"""Control files for the tests of whole competitions: quick games of Go on 5x5."""

from collections.abc import Mapping
from pathlib import Path

from tests.arena.contest_server import TOKEN, ContestServer
from tests.arena.engines import ENGINE, GNUGO

PASSING = 'protocol = "python"\ncommand = "tests.arena.engines:always_pass"'
SLOW = 'protocol = "python"\ncommand = "tests.arena.engines:sleepy"'
RANDOM = 'protocol = "python"\ncommand = "arena.players.random_moves:random_moves"'
MISSING = 'protocol = "python"\ncommand = "tests.arena.engines:missing"'
GNU_GO = f'command = "{GNUGO} --mode gtp --level 1"'


def misbehaving(fault: str) -> str:
    return f'command = "python3 -I -S {ENGINE} {fault}"'


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
