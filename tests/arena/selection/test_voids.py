"""When void games are tried again, and when they stop a run."""

import pytest

from arena.selection.voids import VoidRules, VoidVerdict


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
    rules = VoidRules()
    found = ""
    for game in story:
        if game == "o":
            rules.completed("AvB")
        else:
            found += "R" if rules.void("AvB") is VoidVerdict.RETRY else "H"
    assert found == verdicts


def test_matchups_are_judged_apart() -> None:
    rules = VoidRules()
    rules.completed("AvB")
    assert rules.void("AvC") is VoidVerdict.HALT
    assert rules.void("AvB") is VoidVerdict.RETRY
