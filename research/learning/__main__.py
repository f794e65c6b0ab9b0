"""Measures what ACADEMY's knowledge is worth: `python -m research.learning COMMAND`.

`run`, `bound` and `society` go on where they ended; give them minutes. `held-out` compares the evaluation's
log loss of results that it has not seen with the players' own, and says how well tesujis foretell moves.
`report` writes the tables and the plot into docs/archive/learning.md.
"""

import argparse
import math
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from research.learning import bound, report, society
from research.learning.contests import CONDITIONS
from research.learning.experiment import run
from research.learning.games import EQUAL, FINAL, SERIES, TRIALS
from research.learning.held_out import held_out_losses
from research.learning.ledger import Ledger, Piece

RESULTS: Final = Path(__file__).parent / "results.jsonl"


def main() -> None:
    """Run a piece of the experiment, or write what came of it."""
    parser = argparse.ArgumentParser(prog="python -m research.learning", description=__doc__)
    kept = argparse.ArgumentParser(add_help=False)
    kept.add_argument("--results", type=Path, default=RESULTS, help="the file of all results")
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run", parents=[kept], help="learn and measure")
    running.add_argument("games", nargs="*", default=[], metavar="GAME", help=f"of {', '.join(TRIALS)}")
    running.add_argument("--conditions", nargs="+", choices=tuple(CONDITIONS), default=CONDITIONS)
    running.add_argument(
        "--contests", nargs="+", type=_count, help="to learn from, instead of the game's own"
    )
    running.add_argument("--pairs", type=_count, default=100, help="most pairs of games of a row")
    running.add_argument("--minutes", type=_minutes, default=60.0, help="for each game")
    running.add_argument("--data", type=Path, default=Path("build/learning"), help="ACADEMY's folders")
    running.add_argument("--series", choices=SERIES, default=FINAL)
    running.add_argument("--equal", choices=EQUAL, default="time", help="what both players have a move")
    bounding = commands.add_parser("bound", parents=[kept], help="measure what fair use leaves room for")
    bounding.add_argument("games", nargs="*", default=[], metavar="GAME", help=f"of {', '.join(TRIALS)}")
    bounding.add_argument("--pairs", type=_count, default=100, help="of games at each place")
    bounding.add_argument("--minutes", type=_minutes, default=10.0, help="for each game")
    bounding.set_defaults(series=FINAL, equal="playouts")
    living = commands.add_parser("society", parents=[kept], help="let a society play that consults ACADEMY")
    living.add_argument("games", nargs="+", metavar="GAME", help=f"of {', '.join(TRIALS)}")
    living.add_argument(
        "--share", type=_share, default=0.25, help="of the contests learnt from in which it consults (0.25)"
    )
    living.add_argument("--contests", type=_count, default=5_000, help="to learn from (5,000)")
    living.add_argument("--minutes", type=_minutes, default=60.0, help="for each game")
    living.add_argument("--data", type=Path, default=Path("build/learning"), help="ACADEMY's folders")
    living.set_defaults(series=FINAL, equal="playouts", pairs=1)
    held_out = commands.add_parser("held-out", help="measure how well the evaluation foretells results")
    held_out.add_argument("games", nargs="*", default=[], metavar="GAME", help=f"of {', '.join(TRIALS)}")
    held_out.add_argument("--contests", type=_count, default=500, help="played where they are missing")
    held_out.add_argument("--data", type=Path, default=Path("build/learning"), help="ACADEMY's folders")
    commands.add_parser("report", parents=[kept], help="write the document's tables and plot")
    options = parser.parse_args()
    if options.command == "report":
        ledger = Ledger(options.results)
        if not ledger.lines:
            parser.error(f"{options.results}: holds no results; run something first")
        report.tabulate(ledger)
        report.draw(ledger)
        return
    unknown = set(options.games) - set(TRIALS)
    if unknown:
        parser.error(f"{sorted(unknown)[0]!r}: the games are {', '.join(TRIALS)}")
    if options.command == "held-out":
        for name in options.games or TRIALS:
            print("\n".join(held_out_losses(name, options.contests, options.data)), flush=True)
        return
    if options.command in ("run", "society"):
        # Until it is compiled ACADEMY matches in a slower way, which would be measured.
        subprocess.run([sys.executable, "-m", "academy.matching.warming"], check=True)
    for name in options.games or TRIALS:
        piece = Piece(
            options.pairs,
            time.monotonic() + 60 * options.minutes,
            options.series,
            options.equal,
        )
        if options.command == "bound":
            bound.measure(name, piece, Ledger(options.results))
            continue
        if options.command == "society":
            society.live(name, options.share, options.contests, piece, Ledger(options.results), options.data)
            print("\n".join(report.society(Ledger(options.results), name)), flush=True)
            continue
        checkpoints = options.contests or TRIALS[name].checkpoints
        run(name, list(options.conditions), checkpoints, piece, Ledger(options.results), options.data)
        print("\n".join(report.lines(Ledger(options.results), options.series, name)), flush=True)


def _count(text: str) -> int:
    try:
        count = int(text)
    except ValueError:
        count = 0
    if count < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: it must be a whole number from 1")
    return count


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0.0 <= share <= 1.0:
        raise argparse.ArgumentTypeError(f"{text!r}: it must be a number from 0 to 1")
    return share


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = math.nan
    if not 0.0 < minutes < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r}: it must be a number above 0")
    return minutes


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("stopped; what was done is kept")
