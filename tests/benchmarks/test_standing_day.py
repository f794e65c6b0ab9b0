"""A standing arena's day, in a few seconds; the long one is by hand."""

import asyncio
import re
from pathlib import Path

import pytest

from benchmarks.standing_day import day


@pytest.mark.slow
def test_an_arena_that_is_killed_amid_its_day_neither_loses_nor_doubles_a_game(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asyncio.run(day(tmp_path, bots=6, seconds=6, kills=1, games_at_once=2))
    printed = capsys.readouterr().out
    assert "lost by a kill: 0; double: 0" in printed
    in_league = re.search(r"in the league: (\d+), double 0", printed)
    assert in_league and int(in_league[1]) > 0
