"""Fair use: how much a player may lean on the libraries during a contest."""

import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from academy.knowledge.claims import Claim, Expectation, contradict, false_claim, false_consultation
from academy.knowledge.contests import FalseClaim, FalseConsultation
from academy.knowledge.fair_use import (
    LUDAE_FAIR_USE,
    FairUse,
    FairUseExceededError,
    ValueNotLowError,
    acceptable,
)
from academy.knowledge.settings import LibrarySettings


@pytest.mark.parametrize(
    ("own_move", "allowed"),
    [
        (1, 1), (2, 1), (3, 1), (4, 1),
        (5, 2), (6, 2), (7, 2), (8, 2),
        (9, 3), (10, 3), (11, 3), (12, 3),
        (13, 4),
    ],
)  # fmt: skip
def test_one_consultation_for_every_four_moves_the_first_included(own_move: int, allowed: int) -> None:
    assert LUDAE_FAIR_USE.opening_allowance(own_move) == allowed
    LUDAE_FAIR_USE.check_opening(allowed - 1, own_move)
    with pytest.raises(FairUseExceededError) as refused:
        LUDAE_FAIR_USE.check_opening(allowed, own_move)
    details = {"consultations": allowed, "own_move": own_move, "allowed": allowed}
    assert refused.value.details() == {name: str(number) for name, number in details.items()}
    assert f"own move {own_move} the rule allows {allowed}" in str(refused.value)


VALUES = st.lists(
    st.one_of(st.none(), st.integers(0, 1_000_000).map(lambda millionths: millionths / 1e6)), max_size=30
)


def expectations(values: list[float | None]) -> list[Expectation | None]:
    """As of a player that tells one value with each move."""
    return [None if value is None else Expectation(value, value) for value in values]


@pytest.mark.threat("flood")
def test_claims_that_name_a_board_are_compared_with_the_positions_that_have_it() -> None:
    boards = [plies.to_bytes(8) for plies in range(2_000)]
    stated = expectations([0.25] * (len(boards) - 1))
    begun = time.process_time()
    claims = [Claim(None, boards[number % 1_000], 0.25) for number in range(10_000)]
    assert false_claim(1, claims, stated, boards, False) is None
    claims[7] = Claim(None, boards[7], 0.5)
    claims[8] = Claim(None, bytes(9), 0.25)
    assert false_claim(1, claims, stated, boards, False) == FalseClaim(1, 7, 0.5, 0.25, 2, 10_000)
    assert time.process_time() - begun < 2.0


@pytest.mark.threat("flood")
def test_thousands_of_claims_about_a_board_that_stands_all_the_time_do_not_hold_up_the_report() -> None:
    boards = [b"hidden"] * 2_001
    stated = expectations([0.25] * 2_000)
    begun = time.process_time()
    claims = [Claim(None, b"hidden", 0.245 + number / 1e6) for number in range(10_000)]
    assert false_claim(1, claims, stated, boards, False) is None
    claims = [Claim(None, b"hidden", number / 1e6) for number in range(10_000)]
    assert false_claim(1, claims, stated, boards, False) == FalseClaim(1, 0, 0.0, 0.25, 10_000, 10_000)
    assert time.process_time() - begun < 2.0


def test_lie_repeated_to_the_arena_is_believed_once_or_for_one_position_in_four() -> None:
    def found(values: list[tuple[float, float]]) -> FalseClaim | None:
        stated = [Expectation(before, after, 0.9) for before, after in values]
        claims = [Claim(plies, b"", expectation.before) for plies, expectation in enumerate(stated)]
        return false_claim(2, claims, stated, [], False)

    lie, honest, rescued = (0.0, 0.9), (0.3, 0.3), (0.3, 0.4)
    false = found([honest, lie, lie])
    assert false == FalseClaim(2, 1, 0.0, 0.0, 2, 3, around=0.9)
    assert found([honest, honest, lie]) is None
    assert found([rescued] * 9) is None
    assert found([lie, lie, *[honest] * 6]) is None
    assert found([lie, lie, lie, *[honest] * 7]) is not None
    # One whose move before was as bad had no reason to think well of the position.
    for earlier in (0.0, 0.1):
        bad = [Expectation(0.0, 0.9, earlier)] * 5
        assert false_claim(1, [Claim(plies, b"", 0.0) for plies in range(5)], bad, [], False) is None


def test_a_position_that_is_asked_about_again_and_again_is_one_of_the_four() -> None:
    lie, honest = Expectation(0.0, 0.9, 0.9), Expectation(0.3, 0.3)
    claims = [
        Claim(0, b"", 0.0),
        Claim(1, b"", 0.0),
        *(Claim(2, b"", 0.3 + again / 1e3) for again in range(9)),
    ]
    false = false_claim(1, claims, [lie, lie, honest], [], False)
    assert false == FalseClaim(1, 0, 0.0, 0.0, 2, 11, around=0.9)


@pytest.mark.parametrize("claims", [[0.3, 0.5, 0.9, 0.8], [0.3, 0.5, 0.8, 0.9]])
def test_of_several_false_claims_the_first_position_is_named_and_the_least_value(claims: list[float]) -> None:
    made = [Claim(plies, b"", value) for plies, value in zip([3, 2, 1, 1], claims, strict=True)]
    assert false_claim(1, made, expectations([0.1] * 4), [], False) == FalseClaim(1, 1, 0.8, 0.1, 4, 4)


def test_a_claim_of_a_position_that_the_contest_did_not_reach_is_named() -> None:
    assert false_claim(1, [Claim(7, b"", 0.1)], [], [], True) == FalseClaim(1, 7, 0.1, None, 1, 1)


@pytest.mark.parametrize(
    ("claimed", "stated", "holds"),
    [
        (0.21, 0.2, True),
        (0.2, 0.21, True),
        (0.210001, 0.2, False),
        (0.2, 0.210001, False),
        # In binary 1,000,000 times 0.000249 is less than 249.
        (0.000249, 0.010249, True),
    ],
)
def test_a_claim_holds_within_a_hundredth_to_the_millionth(
    claimed: float, stated: float, holds: bool
) -> None:
    assert (false_claim(1, [Claim(0, b"", claimed)], expectations([stated]), [], False) is None) is holds


def test_a_board_that_came_again_may_be_worth_another_value_each_time() -> None:
    boards = [b"again"] * 4 + [b"end"]
    values = [0.3, 0.0, 0.2, 0.1]
    claims = [Claim(None, b"again", value) for value in values]
    assert false_claim(1, claims, expectations([*values]), boards, False) is None
    between = Claim(None, b"again", 0.25)
    assert false_claim(1, [*claims, between], expectations([*values]), boards, False) == FalseClaim(
        1, 0, 0.25, 0.3, 1, 5
    )
    # A low outlier counts where a claim is of its value.
    outliers = [Expectation(value, 0.9, 0.9) for value in values]
    assert false_claim(1, claims[:1], outliers, boards, False) is None
    assert false_claim(1, claims, outliers, boards, False) == FalseClaim(1, 0, 0.3, 0.3, 4, 4, around=0.9)


NO_BOARD, A_BOARD, ANOTHER = bytes(8), b"a" * 8, b"b" * 8


@pytest.mark.parametrize(
    ("claims", "contradicts"),
    [
        ([], False),
        ([(A_BOARD, 0.2), (A_BOARD, 0.21)], False),
        ([(A_BOARD, 0.205), (A_BOARD, 0.2101), (A_BOARD, 0.2)], True),
        ([(A_BOARD, 0.2), (ANOTHER, 0.2)], True),
        # Earlier versions kept no boards.
        ([(NO_BOARD, 0.2), (A_BOARD, 0.2)], False),
        ([(NO_BOARD, 0.2), (A_BOARD, 0.3)], True),
    ],
)
def test_one_position_has_one_board_and_one_value(
    claims: list[tuple[bytes, float]], contradicts: bool
) -> None:
    assert contradict(Claim(4, board, value) for board, value in claims) is contradicts


@given(VALUES, st.data())
def test_claims_hold_only_where_they_equal_the_stated_values(
    values: list[float | None], data: st.DataObject
) -> None:
    stated = [plies for plies, value in enumerate(values) if value is not None]
    boards = [bytes([plies]) for plies in range(len(values) + 1)]
    by_board = data.draw(st.booleans())
    chosen = data.draw(st.lists(st.sampled_from(stated), unique=True)) if stated else []
    shifts = [data.draw(st.integers(-10_000, 10_000)) / 1e6 for _ in chosen]
    honest = [
        Claim(None if by_board else plies, boards[plies], min(1.0, max(0.0, (values[plies] or 0.0) + shift)))
        for plies, shift in zip(chosen, shifts, strict=True)
    ]
    assert false_claim(1, honest, expectations(values), boards, False) is None
    beyond = Claim(len(values) + 1, b"", 0.1)
    assert false_claim(1, [*honest, beyond], expectations(values), boards, True) is not None
    last = Claim(None if by_board else len(values), boards[-1], 0.1)
    assert (false_claim(1, [*honest, last], expectations(values), boards, True) is None) and (
        false_claim(1, [*honest, last], expectations(values), boards, False) is not None
    )
    for plies in range(len(values)):
        value = values[plies]
        lie = Claim(plies, b"", 1.0 if value is not None and value <= 0.5 else 0.0)
        claim = false_claim(2, [*honest, lie], expectations(values), boards, True)
        assert claim is not None
        assert (claim.seat, claim.plies, claim.value) == (2, plies, value)
        assert (claim.count, claim.claims) == (1, len(honest) + 1)


@pytest.mark.parametrize("value", [0.0, 0.2, 0.33])
def test_patterns_are_for_positions_of_low_value(value: float) -> None:
    LUDAE_FAIR_USE.check_patterns(value)


@pytest.mark.parametrize(
    ("value", "statement"), [(0.3301, "0.3301"), (1.0, "1"), (None, "no expected value"), (math.nan, "nan")]
)
def test_patterns_are_refused_for_values_that_are_not_low(value: float | None, statement: str) -> None:
    with pytest.raises(ValueNotLowError, match=statement) as refused:
        LUDAE_FAIR_USE.check_patterns(value)
    assert refused.value.details()["value"] == str(value)


def test_a_games_settings_change_the_rules() -> None:
    rules = FairUse.of(
        LibrarySettings(opening_moves_per_consultation=1, pattern_value_limit=0.5, elo_margin=50)
    )
    assert [rules.opening_allowance(own_move) for own_move in (1, 2, 3)] == [1, 2, 3]
    assert [rules.allows_patterns(value) for value in (0.5, 0.51, None)] == [True, False, False]
    with pytest.raises(ValueNotLowError, match=r"at most 0\.5"):
        rules.check_patterns(0.6)
    assert rules.least_elo(1500.0) == 1450.0
    assert FairUse.of(LibrarySettings()) == LUDAE_FAIR_USE


KNOWLEDGE = (
    (1301, 1500, True),
    (1300.01, 1500, True),
    (1300, 1500, False),
    (1200, 1500, False),
    (2000, 1500, True),
    (-150, 0, True),
    (-200, 0, False),
    # As floats 365.13 - 165.13 and its like are not always 200.
    *((elo / 100, elo / 100 + 200, False) for elo in range(5621, 300_000, 997)),
    *((elo / 100 + 0.01, elo / 100 + 200, True) for elo in range(5621, 300_000, 997)),
    # A mean may lie between two hundredths.
    (1300 + 1 / 300, 1500, True),
    (1300 - 1 / 300, 1500, False),
)


def test_knowledge_is_accepted_from_players_not_200_below_oneself() -> None:
    for knowledge, player, accepted in KNOWLEDGE:
        assert acceptable(knowledge, LUDAE_FAIR_USE.least_elo(player)) is accepted, (knowledge, player)


def test_many_pieces_of_knowledge_are_accepted_as_if_sent_one_by_one() -> None:
    elos = np.array([knowledge for knowledge, _, _ in KNOWLEDGE], np.float64)
    for player in {player for _, player, _ in KNOWLEDGE}:
        least = LUDAE_FAIR_USE.least_elo(player)
        assert acceptable(elos, least).tolist() == [acceptable(float(elo), least) for elo in elos]


@pytest.mark.parametrize(
    ("claimed", "played", "differs"),
    [
        ("", "", None),
        ("", "a b", None),
        ("a b", "a b", None),
        ("a b", "a b c", None),
        ("a c", "a b c", FalseConsultation(2, 2, "c", "b")),
        ("a b c d", "a b", FalseConsultation(2, 3, "c", "")),
        ("b", "a", FalseConsultation(2, 1, "b", "a")),
        # As it was written: an image of the board is another list of moves.
        ("A", "a", FalseConsultation(2, 1, "A", "a")),
    ],
)
def test_where_claimed_moves_leave_those_played(
    claimed: str, played: str, differs: FalseConsultation | None
) -> None:
    assert false_consultation(2, claimed.split(), played.split()) == differs


@pytest.mark.parametrize("gap", [0.11, 0.2, 0.33])
@pytest.mark.threat("lies")
def test_a_small_lie_at_every_position_is_not_believed_either(gap: float) -> None:
    stated = [Expectation(0.43 - gap, 0.43, 0.43)] * 10
    claims = [Claim(plies, b"", expectation.before) for plies, expectation in enumerate(stated)]
    false = false_claim(1, claims, stated, [], False)
    assert false is not None
    assert (false.count, false.claims, false.around) == (10, 10, 0.43)
