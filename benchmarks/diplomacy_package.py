"""The PyPI package `diplomacy` in an environment of its own, to measure it beside our rules.

The package is AGPL and no part of this project: it is installed into a temporary folder, and asked there.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

REQUIREMENT: Final = "diplomacy==1.1.2"
# Our loop of random legal play, on the package; a game that is not counted warms up its tables.
_SCRIPT: Final = """
import random, sys, time
from diplomacy import Game
games, years = map(int, sys.argv[1:])
chance = random.Random(1)
for counted in [0] + [1] * games:
    if counted == 0 or phases == 0:
        adjudicating, phases = 0.0, 0
        began = time.process_time()
    game = Game()
    while not game.is_game_done and int(game.get_current_phase()[1:5]) < 1901 + years * counted:
        possible = game.get_all_possible_orders()
        for power in game.powers:
            game.set_orders(power, [chance.choice(possible[place])
                for place in game.get_orderable_locations(power) if possible[place]])
        before = time.process_time()
        game.process()
        adjudicating += time.process_time() - before
        phases += 1
print(phases, time.process_time() - began, adjudicating)
"""


class NotInstalledError(RuntimeError):
    """The package can't be installed here."""


class Played(NamedTuple):
    """Phases, and the CPU-seconds of the whole loop and of adjudication alone."""

    phases: int
    whole: float
    adjudicating: float


@contextmanager
def installed() -> Iterator[Path]:
    """The interpreter of a new environment that has the package. Raises NotInstalledError."""
    with TemporaryDirectory(prefix="diplomacy-package-") as folder:
        python = Path(folder) / "bin" / "python"
        install = (str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        for command in (
            (sys.executable, "-m", "venv", folder),
            (*install, "--retries", "1", REQUIREMENT),
        ):
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                *_, last = done.stdout.strip().splitlines() or [f"{command[2]} ended with {done.returncode}"]
                raise NotInstalledError(last)
        yield python


def random_play(python: Path, games: int, years: int) -> Played:
    """Random legal play of all powers on the package."""
    done = subprocess.run(
        [python, "-c", _SCRIPT, str(games), str(years)], stdout=subprocess.PIPE, text=True, check=True
    )
    phases, whole, adjudicating = done.stdout.split()
    return Played(int(phases), float(whole), float(adjudicating))
