"""A game's moves as one value, since a row each would take longer than all else that is stored of it.

The value is a JSON array of the moves in their order. A move is an array of its seat, text, seconds,
values told by seat (an object, or null), comment, whether it was given by an opening, seconds and moves
left on its clock, number of legal moves, interaction, and board; the end of it is left out as far as
there is nothing to tell. The views ARENA_Move and ARENA_MoveValue have a row for each.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii
from typing import Final

from arena.jobs import JobMove

_MICROSECONDS: Final = 6
# PostgreSQL's texts hold neither, and one of them would spoil the view of all moves.
_UNSTORABLE: Final = re.compile("[\\x00\\ud800-\\udfff]")


@dataclass(frozen=True)
class StoredMove:
    """A move as the database tells of it; `values` are the expected values told, by seat."""

    seat: int
    text: str
    seconds: float
    values: Mapping[int, float]
    comment: str


def packed(moves: Iterable[JobMove]) -> str:
    """The moves as one value. Raises ValueError for an expected value that is not from 0 to 1."""
    return f"[{','.join(map(_packed, moves))}]"


def unpacked(value: str) -> list[StoredMove]:
    """The moves of a value."""
    moves = []
    for row in json.loads(value):
        seat, text, seconds, *more = row
        values: Mapping[str, float] = (more[0] if more else None) or {}
        comment = more[1] if len(more) > 1 else None
        told = {int(each): float(value) for each, value in values.items()}
        moves.append(StoredMove(seat, text, seconds, told, comment or ""))
    return moves


def _packed(move: JobMove) -> str:
    seat, text, board, legal_moves, interaction, seconds, values, comment, clock, stones, opening, *_ = move
    if board is None and not values and not comment and clock is None and not opening:
        return f"[{seat},{encode_basestring_ascii(text)},{seconds:.6f}]"
    for told, value in values.items():
        if not 0 <= value <= 1:
            raise ValueError(f"move {text!r}: seat {told} told {value}, values are from 0 to 1")
    more = [
        dict(values) or None,
        _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", comment) or None,
        1 if opening else None,
        clock,
        None if clock is None else stones,
        legal_moves,
        interaction,
        board,
    ]
    while more and more[-1] is None:
        more.pop()
    row = (seat, text, round(seconds, _MICROSECONDS), *more)
    return json.dumps(row, separators=(",", ":"), allow_nan=False)
