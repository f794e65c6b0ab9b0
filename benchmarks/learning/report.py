"""The table and the plot of the experiment, in docs/learning.md."""

import math
from itertools import product
from pathlib import Path
from typing import Final

from arena.ratings.pentanomial import Counts, MatchEstimate, estimate
from benchmarks.figures import placed
from benchmarks.learning.bound import PLACES
from benchmarks.learning.experiment import CONDITIONS, TEST
from benchmarks.learning.games import TRIALS
from benchmarks.learning.ledger import EQUAL, Ledger

DOCUMENT: Final = Path(__file__).parent.parent.parent / "docs" / "learning.md"
PLOT: Final = DOCUMENT.parent / "learning.svg"
HEAD: Final = (
    "| game | the same | condition | contests learnt from | games | Elo gained | 95 % | test | time |\n"
    "|---|---|---|---|---|---|---|---|---|"
)
ROOM_HEAD: Final = "| game | told | games | Elo gained | 95 % |\n|---|---|---|---|---|"


def measured(ledger: Ledger, series: str, game: str, equal: str) -> list[tuple[str, int, Counts]]:
    """What was measured of a game: condition, contests learnt from, and pairs by points.

    `equal` is what both players had a move, "time" or "playouts".
    """
    like = {"series": series, "game": game, "equal": equal}
    keys = {(line["condition"], line["contests"]) for line in ledger.of("pair", **like)}
    order = list(CONDITIONS)
    return [
        (name, contests, ledger.counts(**like, condition=name, contests=contests))
        for name, contests in sorted(keys, key=lambda key: (order.index(key[0]), key[1]))
    ]


def lines(ledger: Ledger, series: str, game: str) -> list[str]:
    """The rows of a game."""
    return [row for equal in EQUAL for row in _lines(ledger, series, game, equal)]


def _lines(ledger: Ledger, series: str, game: str, equal: str) -> list[str]:
    rows = []
    trial = TRIALS[game]
    same = f"{1000 * trial.seconds:g} ms" if equal == "time" else trial.level(trial.school(series).student)
    for name, contests, counts in measured(ledger, series, game, equal):
        found = estimate(counts)
        if found is None:
            continue
        verdict = {"H1": "stronger", "H0": "not stronger", None: "open"}[TEST.status(counts).verdict]
        pairs = ledger.of("pair", series=series, game=game, equal=equal, condition=name, contests=contests)
        asking, alone = (sum(seconds) for seconds in zip(*(line["seconds"] for line in pairs), strict=True))
        rows.append(
            f"| {trial.title} | {same} | {CONDITIONS[name].title} | {contests:,} | {2 * sum(counts):,} | "
            f"{_gained(found)} | {verdict} | x {asking / alone:.2f} |"
        )
    return rows


def room(ledger: Ledger, series: str, game: str) -> list[str]:
    """The rows of a game in the table of what a strong player's advice is worth."""
    rows = []
    for place, told in PLACES.items():
        counts = ledger.counts("bound", series=series, game=game, place=place)
        found = estimate(counts)
        if found is not None:
            games = f"{2 * sum(counts):,}"
            rows.append(f"| {TRIALS[game].title} | {told} | {games} | {_gained(found)} |")
    return rows


def _gained(found: MatchEstimate) -> str:
    """The Elo gained and its error, as two cells."""
    if math.isinf(found.elo):
        return f"all {'won' if found.elo > 0 else 'lost'} | unknown"
    error = "unknown" if math.isnan(found.elo_error) else f"± {found.elo_error:.0f}"
    return f"{found.elo:+.0f} | {error}"


def tabulate(ledger: Ledger, document: Path = DOCUMENT) -> None:
    """Put the tables in their places in the document."""
    text = document.read_text()
    for name, head, of in (("learning", HEAD, lines), ("room", ROOM_HEAD, room)):
        rows = [head, *(row for game in TRIALS for row in of(ledger, "final", game))]
        text = placed(text, name, "\n".join(rows))
    document.write_text(text)


def draw(ledger: Ledger, file: Path = PLOT) -> None:
    """Draw the Elo gained with everything against the contests learnt from."""
    import matplotlib

    matplotlib.use("svg")
    # The same figures are to make the same file.
    matplotlib.rcParams["svg.hashsalt"] = "learning"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
    for (number, (game, trial)), (equal, marker) in product(
        enumerate(TRIALS.items()), zip(EQUAL, "os", strict=True)
    ):
        found = [
            (contests, estimate(counts))
            for name, contests, counts in measured(ledger, "final", game, equal)
            if name == "full"
        ]
        points = [(contests, each) for contests, each in found if each and math.isfinite(each.elo_error)]
        if points:
            axes.errorbar(
                [contests for contests, _ in points],
                [each.elo for _, each in points],
                [each.elo_error for _, each in points],
                color=f"C{number}",
                marker=marker,
                capsize=3,
                label=f"{trial.title}, the same {equal}",
            )
    axes.axhline(0.0, color="grey", linewidth=0.8)
    axes.axhline(100.0, color="grey", linewidth=0.8, linestyle=":")
    axes.set(xscale="log", xlabel="contests learnt from", ylabel="Elo gained (95 %)")
    axes.legend()
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)
