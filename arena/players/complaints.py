"""What a bot did wrong in a game, so that equal complaints are one line and no grave one is lost."""

from dataclasses import dataclass
from typing import Final

MAX_COMPLAINTS: Final = 50
_LONGEST: Final = 300


@dataclass
class _Complaint:
    what: str
    first: int
    last: int
    times: int = 1

    def __str__(self) -> str:
        told = f"turn {self.first}: {self.what}"
        return told if self.times == 1 else f"{told} ({self.times} times, the last in turn {self.last})"


class Complaints:
    """Complaints of turns. Of those that are not grave MAX_COMPLAINTS different ones are kept."""

    def __init__(self) -> None:
        self._kept: dict[str, _Complaint] = {}
        self._small = 0
        self._dropped = 0

    def add(self, turn: int, what: str) -> None:
        """Note a complaint; the same one of several turns is counted."""
        what = what[:_LONGEST]
        if what not in self._kept:
            if self._small == MAX_COMPLAINTS:
                self._dropped += 1
                return
            self._small += 1
        self._note(turn, what, what)

    def add_grave(self, turn: int, what: str, sort: str) -> None:
        """Note a complaint that is told in any case; of those of one `sort` the first, with their number."""
        self._note(turn, what[:_LONGEST], f"grave: {sort}")

    def _note(self, turn: int, what: str, key: str) -> None:
        if known := self._kept.get(key):
            known.last, known.times = turn, known.times + 1
        else:
            self._kept[key] = _Complaint(what, turn, turn)

    def lines(self) -> list[str]:
        """All that was kept, in the order in which it first happened, and how many were not."""
        rest = [f"{self._dropped} more warnings, unlike those told"] if self._dropped else []
        return [*map(str, self._kept.values()), *rest]
