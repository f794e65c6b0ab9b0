"""The tables and the chart of docs/explanation/does-it-help.md: what the ledger says, and nothing else."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena.ratings.pentanomial import Counts, MatchEstimate, estimate
from benchmarks.figures import placed
from research.learning import society
from research.learning.conditions import CONDITIONS
from research.learning.experiment import Row
from research.learning.games import EDITIONS, POPULATIONS, TRIALS
from research.learning.ledger import Ledger, counted
from research.learning.sequential import Verdict, verdict_of_row

DOCUMENT: Final = Path(__file__).parent.parent.parent / "docs" / "explanation" / "does-it-help.md"
CHART: Final = DOCUMENT.with_suffix(".svg")
CHECKPOINT_CHART: Final = DOCUMENT.with_name("does-it-help-contests.svg")
SOCIETY_CHART: Final = DOCUMENT.with_name("does-it-help-society.svg")


def head(*columns: str) -> str:
    """The head of a table."""
    return f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|"


def gain_columns(populations: Sequence[str]) -> tuple[str, ...]:
    """The columns that `Measured.gains` fills."""
    return (*(f"{name} population" for name in populations), "both", "games")


HEAD: Final = head(
    *("game, a move", "learnt from", "what it has", *gain_columns(POPULATIONS)),
    *("test", "time", "study", "player"),
)
CHECKPOINT_HEAD: Final = head(
    "game, a move", "what it has", "learnt from", *gain_columns(POPULATIONS), "player"
)
SOCIETY_HEAD: Final = head("game", "consulted in", "contests learnt from", "games", "Elo gained")
NOTHING: Final = "Nothing was measured yet."
# Contests over which the pairs of a row of that table are spread.
WINDOW: Final = 500
# Errors of fewer pairs would dwarf everything else in the chart.
FEWEST_PAIRS_DRAWN: Final = 50
# What the first chart compares, by the conditions that show it.
WAYS_DRAWN: Final[Mapping[str, Sequence[str]]] = {
    "asks as LUDAE allows": ("remembered", "openings", "shared"),
    "the same, and analysts searched": ("everything-remembered",),
    "asks before every move": ("open", "open-evaluated"),
}


@dataclass(frozen=True)
class Measured:
    """A condition in a game, with what came of it in each population; None where nothing was measured."""

    study: str
    player: int
    condition: str
    counts: tuple[Counts | None, ...]
    # The sequential test's in each population; None where it is open, or nothing was measured.
    verdicts: tuple[Verdict | None, ...]
    # Seconds that the player with ACADEMY and the one without took over their moves.
    took: tuple[float, float]

    @property
    def populations(self) -> set[str]:
        """In which populations it was measured."""
        return {name for name, counts in zip(POPULATIONS, self.counts, strict=True) if counts}

    @property
    def together(self) -> Counts:
        """The pairs of all populations."""
        none, half, whole, more, two = (
            sum(of_points) for of_points in zip(*filter(None, self.counts), strict=True)
        )
        return none, half, whole, more, two

    @property
    def gains(self) -> tuple[str, ...]:
        """What was gained in each population and in all of them, and in how many games."""
        return (
            *map(gained, self.counts),
            gained(self.together) if all(self.counts) else "",
            " + ".join(f"{2 * sum(counts):,}" for counts in self.counts if counts),
        )


def measured(ledger: Ledger, game: str) -> list[Measured]:
    """What was measured of a game, in the order of the conditions.

    The newest study and player of a condition come first; earlier ones stay while they lack a population of
    theirs.
    """
    matches = []
    for condition in CONDITIONS:
        seen: set[str] = set()
        for study, player in reversed(EDITIONS):
            match = measured_row(ledger, _of_all(game, condition), (study, player))
            if match is not None and not match.populations <= seen:
                matches.append(match)
                seen |= match.populations
    return matches


def checkpoints(ledger: Ledger, game: str) -> list[list[tuple[int, Measured]]]:
    """What was measured after growing numbers of contests, a list for each condition, study and player."""
    curves = []
    for condition in CONDITIONS:
        for study, player in reversed(EDITIONS):
            like = Row(game, POPULATIONS[0], condition).key | {"study": study, "player": player}
            shared = {name: like[name] for name in ("study", "player", "game", "a_move", "condition")}
            numbers = {line["contests"] for line in ledger.of("pair", **shared)}
            curve = [
                (number, match)
                for number in sorted(numbers)
                if (match := measured_row(ledger, _of_all(game, condition, number), (study, player)))
            ]
            if len(curve) > 1:
                curves.append(curve)
    return curves


def _of_all(game: str, condition: str, contests: int | None = None) -> list[Row]:
    return [Row(game, population, condition, contests) for population in POPULATIONS]


def measured_row(
    ledger: Ledger,
    rows: Sequence[Row],
    edition: tuple[str, int] = EDITIONS[-1],
) -> Measured | None:
    """What came of a condition in a game, by rows of each population; None where nothing was measured."""
    study, player = edition
    keys = [row.key | {"study": study, "player": player} for row in rows]
    counts = tuple(ledger.counts(**key) if ledger.pairs(**key) else None for key in keys)
    if not any(counts):
        return None
    took = [line["took"] for key in keys for line in ledger.of("pair", **key)]
    asking, alone = (sum(seconds) for seconds in zip(*took, strict=True))
    verdicts = tuple(verdict_of_row(ledger, **key) for key in keys)
    return Measured(study, player, rows[0].condition, counts, verdicts, (asking, alone))


def rows(ledger: Ledger, game: str) -> list[str]:
    """The rows of a game in the table."""
    trial = TRIALS[game]
    table = []
    for match in measured(ledger, game):
        judged = zip(match.verdicts, match.counts, strict=True)
        cells = [
            f"{trial.title}, {trial.a_move}",
            f"{trial.contests:,}",
            CONDITIONS[match.condition].title,
            *match.gains,
            " + ".join(str(verdict or "open") for verdict, counts in judged if counts),
            f"x {match.took[0] / match.took[1]:.2f}",
            match.study.removeprefix("study-"),
            str(match.player),
        ]
        table.append(f"| {' | '.join(cells)} |")
    return table


def checkpoint_rows(ledger: Ledger, game: str) -> list[str]:
    """The rows of a game in the table of libraries after growing numbers of contests."""
    trial = TRIALS[game]
    table = []
    for curve in checkpoints(ledger, game):
        for contests, match in curve:
            cells = [
                f"{trial.title}, {trial.a_move}",
                CONDITIONS[match.condition].title,
                f"{contests:,}",
                *match.gains,
                str(match.player),
            ]
            table.append(f"| {' | '.join(cells)} |")
    return table


def society_rows(ledger: Ledger, game: str) -> list[str]:
    """The rows of a game in the table of societies that consult while they play."""
    return [
        f"| {TRIALS[game].title} | {100 * key['share']:.0f} % | {end - WINDOW:,} to {end:,} | "
        f"{2 * sum(counts):,} | {gained(counts)} |"
        for key in society.measured(ledger, game)
        for end, counts in _windows(ledger, key)
    ]


def _windows(ledger: Ledger, key: Mapping[str, object]) -> Iterator[tuple[int, Counts]]:
    """A society's pairs by the number of contests up to which they were played, one window after another."""
    pairs = list(ledger.of("society", **key))
    for end in range(WINDOW, WINDOW + max(pair["number"] for pair in pairs), WINDOW):
        yield end, counted([pair["points"] for pair in pairs if end - WINDOW < pair["number"] <= end])


def gained(counts: Counts | None) -> str:
    """The Elo gained with its interval of 95 %; nothing where nothing was measured."""
    gain = estimate(counts) if counts else None
    if gain is None:
        return ""
    if math.isinf(gain.elo):
        return f"all {'won' if gain.elo > 0 else 'lost'}"
    if math.isnan(gain.elo_error):
        return f"{round(gain.elo):+d}, error unknown"
    low, high = gain.elo - gain.elo_error, gain.elo + gain.elo_error
    return f"{round(gain.elo):+d} [{round(low):+d}, {round(high):+d}]"


def tabulate(ledger: Ledger, document: Path = DOCUMENT) -> None:
    """Put the tables in their places in the document."""
    text = document.read_text()
    tables: dict[str, Sequence[str]] = {
        "learning": [HEAD, *(row for game in TRIALS for row in rows(ledger, game))],
        "checkpoints": [CHECKPOINT_HEAD, *(row for game in TRIALS for row in checkpoint_rows(ledger, game))],
        "society": [SOCIETY_HEAD, *(row for game in TRIALS for row in society_rows(ledger, game))],
    }
    for name, (head, *table) in tables.items():
        text = placed(text, name, "\n".join([head, *table]) if table else NOTHING)
    document.write_text(text)


def draw(ledger: Ledger, file: Path = CHART) -> None:
    """Draw what a player gains in each game by each way of asking, of matches of enough games."""
    pyplot = _pyplot()
    shown: dict[str, dict[str, MatchEstimate]] = {}
    for game, trial in TRIALS.items():
        gains = {way: gain for way in WAYS_DRAWN if (gain := _newest(measured(ledger, game), way))}
        if gains:
            shown[f"{trial.title}, {trial.a_move}"] = gains
    figure, axes = pyplot.subplots(figsize=(9, 1.8 + 0.5 * len(shown)), layout="constrained")
    for place, way in enumerate(WAYS_DRAWN):
        drawn = [(number, gains[way]) for number, gains in enumerate(shown.values()) if way in gains]
        axes.errorbar(
            [gain.elo for _, gain in drawn],
            [number + 0.22 * (place - 1) for number, _ in drawn],
            xerr=[gain.elo_error for _, gain in drawn],
            linestyle="none",
            marker="o",
            capsize=3,
            label=way,
        )
    axes.set_yticks(range(len(shown)), list(shown))
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.axvline(0.0, color="grey", linewidth=0.8)
    axes.axvline(100.0, color="grey", linewidth=0.8, linestyle=":")
    axes.set_xlabel("Elo gained with the same time for a game (95 %)")
    figure.legend(loc="outside lower center", ncols=len(WAYS_DRAWN))
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)


def _newest(matches: Sequence[Measured], way: str) -> MatchEstimate | None:
    """The gain by the newest player in most populations among a way's conditions, the first ones first."""
    conditions = WAYS_DRAWN[way]
    enough = [
        (match, gain)
        for match in matches
        if match.condition in conditions
        and sum(match.together) >= FEWEST_PAIRS_DRAWN
        and (gain := estimate(match.together))
        and math.isfinite(gain.elo_error)
    ]
    if not enough:
        return None
    _, newest = max(
        enough,
        key=lambda measure: (
            EDITIONS.index((measure[0].study, measure[0].player)),
            len(measure[0].populations),
            -conditions.index(measure[0].condition),
        ),
    )
    return newest


def draw_checkpoints(ledger: Ledger, file: Path = CHECKPOINT_CHART) -> None:
    """Draw the Elo gained against the number of contests that ACADEMY has learnt from."""
    curves = {}
    for game, trial in TRIALS.items():
        for curve in checkpoints(ledger, game):
            label = f"{trial.title}, {trial.a_move}: {CONDITIONS[curve[0][1].condition].title}"
            curves[label] = [
                (contests, gain)
                for contests, match in curve
                if (gain := estimate(match.together)) and math.isfinite(gain.elo_error)
            ]
    _draw_curves(curves, "Elo gained with the same time (95 %)", file)


def draw_societies(ledger: Ledger, file: Path = SOCIETY_CHART) -> None:
    """Draw the Elo that societies gain while they play."""
    curves = {}
    for game, trial in TRIALS.items():
        for key in society.measured(ledger, game):
            curves[f"{trial.title}, consulted in {100 * key['share']:.0f} % of the contests"] = [
                (end - WINDOW / 2, gain)
                for end, counts in _windows(ledger, key)
                if (gain := estimate(counts)) and math.isfinite(gain.elo_error)
            ]
    _draw_curves(curves, "Elo gained with the same playouts (95 %)", file)


def _draw_curves(
    curves: Mapping[str, Sequence[tuple[float, MatchEstimate]]], measure: str, file: Path
) -> None:
    """Draw what was gained after numbers of contests, a curve for each label."""
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    for label, points in curves.items():
        axes.errorbar(
            [contests for contests, _ in points],
            [gain.elo for _, gain in points],
            yerr=[gain.elo_error for _, gain in points],
            marker="o",
            capsize=3,
            label=label,
        )
    axes.axhline(0.0, color="grey", linewidth=0.8)
    axes.set_xlim(left=0.0)
    axes.set_xlabel("Contests that ACADEMY has learnt from")
    axes.set_ylabel(measure)
    # Below the axes, where it covers no curve.
    figure.legend(loc="outside lower center")
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)


def _pyplot() -> Any:
    """Where figures are made, as files that are the same for the same figures, and whose text stays text."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "learning"
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot

    return pyplot
