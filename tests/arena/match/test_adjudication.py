"""When the arena ends a game by what its players tell. A line of values alternates between the seats."""

from collections.abc import Sequence

import pytest

from arena.jobs import Adjudication
from arena.match.verdicts import Adjudicator
from referees.api import Termination
from referees.go import Go

Verdict = tuple[int, str, tuple[int, ...]] | None

GO = Go.from_settings({"board_size": 9, "komi": 0.5})
AGREED = Adjudication(resign_value=0.1, resign_moves=2)
ALONE = Adjudication(resign_value=0.1, resign_moves=2, two_sided=False)
DRAWS = Adjudication(draw_margin=0.05, draw_moves=2, draw_after=6)


def decided(rules: Adjudication, values: Sequence[float | None]) -> Verdict:
    """After how many moves the game ended, and how; nothing where it goes on."""
    adjudicator = Adjudicator(rules, GO)
    position = GO.start(0)
    for ply, value in enumerate(values, start=1):
        adjudicator.note(1 + (ply + 1) % 2, value)
        outcome = adjudicator.verdict(position, ply)
        if outcome is not None:
            assert outcome.termination is Termination.ADJUDICATION
            return ply, outcome.summary, outcome.winners
    return None


@pytest.mark.parametrize(
    ("rules", "values", "verdict"),
    [
        (AGREED, [0.95, 0.05, 0.9, 0.1], (4, "B+", (1,))),
        (AGREED, [0.05, 0.95, 0.05, 0.95], (4, "W+", (2,))),
        (AGREED, [0.5, 0.05, 0.5, 0.05, 0.5, 0.05], None),
        (AGREED, [0.95, 0.05, 0.95, 0.2, 0.95, 0.05], None),
        (AGREED, [0.95, 0.05, None, 0.05, 0.95, 0.05], None),
        (AGREED, [0.95, 0.05, 0.95, None, 0.95, 0.05, 0.95, 0.05], (8, "B+", (1,))),
        (ALONE, [None, 0.05, None, 0.05], (4, "B+", (1,))),
        (ALONE, [None, 0.05, None, 0.11], None),
        (DRAWS, [0.5, 0.5, 0.5, 0.5, 0.5, 0.5], (6, "0", (1, 2))),
        (DRAWS, [0.5, 0.5, 0.5, 0.5, 0.6, 0.5, 0.55, 0.45, 0.5], (9, "0", (1, 2))),
        (DRAWS, [0.5, None, 0.5, None, 0.5, None, 0.5], None),
        (Adjudication(count_after=3), [None, None, None], (3, "W+0.5", (2,))),
        (Adjudication(), [0.0, 1.0] * 50 + [0.5] * 50, None),
    ],
)
def test_a_game_ends_when_the_rules_say_so(
    rules: Adjudication, values: Sequence[float | None], verdict: Verdict
) -> None:
    assert decided(rules, values) == verdict
