"""Gauntlets: the challengers meet everybody else, and nobody else meets."""

from arena.selection.gauntlet import Gauntlet
from tests.arena.selection.playing import play


def test_each_challenger_meets_each_opponent_in_both_seats() -> None:
    selector = Gauntlet(["new", "newer"], ["old", "older"], rounds=2)
    played = play(selector)
    assert played.ids == ["AvC_0", "AvD_0", "BvC_0", "BvD_0", "AvC_1", "AvD_1", "BvC_1", "BvD_1"]
    assert played.fixtures[0].players == ("new", "old")
    assert played.fixtures[4].players == ("old", "new")
    assert played.fixtures[0].opening == played.fixtures[4].opening == 0
    assert selector.finished and selector.total == 8
    assert selector.description == "gauntlet rounds=2 challengers=new,newer opponents=old,older"
