"""A seat keeps to fair use by itself and proposes only what the rules can accept."""

import pytest

from academy.knowledge.boards import Board, SquareGeometry
from academy.knowledge.settings import Library
from academy.knowledge.text import read_cells
from academy.v1 import pattern_pb2
from clients.seat import Seat

GEOMETRY = SquareGeometry(3, 3)
EMPTY = Board.from_letters(GEOMETRY, "---------")
PATTERN = read_cells("x -\n- o", GEOMETRY)


def seat(contest_id: str = "contest") -> Seat:
    return Seat("game", GEOMETRY, 1, contest_id)


def test_one_opening_in_four_moves_is_asked_about() -> None:
    asking = seat()
    asked = [asking.opening_question([], own_moves) is not None for own_moves in range(10)]
    assert asked == [True, False, False, False, True, False, False, False, True, False]


def test_a_seat_that_did_not_ask_may_make_up_for_it() -> None:
    asking = seat()
    assert [asking.opening_question([], 8) is not None for _ in range(4)] == [True, True, True, False]


def test_outside_a_contest_every_opening_may_be_asked_about() -> None:
    asking = seat(contest_id="")
    assert all(asking.opening_question([], 0) is not None for _ in range(5))


@pytest.mark.parametrize(
    ("value", "asked"), [(None, False), (0.34, False), (0.33, True), (0.0, True), (1.0, False)]
)
def test_patterns_are_asked_for_in_bad_positions_only(value: float | None, asked: bool) -> None:
    assert (seat().pattern_question([EMPTY], value) is not None) == asked


def test_outside_a_contest_patterns_may_be_asked_for_anywhere() -> None:
    question = seat(contest_id="").pattern_question([EMPTY], libraries=[Library.ENDGAME])
    assert question is not None
    assert question.positions[0].board == "---------"
    assert not question.positions[0].HasField("expected_value")
    assert list(question.libraries) == [pattern_pb2.LIBRARY_ENDGAME]


@pytest.mark.parametrize(
    ("before", "after", "proposed"),
    [
        (0.60, 0.80, True),
        (0.60, 0.79, False),
        (0.45, 0.56, True),  # across one half 0.10 is enough
        (0.30, 0.45, False),
        (0.30, 0.50, True),
        (0.50, 0.60, False),
        (0.50, 0.70, True),  # in binary 0.7 - 0.5 is less than 0.2
        (None, 1.00, False),
        (0.90, 0.10, False),
    ],
)
def test_a_move_is_a_tesuji_when_it_raised_the_expected_value_enough(
    before: float | None, after: float, proposed: bool
) -> None:
    playing = seat()
    playing.moved(PATTERN, 1, before, after)
    request = playing.proposals(plies=100, average_length=100)
    assert (request is not None) == proposed
    if request is not None:
        (proposal,) = request.proposals
        assert proposal.library == pattern_pb2.LIBRARY_MIDDLE_GAME
        assert (proposal.ply, proposal.value, proposal.value_before) == (1, after, before)
        assert proposal.cells == "x -\n- o"


def test_the_last_fifth_of_a_contest_gives_endgame_patterns() -> None:
    playing = seat()
    for ply in (79, 81, 99):
        playing.moved(PATTERN, ply, 0.5, 0.55)
    request = playing.proposals(plies=100, average_length=100)
    assert request is not None
    assert [each.ply for each in request.proposals] == [81, 99]
    assert {each.library for each in request.proposals} == {pattern_pb2.LIBRARY_ENDGAME}


def test_the_fifth_is_one_of_an_average_contest_as_academy_judges() -> None:
    playing = seat()
    for ply in (161, 181, 199):
        playing.moved(PATTERN, ply, 0.5, 0.55)
    request = playing.proposals(plies=200, average_length=100)
    assert request is not None
    assert [each.ply for each in request.proposals] == [181, 199]


def test_no_more_is_proposed_than_a_contest_takes_and_the_best_of_it() -> None:
    playing = seat()
    for ply in range(1, 101):
        playing.moved(PATTERN, ply, 0.2, 0.4 + ply / 1000)
    request = playing.proposals(plies=100, average_length=100)
    assert request is not None
    assert len(request.proposals) == 10
    tesuji = [each.ply for each in request.proposals if each.library == pattern_pb2.LIBRARY_MIDDLE_GAME]
    assert tesuji == [100, 99, 98, 97, 96]


def test_outside_a_contest_nothing_is_proposed() -> None:
    playing = seat(contest_id="")
    playing.moved(PATTERN, 1, 0.1, 0.9)
    assert playing.proposals(plies=1, average_length=100) is None
