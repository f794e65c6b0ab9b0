"""Results of the experiment, kept as they come, so that it goes on where it ended."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena.ratings.pentanomial import Counts

# What the players of a match may have the same of: time, or playouts (plies for alpha-beta).
EQUAL: Final = ("time", "playouts")


@dataclass(frozen=True)
class Piece:
    """How far a run goes, by which seeds, and of what (of `EQUAL`) both players have the same."""

    pairs: int
    deadline: float
    series: str = "final"
    equal: str = "time"

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self.deadline


class Ledger:
    """Results, a line of JSON each, in the order in which they came."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.lines: list[dict[str, Any]] = []
        if file.exists():
            self.lines = [json.loads(line) for line in file.read_text().splitlines()]

    def add(self, **result: object) -> None:
        """Write a result down at once."""
        self.lines.append(result)
        with self._file.open("a") as out:
            out.write(json.dumps(result) + "\n")

    def of(self, kind: str, **like: object) -> Iterator[dict[str, Any]]:
        """The results of a kind with these entries."""
        for line in self.lines:
            if line["kind"] == kind and all(line[name] == value for name, value in like.items()):
                yield line

    def counts(self, kind: str = "pair", **like: object) -> Counts:
        """Pairs by the points (0, ½, 1, 1½, 2) of the player with ACADEMY, or told by another."""
        points = [line["points"] for line in self.of(kind, **like)]
        none, half, one, more, two = (points.count(value / 2) for value in range(5))
        return none, half, one, more, two
