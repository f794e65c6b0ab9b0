"""Judgement after a contest: what an endgame value becomes, and which proposals count."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from academy.knowledge.boards import Board
from academy.knowledge.contests import ContestReport, FalseClaim, FalseConsultation, Proposal, Result
from academy.knowledge.postmortem import endgame_value, objection
from academy.knowledge.spec import GameSpec

from .games import DIPLOMACY, DRAW, GO, HEX, LOSS, WIN, cells, contest, endgame, telling, tesuji, with_boards

LONG = ["pass"] * 60
SHORT = ["A1", "B2", "C3"]


def judged(
    proposal: Proposal, report: ContestReport, spec: GameSpec = GO, average_length: float = 30.0
) -> str | None:
    """The objection to a proposal whose proposer reported its values, unless the report says otherwise."""
    return objection(proposal, telling(report, proposal), spec, average_length)


@pytest.mark.parametrize(
    ("value", "result", "expected"),
    [
        (0.81, WIN, 0.9), (0.25, WIN, 0.5), (0.0, WIN, 0.0), (1.0, WIN, 1.0),
        (0.9, LOSS, 0.81), (0.5, LOSS, 0.25), (0.0, LOSS, 0.0), (1.0, LOSS, 1.0),
        (0.9, DRAW, 0.7), (0.1, DRAW, 0.3), (0.5, DRAW, 0.5), (0.0, DRAW, 0.25), (1.0, DRAW, 0.75),
    ],
)  # fmt: skip
@pytest.mark.threat("lies")
def test_an_endgame_value_in_the_light_of_the_result(value: float, result: Result, expected: float) -> None:
    assert endgame_value(value, result) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("x 1 -", False),  # 3 + 0.415 + 1
        ("x 1 - / o - -", True),  # 3 bits more, and 2
        ("x # # / # o # / # # w", True),
        # What says everything of its cells may be small.
        ("x -", True),
        ("B +", True),
    ],
)
@pytest.mark.threat("vote_stuffing")
def test_a_pattern_that_leaves_cells_open_must_say_as_much_as_a_merge_leaves(text: str, counts: bool) -> None:
    proposal = endgame(cells(text), 0.5)
    against = objection(proposal, telling(contest(["pass"]), proposal), GO, 30.0, least_information=8)
    assert (against is None) is counts
    if against is not None:
        assert "must say at least 8 bits of the board (least_information): this one says 4.4" in against


# Endgame: the final position, or the last 20 % of an average game


@pytest.mark.parametrize(
    ("ply", "plies", "average", "counts"),
    [
        # A fifth of 60 is 12: plies 49 to 60.
        (60, 60, 60.0, True),
        (49, 60, 60.0, True),
        (48, 60, 60.0, False),
        (1, 60, 60.0, False),
        # Counted back from this contest's end, whatever its own length.
        (89, 100, 60.0, True),
        (88, 100, 60.0, False),
        (1, 10, 60.0, True),
        # A final position always counts.
        (10, 10, 1.0, True),
        (9, 10, 1.0, False),
        (10, 10, 0.0, True),
        # 15/5 = 3, though 0.2 * 15 is a little more in binary.
        (1, 4, 15.0, False),
        (18, 20, 15.0, True),
        (17, 20, 15.0, False),
        # Broken fifths: 12.5/5 = 2.5, so plies 20, 19 and 18.
        (18, 20, 12.5, True),
        (17, 20, 12.5, False),
    ],
)
def test_the_last_fifth(ply: int, plies: int, average: float, counts: bool) -> None:
    report = contest(["pass"] * plies)
    against = judged(endgame(cells("x"), 0.5, ply=ply), report, average_length=average)
    assert (against is None) is counts
    if against is not None:
        assert against.startswith(
            f"ply {ply} of {plies} is neither final nor among the last {average / 5:.1f}"
        )


def test_the_last_fifth_of_any_whole_average_is_exact() -> None:
    report = contest(["pass"] * 400)
    for average in range(2, 400):
        first = 400 - math.ceil(average / 5) + 1
        counts = [
            ply
            for ply in (first - 1, first)
            if judged(endgame(cells("x"), 0.5, ply=ply), report, average_length=float(average)) is None
        ]
        assert counts == [first], average


@pytest.mark.parametrize("result", [WIN, DRAW, LOSS])
def test_endgame_patterns_count_with_any_result_and_adversary(result: Result) -> None:
    report = contest(LONG, (result, WIN), elos=(2500, 0))
    assert judged(endgame(cells("x"), 0.5, ply=60), report, average_length=60.0) is None


# Middle-game: a good move against a worthy adversary


@pytest.mark.parametrize(
    ("before", "after", "counts"),
    [
        (0.60, 0.80, True),
        (0.60, 0.79, False),
        (0.10, 0.30, True),
        (0.10, 0.29, False),
        (0.80, 1.00, True),
        # Across 0.5 half of it is enough.
        (0.45, 0.55, True),
        (0.45, 0.54, False),
        (0.41, 0.51, True),
        (0.49, 0.59, True),
        (0.40, 0.50, False),
        (0.50, 0.60, False),
        (0.50, 0.70, True),
        (0.30, 0.50, True),
        # In binary 0.7 - 0.5 < 0.2 and 0.6 - 0.4 < 0.2.
        (0.4, 0.6, True),
        (0.7, 0.9, True),
        # And 1,000,000 times 0.250001 is less than 250,001.
        (0.050001, 0.250001, True),
        # Worse is never good.
        (0.8, 0.6, False),
    ],
)
def test_the_move_must_raise_the_expected_value(before: float, after: float, counts: bool) -> None:
    against = judged(tesuji(cells("x"), before, after), contest(SHORT))
    assert (against is None) is counts
    if against is not None:
        needed = "0.10" if before < 0.5 < after else "0.20"
        assert against == f"the move raised the expected value by {after - before:.4g}; {needed} is needed"


@pytest.mark.parametrize(
    ("own", "adversary", "counts"),
    [
        (1500, 1500, True),
        (1500, 1400.01, True),
        (1500, 1400, False),
        (1500, 1300, False),
        (1500, 2500, True),
        (0, -99.99, True),
        (0, -100, False),
        (165.13, 65.13, False),
        (156.21, 56.21, False),
    ],
)
def test_a_tesuji_against_a_much_weaker_opponent_is_dropped(
    own: float, adversary: float, counts: bool
) -> None:
    report = contest(SHORT, elos=(own, adversary))
    against = judged(tesuji(cells("x"), 0.2, 0.9), report)
    assert (against is None) is counts
    if against is not None:
        assert against == (
            f"the strongest opponent's Elo {adversary:.0f} must be above {own - 100:.0f}, "
            f"the proposer's {own:.0f} less 100"
        )


def test_the_strongest_of_several_adversaries_counts() -> None:
    worthy = contest(list("abcd"), (WIN, LOSS, LOSS), names="abc", elos=(1500, 100, 1450))
    unworthy = contest(list("abcd"), (WIN, LOSS, LOSS), names="abc", elos=(1500, 100, 1350))
    proposal = tesuji(cells("x PAR", DIPLOMACY), 0.2, 0.9, ply=4)
    assert judged(proposal, worthy, DIPLOMACY) is None
    assert judged(proposal, unworthy, DIPLOMACY) is not None


def test_a_game_of_one_player_has_no_adversary_who_could_be_too_weak() -> None:
    report = contest(SHORT, (WIN,), names="a", elos=(1500,))
    assert judged(tesuji(cells("x"), 0.2, 0.9), report) is None


@pytest.mark.parametrize(("result", "against"), [(WIN, None), (DRAW, None), (LOSS, "the contest was lost")])
def test_the_contest_must_be_won_or_drawn(result: Result, against: str | None) -> None:
    report = contest(SHORT, (result, WIN))
    assert judged(tesuji(cells("x"), 0.2, 0.9), report) == against


def test_the_move_must_be_the_proposers_own() -> None:
    report = contest(["A1", "B2"])
    assert judged(tesuji(cells("x"), 0.2, 0.9, ply=2), report) == ("ply 2 was not the proposer's move")


def test_the_value_before_must_be_stated() -> None:
    assert judged(tesuji(cells("x"), None, 0.9), contest(SHORT)) == (
        "the expected value before the move was not stated"
    )


# Either: what contradicts the contest's record


@pytest.mark.parametrize(
    ("lie", "reason"),
    [
        ({"false_consultations": (FalseConsultation(2, 3, "E5", "D4"),)}, "about another game: move 3"),
        (
            {"false_claims": (FalseClaim(2, 4, 0.1, 0.9, 1, 2),)},
            "with an expected value of 0.1 after 4 plies",
        ),
    ],
)
@pytest.mark.threat("lies")
def test_who_lied_loses_its_proposals_and_nobody_else_does(lie: dict[str, Any], reason: str) -> None:
    report = replace(contest(SHORT), **lie)
    assert judged(endgame(cells("x"), 0.5, seat=1, ply=3), report) is None
    assert reason in (judged(endgame(cells("x"), 0.5, seat=2, ply=3), report) or "")


@pytest.mark.parametrize("ply", [0, -1, 3])
def test_the_ply_must_have_been_played(ply: int) -> None:
    against = judged(endgame(cells("x"), 0.5, ply=ply), contest(["A1", "B2"]))
    assert against == f"ply {ply}: the contest had 2 plies"


@pytest.mark.parametrize(
    ("stated", "proposed", "contradicts"),
    [(0.9, 0.9, False), (0.9, 0.91, False), (0.9, 0.89, False), (0.9, 0.911, True), (0.9, 0.5, True)],
)
@pytest.mark.parametrize("make", [endgame, lambda pattern, value, ply: tesuji(pattern, 0.2, value, ply=ply)])
@pytest.mark.threat("lies")
def test_the_value_must_match_the_reported_one_within_a_hundredth(
    make: Callable[..., Proposal], stated: float, proposed: float, contradicts: bool
) -> None:
    report = contest(SHORT, values={3: {1: stated, 2: 0.0}})
    against = judged(make(cells("x"), proposed, ply=3), report)
    assert against == (
        f"value {proposed:.4g} proposed, but {stated:.4g} stated in the contest for ply 3"
        if contradicts
        else None
    )


@pytest.mark.parametrize("proposal", [endgame(cells("x"), 0.9, ply=3), tesuji(cells("x"), 0.2, 0.9)])
def test_proposal_without_a_stated_value_does_not_count(proposal: Proposal) -> None:
    # Reported before and by the other, but not by the proposer for this ply.
    report = contest(SHORT, values={1: {1: 0.2}, 3: {2: 0.9}})
    assert objection(proposal, report, GO, 30.0) == (
        "the proposer stated no expected value after ply 3 of the contest"
    )


@pytest.mark.parametrize(("stated", "contradicts"), [(0.2, False), (0.21, False), (0.5, True)])
@pytest.mark.parametrize(("seat", "ply"), [(1, 5), (2, 6), (1, 7)])
def test_value_before_must_be_the_one_stated_last(
    seat: int, ply: int, stated: float, contradicts: bool
) -> None:
    # Players tell what they expect after their own moves; before the last such move, something else.
    before = {number: {seat: 0.7} for number in range(seat, ply - 2, 2)}
    report = contest(["pass"] * 7, (DRAW, DRAW), values=before | {ply - 2: {seat: stated}})
    against = judged(tesuji(cells("x"), 0.2, 0.9, seat=seat, ply=ply), report)
    reason = (
        "the proposal gives 0.2 as the value before the move, but the last value stated in the "
        f"contest before ply {ply} was 0.5"
    )
    assert against == (reason if contradicts else None)


def test_value_stated_last_counts_at_any_distance() -> None:
    report = contest(["pass"] * 7, values={1: {1: 0.2}, 7: {1: 0.9}})
    assert objection(tesuji(cells("x"), 0.2, 0.9, ply=7), report, GO, 30.0) is None


@pytest.mark.parametrize(("seat", "ply"), [(1, 1), (2, 2)])
def test_move_before_the_first_stated_value_is_not_a_tesuji(seat: int, ply: int) -> None:
    proposal = tesuji(cells("x"), 0.2, 0.9, seat=seat, ply=ply)
    assert judged(proposal, contest(SHORT, (DRAW, DRAW))) == (
        f"the proposer stated no expected value before ply {ply} of the contest"
    )


@pytest.mark.parametrize(
    ("spec", "letters", "pattern", "stood"),
    [
        (GO, "-" * 12 + "x" + "-" * 12, "- - - / - x - / - - -", True),
        (GO, "-" * 12 + "x" + "-" * 12, "- - - / - o - / - - -", False),
        (GO, "x" + "-" * 24, "+ + / + x", True),
        # As it stood: not turned, nor with the colours exchanged.
        (GO, "x" + "-" * 24, "+ + / x +", False),
        (HEX, "x-" + "-" * 14, "x -", True),
    ],
)
@pytest.mark.threat("lies")
def test_the_pattern_must_have_stood_on_the_board(
    spec: GameSpec, letters: str, pattern: str, stood: bool
) -> None:
    board = Board.from_letters(spec.geometry, letters).states
    report = with_boards(contest(["A1"]), {1: board})
    against = judged(endgame(cells(pattern, spec), 0.5), report, spec)
    assert against == (None if stood else "the pattern did not stand on the board after ply 1")


@pytest.mark.threat("lies")
def test_a_pattern_is_believed_when_no_boards_were_reported() -> None:
    assert judged(endgame(cells("w w w"), 0.5), contest(["A1"])) is None


@pytest.mark.parametrize(
    ("pattern", "says"),
    [("1", False), ("2 2", False), ("1 2 / # +", False), ("1 -", True), ("# x", True), ("W 2", True)],
)
@pytest.mark.parametrize("make", [endgame, lambda pattern, value, ply: tesuji(pattern, 0.2, value, ply=ply)])
def test_a_pattern_must_say_something(make: Callable[..., Proposal], pattern: str, says: bool) -> None:
    against = judged(make(cells(pattern), 0.9, ply=3), contest(SHORT))
    reason = "nothing but '#', '1', '2' and '+': such a pattern lies almost anywhere"
    assert against == (None if says else reason)


@pytest.mark.parametrize(("value_before", "counts"), [(0.2, True), (0.46, True), (0.5, False), (0.6, False)])
@pytest.mark.threat("lies")
def test_the_move_must_also_raise_the_value_of_the_position_before_it(
    value_before: float, counts: bool
) -> None:
    proposal = tesuji(cells("x"), 0.3, 0.66)
    report = telling(contest(["pass"] * 3, proposals=(proposal,)), proposal)
    last = replace(report.plies[2], values_before={1: value_before})
    report = replace(report, plies=(*report.plies[:2], last))
    assert (judged(proposal, report) is None) is counts
