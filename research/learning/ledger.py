"""Results of the study: each pair of games is written down at once, so that it goes on where it ended.

Runs append lines to a file of their own. `Ledger.keep` brings them into the file of the repository, which has
one line for each row of the tables, with the points of all its pairs.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from academy.wire.files import write_whole
from arena.ratings.pentanomial import Counts
from research.whole_lines import read_whole_lines

# What the pairs of a row do not have in common.
_OF_A_PAIR: Final = ("number", "points", "took")
# What pairs of the same seeds may differ in: of two runs side by side, or of two revisions, one pair counts.
_OF_A_RUN: Final = ("commit", "elo")


class Ledger:
    """Results, oldest first. What an interrupted run wrote of a last line is cut off."""

    def __init__(self, kept: Path, new: Path) -> None:
        """Read the results kept in the repository, and those that runs have added."""
        self._kept, self._new = kept, new
        lines = (kept.read_text().splitlines() if kept.exists() else []) + read_whole_lines(new)
        pairs = [pair for line in lines for pair in _pairs(json.loads(line))]
        # What was brought into the repository is in both files. The first pair of some seeds counts.
        firsts: dict[tuple[str, int], dict[str, Any]] = {}
        for pair in pairs:
            firsts.setdefault((_row(pair, _OF_A_RUN), pair["number"]), pair)
        self.lines: list[dict[str, Any]] = []
        # A report asks thousands of times, always about one game.
        self._of_games: defaultdict[object, list[dict[str, Any]]] = defaultdict(list)
        for pair in firsts.values():
            self._enter(pair)

    def _enter(self, line: dict[str, Any]) -> None:
        self.lines.append(line)
        self._of_games[line.get("game")].append(line)

    def add(self, **result: object) -> None:
        """Write a result down at once."""
        self._enter(result)
        self._new.parent.mkdir(parents=True, exist_ok=True)
        with self._new.open("a") as out:
            out.write(json.dumps(result) + "\n")

    def keep(self) -> None:
        """Write all results into the repository's file, one line for each row."""
        rows: dict[str, list[dict[str, Any]]] = {}
        for pair in self.lines:
            rows.setdefault(_row(pair), []).append(pair)
        write_whole(self._kept, (f"{_joined(row, pairs)}\n".encode() for row, pairs in rows.items()))

    def of(self, kind: str, **like: object) -> Iterator[dict[str, Any]]:
        """The results of a kind with these entries."""
        for line in self._of_games[like["game"]] if "game" in like else self.lines:
            if line["kind"] == kind and all(line.get(name) == value for name, value in like.items()):
                yield line

    def counts(self, kind: str = "pair", **like: object) -> Counts:
        """Pairs by the points (0, ½, 1, 1½, 2) of the player who is measured."""
        return counted([line["points"] for line in self.of(kind, **like)])

    def pairs(self, kind: str = "pair", **like: object) -> int:
        """How many pairs were played."""
        return sum(self.counts(kind, **like))


def counted(points: Sequence[float]) -> Counts:
    """Pairs by their points."""
    none, half, whole, more, two = (points.count(value / 2) for value in range(5))
    return none, half, whole, more, two


def _row(pair: dict[str, Any], besides: Sequence[str] = ()) -> str:
    """What a pair has in common with the others of its row, as JSON; without what is named `besides`."""
    return json.dumps({name: value for name, value in pair.items() if name not in (*_OF_A_PAIR, *besides)})


def _joined(row: str, pairs: Sequence[dict[str, Any]]) -> str:
    """The line of many pairs, in order; their seconds are added up."""
    ordered = sorted(pairs, key=lambda pair: pair["number"])
    joined = json.loads(row) | {name: [pair[name] for pair in ordered] for name in ("number", "points")}
    if all("took" in pair for pair in ordered):
        seconds = zip(*(pair["took"] for pair in ordered), strict=True)
        joined["took"] = [round(sum(of_player), 2) for of_player in seconds]
    return json.dumps(joined)


def _pairs(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Split a line of many pairs into one line for each; each pair has an equal share of the seconds."""
    points = line["points"]
    if not isinstance(points, list):
        yield line
        return
    shared = {"took": [seconds / len(points) for seconds in line["took"]]} if "took" in line else {}
    for number, scored in zip(line["number"], points, strict=True):
        yield {**line, **shared, "number": number, "points": scored}
