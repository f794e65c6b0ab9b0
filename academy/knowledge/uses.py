"""What a player was given in a contest, by kind. Events keep it as numbers in one list with its patterns'."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from academy.knowledge.evaluation import EVALUATION_IN_USES
from academy.knowledge.tesujis.shapes import PROPOSED
from academy.knowledge.tesujis.table import FIRST_IN_USES

__all__ = ["WEIGHTS_IN_USES", "UsesByKind", "uses_by_kind"]

# Weights to take home are one use, whatever they are of. Learnt tesujis have smaller numbers, proposed ones
# greater ones.
WEIGHTS_IN_USES: Final = EVALUATION_IN_USES + 1


class UsesByKind(NamedTuple):
    """What a player was given.

    Attributes:
        patterns: The patterns' numbers.
        tesujis: The tesujis' codes.
        evaluation: Whether the evaluation is among it.
        weights: Whether it took weights home.
    """

    patterns: list[int]
    tesujis: list[int]
    evaluation: bool
    weights: bool


def uses_by_kind(numbers: Iterable[int]) -> UsesByKind:
    """Return what numbers among the uses of patterns stand for.

    Args:
        numbers: The numbers, of one library.
    """
    given = UsesByKind([], [], False, False)
    for number in numbers:
        if number < FIRST_IN_USES:
            given.patterns.append(number)
        elif number < EVALUATION_IN_USES or number >= FIRST_IN_USES + PROPOSED:
            given.tesujis.append(number - FIRST_IN_USES)
        elif number == EVALUATION_IN_USES:
            given = given._replace(evaluation=True)
        elif number == WEIGHTS_IN_USES:
            given = given._replace(weights=True)
    return given
