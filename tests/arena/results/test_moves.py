"""A game's moves as one value."""

from typing import Any

import pytest

from arena.jobs import JobMove
from arena.results.game_rows import pack_moves, unpack_moves


def move(text: str = "D4", **changes: Any) -> JobMove:
    return JobMove(1, text, None, None, None, 0.5, **changes)


@pytest.mark.parametrize("comment", ["", "a ladder", "läuft «gut»", "two\nlines"])
def test_comments_are_read_as_they_were_made(comment: str) -> None:
    (read,) = unpack_moves(pack_moves([move(comment=comment)]))
    assert (read.seat, read.text, read.comment) == (1, "D4", comment)


@pytest.mark.parametrize("comment", ["a\0b", "a\ud800b", "a\udfffb"], ids=["zero", "high", "low"])
def test_characters_that_a_database_cannot_hold_are_replaced_in_comments(comment: str) -> None:
    value = pack_moves([move(comment=comment), move("E5", comment="after it")])
    assert "\\u0000" not in value and "\\ud8" not in value and "\\udf" not in value
    assert [read.comment for read in unpack_moves(value)] == ["a\N{REPLACEMENT CHARACTER}b", "after it"]
