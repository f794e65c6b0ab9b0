"""Results of the experiment, kept as they come, so that it goes on where it ended.

The file in the repository has one line for each row of the tables, with the points of all its pairs.
"""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.ratings.pentanomial import Counts
from research.learning.games import FINAL, PLAYER, TRIALS


@dataclass(frozen=True)
class Piece:
    """How far a run goes, by which seeds, and of what (of `games.EQUAL`) both players have the same."""

    pairs: int
    deadline: float
    series: str = FINAL
    equal: str = "time"

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self.deadline

    def key(self, game: str) -> dict[str, Any]:
        """What results of a game have to have in common before they may be counted together."""
        return {
            "series": self.series,
            "game": game,
            "equal": self.equal,
            "a_move": TRIALS[game].a_move(self.equal, self.series),
            "player": PLAYER,
        }


class Ledger:
    """Results, a line of JSON each, oldest first. What an interrupted run wrote of a last one is cut off."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.lines: list[dict[str, Any]] = []
        held = file.read_bytes() if file.exists() else b""
        whole = held.rfind(b"\n") + 1
        self.lines = [pair for line in held[:whole].splitlines() for pair in _pairs(json.loads(line))]
        if whole < len(held):
            with file.open("r+b") as damaged:
                damaged.truncate(whole)

    def add(self, **result: object) -> None:
        """Write a result down at once."""
        self.lines.append(result)
        with self._file.open("a") as out:
            out.write(json.dumps(result) + "\n")

    def of(self, kind: str, **like: object) -> Iterator[dict[str, Any]]:
        """The results of a kind with these entries."""
        for line in self.lines:
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


def _pairs(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Split a line of many pairs into one line for each; each pair has an equal share of the seconds."""
    points = line["points"]
    if not isinstance(points, list):
        yield line
        return
    shared = {"took": [seconds / len(points) for seconds in line["took"]]} if "took" in line else {}
    for number, scored in enumerate(points):
        yield {**line, **shared, "number": number, "points": scored}
