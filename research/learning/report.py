"""The tables and the plot of the experiment, in docs/archive: what the ledger says, and nothing else."""

import math
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Final

from arena.ratings.pentanomial import Counts, MatchEstimate, estimate
from benchmarks.figures import placed
from research.learning.bound import PLACES
from research.learning.contests import CONDITIONS
from research.learning.experiment import TEST
from research.learning.games import EQUAL, FINAL, MEASURED, TRIALS
from research.learning.ledger import Ledger, counted

DOCUMENT: Final = Path(__file__).parent.parent.parent / "docs" / "archive" / "learning.md"
# Errors of fewer pairs would dwarf everything else in the plot.
FEWEST_PAIRS_DRAWN: Final = 15
PLOT: Final = DOCUMENT.parent / "learning.svg"
HEAD: Final = (
    "| game | series | the same | condition | learnt from | games | Elo gained | 95 % | test | time |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)
ROOM_HEAD: Final = (
    "| game | series | player | adviser | advice | games | Elo gained | 95 % |\n"
    "|---|---|---|---|---|---|---|---|"
)
RATED_HEAD: Final = (
    "| game | series | a move | points made against the population's levels | Elo for ACADEMY |\n"
    "|---|---|---|---|---|"
)
SOCIETY_HEAD: Final = "\n".join(
    (
        "| game | series | consulted in | contests learnt from | games | Elo gained | 95 % |",
        "|---|---|---|---|---|---|---|",
    )
)
# Contests over which the pairs of a row of that table are spread.
WINDOW: Final = 500
# In the plot, what was measured after as many contests is shown beside each other: error bars hide nothing.
ASIDE: Final = 1.02


@dataclass(frozen=True)
class Row:
    """A match: what was measured, under what, and what came of it."""

    equal: str
    same: str
    condition: str
    contests: int
    counts: Counts
    # Seconds that the player with ACADEMY and the one without took over their moves.
    took: tuple[float, float]


def measured(ledger: Ledger, series: str, game: str) -> list[Row]:
    """What was measured of a game, in the order of the table."""
    keys = {
        tuple(line[name] for name in ("equal", "a_move", "player", "condition", "contests"))
        for line in ledger.of("pair", series=series, game=game)
    }
    newest = max((key[2] for key in keys), default=0)
    order = list(CONDITIONS)
    rows = []
    for equal, a_move, player, condition, contests in sorted(
        keys, key=lambda key: (EQUAL.index(key[0]), key[1], -key[2], order.index(key[3]), key[4])
    ):
        like = {
            "series": series,
            "game": game,
            "equal": equal,
            "a_move": a_move,
            "player": player,
            "condition": condition,
            "contests": contests,
        }
        asking, alone = (
            sum(seconds)
            for seconds in zip(*(line["took"] for line in ledger.of("pair", **like)), strict=True)
        )
        rows.append(
            Row(
                equal,
                a_move if player == newest else f"{a_move}, player {player} of {newest}",
                condition,
                contests,
                ledger.counts(**like),
                (asking, alone),
            )
        )
    return rows


def lines(ledger: Ledger, series: str, game: str) -> list[str]:
    """The rows of a game."""
    rows = []
    for row in measured(ledger, series, game):
        gain = estimate(row.counts)
        if gain is None:
            continue
        verdict = {"H1": "stronger", "H0": "not stronger", None: "open"}[TEST.status(row.counts).verdict]
        asking, alone = row.took
        rows.append(
            f"| {TRIALS[game].title} | {series} | {row.same} | {CONDITIONS[row.condition].title} | "
            f"{row.contests:,} | {2 * sum(row.counts):,} | {_gained(gain)} | {verdict} | "
            f"x {asking / alone:.2f} |"
        )
    return rows


def lines_of_all(ledger: Ledger, game: str) -> list[str]:
    """The rows of a game in all series, the newest first."""
    return [line for series in MEASURED for line in lines(ledger, series, game)]


def room(ledger: Ledger, game: str) -> list[str]:
    """The rows of a game in the table of what a strong player's advice is worth, over all series."""
    names = ("series", "a_move", "player", "teacher")
    keys = {tuple(line[name] for name in names) for line in ledger.of("bound", game=game)}
    rows = []
    for key, (place, title) in product(sorted(keys), PLACES.items()):
        like: dict[str, Any] = dict(zip(names, key, strict=True))
        counts = ledger.counts("bound", game=game, place=place, **like)
        gain = estimate(counts)
        if gain is not None:
            rows.append(
                f"| {TRIALS[game].title} | {like['series']} | {like['a_move']} | {like['teacher']} | "
                f"{title} | {2 * sum(counts):,} | {_gained(gain)} |"
            )
    return rows


def rated(ledger: Ledger, series: str, game: str) -> list[str]:
    """The rows of a game in the table of how strong the player is that has the time of a move."""
    names = ("a_move", "player")
    keys = {tuple(line[name] for name in names) for line in ledger.of("rating", series=series, game=game)}
    rows = []
    for key in sorted(keys):
        like: dict[str, Any] = {"series": series, "game": game, **dict(zip(names, key, strict=True))}
        shares = []
        for level in sorted({line["level"] for line in ledger.of("rating", **like)}):
            points = [line["points"] for line in ledger.of("rating", **like, level=level)]
            share = sum(points) / (2 * len(points))
            shares.append(f"{TRIALS[game].level(level)}: {100 * share:.0f} % of {2 * len(points)}")
        elos = sorted({line["elo"] for line in ledger.of("pair", **like, condition="full")})
        elo = "" if not elos else f"{elos[0]}" if len(elos) == 1 else f"{elos[0]} to {elos[-1]}"
        rows.append(f"| {TRIALS[game].title} | {series} | {like['a_move']} | {', '.join(shares)} | {elo} |")
    return rows


def society(ledger: Ledger, game: str) -> list[str]:
    """The rows of a game in the table of societies that consult while they play."""
    keys = {(line["series"], line["player"], line["share"]) for line in ledger.of("society", game=game)}
    rows = []
    for series, player, share in sorted(keys):
        pairs = list(ledger.of("society", game=game, series=series, player=player, share=share))
        for end in range(WINDOW, WINDOW + max(pair["number"] for pair in pairs), WINDOW):
            scored = [pair["points"] for pair in pairs if end - WINDOW < pair["number"] <= end]
            gain = estimate(counted(scored))
            if gain is not None:
                rows.append(
                    f"| {TRIALS[game].title} | {series} | {100 * share:.0f} % | "
                    f"{end - WINDOW:,} to {end:,} | {2 * len(scored):,} | {_gained(gain)} |"
                )
    return rows


def _rated_of_all(ledger: Ledger) -> list[str]:
    return [row for game in TRIALS for series in MEASURED for row in rated(ledger, series, game)]


def _gained(gain: MatchEstimate) -> str:
    """The Elo gained and its error, as two cells."""
    if math.isinf(gain.elo):
        return f"all {'won' if gain.elo > 0 else 'lost'} | unknown"
    gained = round(gain.elo)
    error = "unknown" if math.isnan(gain.elo_error) else f"± {gain.elo_error:.0f}"
    return f"{gained:+d} | {error}" if gained else f"0 | {error}"


def tabulate(ledger: Ledger, document: Path = DOCUMENT) -> None:
    """Put the tables in their places in the document."""
    text = document.read_text()
    tables = {
        "learning": [HEAD, *(row for game in TRIALS for row in lines_of_all(ledger, game))],
        "room": [ROOM_HEAD, *(row for game in TRIALS for row in room(ledger, game))],
        "society": [SOCIETY_HEAD, *(row for game in TRIALS for row in society(ledger, game))],
        "rated": [RATED_HEAD, *_rated_of_all(ledger)],
    }
    for name, rows in tables.items():
        text = placed(text, name, "\n".join(rows))
    document.write_text(text)


def draw(ledger: Ledger, file: Path = PLOT) -> None:
    """Draw the Elo gained with everything against the contests learnt from, of matches of enough games."""
    import matplotlib

    matplotlib.use("svg")
    # The same figures are to make the same file.
    matplotlib.rcParams["svg.hashsalt"] = "learning"
    from matplotlib import pyplot, ticker

    figure, axes = pyplot.subplots(figsize=(9, 4.5), layout="constrained")
    for number, (game, trial) in enumerate(TRIALS.items()):
        lines_of: dict[tuple[str, str], list[tuple[int, MatchEstimate]]] = {}
        newest = next((series for series in MEASURED if measured(ledger, series, game)), FINAL)
        for row in measured(ledger, newest, game):
            gain = estimate(row.counts)
            if row.condition != "full" or sum(row.counts) < FEWEST_PAIRS_DRAWN:
                continue
            if gain and math.isfinite(gain.elo_error):
                lines_of.setdefault((row.equal, row.same), []).append((row.contests, gain))
        for (equal, same), points in lines_of.items():
            place = len(EQUAL) * number + EQUAL.index(equal) - len(TRIALS)
            axes.errorbar(
                [contests * ASIDE**place for contests, _ in points],
                [gain.elo for _, gain in points],
                [gain.elo_error for _, gain in points],
                color=f"C{number}",
                marker="os"[EQUAL.index(equal)],
                linestyle=("-", "--")[EQUAL.index(equal)],
                capsize=3,
                label=f"{trial.title}, {same}",
            )
    axes.axhline(0.0, color="grey", linewidth=0.8)
    axes.axhline(100.0, color="grey", linewidth=0.8, linestyle=":")
    axes.set(xscale="log", xlabel="contests learnt from", ylabel="Elo gained (95 %)")
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
    axes.xaxis.set_minor_formatter(ticker.NullFormatter())
    if axes.get_legend_handles_labels()[0]:
        figure.legend(loc="outside right upper")
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)
