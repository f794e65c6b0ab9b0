"""What `arena descent` prints."""

import pytest

from arena.reports.descent import descent_lines
from arena.selection.generations import Descent


@pytest.mark.parametrize(
    ("generation", "words"),
    [
        (0, "generation 0 (of 0 to 1); + plays now"),
        (1, "generation 1 (of 0 to 1); + plays now"),
        (2, "all 2 generations are over; + played in the last one"),
    ],
)
def test_nobody_plays_now_when_all_generations_are_over(generation: int, words: str) -> None:
    assert descent_lines(Descent(generation, 2, {}, ()))[0] == words
