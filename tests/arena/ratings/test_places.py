"""Who came before whom."""

from pathlib import Path

import pytest

from arena.control.settings import ControlError
from arena.control.toml_file import read
from arena.ratings.elo import EloRules
from arena.ratings.places import RatedBy, places_of
from referees.api import Outcome, Termination
from tests.arena.control_files import RANDOM, write_control

SOLO = Outcome(
    (2,), Termination.SCORE, "solo", points=(5.0, 18.0, 11.0, 0.0, 0.0), eliminated=(None, None, None, 4, 9)
)
DRAW = Outcome((1, 2), Termination.SCORE, "draw", points=(10.0, 14.0, 10.0))
UNCOUNTED = Outcome((1,), Termination.FORFEIT, "1")
# Points count before how long somebody lasted.
LASTING = Outcome(
    (1,), Termination.SCORE, "solo", points=(18.0, 5.0, 3.0, 0.0, 0.0), eliminated=(None, 4, 9, None, 2)
)
NIM = Outcome((1,), Termination.SCORE, "1", points=(1.0, 9.0))


@pytest.mark.parametrize(
    ("outcome", "seats", "by", "places"),
    [
        (SOLO, 5, RatedBy.WINNERS, (1, 0, 1, 1, 1)),
        (SOLO, 5, RatedBy.RANK, (2, 0, 1, 4, 3)),
        (SOLO, 5, RatedBy.POINTS, (2, 0, 1, 4, 3)),
        (LASTING, 5, RatedBy.RANK, (0, 1, 2, 3, 4)),
        (DRAW, 3, RatedBy.RANK, (0, 0, 1)),
        (DRAW, 3, RatedBy.POINTS, (1, 0, 1)),
        (UNCOUNTED, 3, RatedBy.RANK, (0, 1, 1)),
        (UNCOUNTED, 3, RatedBy.POINTS, (0, 1, 1)),
        # The winner of two players has won, whatever the points count.
        (NIM, 2, RatedBy.POINTS, (0, 1)),
    ],
)
def test_winners_come_first_and_the_rest_by_rank_or_points(
    outcome: Outcome, seats: int, by: RatedBy, places: tuple[int, ...]
) -> None:
    assert places_of(outcome, seats, by) == places


def test_by_rank_a_second_place_is_worth_more_than_a_last_one() -> None:
    rated = EloRules(by=RatedBy.RANK).rate_outcome(tuple("abcde"), (1000.0,) * 5, SOLO)
    assert rated[1] > rated[2] > rated[0] > rated[4] > rated[3]


def test_a_control_file_chooses(tmp_path: Path) -> None:
    path = write_control(tmp_path, {"one": RANDOM, "two": RANDOM}, more='[ratings]\nby = "rank"')
    assert read(path).elo.by is RatedBy.RANK
    path.write_text(path.read_text().replace('"rank"', '"luck"'))
    with pytest.raises(
        ControlError, match=r"ratings\.by: must be one of 'winners', 'rank', 'points', not 'luck'"
    ):
        read(path)
