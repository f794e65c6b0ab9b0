"""What the README says ACADEMY gains, played again from nothing, by contests of other seeds."""

from collections.abc import Iterator, Sequence
from typing import Final

from research.learning.conditions import CONDITIONS
from research.learning.experiment import Row
from research.learning.games import EDITIONS, POPULATIONS
from research.learning.ledger import Ledger
from research.learning.report import gain_columns, gained, head, measured_row

# (game, condition, contests learnt from, where that is not the game's own number).
QUOTED: Final[Sequence[tuple[str, str, int | None]]] = (
    ("connect-four-1200", "remembered", None),
    ("connect-four-1200", "defaults", None),
    ("hex-720", "remembered", None),
    ("hex-720", "everything-remembered", None),
    ("hex-720", "defaults", None),
    ("go", "remembered", 50),
    ("go", "remembered", None),
)
# Seeds begin with a population's name, so these play what nobody has played before.
OTHER_POPULATIONS: Final = ("third", "fourth")
HEAD: Final = head(
    "game, a move", "learnt from", "what it has", "the README", *gain_columns(OTHER_POPULATIONS)
)


def rows(populations: Sequence[str]) -> list[Row]:
    """Return what is played, game by game.

    Args:
        populations: Of `OTHER_POPULATIONS`.
    """
    return [row for quoted in QUOTED for row in _in_each(quoted, populations)]


def table(ledger: Ledger) -> Iterator[str]:
    """Yield the lines of a table of what was gained, beside what the README says.

    Args:
        ledger: Results of these populations, and the repository's.
    """
    yield HEAD
    for quoted in QUOTED:
        played = _in_each(quoted, OTHER_POPULATIONS)
        trial = played[0].trial
        match = measured_row(ledger, played)
        cells = [
            f"{trial.title}, {trial.a_move}",
            f"{trial.contests:,}",
            CONDITIONS[played[0].condition].title,
            _of_readme(ledger, _in_each(quoted, POPULATIONS)),
            *(match.gains if match else ("",) * len(gain_columns(OTHER_POPULATIONS))),
        ]
        yield f"| {' | '.join(cells)} |"


def _in_each(quoted: tuple[str, str, int | None], populations: Sequence[str]) -> list[Row]:
    game, condition, contests = quoted
    return [Row(game, population, condition, contests) for population in populations]


def _of_readme(ledger: Ledger, of_all: Sequence[Row]) -> str:
    """The gain by the newest player that was measured in all populations."""
    matches = (measured_row(ledger, of_all, edition) for edition in reversed(EDITIONS))
    return next((gained(match.together) for match in matches if match and all(match.counts)), "")
