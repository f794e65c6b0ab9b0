"""A seat keeps to fair use by itself and proposes only what the rules can accept."""

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import pytest

from academy.knowledge.boards import Board, SquareGeometry
from academy.knowledge.settings import Library
from academy.knowledge.text import read_cells
from academy.v1 import pattern_pb2
from clients.responses import BookMove
from clients.seat import FairUseError, MatchOptions, Seat

GEOMETRY = SquareGeometry(3, 3)
EMPTY = Board.from_letters(GEOMETRY, "---------")
PATTERN = read_cells("x -\n- o", GEOMETRY)
ENDGAME, MIDDLE_GAME = pattern_pb2.LIBRARY_ENDGAME, pattern_pb2.LIBRARY_MIDDLE_GAME


def seat(contest_id: str = "contest") -> Seat:
    return Seat("game", GEOMETRY, 1, contest_id)


def asks_opening(asking: Seat, own_moves: int) -> bool:
    """Ask where that is allowed; return whether it was."""
    allowed = asking.allows_opening(own_moves)
    with nullcontext() if allowed else pytest.raises(FairUseError):
        asking.build_opening_request([], own_moves)
    return allowed


def test_one_opening_in_four_moves_is_asked_about() -> None:
    asking = seat()
    assert [asks_opening(asking, own_moves) for own_moves in range(10)] == [
        *(True, False, False, False, True, False, False, False, True, False)
    ]


def test_the_error_names_the_rule_and_when_to_ask_again() -> None:
    asking = seat()
    asking.build_opening_request([], 0)
    with pytest.raises(FairUseError, match="ask again before own move 5") as forbidden:
        asking.build_opening_request([], 1)
    assert (forbidden.value.reason, forbidden.value.next_own_move) == ("FAIR_USE_EXCEEDED", 5)
    with pytest.raises(FairUseError, match=r"0\.5; in a contest .* at most 0\.33") as forbidden:
        asking.build_pattern_request([EMPTY], 0.5)
    assert (forbidden.value.reason, forbidden.value.next_own_move) == ("VALUE_NOT_LOW", None)
    with pytest.raises(FairUseError, match="VALUE_NOT_LOW"):
        asking.build_successor_request(EMPTY, [EMPTY], None)


def test_a_seat_that_did_not_ask_may_make_up_for_it() -> None:
    asking = seat()
    assert [asks_opening(asking, 8) for _ in range(4)] == [True, True, True, False]


AFTER = BookMove("b2", ("b2",), 0.7, 9, {})
BOOK = BookMove("a1", ("a1", "c3"), 0.6, 20, {"c3": AFTER})


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        (["x", "y"], BOOK),
        (["x", "y", "a1", "c3"], AFTER),
        # An unknown reply, another own move, the end of what is held, another game.
        (["x", "y", "a1", "b1"], None),
        (["x", "y", "c3", "c3"], None),
        (["x", "y", "a1", "c3", "b2", "b3"], None),
        (["y", "x", "a1", "c3"], None),
        (["x", "y", "a1"], None),
        (["x"], None),
    ],
)
def test_a_recommended_line_is_held_until_the_game_leaves_it(
    moves: list[str], expected: BookMove | None
) -> None:
    asking = seat()
    asking.hold_book(["x", "y"], BOOK)
    assert asking.held_book_move(moves) is expected


def test_outside_a_contest_every_opening_may_be_asked_about() -> None:
    asking = seat(contest_id="")
    assert all(asks_opening(asking, 0) for _ in range(5))


@pytest.mark.parametrize(
    ("value", "allowed"), [(None, False), (0.34, False), (0.33, True), (0.0, True), (1.0, False)]
)
def test_patterns_are_asked_for_in_bad_positions_only(value: float | None, allowed: bool) -> None:
    assert seat().allows_patterns(value) == allowed
    with nullcontext() if allowed else pytest.raises(FairUseError):
        seat().build_pattern_request([EMPTY], value)


def test_outside_a_contest_patterns_may_be_asked_for_anywhere() -> None:
    options = MatchOptions([Library.ENDGAME])
    question = seat(contest_id="").build_pattern_request([EMPTY], options=options)
    assert question.positions[0].board == "---------"
    assert not question.positions[0].HasField("expected_value")
    assert list(question.libraries) == [ENDGAME]


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
    playing.record_move(PATTERN, 1, before, after)
    request = playing.build_proposals(plies=100, average_length=100)
    assert (request is not None) == proposed
    if request is not None:
        (proposal,) = request.proposals
        assert proposal.library == MIDDLE_GAME
        assert (proposal.ply, proposal.value, proposal.value_before) == (1, after, before)
        assert proposal.cells == "x -\n- o"


@pytest.mark.parametrize(
    ("stated", "proposed"), [(None, True), (0.2, True), (0.45, True), (0.5, False), (0.7, False)]
)
def test_a_move_gains_over_the_larger_of_both_values_before_it(stated: float | None, proposed: bool) -> None:
    playing = seat()
    playing.record_move(PATTERN, 3, 0.3, 0.6, stated_before=stated)
    playing.record_marked_move("x*", 3, 0.3, 0.6, stated_before=stated)
    playing.record_move(PATTERN, 3, 0.5, 0.6, stated_before=0.1)
    request = playing.build_proposals(plies=100, average_length=100)
    # A proposal has the value of the move before: ACADEMY compares it with what the arena reports.
    values = [] if request is None else [proposal.value_before for proposal in request.proposals]
    assert values == ([0.3, 0.3] if proposed else [])


@pytest.mark.parametrize(
    ("line", "plies", "sent"), [(None, 4, 4), (None, None, None), (["a1", "b1"], None, 2), (["a1"], 4, 1)]
)
def test_a_question_for_advice_has_the_plies_before_the_position(
    line: list[str] | None, plies: int | None, sent: int | None
) -> None:
    asking = seat()
    request = asking.build_advice_request(EMPTY, [0, 1], 0.2, line=line, plies=plies)
    assert request is not None
    assert (request.position.plies if request.position.HasField("plies") else None) == sent
    # Only a line makes it a question about the opening tree, which counts.
    assert request.HasField("opening") == (line is not None)
    assert asking.allows_opening(0) == (line is None)
    assert not request.include_ids


def test_a_seat_may_have_advice_name_what_it_rests_on() -> None:
    request = Seat("game", GEOMETRY, 1, with_ids=True).build_advice_request(EMPTY, [0, 1])
    assert request is not None and request.include_ids


def proposed(playing: Seat, plies: int, average_length: float = 100, **more: Any) -> list[tuple[Any, int]]:
    """Library and ply of each proposal."""
    request = playing.build_proposals(plies, average_length, **more)
    return [(proposal.library, proposal.ply) for proposal in request.proposals] if request else []


@pytest.mark.parametrize(("plies", "moves"), [(100, (79, 81, 99)), (200, (161, 181, 199))])
def test_endgame_patterns_come_from_the_last_20_moves_where_contests_have_100_on_average(
    plies: int, moves: Sequence[int]
) -> None:
    playing = seat()
    for ply in moves:
        playing.record_move(PATTERN, ply, 0.5, 0.55)
    assert proposed(playing, plies) == [(ENDGAME, ply) for ply in moves[1:]]


def test_no_more_is_proposed_than_a_contest_takes_and_the_best_of_it() -> None:
    playing = seat()
    for ply in range(1, 101):
        playing.record_move(PATTERN, ply, 0.2, 0.4 + ply / 1000)
    best = proposed(playing, 100)
    assert len(best) == 10
    assert best[:5] == [(MIDDLE_GAME, ply) for ply in (100, 99, 98, 97, 96)]


def test_what_two_threads_submitted_at_once_takes_its_places_once() -> None:
    playing = seat()
    for ply in range(1, 9):
        playing.record_move(PATTERN, ply, 0.2, 0.4 + ply / 1000)
    both = [playing.build_proposals(8, 100, max_proposals=4) for _ in range(2)]
    for request in both:
        assert request is not None
        playing.note_submitted(request)
    assert playing.submitted == 4
    assert len(proposed(playing, 8, max_proposals=8)) == 4


def test_what_was_submitted_is_not_proposed_again_and_takes_its_place() -> None:
    playing = seat()
    for ply in range(1, 9):
        playing.record_move(PATTERN, ply, 0.2, 0.4 + ply / 1000)
    first = playing.build_proposals(8, 100, max_proposals=6)
    assert first is not None
    playing.note_submitted(first)
    # Three tesujis and three endgame patterns: there is no place left.
    assert [proposal.ply for proposal in first.proposals] == [8, 7, 6, 1, 2, 3]
    assert playing.build_proposals(8, 100, max_proposals=6) is None
    assert proposed(playing, 8, max_proposals=8) == [(MIDDLE_GAME, 5), (ENDGAME, 4)]


def test_a_contest_that_goes_on_gives_no_endgame_patterns_before_those_of_an_average_one() -> None:
    playing = seat()
    for ply in (30, 79):
        playing.record_move(PATTERN, ply, 0.5, 0.55)
        assert playing.build_proposals(ply, 100, over=False) is None
    playing.record_move(PATTERN, 81, 0.5, 0.55)
    assert proposed(playing, 81, over=False) == [(ENDGAME, 81)]
    # It was a short one.
    assert proposed(playing, 90) == [(ENDGAME, 79), (ENDGAME, 81)]


def test_a_call_submits_no_more_than_a_server_takes() -> None:
    playing = seat()
    for ply in range(1, 101):
        playing.record_move(PATTERN, ply, None, ply / 1000)
    assert len(proposed(playing, 100, 1000, max_proposals=90)) == 64


def test_outside_a_contest_nothing_is_proposed() -> None:
    playing = seat(contest_id="")
    playing.record_move(PATTERN, 1, 0.1, 0.9)
    assert playing.build_proposals(plies=1, average_length=100) is None
