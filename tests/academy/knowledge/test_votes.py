"""Votes and the signature they add up to."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from academy.knowledge.votes import (
    MAX_SEPARATE_VOTES,
    AggregatedVotes,
    InvalidVoteError,
    Signature,
    Vote,
    VoteTally,
    digest,
)

from .games import cast, tally_of


def crowd(count: int, *, first: int = 0, elo: float = 1000.0, value: float = 0.75) -> list[Vote]:
    return [Vote.of(f"player {number}", elo, value, number) for number in range(first, first + count)]


@st.composite
def votes(draw: st.DrawFn, most: int = 8) -> list[Vote]:
    """Votes of different players, at different events."""
    figures = st.tuples(st.floats(-500, 3000), st.floats(0, 1))
    return [
        Vote.of(f"player {number}", elo, value, number)
        for number, (elo, value) in enumerate(draw(st.lists(figures, min_size=1, max_size=most)))
    ]


# LUDAE's update, and where it is wrong


def printed_update(n: int, elo: float, value: float, new_elo: float, new_value: float) -> float:
    """V' as LUDAE prints it."""
    return (elo * value * n + new_elo * new_value) / (n + 1)


@pytest.mark.parametrize(
    ("sample", "printed", "ours"),
    [
        # < 3; 165; 0.78; 2 > and < 1; 700; 0.12; 1 >, each met by a player of Elo 200 who says 0.80.
        ((3, 165, 0.78), 136.525, 0.785755),
        ((1, 700, 0.12), 122.0, 0.271111),
    ],
)
def test_the_printed_value_leaves_0_to_1_and_the_weighted_mean_does_not(
    sample: tuple[int, float, float], printed: float, ours: float
) -> None:
    n, elo, value = sample
    known = tally_of(*[(elo, value)] * n)
    assert known.signature(2) == Signature(n, elo, value, 2)
    assert printed_update(n, elo, value, 200, 0.80) == pytest.approx(printed)
    # Put together rather than cast: the rule about votes far below a label is another.
    after = VoteTally((*known.counted, Vote.of("newcomer", 200, 0.80, 99))).signature(2)
    assert after.value == pytest.approx(ours, abs=1e-6)
    assert after.value == pytest.approx((elo * value * n + 200 * 0.80) / (elo * n + 200))
    # The other two updates are LUDAE's own.
    assert after.proposers == n + 1
    assert after.elo == pytest.approx((elo * n + 200) / (n + 1))
    # What is printed is the weighted mean times the new E.
    assert printed == pytest.approx(after.value * after.elo)


@pytest.mark.parametrize(
    ("votes", "elo", "value"),
    [
        ([(1000, 0.5), (3000, 0.9)], 2000, 0.8),
        # The random player has Elo 0 and counts with weight 1; so do those below it.
        ([(0, 1.0), (99, 0.0)], 49.5, 0.01),
        ([(-300, 1.0), (99, 0.0)], -100.5, 0.01),
        ([(0, 0.2), (0, 0.4)], 0, 0.3),
        ([(-1000, 0.3)], -1000, 0.3),
        ([(0.5, 1.0), (1, 0.0)], 0.75, 0.5),
    ],
)
def test_e_is_the_plain_mean_and_v_is_weighted_by_elo_of_at_least_1(
    votes: list[tuple[float, float]], elo: float, value: float
) -> None:
    signature = tally_of(*votes).signature(1)
    assert (signature.proposers, signature.elo) == (len(votes), elo)
    assert signature.value == pytest.approx(value)


def test_strength_is_the_sum_of_weights_times_the_square_of_the_distance_from_even() -> None:
    assert tally_of((1000, 0.9), (1000, 0.7)).strength == pytest.approx(2000 * 0.3**2)
    assert tally_of((1000, 0.1), (1000, 0.3)).strength == pytest.approx(2000 * 0.3**2)
    assert tally_of((-700, 1.0)).strength == pytest.approx(1 * 0.5**2)
    assert tally_of((3000, 0.5)).strength == 0


# One vote a player


@pytest.mark.threat("vote_stuffing")
def test_a_player_who_proposes_again_replaces_their_vote() -> None:
    twice = cast(Vote.of("ann", 1000, 0.9, 1), Vote.of("bob", 1000, 0.5, 2), Vote.of("ann", 1100, 0.7, 3))
    once = cast(Vote.of("bob", 1000, 0.5, 2), Vote.of("ann", 1100, 0.7, 3))
    assert twice == once
    assert twice.proposers == 2


@given(votes())
def test_v_lies_between_the_least_and_the_greatest_vote(cast_votes: list[Vote]) -> None:
    values = [vote.value for vote in cast_votes]
    assert min(values) - 1e-9 <= cast(*cast_votes).value <= max(values) + 1e-9


# Many votes


def test_past_256_the_oldest_votes_are_folded_and_still_count() -> None:
    many = crowd(MAX_SEPARATE_VOTES + 44)
    together = cast(*many)
    assert [vote.player for vote in together.counted] == [vote.player for vote in many[44:]]
    assert together.folded.votes == 44
    assert together.signature(1) == Signature(300, 1000.0, 0.75, 1)


def test_a_folded_player_is_kept_as_64_bits() -> None:
    (kept,) = cast(*crowd(MAX_SEPARATE_VOTES + 1)).folded.players
    assert kept == digest("player 0")
    assert len({digest(f"{number}") for number in range(1000)}) == 1000
    assert all(0 <= digest(f"{number}") < 2**64 for number in range(1000))


def test_folding_changes_no_figure() -> None:
    many = [Vote.of(f"{n}", 1000 + 0.31 * n, (n % 101) / 100, n) for n in range(300)]
    total = sum(vote.weight for vote in many)
    together = cast(*many)
    assert together.proposers == 300
    assert together.elo == sum(vote.elo_hundredths for vote in many) / 30_000
    assert together.value == sum(v.weight * v.value_millionths for v in many) / (total * 1_000_000)
    assert cast(*reversed(many)).signature(1) == together.signature(1)


def test_a_folded_players_further_vote_changes_nothing() -> None:
    together = cast(*crowd(MAX_SEPARATE_VOTES + 1))
    assert together.cast(Vote.of("player 0", 2500, 0.0, 999)) == together
    # The next oldest still stands for itself.
    assert together.cast(Vote.of("player 1", 2500, 0.0, 999)).proposers == together.proposers


# Two patterns become one


def test_united_the_later_of_one_players_votes_counts() -> None:
    left = cast(Vote.of("ann", 1000, 0.9, 1), Vote.of("bob", 1000, 0.9, 5))
    right = cast(Vote.of("ann", 1000, 0.1, 2), Vote.of("bob", 1000, 0.1, 3), Vote.of("cy", 1000, 0.5, 4))
    for united in (left.unite_with(right), right.unite_with(left)):
        assert {vote.player: vote.value for vote in united.counted} == {"ann": 0.1, "bob": 0.9, "cy": 0.5}


def test_united_a_folded_vote_stands_against_a_separate_one() -> None:
    left = cast(*crowd(MAX_SEPARATE_VOTES + 1))
    united = left.unite_with(cast(Vote.of("player 0", 2000, 0.0, 999)))
    assert united == left


def test_united_votes_beyond_256_are_folded() -> None:
    united = cast(*crowd(200)).unite_with(cast(*crowd(200, first=200)))
    assert (united.proposers, len(united.counted), united.folded.votes) == (400, 256, 144)


def test_united_a_player_folded_in_both_counts_once() -> None:
    left, right = cast(*crowd(300)), cast(*crowd(300, first=22))
    united = left.unite_with(right)
    assert (united.proposers, united.elo) == (322, 1000.0)
    assert united.value == pytest.approx(0.75, abs=1e-6)


@given(
    st.lists(st.integers(-300, 300), min_size=1, max_size=6),
    st.lists(st.integers(-300, 300), min_size=1, max_size=6),
    st.integers(0, 6),
)
def test_united_folded_values_stay_between_0_and_1(left: list[int], right: list[int], shared: int) -> None:
    def folded(elos: list[int], first: int) -> AggregatedVotes:
        sums = AggregatedVotes()
        for number, elo in enumerate(elos, first):
            sums += Vote.of(f"{number}", elo / 7, 1.0, number)
        return sums

    both = VoteTally(folded=folded(left, 0)).unite_with(VoteTally(folded=folded(right, shared)))
    assert both.value == 1.0


# Limits


@pytest.mark.parametrize("value", [-0.001, 1.001, math.nan, math.inf])
def test_a_value_is_from_0_to_1(value: float) -> None:
    with pytest.raises(InvalidVoteError, match="expected value"):
        Vote.of("ann", 1000, value, 1)


@pytest.mark.parametrize("elo", [-100_000.0, 100_000.0])
def test_the_greatest_elos_are_taken(elo: float) -> None:
    assert Vote.of("ann", elo, 0.0, 1).elo == elo


@pytest.mark.parametrize("elo", [-100_000.01, 100_000.01, math.nan, -math.inf])
def test_an_elo_is_within_100000(elo: float) -> None:
    with pytest.raises(InvalidVoteError, match="Elo"):
        Vote.of("ann", elo, 0.5, 1)


def test_a_vote_keeps_hundredths_of_elo_and_millionths_of_value() -> None:
    vote = Vote.of("ann", 1512.347, 0.12345678, 7)
    assert (vote.elo, vote.value) == (1512.35, 0.123457)
