"""Games side by side: LUDAE's measures of each, with the numbers of contests and standard errors."""

import math
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from academy.cli.printing import as_json, table_of
from academy.v1 import libraries_pb2


def compared(measures: libraries_pb2.GetMeasuresResponse) -> dict[str, Any]:
    """A game's measures as plain data; a standard error where the measures tell it."""
    errors = standard_errors(measures)
    plain = as_json(measures)
    for name, measure in plain["measures"].items():
        if name in errors:
            measure["standard_error"] = errors[name]
    return plain


def standard_errors(measures: libraries_pb2.GetMeasuresResponse) -> dict[str, float]:
    """The standard errors of those measures whose spread is known; contests count as independent.

    Shares of positions or moves are taken as if a contest had one of them, which is the most that they can
    err: positions of one contest go together. The deviation is that of a normal distribution.
    """
    known = {
        name: (measure.value, measure.contests)
        for name, measure in measures.measures.items()
        if measure.HasField("value") and measure.contests > 1
    }
    errors: dict[str, float] = {}
    for name in ("draws", "decisiveness", "drama"):
        if name in known:
            share, contests = known[name]
            # As if one contest more had ended each way: what never happened may happen yet.
            share = (share * contests + 1) / (contests + 2)
            errors[name] = math.sqrt(share * (1 - share) / contests)
    if "length_spread" in known:
        spread, contests = known["length_spread"]
        errors["length"] = spread / math.sqrt(contests)
        errors["length_spread"] = spread / math.sqrt(2 * contests)
        if "size" in known and "length" in known and known["length"][0]:
            errors["size"] = errors["length"] * known["size"][0] / known["length"][0]
    if "first_player_score" in known and "draws" in known:
        (score, contests), (draws, _) = known["first_player_score"], known["draws"]
        # A win is worth 1, a draw 1/2: the mean of the squares less the square of the mean.
        errors["first_player_score"] = math.sqrt(max(0.0, score - draws / 4 - score**2) / contests)
    return errors


def comparison_table(answers: Sequence[libraries_pb2.GetMeasuresResponse]) -> Table:
    """A row for each measure, a column for each game."""
    rows = [["contests", *(f"{answer.contests:,}" for answer in answers)]]
    errors = [standard_errors(answer) for answer in answers]
    for name in sorted({name for answer in answers for name in answer.measures}):
        cells = (
            _cell(answer.measures[name], error.get(name))
            for answer, error in zip(answers, errors, strict=True)
        )
        rows.append([name.replace("_", " "), *cells])
    return table_of(
        "Measures", rows, " value ± standard error (contests)", *(answer.game_id for answer in answers)
    )


def _cell(measure: libraries_pb2.Measure, error: float | None) -> str:
    if not measure.HasField("value"):
        return "not known"
    shown = f"{measure.value:.3g}" if error is None else f"{measure.value:.3g} ± {error:.2g}"
    return f"{shown} ({measure.contests:,})"
