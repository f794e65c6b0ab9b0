"""How many games have been played, as people read it."""

import pytest

from arena.output import count_text


@pytest.mark.parametrize(
    ("played", "total", "text"), [(3, None, "3"), (3, 10, "3/10"), (10, 10, "10/10"), (60, 10, "60")]
)
def test_games_are_counted_of_those_wanted_unless_there_are_more(
    played: int, total: int | None, text: str
) -> None:
    assert count_text(played, total) == text
