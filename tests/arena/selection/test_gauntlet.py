"""Gauntlets: the challengers meet everybody else, and nobody else meets."""

import pytest

from arena.selection.gauntlet import Gauntlet
from arena.selection.selector import CompetitionChangedError
from tests.arena.selection.playing import play, told


def test_each_challenger_meets_each_opponent_in_both_seats() -> None:
    selector = Gauntlet(["new", "newer"], ["old", "older"], rounds=2)
    played = play(selector)
    assert played.ids == ["AvC_0", "AvD_0", "BvC_0", "BvD_0", "AvC_1", "AvD_1", "BvC_1", "BvD_1"]
    assert played.fixtures[0].players == ("new", "old")
    assert played.fixtures[4].players == ("old", "new")
    assert played.fixtures[0].opening == played.fixtures[4].opening == 0
    assert selector.finished and selector.total == 8
    assert selector.description == "gauntlet rounds=2 challengers=new,newer opponents=old,older"


@pytest.mark.parametrize(
    ("challengers", "opponents", "said"),
    [
        (["new"], ["old", "oldest"], "opponents: .* with older as C, .* now has oldest as C; put"),
        (["new"], ["old"], "opponents: .* with older as C, the control file now has nobody as C; put"),
        (["newest"], ["old", "older"], "challengers: .* with new as A, .* now has newest as A; put"),
        (
            ["new", "old"],
            ["older"],
            "challengers: .* with new against old as A and B, .* now has no such games",
        ),
    ],
)
def test_who_has_met_may_not_change(challengers: list[str], opponents: list[str], said: str) -> None:
    games = play(Gauntlet(["new"], ["old", "older"], rounds=2)).games
    assert told(Gauntlet(["new"], ["old", "older", "oldest"], rounds=2), games).total == 6
    with pytest.raises(CompetitionChangedError, match=rf"^competition\.{said}"):
        told(Gauntlet(challengers, opponents, rounds=2), games)
