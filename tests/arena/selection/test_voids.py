"""When void games are tried again, and when they stop a run."""

import pytest

from arena.selection.voids import Sequel, VoidPolicy, VoidRules


def judged(rules: VoidRules, story: str) -> str:
    """The first letters of the verdicts on void games (x) among completed ones (o)."""
    verdicts = ""
    for game in story:
        if game == "o":
            rules.completed("AvB")
        else:
            verdicts += rules.void("AvB").name[0]
    return verdicts


@pytest.mark.parametrize(
    ("story", "verdicts"),
    [
        ("x", "H"),
        ("ox", "R"),
        ("oxx", "RH"),
        ("oxox", "RR"),
        ("ooxoxx", "RRH"),
    ],
)
def test_a_matchup_is_forgiven_once_after_each_completed_game(story: str, verdicts: str) -> None:
    assert judged(VoidRules(), story) == verdicts


@pytest.mark.parametrize(
    ("forgiven", "story", "verdicts"),
    [(0, "ox", "H"), (0, "x", "H"), (2, "oxxx", "RRH"), (2, "oxoxxx", "RRRH"), (2, "x", "H")],
)
def test_another_number_may_be_forgiven(forgiven: int, story: str, verdicts: str) -> None:
    assert judged(VoidRules(forgiven=forgiven), story) == verdicts


@pytest.mark.parametrize(
    ("forgiven", "story", "verdicts"), [(0, "x", "H"), (1, "xx", "RH"), (2, "xxx", "RRH"), (1, "xoxx", "RRH")]
)
def test_void_games_may_be_forgiven_before_the_first_completed_game(
    forgiven: int, story: str, verdicts: str
) -> None:
    assert judged(VoidRules(forgiven=forgiven, from_first=True), story) == verdicts


@pytest.mark.parametrize(("story", "verdicts"), [("x", "H"), ("ox", "D"), ("oxx", "DH"), ("oxox", "DD")])
def test_the_monte_carlo_tuner_drops_what_tournaments_try_again(story: str, verdicts: str) -> None:
    assert judged(VoidRules(VoidPolicy.DROP), story) == verdicts


def test_the_cross_entropy_tuner_tries_every_game_twice() -> None:
    rules = VoidRules(VoidPolicy.RETRY_GAME)
    assert rules.void("candidates", "g0#0r0") is Sequel.HALT
    rules.completed("candidates")
    assert rules.void("candidates", "g0#1r0") is Sequel.RETRY
    assert rules.void("candidates", "g0#2r0") is Sequel.RETRY
    rules.completed("candidates")
    assert rules.void("candidates", "g0#1r0") is Sequel.HALT


def test_matchups_are_judged_apart() -> None:
    rules = VoidRules()
    rules.completed("AvB")
    assert rules.void("AvC") is Sequel.HALT
    assert rules.void("AvB") is Sequel.RETRY
