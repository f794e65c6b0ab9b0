"""What a game costs on Ray, against local workers on the same cores: `python -m benchmarks.ray_cost`.

The same competition is played on a Ray cluster of this machine and by local workers, in turns: two engines
in C that think for some time a move, two games of some 100 moves at a time. Ray is an extra:
`academy-arena[ray]`.
"""

import tempfile
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks import arguments
from benchmarks.arena import compiled, control, rate, running

# Games that are played before the first look: nodes and workers have started then.
WARM_GAMES: Final = 4
# Milliseconds that an engine thinks about a move, and how many games are timed then.
SETTINGS: Final = ((0, 200), (2, 60), (10, 24))


def games_a_second(
    folder: Path, engine: Path, name: str, milliseconds: int, games: int, *options: str
) -> float:
    """How many games of a competition of its own end in a second."""
    with running(control(folder, engine, name=name, milliseconds=milliseconds), *options) as run:
        first = run.at(WARM_GAMES)
        return rate(first, run.at(WARM_GAMES + games))


def main() -> None:
    """Print games a second of both, and how many times as long a game takes on Ray."""
    parser = arguments.parser(__doc__)
    parser.add_argument(
        "--rounds", type=arguments.count, default=4, help="how often each is measured, in turns"
    )
    rounds = parser.parse_args().rounds
    print(
        "| thought for a move | a game lasts about | local workers, games/s | Ray, games/s "
        "| a game on Ray takes |\n|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        engine = compiled(folder)
        for milliseconds, games in SETTINGS:
            here, there = [], []
            for number in range(rounds):
                like = (milliseconds, games)
                here.append(games_a_second(folder, engine, f"here{milliseconds}-{number}", *like))
                there.append(
                    games_a_second(folder, engine, f"there{milliseconds}-{number}", *like, "--on", "ray")
                )
            ratios = [local / on_ray for local, on_ray in zip(here, there, strict=True)]
            print(
                f"| {milliseconds} ms | {2 / median(here):.2g} s | {median(here):.1f} | {median(there):.1f} "
                f"| {median(ratios):.2f} times ({min(ratios):.2f} to {max(ratios):.2f}) |",
                flush=True,
            )


if __name__ == "__main__":
    main()
