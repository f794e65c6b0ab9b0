"""Whether a row's gain is shown: a sequential test over its pairs, in the order in which they were played.

It keeps its chances of error however often it is looked at, so a row may go on until it is decided.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final

from arena.ratings.pentanomial import Sprt
from research.learning.ledger import Ledger, counted

# A gain of 50 Elo against none; either is believed wrongly in one of twenty tests. Gains between them may be
# called either.
TEST: Final = Sprt(elo0=0.0, elo1=50.0, model="logistic")
# Pairs between two looks.
LOOK_AFTER: Final = 10


@dataclass(frozen=True)
class Verdict:
    """What the test found, after how many pairs."""

    gains: bool
    pairs: int

    def __str__(self) -> str:
        return f"{'gain' if self.gains else 'none'} ({self.pairs})"


@cache
def verdict(points: tuple[float, ...]) -> Verdict | None:
    """The test's verdict, if it has come to one.

    Args:
        points: Those of the player who is measured in each pair, from 0 to 2.
    """
    for pairs in range(LOOK_AFTER, len(points) + 1, LOOK_AFTER):
        accepted = TEST.status(counted(points[:pairs])).verdict
        if accepted is not None:
            return Verdict(accepted == "H1", pairs)
    return None


def verdict_of_row(ledger: Ledger, **key: object) -> Verdict | None:
    """The verdict over the pairs with these entries."""
    pairs = sorted(ledger.of("pair", **key), key=lambda pair: int(pair["number"]))
    return verdict(tuple(pair["points"] for pair in pairs))
