"""DAIDE's scores: a pot that winners share."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ratings.pot_scores import pot_scores


@pytest.mark.parametrize(
    ("seats", "winners", "scores"),
    [
        (7, (3,), (-1, -1, 6, -1, -1, -1, -1)),
        (7, (1, 2), (2.5, 2.5, -1, -1, -1, -1, -1)),
        (7, range(1, 8), (0,) * 7),
        (7, (), (0,) * 7),
        (2, (2,), (-1, 1)),
        (2, (1, 2), (0, 0)),
    ],
)
def test_winners_share_all_stakes(seats: int, winners: tuple[int, ...], scores: tuple[float, ...]) -> None:
    assert pot_scores(seats, winners) == scores


@given(st.integers(1, 30), st.data())
def test_scores_add_up_to_nothing(seats: int, data: st.DataObject) -> None:
    winners = data.draw(st.sets(st.integers(1, seats)))
    assert sum(pot_scores(seats, winners)) == pytest.approx(0, abs=1e-9)
