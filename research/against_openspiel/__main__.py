"""The command `python -m research.against_openspiel`."""

import argparse
import random
import sys
from collections import Counter
from time import perf_counter

from benchmarks import arguments
from referees.hex import Hex
from research.against_openspiel import DisagreementError, draughts, go, hex

HEX_SETTINGS = [
    {"board_size": 3, "swap": True},
    {"board_size": 5, "swap": True},
    {"board_size": 4, "columns": 7},
    {"board_size": 7},
    {"board_size": 11, "swap": True},
]
GO_SIZES = (2, 3, 5, 7, 9)

HEX = [Hex.from_settings(settings) for settings in HEX_SETTINGS]
GO = [go.judge(size) for size in GO_SIZES]

# Games are dealt out to boards by their seeds.
GAMES = {
    "draughts": lambda seed: draughts.play(random.Random(seed)),
    "go": lambda seed: go.play(GO[seed % len(GO)], random.Random(seed)),
    "hex": lambda seed: hex.play(HEX[seed % len(HEX)], random.Random(seed)),
}


def main() -> int:
    """Play; return 1 where rules disagree."""
    parser = argparse.ArgumentParser(
        prog="python -m research.against_openspiel",
        description="Random games by our rules and by OpenSpiel's: the same moves, boards and outcomes.",
    )
    parser.add_argument("names", nargs="*", metavar="GAME", help=f"of {', '.join(GAMES)} (default: all)")
    parser.add_argument("--games", type=arguments.count, default=10_000, help="of each (default 10000)")
    parser.add_argument("--seed", type=int, default=0, help="the first game's (default 0)")
    options = parser.parse_args()
    for name in options.names:
        if name not in GAMES:
            parser.error(f"{name!r} is not one of {', '.join(GAMES)}")
    for name in options.names or GAMES:
        results: Counter[str] = Counter()
        began = perf_counter()
        for seed in range(options.seed, options.seed + options.games):
            try:
                results[GAMES[name](seed)] += 1
            except DisagreementError as error:
                print(f"{name}, seed {seed}: {error}", file=sys.stderr)
                return 1
            except Exception:
                print(f"{name}, seed {seed}:", file=sys.stderr)
                raise
        counts = ", ".join(f"{result} {count}" for result, count in sorted(results.items()))
        print(f"{name}: {options.games} games agree ({counts}); {perf_counter() - began:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
