"""Measures what ACADEMY's knowledge is worth: `python -m research.learning COMMAND`.

`repeat` plays again, from nothing, what the README says. `run` and `society` go on with the study. All three
go on where they ended; give them minutes. `held-out` compares the evaluation's
log loss of results that it has not seen with the players' own, and says how well tesujis foretell moves.
`report` writes the tables and the chart of docs/explanation/does-it-help.md, and keeps all results in the
repository's file; not while another command runs.
"""

import argparse
import math
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from benchmarks import arguments
from research.learning import repeat, report, society
from research.learning.conditions import CONDITIONS
from research.learning.experiment import PAIRS, Row, Size, Workplace, going_on_without, run
from research.learning.games import POPULATIONS, TRIALS
from research.learning.held_out import FEWEST, held_out_losses
from research.learning.ledger import Ledger

RESULTS: Final = Path(__file__).parent / "results.jsonl"
DATA: Final = Path("build/learning")
REPEATED: Final = Path("build/learning-repeated")


def main() -> None:
    """Run a piece of the study, or write what came of it."""
    parser = argparse.ArgumentParser(prog="python -m research.learning", description=__doc__)
    kept = argparse.ArgumentParser(add_help=False)
    kept.add_argument("--results", type=Path, default=RESULTS, help="the file of the repository's results")
    kept.add_argument("--data", type=Path, default=DATA, help="new results and ACADEMY's folders")
    timed = argparse.ArgumentParser(add_help=False)
    timed.add_argument("--minutes", type=arguments.positive, default=90.0, help="for all of it (90)")
    sized = argparse.ArgumentParser(add_help=False)
    sized.add_argument("--pairs", type=arguments.count, default=PAIRS, help=f"of games of each row ({PAIRS})")
    games = argparse.ArgumentParser(add_help=False, parents=[timed])
    games.add_argument("games", nargs="*", default=[], metavar="GAME", help=f"of {', '.join(TRIALS)}")
    commands = parser.add_subparsers(dest="command", required=True)
    again = commands.add_parser(
        "repeat", parents=[timed, sized, kept], help="play again, with other contests, what the README says"
    )
    again.add_argument(
        "--populations", nargs="+", choices=repeat.OTHER_POPULATIONS, default=repeat.OTHER_POPULATIONS
    )
    again.set_defaults(data=REPEATED)
    running = commands.add_parser("run", parents=[games, kept, sized], help="learn and measure")
    running.add_argument(
        "--conditions", nargs="+", choices=tuple(CONDITIONS), help="instead of those of each game"
    )
    running.add_argument(
        "--contests",
        nargs="+",
        type=arguments.count,
        default=[None],
        help="that ACADEMY learns from, instead of each game's own number; a row for each",
    )
    running.add_argument("--populations", nargs="+", choices=POPULATIONS, default=POPULATIONS)
    running.add_argument(
        "--most-pairs",
        type=arguments.count,
        metavar="PAIRS",
        help="go on up to this many while the sequential test of a row is open (as --pairs); a row that "
        "stops at its test has an estimate that is too high",
    )
    living = commands.add_parser(
        "society", parents=[games, kept], help="let a society play that consults ACADEMY"
    )
    living.add_argument(
        "--share", type=_share, default=0.25, help="of the contests learnt from in which it consults (0.25)"
    )
    living.add_argument("--contests", type=arguments.count, default=5_000, help="to learn from (5,000)")
    held_out = commands.add_parser("held-out", help="measure how well the evaluation foretells results")
    held_out.add_argument("games", nargs="*", default=[], metavar="GAME", help=f"of {', '.join(TRIALS)}")
    held_out.add_argument(
        "--contests",
        type=arguments.at_least(FEWEST),
        default=500,
        help=f"played where they are missing ({FEWEST} or more, of which one is held out; 500)",
    )
    held_out.add_argument("--data", type=Path, default=DATA, help="ACADEMY's folders")
    commands.add_parser("report", parents=[kept], help="write the tables and the chart")
    options = parser.parse_args()
    unknown = set(getattr(options, "games", ())) - set(TRIALS)
    if unknown:
        parser.error(f"{sorted(unknown)[0]!r}: the games are {', '.join(TRIALS)}")
    if options.command == "held-out":
        for name in options.games or _populations():
            with going_on_without(name):
                print("\n".join(held_out_losses(name, options.contests, options.data)), flush=True)
        return
    if options.command == "run" and options.most_pairs is not None and options.most_pairs < options.pairs:
        parser.error(f"--most-pairs {options.most_pairs}: fewer than --pairs {options.pairs}")
    ledger = Ledger(options.results, options.data / "pairs.jsonl")
    if options.command == "report":
        if not ledger.lines:
            parser.error(f"{options.results}: holds no results; run something first")
        ledger.keep()
        report.tabulate(ledger)
        report.draw(ledger)
        report.draw_checkpoints(ledger)
        report.draw_societies(ledger)
        return
    workplace, deadline = Workplace(ledger, options.data, _commit()), time.monotonic() + 60 * options.minutes
    if options.command == "repeat":
        run(repeat.rows(options.populations), Size(options.pairs, options.pairs), deadline, workplace)
        # Another process may have played the other population.
        ledger = Ledger(options.results, options.data / "pairs.jsonl")
        print("\n".join(repeat.table(ledger)), flush=True)
    elif options.command == "society":
        _live(options, deadline, workplace)
    else:
        _run(options, deadline, workplace)


def _populations() -> list[str]:
    """The trials that have contests of their own."""
    return [name for name, trial in TRIALS.items() if trial.contests_of is None]


def _live(options: argparse.Namespace, deadline: float, workplace: Workplace) -> None:
    names = options.games or _populations()
    for number, name in enumerate(names):
        now = time.monotonic()
        share_of_time = (deadline - now) / (len(names) - number)
        with going_on_without(name):
            society.live(name, options.share, options.contests, now + share_of_time, workplace)
        print("\n".join(report.society_rows(workplace.ledger, name)), flush=True)


def _run(options: argparse.Namespace, deadline: float, workplace: Workplace) -> None:
    names, ledger = options.games or list(TRIALS), workplace.ledger
    rows = [
        Row(name, population, condition, contests)
        for name in names
        for contests in options.contests
        for condition in options.conditions or TRIALS[name].conditions
        for population in options.populations
    ]
    run(rows, Size(options.pairs, options.most_pairs or options.pairs), deadline, workplace)
    for name in names:
        print("\n".join([*report.rows(ledger, name), *report.checkpoint_rows(ledger, name)]), flush=True)


def _commit() -> str:
    """The revision of the program, with a + where files were changed since."""
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty=+"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return described.stdout.strip() or "unknown"


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0.0 <= share <= 1.0:
        raise argparse.ArgumentTypeError(f"{text!r}: it must be a number from 0 to 1")
    return share


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("stopped; what was done is kept")
