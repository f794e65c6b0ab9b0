"""Whether a population of weights gets better over generations: `python -m research.evolution`.

A family of `academy-bot` plays draughts by alpha-beta with weights of its own against a panel that stays as
it is, once without ACADEMY and once with it. What is printed of a generation is the score of all its members'
games: members that stay play new games, so the score is not better for having been selected by.
"""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Final

from benchmarks import arguments

CONTROL: Final = """
[competition]
kind = "generations"
generations = {generations}
rounds = {rounds}
meet = "panel"
parallel = {parallel}
seed = {seed}
record_games = false

[game]
name = "draughts"
variant = "english"
move_limit = 120

[players.one-ply]
command = "{bot} --depth 1 --seed {{seed}}"
restart = false

[players.two-plies]
command = "{bot} --depth 2 --seed {{seed}}"
restart = false

[families.weights]
size = {size}
keep = {keep}
mutation = 0.15

[families.weights.player]
command = "{bot} --depth 1 --seed {{seed}} --weights 0,0,{{freedom}},{{soldier}},{{king}}{academy}"
restart = false

[families.weights.parameters]
freedom = {{ low = -1.0, high = 1.0 }}
soldier = {{ low = -2.0, high = 2.0 }}
king = {{ low = -3.0, high = 3.0 }}
"""
EMBEDDED: Final = """
[academy]
address = "embedded"
"""
# A game of unknown result is half a point, as the competition counts it.
_GAME: Final = re.compile(r"\s*g(\d+)_\d+ (\S+) (beat|drew with|vs) (\S+)")
_MEMBER: Final = "weights-g"


def scores(history: str) -> dict[int, list[float]]:
    """The members' points, game by game, of each generation."""
    points: defaultdict[int, list[float]] = defaultdict(list)
    for line in history.splitlines():
        game = _GAME.match(line)
        if game is not None:
            first, how = game[2].startswith(_MEMBER), game[3]
            points[int(game[1])].append(float(first) if how == "beat" else 0.5)
    return dict(points)


def main() -> None:
    """Run both competitions, or go on with them, and print the generations."""
    parser = arguments.parser(__doc__)
    parser.add_argument("folder", type=Path, help="where the competitions are")
    parser.add_argument("--generations", type=arguments.count, default=20)
    parser.add_argument("--rounds", type=arguments.count, default=4)
    parser.add_argument("--size", type=arguments.count, default=6)
    parser.add_argument("--keep", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parallel", type=arguments.count, default=1)
    parser.add_argument("--only", choices=("alone", "academy"), help="one of the two")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    given = {
        name: getattr(options, name) for name in ("generations", "rounds", "size", "keep", "seed", "parallel")
    }
    bot = f"{sys.executable} -m clients.bots.any_game draughts --set variant=english --search alpha-beta"
    for name in ("alone", "academy"):
        if options.only in (None, name):
            control = options.folder / f"{name}.toml"
            asks = name == "academy"
            text = CONTROL.format(bot=bot, academy=" --academy" if asks else "", **given)
            control.write_text(text + (EMBEDDED if asks else ""))
            subprocess.run([sys.executable, "-m", "arena.cli", "run", str(control), "--quiet"], check=True)
            print_generations(name, scores(control.with_suffix(".hist").read_text()))


def print_generations(name: str, by_generation: dict[int, list[float]]) -> None:
    """A line a generation: the mean score, two standard errors, the games."""
    sys.stdout.write(f"{name}: generation, score, games\n")
    for generation, points in sorted(by_generation.items()):
        mean = sum(points) / len(points)
        error = 2.0 * (sum((point - mean) ** 2 for point in points) ** 0.5) / len(points)
        sys.stdout.write(f"{generation:4d}  {mean:.3f} ± {error:.3f}  {len(points)}\n")


if __name__ == "__main__":
    main()
