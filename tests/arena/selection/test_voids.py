"""When void games are tried again, and when they stop a run."""

from typing import Any

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
    ("rules", "stories"),
    [
        ({}, "x-H ox-R oxx-RH oxox-RR ooxoxx-RRH"),
        ({"forgiven": 0}, "ox-H x-H"),
        ({"forgiven": 2}, "oxxx-RRH oxoxxx-RRRH x-H"),
        ({"forgiven": 0, "from_first": True}, "x-H"),
        ({"forgiven": 1, "from_first": True}, "xx-RH xoxx-RRH"),
        ({"forgiven": 2, "from_first": True}, "xxx-RRH"),
        ({"policy": VoidPolicy.DROP}, "x-H ox-D oxx-DH oxox-DD"),
    ],
    ids=["once", "never", "twice", "never at first", "once at first", "twice at first", "Monte Carlo tuner"],
)
def test_a_matchup_is_forgiven_void_games_after_each_completed_one_and_at_first_where_rules_say_so(
    rules: dict[str, Any], stories: str
) -> None:
    for story, verdicts in (case.split("-") for case in stories.split()):
        assert judged(VoidRules(**rules), story) == verdicts, story


def test_the_cross_entropy_tuner_tries_every_game_twice() -> None:
    rules = VoidRules(VoidPolicy.RETRY_GAME)
    assert rules.void("candidates", "g0#0r0") is Sequel.HALT
    rules.completed("candidates")
    assert rules.void("candidates", "g0#1r0") is Sequel.RETRY
    assert rules.void("candidates", "g0#2r0") is Sequel.RETRY
    rules.completed("candidates")
    assert rules.void("candidates", "g0#1r0") is Sequel.HALT
    forgiving = VoidRules(VoidPolicy.RETRY_GAME, from_first=True)
    assert forgiving.void("candidates", "g0#0r0") is Sequel.RETRY


def test_matchups_are_judged_apart() -> None:
    rules = VoidRules()
    rules.completed("AvB")
    assert rules.void("AvC") is Sequel.HALT
    assert rules.void("AvB") is Sequel.RETRY
